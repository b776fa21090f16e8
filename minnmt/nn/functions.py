"""Small functions that several layers share: arithmetic, whose reverse each layer writes down where it uses it.

Matrix products are in float32, or both sides are rounded to bfloat16 first (bf16.py). Notebook 01 teaches dropout.
"""

import numpy as np

from ..compiled import compiled
from . import bf16

BLOCK = 1 << 19  # numbers of a product that are added up at a time


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


def in_bf16(a):
    """Are products of this array in bfloat16? It is float32 then, or rounded already."""
    return bf16.weights is not None and a.dtype != np.float64


def matmul(a, b):
    """a (M,K), b (K,N) -> (M,N)."""
    return bf16.product(a, b) if in_bf16(a) or isinstance(b, bf16.Packed) else a @ b


def multiplier(W):
    """A weight, as many steps multiply with it: packed if their products are in bfloat16."""
    return bf16.packed(W) if in_bf16(W) else W


def product(x, W):
    """x (...,D), W (D,N) -> (...,N), as one matrix product: numpy's own would be one for each time step."""
    return matmul(x.reshape(-1, x.shape[-1]), W).reshape(*x.shape[:-1], W.shape[1])


def add_product(total, a, b):
    """total (M,N) += a^T b for a (R,M), b (R,N): how a weight's gradient is added up over R rows."""
    if in_bf16(a):
        assert len(a) == len(b) and total.shape == (a.shape[1], b.shape[1]), (total.shape, a.shape, b.shape)
        bf16.add_bf16_product(total, np.ascontiguousarray(a), np.ascontiguousarray(b))
        return
    n_rows = max(1, BLOCK // max(1, total.shape[1]))  # so that the product is still in the cache when it is added
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
