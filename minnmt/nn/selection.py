"""Which words will a sentence's translation have? A layer over the annotations answers for all words at once.

    q_i = tanh(h_i P + p)                                   (27)  of every source position i
    z_v = max_i(q_i W_v) + b_v,   p(v is needed) = sigmoid(z_v)   (28)

It is the neural selector of Domhan et al. (2022), with W the output embedding of the trained network instead of a
matrix of its own: P is all there is to learn, besides a bias per word. W and the annotations stay as they are, so the
way back ends at P, p and b. Notebook 11 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .functions import add_product, matmul


@dataclass
class Selection:
    """Parameters of the layer."""

    P: np.ndarray  # (C,E)
    p: np.ndarray  # (E)
    b: np.ndarray  # (V)


class SelectionCache(NamedTuple):
    h: np.ndarray  # (S,B,C)
    q: np.ndarray  # (S,B,E)
    places: np.ndarray  # (B,V) the position that had the maximum
    z: np.ndarray  # (B,V)


def selection_forward(h, mask, W, p):
    """h (S,B,C), mask (S,B), W (V,E) -> z (B,V), cache."""
    S, B, C = h.shape
    q = np.tanh(matmul(h.reshape(S * B, C), p.P) + p.p).reshape(S, B, -1)  # (27)
    z, places = np.empty((B, len(W)), h.dtype), np.empty((B, len(W)), np.int32)
    for b in range(B):
        scores = matmul(q[: int(mask[:, b].sum()), b], W.T)
        places[b] = scores.argmax(axis=0)
        z[b] = scores.max(axis=0) + p.b  # (28)
    return z, SelectionCache(h, q, places, z)


def selection_backward(dz, cache, W, g):
    """dz (B,V): adds into g."""
    h, q, places, _ = cache
    S, B, C = h.shape
    # forward: z = scores at the places of their maxima + b
    g.b += dz.sum(axis=0)
    dq, words = np.zeros_like(q), np.arange(len(W))
    for b in range(B):
        dscores = np.zeros((S, len(W)), dz.dtype)
        dscores[places[b], words] = dz[b]
        # forward: scores = q W^T
        dq[:, b] = matmul(dscores, W)
    # forward: q = tanh(h P + p)
    dpre = (dq * (1 - q * q)).reshape(S * B, -1)
    add_product(g.P, h.reshape(S * B, C), dpre)
    g.p += dpre.sum(axis=0)


def needed_loss(z, needed, weight=1.0):
    """z (B,V), needed (B,V) 1 or 0 -> the cross-entropy of each sentence, summed over all words (B), dloss/dz (B,V).

    A word that is needed counts `weight` times.
    """
    p = 0.5 * (1 + np.tanh(0.5 * z))
    softplus = np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))  # -log(1 - p)
    loss = (1 - needed) * softplus + weight * needed * (softplus - z)
    return loss.sum(axis=1), (1 - needed) * p - weight * needed * (1 - p)
