"""Matrix products with both sides rounded to bfloat16 and added up in float32 (`train --precision bf16`).

A bfloat16 is the upper half of a float32: its sign, its exponent and 7 bits behind the point. CPUs that multiply pairs
of them are several times as fast as with float32. Only products are rounded: weights, gradients and all else stay
float32. In float64 nothing is rounded, so gradients are checked as always. The errors of the softmax are needed by
products alone, so they are rounded as soon as they are known. Notebook 09 teaches products in few bits.
"""

import contextlib
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, find_kernel, reading_mode

TILE = 32  # outputs side by side, as the compiled products read them
weights = None  # within `bf16_products`, what knows the weights


# Numbers


def to_bf16(x):
    """float32 -> the nearest bfloat16, of two the even one, as float32."""
    bits = np.ascontiguousarray(x).view(np.uint32)
    nearest = (bits + np.uint32(0x7FFF) + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(x), np.float32(np.nan), nearest.view(np.float32))


def upper_half(x):
    """float32 -> its bfloat16 in half the bytes, as uint16."""
    return (to_bf16(x).view(np.uint32) >> 16).astype(np.uint16)


def numbers(x):
    """float32, or the uint16 of upper_half -> bfloat16 as float32."""
    return (x.astype(np.uint32) << 16).view(np.float32) if x.dtype == np.uint16 else to_bf16(x)


# Products


@compiled("matmul.bf16_tiles")
def bf16_tiles(b):
    """b (K,N) -> tiles (T,K/2,64) of uint16: 32 outputs, of each two inputs side by side; filled up with zeros."""
    K, N = b.shape
    T, G = -(-N // TILE), -(-K // 2)
    filled = np.zeros((2 * G, T * TILE), np.uint16)
    filled[:K, :N] = upper_half(b)
    return np.ascontiguousarray(filled.reshape(G, 2, T, TILE).transpose(2, 0, 3, 1)).reshape(T, G, 2 * TILE)


def from_tiles(tiles, K, N):
    """The reverse: tiles of b (K,N) -> to_bf16(b)."""
    T, G, _ = tiles.shape
    return numbers(tiles.reshape(T, G, TILE, 2).transpose(1, 3, 0, 2).reshape(2 * G, T * TILE)[:K, :N])


@compiled("matmul.bf16_product")
def bf16_product(a, tiles, n):
    """a (M,K), float32 or uint16, tiles of b (K,n) -> to_bf16(a) to_bf16(b) (M,n)."""
    return numbers(a) @ from_tiles(tiles, a.shape[1], n)


@compiled("matmul.add_bf16_product")
def add_bf16_product(total, a, b):
    """total (M,N) += to_bf16(a)^T to_bf16(b), a (R,M), float32 or uint16, b (R,N)."""
    total += numbers(a).T @ to_bf16(b)


@compiled("matmul.add_bf16_rows")
def add_bf16_rows(total, weights, a):
    """total (K) += the sum of the rows of a (N,K), uint16, each times its weight (N); nothing more is rounded."""
    total += weights @ numbers(a)


# The softmax


@compiled("matmul.bf16_softmax_nll")
def bf16_softmax_nll(o, tiles, b, targets):
    """o (N,E), tiles of W^T (E,K), b (K), targets (N): columns -> nll (N), errors p - onehot (N,K) as uint16."""
    logits = bf16_product(o, tiles, len(b)) + b
    logits -= logits.max(axis=1, keepdims=True)
    logp = logits - np.log(np.exp(logits).sum(axis=1, keepdims=True))
    rows = np.arange(len(logp))
    nll, errors = -logp[rows, targets], np.exp(logp)
    errors[rows, targets] -= 1
    return nll, upper_half(errors)


# Weights, which many products share


class Packed(NamedTuple):
    """A weight W (K,N) in tiles; it stands for W in a product, and its T for the transpose."""

    tiles: np.ndarray  # of W
    turned: np.ndarray  # of its transpose
    n: int  # N
    n_turned: int  # K

    @property
    def T(self):
        return Packed(self.turned, self.tiles, self.n_turned, self.n)


class PackedWeights:
    """The weights of a network, packed when they are first multiplied with; good until they change."""

    def __init__(self, arrays):
        self.arrays = {address(array): array for array in arrays}  # kept, so that no other array gets their addresses
        self.found = {}  # {address, shape and strides: tiles}

    def tiles(self, b):
        """Of a weight or its transpose, kept; of any other array, made now."""
        if address(b) not in self.arrays:
            return bf16_tiles(b)
        key = address(b), b.shape, b.strides
        if key not in self.found:
            self.found[key] = bf16_tiles(b)
        return self.found[key]


def address(array):
    return array.__array_interface__["data"][0]


def packed(W):
    """A weight -> Packed."""
    return Packed(weights.tiles(W), weights.tiles(W.T), W.shape[1], W.shape[0])


def product(a, b):
    """a (M,K), b (K,N), perhaps a weight or a Packed -> (M,N)."""
    if isinstance(b, Packed):
        assert a.shape[1] == b.n_turned, (a.shape, b.n_turned)
        return bf16_product(a, b.tiles, b.n)
    assert a.shape[1] == len(b), (a.shape, b.shape)  # kernels do not look
    return bf16_product(np.ascontiguousarray(a), weights.tiles(b), b.shape[1])


def softmax_nll_of(o, W, b, targets):
    """o (N,E), W (K,E) perhaps a weight, b (K), targets (N) -> nll (N), errors (N,K)."""
    return bf16_softmax_nll(np.ascontiguousarray(o), weights.tiles(W.T), b, targets)


@contextlib.contextmanager
def bf16_products(arrays):
    """Within it, products are in bfloat16, in all threads; `arrays` are weights that do not change meanwhile."""
    global weights
    before, weights = weights, PackedWeights(arrays)
    try:
        yield weights
    finally:
        weights = before


def has_bf16():
    """Does this CPU have an instruction for it? In reading mode nothing is rounded: there is no speed to gain."""
    return not reading_mode() and find_kernel("intrinsics.BFLOAT16")
