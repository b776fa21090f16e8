"""The network's weights arranged for decoding: transposed, and those that share an input one below the other.

    source word (x)  -> [W, Wx, W, Wx]      gates and candidate of the encoder's two GRUs
    state (s')       -> [U, Ux, W_s]        the second cell's gates and candidate, and attention's hidden layer
    state (s)        -> [U, Ux, W_s]        the first cell's of the next word, and the readout
    annotation (h_i) -> [W_h, W, Wx, W_c]   attention's hidden layer, and what context adds to second cell and readout
    target word (y)  -> [W, Wx, W_y]        what the word adds to first cell and readout

A context c = sum_i alpha_i h_i (7) is only ever multiplied, and

    (sum_i alpha_i h_i) W = sum_i alpha_i (h_i W)   (24)

so the annotations are multiplied once per sentence, and c itself is never made.

Weights are kept in 8 bits, one scale per output. What they are multiplied with is rounded to 8 bits just before, one
scale per row. Products are added up as whole numbers. Everything else is float32, and with `float32` all of it is.
Notebooks 08 and 09.
"""

import functools
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled, find_kernel, reading_mode

TILE = 32  # outputs side by side
UNIT = 4  # numbers of 8 bits that are multiplied by one instruction
LEVELS = 127.0  # the largest number in 8 bits
ZERO_POINT = 128  # is added to a weight, for one side of the processor's instruction is unsigned
BLOCK = 4096  # outputs
TINY = 1e-30  # a row of nothing larger counts as zero
PRECISIONS = ("int8", "float32")


class Weights(NamedTuple):
    """W (N,E) and b (N), packed in T tiles for kernels/products.py: a tile has 32 outputs, input by input."""

    w: np.ndarray  # (T,E,32) float32; int8 with E filled up to 4 G: (T,G,128), of each output four inputs side by side
    scale: np.ndarray  # (N)
    bias: np.ndarray  # (N)
    levels: float  # 127: rows are rounded to so many levels on either side of 0; 0: they are not rounded


@compiled("products.product")
def product(x, weights):
    """x (M,E), Weights -> x W^T + b (M,N); in 8 bits, x and W are rounded."""
    rounded, scale = round_rows(x, weights.levels)
    W = from_tiles(weights)[:, : x.shape[1]].astype(x.dtype)
    return scale[:, None] * weights.scale * (rounded @ W.T) + weights.bias


@compiled("products.shared_product")
def shared_product(x, weights, desk=None):
    """x (M,E), Weights -> (M,N), as product; threads that help at the desk take a share of it.

    The desk of a reading or of steps, made for these weights and for M rows or more, is for the compiled one, whose
    result lies on it until the next call.
    """
    return product(x, weights)


def round_rows(x, levels):
    """x (M,E) -> whole numbers (M,E) and the scale (M) of each row, x = scale * numbers; levels 0: x itself."""
    if levels == 0:
        return x, np.ones(len(x), x.dtype)
    largest = np.abs(x).max(axis=1, initial=0)
    numbers = np.rint(x * (levels / np.where(largest > TINY, largest, np.inf))[:, None].astype(x.dtype))
    return numbers, largest / x.dtype.type(levels)


def from_tiles(weights):
    """Weights -> W (N,E) as whole numbers without their scale; float32 as they are. E may be filled up."""
    w = weights.w
    T, G, wide = w.shape
    tiles = w.reshape(T, G, TILE, wide // TILE)
    rows = tiles.transpose(0, 2, 1, 3).reshape(T * TILE, G * wide // TILE)[: len(weights.bias)]
    return rows if weights.levels == 0 else rows.view(np.uint8).astype(np.int64) - ZERO_POINT


@compiled("products.fill_tiles")
def fill_tiles(table, ids, places, tiles):
    """Rows `ids` (K) of a table (V,G), floats or four int8 in one -> fills tiles (T,G,32): row k goes to places[k]."""
    tiles[places // TILE, :, places % TILE] = table[ids]


class EncoderWeights(NamedTuple):
    """What sentences are read with."""

    word: Weights  # (6H,E)
    u_forward: Weights  # (3H,H), no bias
    u_backward: Weights  # (3H,H)
    annotation: Weights  # (C+3H+E,C)


class StepWeights(NamedTuple):
    """What every step multiplies with; `word` only where a word is new."""

    word: Weights  # (3H+E,E)
    middle: Weights  # (3H+C,H) of the state between the two cells
    state: Weights  # (3H+E,H)


class Output(NamedTuple):
    """The words that each of B sentences may use: a run of tiles of the output layer."""

    weights: Weights
    begins: np.ndarray  # (B) its first tile
    sizes: np.ndarray  # (B) its words; the rest of its last tile is not used


@dataclass(frozen=True)
class Rows:
    """W (N,E) and b (N), a row for each output: what tiles are made of, and lists of words are chosen from."""

    w: np.ndarray  # (N,E) float32, or (N,4G) int8, ZERO_POINT added
    scale: np.ndarray  # (N)
    bias: np.ndarray  # (N)
    levels: float

    @functools.cached_property
    def tiles(self):
        """All of them as Weights."""
        everything = np.arange(len(self.w))
        return Weights(self._tiles(everything, everything), self.scale, self.bias, self.levels)

    def all_words(self, n_sentences):
        """-> Output: everybody has all words."""
        same = np.zeros(n_sentences, np.int64)
        return Output(self.tiles, same, same + len(self.w))

    def listed(self, lists):
        """B arrays of ids -> Output."""
        sizes = np.array([len(ids) for ids in lists])
        ends = np.cumsum(-(-sizes // TILE))  # in tiles
        begins, ids = ends - -(-sizes // TILE), np.concatenate(lists)
        first = np.cumsum(sizes) - sizes
        places = np.arange(len(ids)) + np.repeat(TILE * begins - first, sizes)
        scale, bias = np.zeros((2, TILE * ends[-1]), self.bias.dtype)
        scale[places], bias[places] = self.scale[ids], self.bias[ids]
        return Output(Weights(self._tiles(ids, places), scale, bias, self.levels), begins, sizes)

    def _tiles(self, ids, places):
        """The rows `ids` at ascending places; places between them are zero."""
        units = self.w.view(np.int32) if self.levels else self.w
        n_tiles = places[-1] // TILE + 1 if len(places) else 0
        tiles = aligned((n_tiles, units.shape[1], TILE), units.dtype)
        last = np.flatnonzero(np.diff(places // TILE, append=n_tiles))  # in the last tile of each list there is room
        tiles[places[last] // TILE] = 0
        fill_tiles(units, ids, places, tiles)
        return tiles.view(self.w.dtype)

    def first(self, n):
        """The first n outputs alone; nothing is copied."""
        return Rows(self.w[:n], self.scale[:n], self.bias[:n], self.levels)


def whole_numbers(rows, ids):
    """Rows, ids (...) -> w (...,E) of these outputs, without their scale; float32 as they are. E may be filled up."""
    w = rows.w[ids]
    return w if rows.levels == 0 else w.view(np.uint8).astype(np.int64) - ZERO_POINT


def make_rows(W, b, precision):
    """W (N,E), b (N) -> Rows; float64 stays what it is with "float32"."""
    if precision == "float32":
        return Rows(np.ascontiguousarray(W), np.ones_like(b), b, 0.0)
    numbers, scale = round_rows(W, LEVELS)
    w = np.full((len(W), -(-W.shape[1] // UNIT) * UNIT), ZERO_POINT, np.uint8)
    np.add(numbers, ZERO_POINT, out=w[:, : W.shape[1]], casting="unsafe")
    return Rows(w.view(np.int8), scale, b, LEVELS)


def finer_rows(rows, W):
    """Rows in 8 bits of W (N,E) -> Rows of what rounding has left, in 8 bits once more: both have nearly 16 together.

    The second result is the length of the longest row, as whole numbers.
    """
    rest, longest = W.copy(), 0.0
    for start in range(0, len(W), BLOCK):  # in memory for the numbers of a block
        part = slice(start, start + BLOCK)
        numbers = whole_numbers(rows, part)[:, : W.shape[1]].astype(W.dtype)
        rest[part] -= rows.scale[part, None] * numbers
        longest = max(longest, np.sqrt((numbers * numbers).sum(axis=1).max(initial=0)))
    return make_rows(rest, np.zeros_like(rows.bias), "int8"), W.dtype.type(longest)


def aligned(shape, dtype):
    """An array that begins with a line of the cache."""
    n_bytes = np.dtype(dtype).itemsize * int(np.prod(shape))
    raw = np.empty(n_bytes + 64, np.uint8)
    start = -raw.ctypes.data % 64
    return raw[start : start + n_bytes].view(dtype).reshape(shape)


@dataclass
class Packed:
    """All that decoding reads."""

    src_embedding: np.ndarray  # (Vs,E)
    trg_embedding: np.ndarray  # (Vt,E)
    encoder: EncoderWeights
    start: Weights  # (H,C)
    step: StepWeights
    v: np.ndarray  # (C) attention's energies; its bias v_b is the same for all positions and changes nothing
    softmax: Rows  # (Vt,E)
    precision: str


def pack(p, precision=None):
    """Parameters -> Packed, int8 or float32; None: whatever is faster on this CPU."""
    precision = precision or fastest_precision()
    forward, backward, gru, cell = p.encoder_forward, p.encoder_backward, p.decoder_gru, p.decoder_cell
    attention, readout = p.attention, p.readout
    H, C = len(p.start.b), len(attention.v)
    none = np.zeros(max(3 * H, C), attention.v.dtype)

    def stacked(weights, biases):
        """Weights (E,N_i) of one input, biases (N_i) -> Weights of all outputs."""
        return make_rows(np.concatenate([w.T for w in weights]), np.concatenate(biases), precision).tiles

    return Packed(
        p.src_embedding,
        p.trg_embedding,
        EncoderWeights(
            stacked([forward.W, forward.Wx, backward.W, backward.Wx], [forward.b, forward.bx, backward.b, backward.bx]),
            stacked([forward.U, forward.Ux], [none[: 3 * H]]),
            stacked([backward.U, backward.Ux], [none[: 3 * H]]),
            stacked([attention.W_h, cell.W, cell.Wx, readout.W_c], [attention.b, none[: 3 * H], readout.b_c]),
        ),
        stacked([p.start.W], [p.start.b]),
        StepWeights(
            stacked([gru.W, gru.Wx, readout.W_y], [gru.b, gru.bx, readout.b_y]),
            stacked([cell.U, cell.Ux, attention.W_s], [cell.b, cell.bx, none[:C]]),
            stacked([gru.U, gru.Ux, readout.W_s], [none[: 3 * H], readout.b_s]),
        ),
        attention.v,
        make_rows(p.softmax.W, p.softmax.b, precision),
        precision,
    )


def fastest_precision():
    """int8 if the CPU has an instruction for it, else float32."""
    return "int8" if instruction() else "float32"


def instruction():
    """The name of this CPU's instruction for products in 8 bits; None if none is known here."""
    if reading_mode():
        return None
    found = find_kernel("intrinsics.INSTRUCTION")
    return found and found[1]
