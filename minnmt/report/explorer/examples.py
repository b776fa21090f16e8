"""Sentences that teach most: found in a text by translating its beginning with and without lists."""

from dataclasses import replace

import numpy as np

from ...align.candidates import best_candidates
from ...align.selector import Selector
from ...compiled import reading
from ...search.greedy import greedy_search
from ...search.translate import translate
from ...text.batches import pad
from ...text.bpe import SEPARATOR
from ...text.split import Split
from ..audit import Decodings
from ..divergence import SCORES, find_divergences

SHORTEST, LONGEST = 5, 14  # units
N_LINES = 80  # that are looked at
LACKS = "The list lacks a word that the full translation has."
SHIFTS = "No word is missing, and yet the list changes the translation: fewer words compete, so the scores change."
BEAM = "Greedy search, a beam of one, would translate this differently."
ORDER = "The order changes: attention jumps back and forth."
PIECES = "A word of this sentence is cut into several units."
PLAIN = "Nothing special happens here."


def instructive(lines, variant, n=5):
    """Raw lines -> [(sentence, what it shows)]: the shortest for each thing to be seen, as far as the text has it."""
    model, chosen = variant.model, {}
    sized = [(len(model.src.units(line)), line) for line in dict.fromkeys(lines)]
    lines = [line for size, line in sized if SHORTEST <= size <= LONGEST][:N_LINES]
    if len(lines) < N_LINES:
        lines += [line for size, line in sized if 0 < size < SHORTEST][: N_LINES - len(lines)]
    with reading():
        found = look_at(lines, variant)
    for note in (LACKS, SHIFTS, BEAM, ORDER, PIECES, *[PLAIN] * n, *[LACKS] * n, *[SHIFTS] * n):
        fitting = [line for line in lines if note in found[line] and line not in chosen]
        if fitting and len(chosen) < n:
            chosen[min(fitting, key=len)] = note
    return list(chosen.items())


def look_at(lines, variant):
    """-> {line: the notes that are true of it}."""
    model = variant.model
    full = translate(lines, model, replace(variant.settings, keep_attention=True), precision="float32")  # as the page
    notes = {line: {PLAIN} for line in lines}
    for line, translation in zip(lines, full):
        ids, _, _, alpha = translation.hypotheses[0]
        if greedy_search(model.src.ids(line), model.params, len(ids) + 10)[0] != ids:
            notes[line].add(BEAM)
        if (np.diff(alpha[:-1, :-1].argmax(axis=1)) < -1).sum() > 1:
            notes[line].add(ORDER)
        if any(unit.endswith(SEPARATOR) for unit in translation.src_units):
            notes[line].add(PIECES)
    for divergence in divergences(lines, full, variant):
        notes[lines[divergence.line - 1]] = {SHIFTS if divergence.kind == SCORES else LACKS}
    return notes


def divergences(lines, full, variant):
    """Where the variant's lists change the translation."""
    if not variant.ranking:
        return []
    ranking, model = variant.ranking, variant.model
    selector = Selector(best_candidates(ranking.counts, ranking.n, ranking.by, ranking.min_prob), ranking.frequent)
    listed = translate(lines, model, variant.settings, selector=selector, precision="float32")
    lists = {i: selector.lists(*pad([model.src.ids(line)]))[0] for i, line in enumerate(lines)}
    return find_divergences(Decodings(full, listed, 0.0, 0.0), Split(lines, None), lists, model.trg.vocab)
