"""The trace of a translation: all that the page shows of one sentence, as a dictionary for JSON.

Hypotheses are nodes of one tree: a node is its words, so different searches share nodes. A search is the nodes that it
kept and dropped at each step. Vectors are kept for the steps of translations that won, at 8 bits a number.

A Variant (variant.py) says what the sentence is translated with: a model, and the counts that its lists come from.
"""

import base64
import json
import re
from bisect import bisect_left

import numpy as np

from ...errors import UserError, quoted
from ...search.cost import Shape, step_cost
from ...text.vocab import EOS, UNK
from . import listing
from .recorder import Recorder

SLIDER = 5, 500  # the smallest and the largest n
EVERY_N = 28  # units up to which every n is searched; for longer sentences some of them
MOST_NODES = 2000  # of the tree of all searches; where it would grow larger, fewer n are searched
MOST_BYTES = 800_000  # of a record as JSON; likewise
NEGLIGIBLE = 1e-5  # probability of new words in a list that changes no search: scores differ by less
MOST_UNITS = 200  # of a sentence
MOST_VALUES = 96  # of a vector that are drawn
MOST_STEPS = 100  # whose vectors are drawn: those of the full translation, then of those that most n lead to
EXACT, CLOSE = 2e-6, 5e-5  # what is kept may be off by this share: on the way of a translation, and elsewhere
SURROGATE = re.compile("[\ud800-\udfff]")  # what the shell hands over of bytes that are no text
VECTORS = ("y", "gates1", "cand1", "s1", "c", "gates2", "cand2", "s", "o")


def stops(n, coarseness):
    """The values that n can take: `n` is one; every value (0), fewer of the larger ones (1), or few (2)."""
    least, most = min(n, SLIDER[0]), max(n, SLIDER[1])
    values = (
        range(least, SLIDER[1]),
        [*range(least, 50), *range(50, 100, 2), *range(100, 200, 5), *range(200, SLIDER[1], 10)],
        [least, 5, 7, 10, 15, 20, 30, 50, 70, 100, 150, 200, 300],
    )[coarseness]
    return sorted({n, *values, *range(SLIDER[1], most, 50), most})


def trace(sentence, variant, forced=()):
    """A raw sentence -> its record; with `forced`, ids that every translation has to begin with."""
    model = variant.model
    units = model.src.units(sentence)
    check(sentence, units)
    src_ids = model.src.vocab.encode(units)
    if len(forced) > variant.settings.longest(src_ids):
        raise UserError(f"{len(forced)} words are forced, but a translation of this sentence cannot be so long")
    recorder = Recorder(src_ids, model.params, variant.settings, tuple(forced))
    with recorder.watching():
        full = recorder.search()
    if not variant.ranking:
        return make_record(sentence, units, variant, recorder, full)
    needed = variant.ranking.needed([*src_ids, EOS])
    needed[list(forced)] = 0
    for ns, searches in search_stops(recorder, needed, variant.ranking.n):
        record = make_record(sentence, units, variant, recorder, full, needed, searches, ns)
        if len(json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode()) <= MOST_BYTES:
            break
    return record


def make_record(sentence, units, variant, recorder, full, needed=None, searches=(), ns=(0,)):
    """Searches of all words and of the lists of some n -> the record."""
    src_ids, forced = recorder.src, recorder.forced
    tree = Tree(recorder, by_importance(full, searches, variant))
    ways = ways_by_n(full, searches, ns)
    record = {
        "source": sentence, "units": [*units, "eos"], "ids": [*src_ids, EOS], "forced": list(map(int, forced)),
        "unknown": [i for i, word in enumerate(src_ids) if word == UNK],
        "start": start_record(recorder), "cost": cost_record(variant, len(src_ids)),
        "full": tree.search_record(full), "lists": None, "words": [], "nodes": tree.record(),
        "steps": {
            tree.numbers[before]: step_record(recorder.steps[before], VECTORS if i < MOST_STEPS else ())
            for i, before in enumerate(tree.told)
        },
        "filling": listing.filling_record(variant.epochs, units, src_ids),
    }  # fmt: skip
    add_words(record, recorder, tree, needed, ways)
    if variant.ranking:
        record["lists"] = lists_record(record, recorder, tree, needed, searches, variant, ns)
        record["lists"]["mass"] = mass_record(recorder, tree, full, needed, searches, ns)
    record["words"] = spell(record, variant.model.trg.vocab)
    return record


def check(sentence, units):
    """Can the page show it?"""
    if SURROGATE.search(sentence):
        raise UserError(f"the sentence {quoted(sentence)} is not UTF-8 text")
    if not units:
        raise UserError("the sentence is blank: give one with a word in it")
    if len(units) > MOST_UNITS:
        raise UserError(
            f"the sentence has {len(units):,} units, a page can show {MOST_UNITS}: give one sentence, not a text"
        )


def search_stops(recorder, needed, n):
    """Search with the lists of fewer and fewer n: yields these n, and what search_each_n found for them."""
    for coarseness in range(len(recorder.src) > EVERY_N, 3):
        ns = stops(n, coarseness)
        with recorder.watching():
            found = search_each_n(recorder, needed, ns)
        nodes = {words for _, search in found for kept, _ in search.rounds for words in kept}
        if len(nodes) <= MOST_NODES or coarseness == 2:
            yield ns, found


def search_each_n(recorder, needed, ns):
    """Search with the list of every n -> [(the first n of it, Search)]: one for every way that the search takes."""
    found, new, last = [], np.inf, 0
    for n in ns:
        new += recorder.most[(needed > last) & (needed <= n)].sum()
        last = n
        if new < NEGLIGIBLE:
            continue  # every step has the same probabilities as before
        search, new = recorder.search(np.flatnonzero(needed <= n)), 0.0
        if not found or not search.same_way(found[-1][1]):
            found.append((n, search))
    return found


def by_importance(full, searches, variant):
    """The search of all words, of the n that was asked for, and the others, those that most n lead to first."""
    if not searches:
        return [full]
    begins = [n for n, _ in searches]
    widths = np.diff([*begins, max(SLIDER[1], variant.ranking.n) + 1])
    asked = np.searchsorted(begins, variant.ranking.n, side="right") - 1
    order = sorted(range(len(searches)), key=lambda i: (i != asked, -widths[i]))
    return [full, *(searches[i][1] for i in order)]


class Tree:
    """Numbers for all hypotheses of some searches: the empty one is 0, and every parent comes before its children."""

    def __init__(self, recorder, searches):
        self.steps = recorder.steps
        seen = {(): None}
        for search in searches:
            for kept, pruned in search.rounds:
                seen.update(dict.fromkeys([*kept, *pruned]))
        self.numbers = {words: i for i, words in enumerate(seen)}
        winners = [search.winner for search in searches]
        self.told = dict.fromkeys(words[:t] for words in winners for t in range(len(words)))  # on the way of these

    def search_record(self, search):
        number = self.numbers.__getitem__
        rounds = [[list(map(number, kept)), list(map(number, pruned))] for kept, pruned in search.rounds]
        return {"winner": number(search.winner), "rounds": rounds}

    def record(self):
        """Of every node but the first: its parent, its last word, and that word's ln p in the softmax of all words."""
        nodes = list(self.numbers)[1:]
        return {
            "parents": [self.numbers[words[:-1]] for words in nodes], "words": [words[-1] for words in nodes],
            "logps": [round(float(self.steps[words[:-1]].logps[0, words[-1]]), 6) for words in nodes],
        }  # fmt: skip


# Vectors


def packed(vector):
    """A vector -> its size, its largest number, and its first values as bytes, 128 for 0, in base64."""
    values = np.ravel(vector).astype(np.float64)
    largest = float(np.abs(values).max(initial=0.0)) or 1.0
    levels = np.round(values[:MOST_VALUES] / largest * 127 + 128).astype(np.uint8)
    return [len(values), float(f"{largest:.4g}"), base64.b64encode(levels.tobytes()).decode()]


def halves_packed(gates):
    return [packed(half) for half in np.split(np.ravel(gates), 2)]


def start_record(recorder):
    s0, memory, _ = recorder.start
    return {"s0": packed(s0), "annotations": [packed(h) for h in memory.h[:, 0]]}


def step_record(step, names):
    """The vectors of a Step that are named, gates cut into r and u, and its attention: briefly, if none is named."""
    record = {}
    for name in names:
        value = getattr(step, name)
        record[name] = halves_packed(value) if name.startswith("gates") else packed(value)
    if names:
        record["energy"] = [round(float(e), 2) for e in step.energy[:, 0]]
    record["alpha"] = [round(float(a), 5 if names else 3) for a in step.alpha[:, 0]]
    return record


# Words, lists, cost


def ways_by_n(full, searches, ns):
    """-> {words before a step: the smallest and the largest n whose translation comes by}: all n for the full one."""
    found = {full.winner[:t]: (ns[0], ns[-1]) for t in range(len(full.winner))}
    ends = [n - 1 for n, _ in searches[1:]] + [ns[-1]]
    for (begin, search), end in zip(searches, ends):
        for t in range(len(search.winner)):
            least, most = found.get(search.winner[:t], (begin, end))
            found[search.winner[:t]] = min(least, begin), max(most, end)
    return found


def add_words(record, recorder, tree, needed, ways):
    """Give every step the best words of its softmax: of all words and, for every n that comes by, of the list."""
    needed = np.full(len(recorder.most), np.inf) if needed is None else needed
    for before in tree.told:
        logps = recorder.steps[before].logps[0]
        ids = listing.best_words(logps, needed, *ways[before])
        record["steps"][tree.numbers[before]]["best"] = [ids, [round(float(logps[i]), 6) for i in ids]]


def lists_record(record, recorder, tree, needed, searches, variant, ns):
    """What changes with n."""
    shown = {word for step in record["steps"].values() for word in step["best"][0]} | set(record["nodes"]["words"])
    counts, linked = listing.counts_record(variant.ranking, record["ids"], ns[-1], shown)
    record["words"] = linked
    return {
        "ns": ns, "sizes": listing.list_sizes(needed, ns),
        "searches": [{"from": n, **tree.search_record(search)} for n, search in searches],
        "counts": counts,
    }  # fmt: skip


def mass_record(recorder, tree, full, needed, searches, ns):
    """{node: what the list keeps there}: for every n on the way of the full translation, else where n comes by."""
    asked = {full.winner[:t]: np.ones(len(ns), bool) for t in range(len(full.winner))}
    ends = [n for n, _ in searches[1:]] + [ns[-1] + 1]
    for (begin, search), end in zip(searches, ends):
        for before in {words[:-1] for kept, pruned in search.rounds for words in [*kept, *pruned]}:
            asked.setdefault(before, np.zeros(len(ns), bool))[ns.index(begin) : bisect_left(ns, end)] = True
    found = {}
    for before, places in asked.items():
        mass = listing.mass_by_n(np.exp(recorder.steps[before].logps[0].astype(np.float64)), needed, ns)
        tolerance = EXACT if before in tree.told else CLOSE
        found[tree.numbers[before]] = listing.changes(mass, ns, places, tolerance)
    return found


def cost_record(variant, length):
    """Of a step: {"rest": ..., "word": ...}, operations and bytes of the network, and of one word of the softmax."""
    params = variant.model.params
    E, H = params.trg_embedding.shape[1], params.start.b.shape[0]
    rest, word = step_cost(Shape(E, H, length, variant.settings.beam, n_words=1))
    return {"rest": rest._asdict(), "word": word._asdict()}


def spell(record, vocab):
    """{id: spelling} of all target words that the record names; its "words" are those that the counts link."""
    ids = {EOS, UNK, *record["nodes"]["words"], *(w for step in record["steps"].values() for w in step["best"][0])}
    ids.update(record["words"])
    if record["filling"]:
        ids |= set(record["filling"]["targets"])
    return {int(i): vocab.words[i] for i in sorted(ids)}
