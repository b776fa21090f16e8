"""Matrix products against packed weights: for one row, for a beam and for a batch.

BLAS rearranges the weights at every call before it multiplies. Here they are packed once (minnmt/search/packed.py says
how): 32 outputs are a tile, and for every input, or four of them in 8 bits, the weights of the 32 lie side by side. So
a tile is read from its first byte to its last, two registers at a time, and each register serves five rows. If there
are more, the tile is read again from the cache. Meanwhile the next tile is on its way from memory. In 8 bits one
instruction multiplies and adds 64 pairs of numbers.

The plain function is in minnmt/search/packed.py. Notebooks 08 and 09.
"""

import numpy as np

from .functions import ZERO, largest_magnitude
from .intrinsics import LANES, dot, fetch, fill, load, spread, store
from .jit import device_function, kernel
from .team import PATIENCE, begin_round, claim, part_done, wait_for_helpers

GROUP = 5  # rows of x that are multiplied together
TILE = 32  # outputs
PART = 8  # tiles
BLOCK = 40  # rows that are multiplied with a part before the next are: their totals stay in the cache
ZERO_POINT = 128  # what is added to an 8-bit weight to make it unsigned
FEW_PARTS = 4  # fewer are not worth a meeting
SHARED = 15  # the stage of shared_product, at the desks of reading and of steps; the largest that team.py can name
TINY = np.float32(1e-30)  # a row of nothing larger counts as zero: levels / largest must be a number


@kernel
def fill_tiles(table, ids, places, tiles):
    """Fast because a tile stays in the cache while its 32 rows are spread over it."""
    for k in range(len(ids)):
        row, tile, j = table[ids[k]], tiles[places[k] // TILE], places[k] % TILE
        for g in range(len(row)):
            tile[g, j] = row[g]


@kernel
def product(x, weights):
    """Fast because
    - weights are read once for all rows, in the order in which they lie in memory;
    - ten totals are in registers, none of which waits for another.
    """
    M, width = len(x), n_inputs(weights)
    rows, scale, shift = np.empty((M, width), weights.w.dtype), np.empty(M, np.float32), np.empty(M, np.int32)
    out = np.empty((M, len(weights.bias)), np.float32)
    for i in range(M):
        scale[i], shift[i] = round_row(x[i], weights.levels, rows[i])
    totals = np.empty((BLOCK + GROUP, PART * TILE), np.float32)
    for part in range(n_parts(weights)):
        multiply_part(rows, scale, shift, weights, part, totals, out)
    return out


@kernel
def shared_product(x, weights, desk):
    """Fast because the parts of `product` are claimed by whoever is free (team.py)."""
    M, parts = len(x), n_parts(weights)
    for i in range(M):
        desk.scale[i], desk.shift[i] = round_row(x[i], weights.levels, desk.word_rows[i])
    shared = parts >= FEW_PARTS
    round_id = begin_round(desk.board, SHARED, M) if shared else 0
    for part in range(parts):
        if not shared or claim(desk.board, round_id, part):
            shared_part(weights, desk, part, M, 0)
            if shared:
                part_done(desk.board)
    if shared:
        wait_for_helpers(desk.board, parts, PATIENCE * M)
    return desk.word_products[:M]


@device_function
def shared_part(weights, desk, part, M, me):
    """One part of it."""
    multiply_part(desk.word_rows[:M], desk.scale, desk.shift, weights, part, desk.totals[me], desk.word_products[:M])


@device_function
def n_inputs(weights):
    """With those that fill up the last four."""
    w = weights[0]
    return w.shape[1] * (w.shape[2] // TILE)


@device_function
def n_parts(weights):
    """Into which a product can be divided among threads."""
    return (len(weights[0]) + PART - 1) // PART


@device_function
def multiply_part(rows, row_scale, shift, weights, part, totals, out):
    """Rounded rows (M,E) times one part of the Weights -> fills the part's columns of out (M,N+); totals is scratch."""
    w, scale, bias, _ = weights
    first_tile, end_tile = part * PART, min(part * PART + PART, len(w))
    outputs = slice(first_tile * TILE, min(end_tile * TILE, len(bias)))
    for begin in range(0, len(rows), BLOCK):
        end = min(begin + BLOCK, len(rows))
        turns = (end - begin + GROUP - 1) // GROUP
        for tile in range(first_tile, end_tile):
            for turn in range(turns):
                first, place = begin + turn * GROUP, totals[turn * GROUP :, (tile - first_tile) * TILE :]
                if end - begin == 1:
                    multiply_tile_by_one(rows, shift, first, w[tile], place)
                else:
                    multiply_tile(rows[:end], shift, first, w[tile], place, turn, turns)
        for i in range(begin, end):
            scale_row(totals[i - begin], row_scale[i], scale[outputs], bias[outputs], out[i][outputs])


@device_function
def scale_row(totals, by, scale, bias, out):
    """Totals of whole numbers, or of numbers -> outputs."""
    for n in range(len(out)):
        out[n] = by * scale[n] * totals[n] + bias[n]


@device_function
def round_row(x, levels, rounded):
    """x (E) -> fills `rounded` (E or more), its scale and shift: x = scale * rounded.

    levels 0: not rounded at all. The shift makes up for ZERO_POINT.
    """
    E = len(x)
    rounded[E:] = 0
    if levels == 0:
        for e in range(E):
            rounded[e] = x[e]
        return np.float32(1), np.int32(0)
    largest = largest_magnitude(x)
    inverse = np.float32(levels) / largest if largest > TINY else ZERO
    whole = np.int32(0)
    for e in range(E):
        number = np.int32(np.rint(x[e] * inverse))
        rounded[e] = number
        whole += number
    return largest / np.float32(levels), np.int32(-ZERO_POINT * whole)


@device_function
def multiply_tile(rows, shift, first, w, totals, turn, turns):
    """Five rows from `first` on times a tile w (G,32 or 128) -> fills totals (5,32), a part of a wider array.

    If fewer are left, the last is taken again, and what it gives is not used: cheaper than code for every number. The
    rows that a tile is multiplied with come in `turns` turns of five, of which this is number `turn`: each fetches its
    share of the next tile, which follows in memory.
    """
    step, last, wide = w.shape[1] // TILE, len(rows) - 1, totals.strides[0] // 4
    width = rows.strides[0] // rows.itemsize  # from one row to the next: rows may be a part of wider ones
    i0, i1, i2, i3, i4 = first, min(first + 1, last), min(first + 2, last), min(first + 3, last), min(first + 4, last)
    a0, a1, a2 = fill(w, shift[i0]), fill(w, shift[i1]), fill(w, shift[i2])
    a3, a4 = fill(w, shift[i3]), fill(w, shift[i4])
    b0, b1, b2, b3, b4 = a0, a1, a2, a3, a4
    i0, i1, i2, i3, i4 = i0 * width, i1 * width, i2 * width, i3 * width, i4 * width  # where they begin
    half = w.shape[1] // 2
    share = w.shape[1] // turns  # of the next tile, for each group of this one
    ahead = len(w) * (w.shape[1] + turn * share)
    for group in range(len(w)):
        fetch(w, ahead + group * share)
        if turns == 1:
            fetch(w, ahead + group * share + half)  # the share is two lines of the cache
        e, place = group * step, group * 2 * half
        u, v = load(w, place), load(w, place + half)
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
    store(totals, 0, a0)
    store(totals, LANES, b0)
    store(totals, wide, a1)
    store(totals, wide + LANES, b1)
    store(totals, 2 * wide, a2)
    store(totals, 2 * wide + LANES, b2)
    store(totals, 3 * wide, a3)
    store(totals, 3 * wide + LANES, b3)
    store(totals, 4 * wide, a4)
    store(totals, 4 * wide + LANES, b4)


@device_function
def multiply_tile_by_one(rows, shift, i, w, totals):
    """The same for row i alone. It does nothing but read, and the processor itself fetches what is read in order."""
    step, half, begin = w.shape[1] // TILE, w.shape[1] // 2, i * (rows.strides[0] // rows.itemsize)
    a, b = fill(w, shift[i]), fill(w, shift[i])
    for group in range(len(w)):
        place, x = group * 2 * half, spread(rows, begin + group * step)
        a, b = dot(a, load(w, place), x), dot(b, load(w, place + half), x)
    store(totals, 0, a)
    store(totals, LANES, b)
