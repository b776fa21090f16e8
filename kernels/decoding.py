"""A step of decoding in one compiled region: both cells, attention over each row's own sentence, readout, best words.

A row is a hypothesis; `sentence` says which sentence of the batch it belongs to. Arrays that come from fused products
hold several things side by side, the gates' three parts [r, u, candidate] always in front. What takes long is divided
into parts, which other threads may take over (team.py). The plain functions, with their shapes and equations, are in
minnmt/search/stages.py. Notebook 08.
"""

import numpy as np

from .attention import add_scaled, energy
from .functions import LOW, ZERO, exp, largest_of, softmax, tanh
from .gates import gated
from .jit import device_function, helper, kernel
from .products import (
    BLOCK,
    FEW_PARTS,
    GROUP,
    PART,
    SHARED,
    TILE,
    multiply_part,
    n_inputs,
    n_parts,
    round_row,
    shared_part,
)
from .team import PATIENCE, begin_round, claim, next_round, part_done, rows_of, stage_of, wait_for_helpers

MIDDLE, ATTEND, STATE, WORDS, BEST = range(5)  # stages of a step, each in parts
FEW_WORDS = 4096  # to choose the best of
RUN = 256  # logits that are looked at together


@kernel
def gru_cell(inputs, products, s):
    """One pass over memory, where numpy takes a dozen."""
    out = np.empty(s.shape, np.float32)
    for n in range(len(s)):
        cell(inputs[n], products[n], s[n], out[n])
    return out


@device_function
def cell(x, y, s, out):
    """One row of gru_cell."""
    H = len(s)
    for j in range(H):
        out[j] = gated(x[j], y[j], x[H + j], y[H + j], x[2 * H + j], y[2 * H + j], s[j])[0]


@kernel
def decoder_step(word, state, sentence, source, weights, output, ending, n, desk):
    """Fast because
    - Python is asked once for a whole step, and other threads can run in the meantime;
    - what takes long can be shared.
    """
    N, H = state.s.shape
    desk.sentence[:N], desk.ending[:N] = sentence, ending
    for stage in range(MIDDLE, BEST + 1):
        if stage == MIDDLE:
            for i in range(N):
                cell(word[i], state.products[i], state.s[i], desk.s1[i])
                desk.scale[i], desk.shift[i] = round_row(desk.s1[i], weights.middle.levels, desk.state_rows[i])
        elif stage == STATE:
            for i in range(N):
                cell(desk.context[i], desk.middle[i], desk.s1[i], desk.s[i])
                desk.scale[i], desk.shift[i] = round_row(desk.s[i], weights.state.levels, desk.state_rows[i])
        elif stage == WORDS:
            for i in range(N):
                read_out(desk.products[i], word[i], desk.context[i], H, desk.o[i])
                desk.scale[i], desk.shift[i] = round_row(desk.o[i], output.weights.levels, desk.word_rows[i])
        parts = parts_of_step(stage, N, weights, output)
        shared = parts >= FEW_PARTS and (stage != BEST or desk.logits.shape[1] >= FEW_WORDS)
        round_id = begin_round(desk.board, stage, N) if shared else 0
        for part in range(parts):
            if not shared or claim(desk.board, round_id, part):
                step_part(source, weights, output, desk, stage, part, N, 0)
                if shared:
                    part_done(desk.board)
        if shared:
            wait_for_helpers(desk.board, parts, PATIENCE * N)
    return desk.s[:N], desk.products[:N], desk.o[:N], desk.alpha[:N], desk.places[:N, :n], desk.logps[:N, :n]


@helper
def help_steps(source, weights, output, desk, me, n_threads):
    """Take parts of the steps of one batch, until it is over."""
    round_id = next_round(desk.board, 0)
    while round_id != 0:
        stage, N = stage_of(round_id), rows_of(round_id)
        parts = parts_of_step(stage, N, weights, output)
        for k in range(parts):
            part = (k + me * parts // n_threads) % parts
            if claim(desk.board, round_id, part):
                step_part(source, weights, output, desk, stage, part, N, me)
                part_done(desk.board)
        round_id = next_round(desk.board, round_id)


@device_function
def parts_of_step(stage, N, weights, output):
    """How many there are; nothing that changes within a round, or between two, is looked at."""
    if stage == SHARED:
        return n_parts(weights.word)
    if stage == MIDDLE:
        return n_parts(weights.middle)
    if stage == STATE:
        return n_parts(weights.state)
    if stage == WORDS:
        return n_lists(output) * n_list_parts(output)
    return N  # a row each


@device_function
def step_part(source, weights, output, desk, stage, part, N, me):
    """One part of a stage."""
    rows, totals = desk.state_rows[:N], desk.totals[me]
    if stage == SHARED:
        shared_part(weights.word, desk, part, N, me)
    elif stage == MIDDLE:
        multiply_part(rows, desk.scale, desk.shift, weights.middle, part, totals, desk.middle[:N])
    elif stage == ATTEND:
        attend_row(desk.middle[part], desk.sentence[part], source, desk.alpha[part], desk.context[part])
    elif stage == STATE:
        multiply_part(rows, desk.scale, desk.shift, weights.state, part, totals, desk.products[:N])
    elif stage == WORDS:
        rounded = desk.word_rows[:N], desk.scale, desk.shift
        words_part(rounded, desk.sentence[:N], output, part, totals, desk.logits[:N])
    else:
        size = output.sizes[desk.sentence[part]]
        best_of_row(desk.logits[part, :size], desk.ending[part], desk.places[part], desk.logps[part])


@kernel
def attend(products, sentence, source):
    """Nothing between the energies and the context is written to memory."""
    N, S, P = len(products), source.memory.shape[1], source.memory.shape[2] - len(source.v)
    alpha, context = np.empty((N, S), np.float32), np.empty((N, P), np.float32)
    for n in range(N):
        attend_row(products[n], sentence[n], source, alpha[n], context[n])
    return alpha, context


@device_function
def attend_row(products, b, source, alpha, context):
    """One row of attend -> fills alpha (S) and context (P)."""
    memory, lengths, v = source
    C, length = len(v), lengths[b]
    s_proj, largest = products[len(products) - C :], LOW
    for i in range(length):
        alpha[i] = energy(memory[b, i, :C], s_proj, v)
        largest = max(largest, alpha[i])
    softmax(alpha[:length], largest)
    alpha[length:] = ZERO
    context[:] = ZERO
    for i in range(length):
        add_scaled(alpha[i], memory[b, i, C:], context)


@kernel
def readout(products, word, context, H):
    """One pass over memory."""
    o = np.empty((len(products), products.shape[1] - 3 * H), np.float32)
    for n in range(len(o)):
        read_out(products[n], word[n], context[n], H, o[n])
    return o


@device_function
def read_out(products, word, context, H, o):
    """One row of readout."""
    x, y, z = products[3 * H :], word[3 * H :], context[3 * H :]
    for e in range(len(o)):
        o[e] = tanh(x[e] + y[e] + z[e])


@kernel
def word_logits(o, sentence, output):
    """Neighbours that have one list share the reading of its weights."""
    N, M, weights = len(o), 0, output.weights
    rows = np.empty((N, n_inputs(weights)), weights.w.dtype)
    scale, shift = np.empty(N, np.float32), np.empty(N, np.int32)
    for b in range(len(output.sizes)):
        M = max(M, output.sizes[b])
    logits = np.full((N, M), LOW, np.float32)
    for i in range(N):
        scale[i], shift[i] = round_row(o[i], weights.levels, rows[i])
    totals = np.empty((BLOCK + GROUP, PART * TILE), np.float32)
    for part in range(n_lists(output) * n_list_parts(output)):
        words_part((rows, scale, shift), sentence, output, part, totals, logits)
    return logits


@device_function
def n_lists(output):
    """How many there are; neighbours may have the same."""
    n = 0
    for b in range(len(output.begins)):
        n += b == 0 or output.begins[b] != output.begins[b - 1]
    return n


@device_function
def n_list_parts(output):
    """Of the longest list."""
    most = 0
    for b in range(len(output.sizes)):
        most = max(most, output.sizes[b])
    return (most + PART * TILE - 1) // (PART * TILE)


@device_function
def words_part(rounded, sentence, output, part, totals, logits):
    """One part of one list -> the logits of the rows that have this list, if there are any left."""
    rows, row_scale, shift = rounded
    w, scale, bias, levels = output.weights
    chosen, piece = divmod(part, n_list_parts(output))
    b = found = 0
    while found < chosen:  # the first sentence with that list
        b += 1
        found += output.begins[b] != output.begins[b - 1]
    begin, size = output.begins[b], output.sizes[b]
    first = 0
    while first < len(sentence) and output.begins[sentence[first]] != begin:
        first += 1
    last = first
    while last < len(sentence) and output.begins[sentence[last]] == begin:
        last += 1
    n_tiles = (size + TILE - 1) // TILE
    if first < last and piece * PART < n_tiles:
        words, own = slice(begin * TILE, begin * TILE + size), slice(first, last)
        weights = (w[begin : begin + n_tiles], scale[words], bias[words], levels)
        multiply_part(rows[own], row_scale[own], shift[own], weights, piece, totals, logits[own])


@kernel
def best_words(logits, sizes, ending, n):
    """One pass over memory: a run of logits stays in the cache for all that is done to it, and few hold a best word."""
    N = len(sizes)
    words, logps = np.empty((N, n), np.int64), np.empty((N, n), np.float32)
    for i in range(N):
        best_of_row(logits[i, : sizes[i]], ending[i], words[i], logps[i])
    return words, logps


@device_function
def best_of_row(row, ending, words, logps):
    """One row of best_words."""
    words[:] = 0
    logps[:] = LOW
    largest, total = LOW, ZERO
    for begin in range(0, len(row), RUN):
        run = row[begin : begin + RUN]
        high = largest_of(run)
        if high > largest:
            total *= exp(largest - high)
            largest = high
        for j in range(len(run)):
            total += exp(run[j] - largest)
        if high > logps[len(logps) - 1]:
            keep_best(run, begin, words, logps)
    if ending:
        words[:] = 0
        logps[:] = LOW
        logps[0] = row[0]
    shift = np.log(total)
    for k in range(len(logps)):
        logps[k] = (logps[k] - largest) - shift


@device_function
def keep_best(run, begin, words, values):
    """The best so far, best first, are in words and values; put those of a run in, whose first word is `begin`."""
    K = len(words)
    for j in range(len(run)):
        if run[j] > values[K - 1]:
            k = K - 1
            while k > 0 and run[j] > values[k - 1]:
                words[k], values[k] = words[k - 1], values[k - 1]
                k -= 1
            words[k], values[k] = begin + j, run[j]
