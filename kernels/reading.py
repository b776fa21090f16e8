"""Reading the source in one compiled region: both directions of the encoder, and what attention looks at.

The two directions are two parts, and pieces of the weights of words and of annotations are parts as well: other threads
may take them over (team.py). The plain function, with its shapes and equations, is in minnmt/search/stages.py.
Notebook 08.
"""

import numpy as np

from .decoding import cell
from .functions import ZERO
from .jit import device_function, helper, kernel
from .products import SHARED, multiply_part, n_parts, round_row, shared_part
from .team import PATIENCE, begin_round, claim, next_round, part_done, rows_of, stage_of, wait_for_helpers

READ, ANNOTATE = range(2)  # stages, each in parts


@kernel
def annotate(inputs, lengths, weights, desk):
    """The sentences that have a word at a position are read together; the two directions are two parts."""
    B, S, C = desk.h.shape
    desk.order[:] = np.argsort(-lengths, kind="mergesort")  # the longest first
    for stage in range(READ, ANNOTATE + 1):
        if stage == ANNOTATE:
            h = desk.h.reshape(B * S, C)
            for i in range(B * S):
                desk.scale[i], desk.shift[i] = round_row(h[i], weights.annotation.levels, desk.rows[i])
        parts = parts_of_reading(stage, weights)
        round_id = begin_round(desk.board, stage, 0)
        for part in range(parts):
            if claim(desk.board, round_id, part):
                reading_part(inputs, lengths, weights, desk, stage, part, 0, 0)
                part_done(desk.board)
        wait_for_helpers(desk.board, parts, PATIENCE * len(desk.rows))
    return desk.h, desk.memory


@helper
def help_reading(inputs, lengths, weights, desk, me, n_threads):
    """Take parts of annotate, until it is over."""
    round_id = next_round(desk.board, 0)
    while round_id != 0:
        stage, N = stage_of(round_id), rows_of(round_id)
        parts = parts_of_reading(stage, weights)
        for k in range(parts):
            part = (k + me * parts // n_threads) % parts
            if claim(desk.board, round_id, part):
                reading_part(inputs, lengths, weights, desk, stage, part, N, me)
                part_done(desk.board)
        round_id = next_round(desk.board, round_id)


@device_function
def parts_of_reading(stage, weights):
    """How many there are."""
    if stage == SHARED:
        return n_parts(weights.word)
    return 2 if stage == READ else n_parts(weights.annotation)


@device_function
def reading_part(inputs, lengths, weights, desk, stage, part, N, me):
    """One direction, or some tiles of the weights of annotations, or of N words."""
    B, S, C = desk.h.shape
    if stage == SHARED:
        shared_part(weights.word, desk, part, N, me)
    elif stage == READ:
        u = weights.u_forward if part == 0 else weights.u_backward
        read(inputs, lengths, u, part, desk, desk.totals[me])
    else:
        memory = desk.memory.reshape(B * S, desk.memory.shape[2])
        multiply_part(desk.rows, desk.scale, desk.shift, weights.annotation, part, desk.totals[me], memory)


@device_function
def read(inputs, lengths, u, way, desk, totals):
    """One GRU reads all sentences, forwards (way 0) or backwards (1) -> fills its half of h."""
    h, order, B, S, H = desk.h, desk.order, len(desk.h), desk.h.shape[1], desk.h.shape[2] // 2
    state, products, rows = desk.state[way], desk.products[way], desk.state_rows[way]
    scale, shift = desk.state_scale[way], desk.state_shift[way]
    state[:] = ZERO
    for step in range(S):
        i = step if way == 0 else S - 1 - step
        n = 0
        while n < B and lengths[order[n]] > i:
            scale[n], shift[n] = round_row(state[n], u.levels, rows[n])
            n += 1
        for part in range(n_parts(u)):
            multiply_part(rows[:n], scale, shift, u, part, totals, products[:n])
        for k in range(n):
            b = order[k]
            out = h[b, i, way * H : (way + 1) * H]
            cell(inputs[b, i, way * 3 * H : (way + 1) * 3 * H], products[k], state[k], out)
            state[k] = out
        for k in range(n, B):
            h[order[k], i, way * H : (way + 1) * H] = ZERO
