"""Matrix products of training in bfloat16: the upper half of a float32, two of which an instruction multiplies at once.

Weights are packed in tiles as in products.py, and the same loop multiplies them. Two bfloat16 that are multiplied
together lie in one uint32. The plain functions are in minnmt/nn/functions.py. Notebook 08 teaches the tiles.
"""

import numpy as np

from .jit import device_function, kernel
from .products import BLOCK, GROUP, PART, TILE, multiply_tile

HALF, ONE, UPPER = np.uint32(16), np.uint32(1), np.uint32(0xFFFF0000)
ROUND, MAGNITUDE, EXPONENT, QUIET = np.uint32([0x7FFF, 0x7FFFFFFF, 0x7F800000, 0x400000])
NOTHING = np.float32(0)
PIECE = 512  # pairs of a row that are multiplied before the next: a tile's share of them stays in the cache
SQUARE = 32  # pairs and columns that are turned at a time, so that they stay in the cache


@device_function
def nearest(x):
    """The bits of a float32, of which the upper half is the nearest bfloat16, of two the even one; a nan stays one."""
    bits = np.float32(x).view(np.uint32)
    up = np.uint32(bits + ROUND + ((bits >> HALF) & ONE))
    return np.uint32(bits | QUIET) if np.uint32(bits & MAGNITUDE) > EXPONENT else up


@device_function
def pair(low, high):
    """Two numbers as bfloat16 in one uint32."""
    return np.uint32((nearest(low) >> HALF) | (nearest(high) & UPPER))


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
                    line[j] = pair(low[j], high[j])
        else:
            for j in range(width):
                column = b[:, n + j]
                for g in range(K // 2):
                    tile[g, j] = pair(column[2 * g], column[2 * g + 1])
        if K % 2:
            for j in range(width):
                tile[G - 1, j] = pair(b[K - 1, n + j], NOTHING)
    return tiles


@kernel
def bf16_product(a, tiles, n):
    """Fast because
    - an instruction multiplies and adds 32 pairs of numbers;
    - a part of the weights stays in the cache while all rows are multiplied with it.
    """
    M, K = a.shape
    rows, out = np.empty((M, tiles.shape[1]), np.uint32), np.empty((M, n), np.float32)
    for i in range(M):
        row, x = rows[i], a[i]
        for g in range(K // 2):
            row[g] = pair(x[2 * g], x[2 * g + 1])
        if K % 2:
            row[K // 2] = pair(x[K - 1], NOTHING)
    packed, totals = rows.view(np.uint16), np.empty((BLOCK + GROUP, PART * TILE), np.float32)
    for part in range(0, len(tiles), PART):
        last = min(part + PART, len(tiles))
        for begin in range(0, M, BLOCK):
            end = min(begin + BLOCK, M)
            multiply_block(packed[:end], begin, tiles[part:last], totals)
            for i in range(begin, end):
                row, found = out[i, part * TILE : min(last * TILE, n)], totals[i - begin]
                for k in range(len(row)):
                    row[k] = found[k]
    return out


@kernel
def add_bf16_product(total, a, b):
    """Fast as bf16_product is. One side has to be turned: the narrower one, 32 columns at a time."""
    turned, other = (a, b) if a.shape[1] <= b.shape[1] else (b, a)
    swapped = a.shape[1] > b.shape[1]
    tiles, packed = pack_tiles(other).view(np.uint16), turn(turned).view(np.uint16)
    M, N = turned.shape[1], other.shape[1]
    totals = np.empty((BLOCK + GROUP, PART * TILE), np.float32)
    for part in range(0, len(tiles), PART):
        last = min(part + PART, len(tiles))
        first, size = part * TILE, min(last * TILE, N) - part * TILE
        for begin in range(0, M, BLOCK):
            end = min(begin + BLOCK, M)
            multiply_block(packed[:end], begin, tiles[part:last], totals)
            if swapped:
                for n in range(size):
                    row = total[first + n, begin:end]
                    for i in range(end - begin):
                        row[i] += totals[i, n]
            else:
                for i in range(begin, end):
                    row, found = total[i, first : first + size], totals[i - begin]
                    for n in range(size):
                        row[n] += found[n]


@device_function
def turn(a):
    """a (R,M) -> its columns as rows of pairs (M,R/2)."""
    R, M = a.shape
    G = (R + 1) // 2
    rows, square = np.empty((M, G), np.uint32), np.empty((SQUARE, SQUARE), np.uint32)
    for m in range(0, M, SQUARE):
        width = min(SQUARE, M - m)
        for g in range(0, G, SQUARE):
            height = min(SQUARE, G - g)
            for k in range(height):
                line, low = square[k], a[2 * (g + k), m : m + width]
                if 2 * (g + k) + 1 < R:
                    high = a[2 * (g + k) + 1, m : m + width]
                    for j in range(width):
                        line[j] = pair(low[j], high[j])
                else:
                    for j in range(width):
                        line[j] = pair(low[j], NOTHING)
            for j in range(width):
                row = rows[m + j, g : g + height]
                for k in range(height):
                    row[k] = square[k, j]
    return rows


@device_function
def multiply_block(rows, begin, tiles, totals):
    """Rows from `begin` on times some tiles -> fills totals; long rows piece by piece."""
    shift, more = np.zeros(len(rows), np.int32), np.empty((GROUP, TILE), np.float32)
    if tiles.shape[1] == 0:
        totals[:] = NOTHING
    for g in range(0, tiles.shape[1], PIECE):
        piece = rows[:, 2 * g : 2 * (g + PIECE)]
        for tile in range(len(tiles)):
            w = tiles[tile, g : g + PIECE]
            for first in range(begin, len(rows), GROUP):
                place = totals[first - begin : first - begin + GROUP, tile * TILE : (tile + 1) * TILE]
                if g == 0:
                    multiply_tile(piece, shift, first, w, place)
                else:
                    multiply_tile(piece, shift, first, w, more)
                    place += more
