"""The network's weights arranged for decoding: transposed, and those that share an input one below the other.

    source word (x)  -> [W, Wx, W, Wx]      gates and candidate of the encoder's two GRUs
    state (s)        -> [U, Ux]             the first cell's gates and candidate
    state (s')       -> [U, Ux, W_s]        the second cell's, and attention's hidden layer
    annotation (h_i) -> [W_h, W, Wx, W_c]   attention's hidden layer, and what context adds to second cell and readout
    target word (y)  -> [W, Wx, W_y]        what the word adds to first cell and readout

A context c = sum_i alpha_i h_i (7) is only ever multiplied, and

    (sum_i alpha_i h_i) W = sum_i alpha_i (h_i W)   (24)

so the annotations are multiplied once for each sentence, and c itself is never made. Notebook 08.

A large network's recurrent weights are rounded to 16 bits, so that they stay in the cache; the tables of words are not.
"""

import functools
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..nn.softmax import Softmax
from ..threads import n_sharing

FEW = 64  # up to so many rows the kernel is faster than BLAS on one thread
PANEL = 640  # numbers of a row that are multiplied at a time (kernels/products.py says why), and
LANES = 32  # a multiple of so many, filled up with zeros, if a row is cut: no loop has a rest

# What is read again at every word, and so should stay in the processor's last cache (usually 16 to 32 MB for a few
# processors): from so many bytes on it is rounded to 16 bits.
RECURRENT = ("u_forward", "u_backward", "trg_word", "state", "middle", "readout")
LARGE = 1 << 24


class Weights(NamedTuple):
    """The numbers w * scale."""

    w: np.ndarray  # (P,N,E/P) float32, or int16
    scale: np.ndarray  # (N), of each row


@compiled("products.few_rows")
def few_rows(x, weights, bias):
    """x (P,M,E/P), Weights (P,N,E/P), bias (N) -> scale * sum over panels of x w^T, + bias: (M,N)."""
    products = x @ weights.w.transpose(0, 2, 1).astype(x.dtype, copy=False)
    return weights.scale * products.sum(axis=0) + bias


@dataclass
class Product:
    """x W^T + b; W has a row for each output, in panels."""

    W: np.ndarray  # (P,N,E/P)
    b: np.ndarray  # (N)
    rounded: Weights | None = None  # the same numbers, if they fit into 16 bits

    def __call__(self, x):
        """x (M,E) -> (M,N)."""
        x = in_panels(x, self.W.shape[0], self.W.shape[2])
        if x.shape[1] <= FEW or n_sharing() > 1:  # BLAS has one thread
            return few_rows(x, self.weights, self.b)
        out = x[0] @ self.W[0].T
        for part, W in zip(x[1:], self.W[1:]):
            out += part @ W.T
        out += self.b
        return out

    @functools.cached_property
    def weights(self):
        """As the kernels for few rows read them."""
        return self.rounded or Weights(self.W, np.ones_like(self.b))

    def in_16_bits(self):
        """The Product whose weights are rounded: those of a row to whole multiples of its largest / 32,767."""
        largest = np.abs(self.W).max(axis=(0, 2))
        scale = np.where(largest > 0, largest / 32767, 1).astype(self.W.dtype)
        w = np.rint(self.W / scale[:, None]).astype(np.int16)
        return Product(w * scale[:, None], self.b, Weights(w, scale))


def in_panels(x, P, size):
    """x (M,E) -> (P,M,size): each row cut into P pieces, one behind the other, the last filled up with zeros."""
    if P == 1:
        return x[None]
    M, E = x.shape
    panels = np.zeros((P, M, size), x.dtype)
    for p in range(P):
        piece = x[:, p * size : (p + 1) * size]
        panels[p, :, : piece.shape[1]] = piece
    return panels


@dataclass
class Packed:
    """All weights that decoding reads."""

    src_embedding: np.ndarray  # (Vs,E)
    trg_embedding: np.ndarray  # (Vt,E)
    src_word: Product  # (6H,E)
    u_forward: Product  # (3H,H), no bias
    u_backward: Product  # (3H,H)
    start: Product  # (H,C)
    annotation: Product  # (C+3H+E,C)
    trg_word: Product  # (3H+E,E)
    state: Product  # (3H,H)
    middle: Product  # (3H+C,H) from the state between the two cells
    readout: Product  # (E,H)
    v: np.ndarray  # (C) attention's energies; its bias v_b is the same for all positions and changes nothing
    softmax: Softmax


def pack(p, exact=False):
    """Parameters -> Packed; unless `exact`, a large network's recurrent weights are rounded to 16 bits."""
    forward, backward, gru, cell = p.encoder_forward, p.encoder_backward, p.decoder_gru, p.decoder_cell
    attention, readout = p.attention, p.readout
    H, C = len(p.start.b), len(attention.v)
    none = np.zeros(max(3 * H, C), attention.v.dtype)
    packed = Packed(
        p.src_embedding,
        p.trg_embedding,
        stacked([forward.W, forward.Wx, backward.W, backward.Wx], [forward.b, forward.bx, backward.b, backward.bx]),
        stacked([forward.U, forward.Ux], [none[: 3 * H]]),
        stacked([backward.U, backward.Ux], [none[: 3 * H]]),
        stacked([p.start.W], [p.start.b]),
        stacked([attention.W_h, cell.W, cell.Wx, readout.W_c], [attention.b, none[: 3 * H], readout.b_c]),
        stacked([gru.W, gru.Wx, readout.W_y], [gru.b, gru.bx, readout.b_y]),
        stacked([gru.U, gru.Ux], [none[: 3 * H]]),
        stacked([cell.U, cell.Ux, attention.W_s], [cell.b, cell.bx, none[:C]]),
        stacked([readout.W_s], [readout.b_s]),
        attention.v,
        p.softmax,
    )
    recurrent = {name: getattr(packed, name) for name in RECURRENT}
    if exact or sum(product.W.nbytes for product in recurrent.values()) < LARGE:
        return packed
    return replace(packed, **{name: product.in_16_bits() for name, product in recurrent.items()})


def stacked(weights, biases):
    """Weights (E,N_i) of one input, biases (N_i) -> the Product of all of them."""
    W = np.concatenate([w.T for w in weights])
    E = W.shape[1]
    P = -(-E // PANEL)
    size = E if P == 1 else -(-E // (P * LANES)) * LANES
    # concatenate keeps the order of the transposed parts: a row must be contiguous
    return Product(np.ascontiguousarray(in_panels(W, P, size)), np.concatenate(biases))
