"""Matrix products of training in bfloat16: the upper half of a float32, two of which an instruction multiplies at once.

One side of a product is packed in tiles of 32 outputs, as in products.py; of the other, pairs lie along a row. Two
bfloat16 that are multiplied together are one uint32. Eight rows meet a tile: sixteen totals in registers, enough that
none waits for the one before. The plain functions are in minnmt/nn/bf16.py. Notebook 08 teaches the
tiles.
"""

import numpy as np

from .functions import ONE, exp, largest_of
from .intrinsics import LANES, dot, load, spread, store, transpose
from .jit import device_function, kernel
from .products import TILE

HALF, FIRST_BIT, UPPER = np.uint32(16), np.uint32(1), np.uint32(0xFFFF0000)
ROUND, MAGNITUDE, EXPONENT, QUIET = np.uint32([0x7FFF, 0x7FFFFFFF, 0x7F800000, 0x400000])
NOTHING = np.float32(0)
GROUP = 8  # rows that are multiplied together
PART = 8  # tiles whose totals stay in the second cache until they are complete
PIECE = 320  # pairs of a row that are multiplied before the next: a tile's share of them stays in the first cache
BLOCK = 128  # rows that are multiplied with all tiles before the next are: they stay in the second cache
LOSS_BLOCK = 64  # the same where the logits of all words have to stay in the last cache
SQUARE = 32  # pairs and columns that are turned at a time, so that they stay in the cache


# Numbers


@device_function
def nearest(x):
    """The bits of a float32, of which the upper half is the nearest bfloat16, of two the even one; a nan stays one."""
    bits = np.float32(x).view(np.uint32)
    up = np.uint32(bits + ROUND + ((bits >> HALF) & FIRST_BIT))
    return np.uint32(bits | QUIET) if np.uint32(bits & MAGNITUDE) > EXPONENT else up


@device_function
def pair(low, high, rounded):
    """Two float32, or two bfloat16 (`rounded`, as uint16), in one uint32."""
    if rounded:
        return np.uint32(np.uint32(low) | (np.uint32(high) << HALF))
    return np.uint32((nearest(low) >> HALF) | (nearest(high) & UPPER))


# Packing


@kernel
def bf16_tiles(b):
    """Fast because a tile stays in the cache while it is filled, in the order in which the numbers lie in memory."""
    return pack_tiles(b).view(np.uint16)


@device_function
def pack_tiles(b):
    """b (K,N) -> (T,K/2,32) pairs."""
    K, N = b.shape
    G = (K + 1) // 2
    tiles = np.zeros(((N + TILE - 1) // TILE, G, TILE), np.uint32)
    by_rows = b.strides[0] >= b.strides[1]
    for t in range(len(tiles)):
        n, tile = t * TILE, tiles[t]
        width = min(TILE, N - n)
        if by_rows:
            for g in range(K // 2):
                line, low, high = tile[g], b[2 * g, n : n + width], b[2 * g + 1, n : n + width]
                for j in range(width):
                    line[j] = pair(low[j], high[j], False)
        else:
            for j in range(width):
                column = b[:, n + j]
                for g in range(K // 2):
                    tile[g, j] = pair(column[2 * g], column[2 * g + 1], False)
        if K % 2:
            for j in range(width):
                tile[G - 1, j] = pair(b[K - 1, n + j], NOTHING, False)
    return tiles


@device_function
def pack_rows(a):
    """a (M,K) -> (M,K/2) pairs."""
    (M, K), rounded = a.shape, a.itemsize == 2
    if rounded and K % 2 == 0:
        return a.view(np.uint32)  # they lie side by side: a row's numbers are neighbours
    rows = np.empty((M, (K + 1) // 2), np.uint32)
    for i in range(M):
        row, x = rows[i], a[i]
        for g in range(K // 2):
            row[g] = pair(x[2 * g], x[2 * g + 1], rounded)
        if K % 2:
            row[K // 2] = pair(x[K - 1], 0, rounded)
    return rows


@device_function
def turn(a, begin, end, rows):
    """a (R,M) -> fills rows (end-begin,R/2): its columns begin:end as rows of pairs."""
    R, rounded = len(a), a.itemsize == 2
    square = np.empty((SQUARE, SQUARE), np.uint32)
    for first in range(0, R, 2 * SQUARE):
        height = (min(2 * SQUARE, R - first) + 1) // 2
        for m in range(begin, end, SQUARE):
            width = min(SQUARE, end - m)
            for k in range(height):
                r = first + 2 * k
                if width == SQUARE and r + 1 < R:  # a whole row of the square: the compiler knows how long
                    for j in range(SQUARE):
                        square[k, j] = pair(a[r, m + j], a[r + 1, m + j], rounded)
                else:
                    for j in range(width):
                        square[k, j] = pair(a[r, m + j], a[r + 1, m + j] if r + 1 < R else 0, rounded)
            flip(square[:height, :width], rows[m - begin :, first // 2 :])


@device_function
def flip(square, rows):
    """square (H,W) -> fills the first of rows, and of each the first numbers, with its transpose (W,H)."""
    H, W = square.shape
    if H == W == SQUARE:
        step, wide = square.strides[0] // 4, rows.strides[0] // 4
        for k in range(0, SQUARE, LANES):
            for j in range(0, SQUARE, LANES):
                transpose(square, k * step + j, step, rows, j * wide + k, wide)
    else:
        for j in range(W):
            for k in range(H):
                rows[j, k] = square[k, j]


# Multiplying


@kernel
def bf16_product(a, tiles, n):
    """Fast because
    - an instruction multiplies and adds 32 pairs of numbers;
    - a tile stays in the first cache while a block of rows is multiplied with it.
    """
    out = np.zeros((len(a), n), np.float32)
    add_rows_times_tiles(a, tiles, out)
    return out


@device_function
def add_rows_times_tiles(a, tiles, out):
    """out (M,N) += a (M,K) times tiles, a block of rows after the other."""
    rows = pack_rows(a).view(np.uint16)
    for begin in range(0, len(a), BLOCK):
        add_block(rows[begin : begin + BLOCK], tiles, out[begin : begin + BLOCK])


@kernel
def add_bf16_product(total, a, b):
    """Fast as bf16_product is; the columns of a are turned into rows a block at a time."""
    R, M = a.shape
    tiles = pack_tiles(b).view(np.uint16)
    turned = np.empty((BLOCK, (R + 1) // 2), np.uint32)
    for begin in range(0, M, BLOCK):
        end = min(begin + BLOCK, M)
        turn(a, begin, end, turned)
        add_block(turned.view(np.uint16)[: end - begin], tiles, total[begin:end])


@device_function
def add_block(rows, tiles, total):
    """total (M,N) += rows (M,K) times tiles, long rows piece by piece."""
    whole = total.shape[1] // TILE  # tiles that are full
    last = np.zeros((len(rows), TILE), np.float32)  # of the one that may not be
    n_pieces = (tiles.shape[1] + PIECE - 1) // PIECE
    for part in range(0, len(tiles), PART):
        for p in range(n_pieces):
            g, end = p * tiles.shape[1] // n_pieces, (p + 1) * tiles.shape[1] // n_pieces
            piece = rows[:, 2 * g : 2 * end]
            for t in range(part, min(part + PART, len(tiles))):
                w = tiles[t, g:end]
                for first in range(0, len(rows), GROUP):
                    if t < whole:
                        multiply_tile(piece, first, w, total, t * TILE)
                    else:
                        multiply_tile(piece, first, w, last, 0)
    for i in range(len(rows)):
        for n in range(whole * TILE, total.shape[1]):
            total[i, n] += last[i, n - whole * TILE]


@device_function
def multiply_tile(rows, first, w, total, column):
    """Eight rows from `first` on times a tile w (G,64), added to total[first:first+8, column:column+32].

    If fewer are left, the last is taken again, to the same result: cheaper than code for every number.
    """
    last, width, wide = len(rows) - 1, rows.strides[0] // 2, total.strides[0] // 4
    i0, i1, i2, i3 = first, min(first + 1, last), min(first + 2, last), min(first + 3, last)
    i4, i5, i6, i7 = min(first + 4, last), min(first + 5, last), min(first + 6, last), min(first + 7, last)
    t0, t1, t2, t3 = i0 * wide + column, i1 * wide + column, i2 * wide + column, i3 * wide + column
    t4, t5, t6, t7 = i4 * wide + column, i5 * wide + column, i6 * wide + column, i7 * wide + column
    i0, i1, i2, i3, i4, i5, i6, i7 = (
        i0 * width, i1 * width, i2 * width, i3 * width, i4 * width, i5 * width, i6 * width, i7 * width
    )  # fmt: skip
    a0, a1, a2, a3 = load(total, t0), load(total, t1), load(total, t2), load(total, t3)
    a4, a5, a6, a7 = load(total, t4), load(total, t5), load(total, t6), load(total, t7)
    b0, b1, b2, b3 = load(total, t0 + LANES), load(total, t1 + LANES), load(total, t2 + LANES), load(total, t3 + LANES)
    b4, b5, b6, b7 = load(total, t4 + LANES), load(total, t5 + LANES), load(total, t6 + LANES), load(total, t7 + LANES)
    for g in range(len(w)):
        e = 2 * g
        u, v = load(w, g * 2 * TILE), load(w, g * 2 * TILE + TILE)
        x = spread(rows, i0 + e)
        a0, b0 = dot(a0, u, x), dot(b0, v, x)
        x = spread(rows, i1 + e)
        a1, b1 = dot(a1, u, x), dot(b1, v, x)
        x = spread(rows, i2 + e)
        a2, b2 = dot(a2, u, x), dot(b2, v, x)
        x = spread(rows, i3 + e)
        a3, b3 = dot(a3, u, x), dot(b3, v, x)
        x = spread(rows, i4 + e)
        a4, b4 = dot(a4, u, x), dot(b4, v, x)
        x = spread(rows, i5 + e)
        a5, b5 = dot(a5, u, x), dot(b5, v, x)
        x = spread(rows, i6 + e)
        a6, b6 = dot(a6, u, x), dot(b6, v, x)
        x = spread(rows, i7 + e)
        a7, b7 = dot(a7, u, x), dot(b7, v, x)
    store(total, t0, a0)
    store(total, t0 + LANES, b0)
    store(total, t1, a1)
    store(total, t1 + LANES, b1)
    store(total, t2, a2)
    store(total, t2 + LANES, b2)
    store(total, t3, a3)
    store(total, t3 + LANES, b3)
    store(total, t4, a4)
    store(total, t4 + LANES, b4)
    store(total, t5, a5)
    store(total, t5 + LANES, b5)
    store(total, t6, a6)
    store(total, t6 + LANES, b6)
    store(total, t7, a7)
    store(total, t7 + LANES, b7)


# The loss over many words


@kernel
def bf16_softmax_nll(o, tiles, b, targets):
    """Fast because
    - the logits of a block of rows are never written to memory: they stay in the last cache until they are errors;
    - errors are rounded now, as the products of the way back need them, to half the bytes.
    """
    N, K = len(o), len(b)
    rows, scores = pack_rows(o).view(np.uint16), np.empty((LOSS_BLOCK, K), np.float32)
    nll, errors = np.empty(N, np.float32), np.empty((N, K), np.uint16)
    for begin in range(0, N, LOSS_BLOCK):
        block = scores[: min(LOSS_BLOCK, N - begin)]
        for i in range(len(block)):
            block[i] = b
        add_block(rows[begin : begin + len(block)], tiles, block)
        for i in range(len(block)):
            nll[begin + i] = error_row(block[i], targets[begin + i], errors[begin + i])
    return nll, errors


@device_function
def error_row(logits, target, errors):
    """The logits of a row, which are used up -> fills its errors p - onehot, in bfloat16; returns its nll."""
    largest, wanted, total = largest_of(logits), logits[target], NOTHING
    for k in range(len(logits)):
        logits[k] = exp(logits[k] - largest)
        total += logits[k]
    for k in range(len(logits)):
        errors[k] = nearest(logits[k] / total) >> HALF
    errors[target] = nearest(logits[target] / total - ONE) >> HALF
    return np.log(total) - (wanted - largest)


@kernel
def add_bf16_rows(total, weights, a):
    """Fast because every row is read once."""
    for n in range(len(a)):
        row, weight = a[n], weights[n]
        for k in range(len(row)):
            total[k] += weight * np.uint32(np.uint32(row[k]) << HALF).view(np.float32)
