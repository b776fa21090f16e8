"""Small functions that several layers share: arithmetic, whose reverse each layer writes down where it uses it.

Matrix products are in float32, or with both sides rounded to bfloat16 and added up in float32 (`--precision bf16`). A
bfloat16 is the upper half of a float32: its sign, its exponent and 7 bits behind the point. Processors that multiply
pairs of them are twice as fast as with float32. Only products are rounded: weights, gradients and all else stay
float32, and in float64 nothing is rounded, so gradients are checked as ever. Notebook 01 teaches dropout.
"""

import contextlib
from dataclasses import dataclass, field

import numpy as np

from ..compiled import compiled, find_kernel, reading_mode

BLOCK = 1 << 19  # numbers of a product that are added up at a time
TILE = 32  # outputs side by side, as the compiled products read them
_weights = None  # within `bf16_products`, what knows the weights


def sigmoid(x):
    """1 / (1 + exp(-x)), written so that a large x cannot overflow."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


def halves(x):
    """x (B,2H) -> (B,H), (B,H): gates hold r in their first half, u in their second."""
    H = x.shape[1] // 2
    return x[:, :H], x[:, H:]


def flat(x):
    """(T,B,D) -> (T*B,D), so that one matrix product serves all time steps."""
    return x.reshape(-1, x.shape[-1])


# Matrix products


def matmul(a, b):
    """a (M,K), b (K,N) -> (M,N)."""
    if _weights is None or a.dtype != np.float32:
        return a @ b
    return bf16_product(np.ascontiguousarray(a), _weights.tiles(b), b.shape[1])


def product(x, W):
    """x (...,D), W (D,N) -> (...,N), as one matrix product: numpy's own would be one for each time step."""
    return matmul(x.reshape(-1, x.shape[-1]), W).reshape(*x.shape[:-1], W.shape[1])


def add_product(total, a, b):
    """total (M,N) += a^T b for a (R,M), b (R,N): how a weight's gradient is added up over R rows."""
    if _weights is not None and a.dtype == np.float32:
        add_bf16_product(total, np.ascontiguousarray(a), np.ascontiguousarray(b))
        return
    n_rows = max(1, BLOCK // total.shape[1])  # so that the product is still in the cache when it is added
    for start in range(0, len(total), n_rows):
        total[start : start + n_rows] += a[:, start : start + n_rows].T @ b


@compiled("rows.add_rows")
def add_rows(rows, ids, table):
    """rows (K,E), ids (K): table[ids[k]] += rows[k] for one k after the other; ids may repeat."""
    np.add.at(table, ids, rows)


# Dropout: zero each value with probability `rate` while training, and scale the rest so that the mean stays. Nothing
# has to change when the model is used.


def dropout_forward(x, rate, rng):
    """x (...) -> x with a share `rate` of its values zeroed (...); the cache is the scaled mask, None at rate 0."""
    if rate == 0 or rng is None:
        return x, None
    keep = rng.random(x.shape, dtype=np.float32) >= rate
    mask = keep.astype(x.dtype) * (1.0 / (1.0 - rate))
    return x * mask, mask


def dropout_backward(dout, mask):
    """dout (...) -> dx (...)."""
    # forward: out = x * mask
    return dout if mask is None else dout * mask


# bfloat16


def to_bf16(x):
    """float32 -> the nearest bfloat16, of two the even one, as float32."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), x, nearest.view(np.float32))


@compiled("matmul.bf16_tiles")
def bf16_tiles(b):
    """b (K,N) -> tiles (T,K/2,64) of uint16: 32 outputs, of each two inputs side by side; filled up with zeros."""
    K, N = b.shape
    T, G = -(-N // TILE), -(-K // 2)
    filled = np.zeros((2 * G, T * TILE), np.uint16)
    filled[:K, :N] = to_bf16(b).view(np.uint32) >> 16
    return np.ascontiguousarray(filled.reshape(G, 2, T, TILE).transpose(2, 0, 3, 1)).reshape(T, G, 2 * TILE)


@compiled("matmul.bf16_product")
def bf16_product(a, tiles, n):
    """a (M,K), tiles of b (K,n) -> to_bf16(a) to_bf16(b) (M,n)."""
    T, G, _ = tiles.shape
    numbers = tiles.reshape(T, G, TILE, 2).transpose(1, 3, 0, 2).reshape(2 * G, T * TILE)[: a.shape[1], :n]
    return to_bf16(a) @ (numbers.astype(np.uint32) << 16).view(np.float32)


@compiled("matmul.add_bf16_product")
def add_bf16_product(total, a, b):
    """total (M,N) += to_bf16(a)^T to_bf16(b), a (R,M), b (R,N)."""
    total += to_bf16(a).T @ to_bf16(b)


@dataclass
class PackedWeights:
    """The weights of a network, packed when they are first multiplied with; good until they change."""

    addresses: set
    found: dict = field(default_factory=dict)  # {where, shape and strides: tiles}

    def tiles(self, b):
        """Of a weight or its transpose, kept; of any other array, made now."""
        address = b.__array_interface__["data"][0]
        if address not in self.addresses:
            return bf16_tiles(b)
        key = address, b.shape, b.strides
        if key not in self.found:
            self.found[key] = bf16_tiles(b)
        return self.found[key]


@contextlib.contextmanager
def bf16_products(arrays):
    """Within it, products are in bfloat16, in all threads; `arrays` are weights that do not change meanwhile."""
    global _weights
    before, _weights = _weights, PackedWeights({a.__array_interface__["data"][0] for a in arrays})
    try:
        yield
    finally:
        _weights = before


def has_bf16():
    """Has this processor an instruction for it? In reading mode: yes, the plain functions."""
    return reading_mode() or find_kernel("intrinsics.BFLOAT16")
