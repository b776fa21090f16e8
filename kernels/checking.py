"""Many readouts against all words, in one compiled region that other threads may share (team.py).

The plain functions are in minnmt/search/checking.py and estimating.py. Notebook 11.
"""

import numpy as np

from .decoding import BEST, RUN, WORDS, best_of_row, keep_best, n_list_parts, words_part
from .functions import LOW, ONE, ZERO, exp, largest_of
from .jit import device_function, helper, kernel
from .products import FEW_PARTS, round_row
from .team import PATIENCE, begin_round, claim, next_round, part_done, rows_of, stage_of, wait_for_helpers

BEYOND, FINER, WEIGH = range(BEST + 1, BEST + 4)  # more stages
ROOT = np.float32(12**-0.5)  # the deviation of a number between -0.5 and 0.5
SURE = np.float32(6)  # standard deviations: beyond them nothing is expected
ROUGH = np.float32(2e-6)  # a larger deviation of a log-probability asks for finer weights
FINEST = np.float32(1 / 254)  # of the deviation, with them
NOTHING = np.float32(-30)  # words so far below what a list weighs are left out: 80,000 of them weigh 1e-8
MOST = np.float32(80)  # of what exp is asked for
LARGE = np.float32(1e12)  # weights outside that float32 has too few digits for


@kernel
def best_of_all(o, ending, output, n, desk):
    """Fast because the output layer is read once for all rows, and that is shared."""
    N = len(o)
    desk.ending[:N] = ending
    for i in range(N):
        desk.scale[i], desk.shift[i] = round_row(o[i], output.weights.levels, desk.word_rows[i])
    for stage in range(WORDS, BEST + 1):
        parts = parts_of_check(stage, N, output)
        shared = parts >= FEW_PARTS
        round_id = begin_round(desk.board, stage, N) if shared else 0
        for part in range(parts):
            if not shared or claim(desk.board, round_id, part):
                check_part(output, desk, stage, part, N, 0)
                if shared:
                    part_done(desk.board)
        if shared:
            wait_for_helpers(desk.board, parts, PATIENCE * N)
    return desk.places[:N, :n], desk.logps[:N, :n]


@helper
def help_checking(output, desk, me, n_threads):
    """Take parts of what is checked, until it is over."""
    round_id = next_round(desk.board, 0)
    while round_id != 0:
        stage, N = stage_of(round_id), rows_of(round_id)
        parts = parts_of_check(stage, N, output)
        for k in range(parts):
            part = (k + me * parts // n_threads) % parts
            if claim(desk.board, round_id, part):
                check_part(output, desk, stage, part, N, me)
                part_done(desk.board)
        round_id = next_round(desk.board, round_id)


@device_function
def parts_of_check(stage, N, output):
    """How many there are."""
    return n_list_parts(output) if stage == WORDS else N


@device_function
def check_part(output, desk, stage, part, N, me):
    """One part of either stage."""
    if stage == WORDS:
        rounded = desk.word_rows[:N], desk.scale, desk.shift
        words_part(rounded, desk.sentence[:N], output, part, desk.totals[me], desk.logits[:N])
    else:
        best_of_row(desk.logits[part], desk.ending[part], desk.places[part], desk.logps[part])


@kernel
def beyond_lists(o, listed, layer, n, desk):
    """Fast because
    - the 8-bit weights are a quarter of what a float32 product would read, and one instruction multiplies 64;
    - only rows that need it are multiplied with what rounding left;
    - Python is asked once for all rows, and threads share them.
    """
    R, levels, capacity = len(o), layer.rough.weights.levels, len(desk.owner)
    desk.o[:R], desk.owner[:R] = o, listed.owner
    for i in range(R):
        best = listed.best[i]
        desk.inside[i] = dot_rows(o[i], layer.w[best]) + layer.bias[best] - listed.logps[i]
        desk.scale[i], desk.shift[i] = round_row(o[i], levels, desk.word_rows[i])
        desk.own[i], desk.common[i] = ROOT * np.sqrt(dot_rows(o[i], o[i])), ROOT * layer.longest * desk.scale[i]
    run_stage(WORDS, R, listed, layer, desk)
    run_stage(BEYOND, R, listed, layer, desk)
    n_finer = 0
    for i in range(R):
        if not desk.deviation[i] <= ROUGH:
            for e in range(len(desk.rest)):
                desk.rest[e] = o[i, e] - desk.scale[i] * np.float32(desk.word_rows[i, e])
            desk.own[i] = np.sqrt((FINEST * desk.own[i]) ** 2 + ROOT * ROOT * dot_rows(desk.rest, desk.rest))
            desk.common[i] *= FINEST
            desk.finer[n_finer], place = i, capacity + n_finer
            desk.word_rows[n_finer] = desk.word_rows[i]
            desk.scale[n_finer], desk.shift[n_finer] = desk.scale[i], desk.shift[i]
            desk.scale[place], desk.shift[place] = round_row(desk.rest, levels, desk.word_rows[place])
            n_finer += 1
    if n_finer:
        run_stage(FINER, n_finer, listed, layer, desk)
        run_stage(WEIGH, n_finer, listed, layer, desk)
    return desk.words[:R, :n], desk.logits[:R, :n], desk.unseen[:R], desk.weights[:R], desk.deviation[:R]


@device_function
def run_stage(stage, rows, listed, layer, desk):
    """The leader's part of a stage."""
    parts = parts_of_estimate(stage, rows, layer)
    shared = parts >= FEW_PARTS
    round_id = begin_round(desk.board, stage, rows) if shared else 0
    for part in range(parts):
        if not shared or claim(desk.board, round_id, part):
            estimate_part(listed.ids, listed.sizes, layer, desk, stage, part, rows, 0)
            if shared:
                part_done(desk.board)
    if shared:
        wait_for_helpers(desk.board, parts, PATIENCE * rows)


@helper
def help_estimating(ids, sizes, layer, desk, me, n_threads):
    """Take parts of what is estimated, until it is over."""
    round_id = next_round(desk.board, 0)
    while round_id != 0:
        stage, rows = stage_of(round_id), rows_of(round_id)
        parts = parts_of_estimate(stage, rows, layer)
        for k in range(parts):
            part = (k + me * parts // n_threads) % parts
            if claim(desk.board, round_id, part):
                estimate_part(ids, sizes, layer, desk, stage, part, rows, me)
                part_done(desk.board)
        round_id = next_round(desk.board, round_id)


@device_function
def parts_of_estimate(stage, rows, layer):
    """How many there are."""
    if stage == WORDS:
        return n_list_parts(layer.rough)
    return 2 * n_list_parts(layer.rough) if stage == FINER else rows


@device_function
def estimate_part(ids, sizes, layer, desk, stage, part, rows, me):
    """One part of a stage."""
    if stage == WORDS:
        multiply_words(desk, 0, rows, layer.rough, part, 0, me)
    elif stage == BEYOND:
        look_beyond(ids, sizes, layer, desk, part)
    elif stage == FINER:
        capacity, parts = len(desk.owner), n_list_parts(layer.rough)
        if part < parts:
            multiply_words(desk, 0, rows, layer.finer, part, capacity, me)
        else:
            multiply_words(desk, capacity, rows, layer.rough, part - parts, 2 * capacity, me)
    else:
        look_again(layer.rough.weights, desk, part)


@device_function
def multiply_words(desk, first, rows, output, part, place, me):
    """`rows` rounded rows from the first on times a part of an Output -> fills logits from `place` on."""
    end = first + rows
    rounded = desk.word_rows[first:end], desk.scale[first:end], desk.shift[first:end]
    words_part(rounded, desk.sentence[:rows], output, part, desk.totals[me], desk.all_logits[place : place + rows])


@device_function
def look_beyond(ids, sizes, layer, desk, i):
    """A row: the heaviest words outside its list, and what the others weigh."""
    row, words, logits, inside, b = desk.all_logits[i], desk.words[i], desk.logits[i], desk.inside[i], desk.owner[i]
    for k in range(sizes[b]):
        row[ids[b, k]] = LOW
    heaviest(row, words, logits)
    for k in range(len(logits)):
        if logits[k] > LOW:
            v = words[k]
            row[v] = LOW
            logits[k] = dot_rows(desk.o[i], layer.w[v]) + layer.bias[v] - inside
    reach = SURE * np.sqrt(desk.own[i] * desk.own[i] + desk.common[i] * desk.common[i])
    desk.unseen[i] = highest(row, layer.rough.weights.scale, reach) - inside
    weigh(row, layer.rough.weights.scale, desk, i)


@device_function
def look_again(weights, desk, k):
    """A row that was multiplied with what rounding left, too."""
    i, capacity = desk.finer[k], len(desk.owner)
    row, more, most = desk.all_logits[i], desk.all_logits[capacity + k], desk.all_logits[2 * capacity + k]
    for v in range(len(row)):
        row[v] += more[v] + (most[v] - weights.bias[v])
    weigh(row, weights.scale, desk, i)


@device_function
def heaviest(row, words, logits):
    """Logits (V) -> fills words (n) and logits (n), best first."""
    words[:] = 0
    logits[:] = LOW
    for begin in range(0, len(row), RUN):
        run = row[begin : begin + RUN]
        if largest_of(run) > logits[len(logits) - 1]:
            keep_best(run, begin, words, logits)


@device_function
def highest(row, scale, reach):
    """Logits (V), scales (V) -> what no logit + reach * scale is above."""
    found = LOW
    for begin in range(0, len(row), RUN):
        high = largest_of(row[begin : begin + RUN]) + reach * largest_of(scale[begin : begin + RUN])
        found = max(found, high)
    return found


@device_function
def dot_rows(x, y):
    """x (E), y (E) -> the sum of their products."""
    total = ZERO
    for e in range(len(x)):
        total += x[e] * y[e]
    return total


@device_function
def weigh(row, scale, desk, i):
    """Logits (V), scales (V) -> fills what the words weigh together, and how far log p may be from right."""
    total, blur, squares, inside, outside = ZERO, ZERO, ZERO, desk.inside[i], ZERO
    for begin in range(0, len(row), RUN):
        run, scales = row[begin : begin + RUN], scale[begin : begin + RUN]
        if largest_of(run) - inside > NOTHING:
            for j in range(len(run)):
                weight = exp(min(run[j] - inside, MOST))
                total += weight
                blur += scales[j] * weight
                squares += (scales[j] * weight) * (scales[j] * weight)
    for k in range(desk.logits.shape[1]):
        outside += exp(min(desk.logits[i, k], MOST))
    desk.weights[i] = total
    deviation = (desk.own[i] * np.sqrt(squares) + desk.common[i] * blur) / (ONE + outside + total)
    desk.deviation[i] = deviation if total < LARGE else -LOW
