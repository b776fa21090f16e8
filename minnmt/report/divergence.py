"""Where decoding with a list parts from decoding without it, and the word that the list lacked.

The outputs part at the first unit in which they differ. If the full decoder's unit there is not in the list, that is
the missing word. If it is, a word further on may be missing: the hypothesis was dropped by the time it was needed.
If the list has every unit of the full output, only the scores changed: probabilities are divided by a smaller sum,
or hypotheses that left the list no longer take places in the beam.
"""

import math
from collections import Counter
from dataclasses import dataclass
from itertools import zip_longest

import numpy as np

from ..align.ranking import BELOW, NEVER
from ..search.forced import at_each_step
from ..text.vocab import EOS

AT_ONCE, LATER, SCORES = "missing at the first difference", "missing later", "no word is missing"
KINDS = {
    AT_ONCE: "the list lacks the full decoder's word there",
    LATER: "the list lacks a word that the full decoder wrote later",
    SCORES: "the list has the whole full output: scores changed",
}

LADDER = (20, 50, 100, 200, 500, 1000)  # values of n that a user may try next


@dataclass
class Missing:
    """A word that the full decoder wrote and the list lacks."""

    unit: str
    id: int
    step: int  # from 1
    rank: int | None = None  # in the full softmax, from 1
    prob: float | None = None  # there
    sources: list | None = None  # of {"unit", "rank", "prob"}, see explain(); None if there are no counts to look into
    needed_n: int | None = None  # the smallest n that brings it into the list
    why: str | None = None  # BEYOND, BELOW or NEVER of align/ranking.py


@dataclass
class Divergence:
    """A sentence whose two outputs differ."""

    line: int  # from 1
    source: str
    full_output: str
    list_output: str
    reference: str | None
    kind: str
    first_step: int  # from 1
    full_unit: str
    list_unit: str
    missing: Missing | None = None


def explain(missing, ranking, src_units, src_ids):
    """Fill in a Missing: its place among the candidates of the sentence's source units (eos is one), the best first.

    The rank and the probability are None where the two were never linked.
    """
    reason = ranking.reason(src_ids, missing.id)
    places = {link.src_id: {"rank": link.rank, "prob": link.prob} for link in reason.links}
    units = dict.fromkeys(zip(src_units, src_ids))  # a repeated unit once
    sources = [{"unit": unit, **places.get(src_id, {"rank": None, "prob": None})} for unit, src_id in units]
    missing.sources = sorted(sources, key=lambda source: source["rank"] or math.inf)
    missing.needed_n = reason.needed.rank if reason.needed else None
    missing.why = reason.why_missing


def part(full_ids, list_ids, listed):
    """Two different outputs, without eos, and the sentence's list -> (kind, first step, step of the missing word).

    Steps count from 0; the last is None when no word is missing.
    """
    pairs = zip_longest(full_ids, list_ids, fillvalue=EOS)
    first = next(t for t, (full, other) in enumerate(pairs) if full != other)
    missing = next((t for t, word in enumerate(full_ids) if word not in listed), None)
    # before the first difference nothing can be missing: the listed decoder wrote the same words
    return (SCORES if missing is None else AT_ONCE if missing == first else LATER), first, missing


def find_divergences(decodings, split, lists, vocab):
    """decodings of a Split, lists by line number -> [Divergence] in the order of the lines; ranks are yet to come."""
    found = []
    for i, (full, listed) in enumerate(zip(decodings.full, decodings.listed)):
        if full.best == listed.best:
            continue
        full_ids, list_ids = full.hypotheses[0].ids, listed.hypotheses[0].ids
        kind, first, step = part(full_ids, list_ids, set(lists[i].tolist()))
        units = [vocab.words[ids[first] if first < len(ids) else EOS] for ids in (full_ids, list_ids)]
        missing = None if step is None else Missing(vocab.words[full_ids[step]], full_ids[step], step + 1)
        texts = split.src[i], full.best, listed.best, split.trg[i] if split.trg else None
        found.append(Divergence(i + 1, *texts, kind, first + 1, *units, missing))
    return found


def explain_missing(divergences, decodings, src_ids, params, ranking=None, n_threads=1):
    """Give every missing word its rank and probability and, with a Ranking, the source words that could bring it.

    src_ids: the sentences' ids by line number.
    """
    chosen = [d for d in divergences if d.missing]
    full, src = ([found[d.line - 1] for d in chosen] for found in (decodings.full, src_ids))
    prefixes = [t.hypotheses[0].ids[: d.missing.step - 1] for d, t in zip(chosen, full)]

    def place(k, logp):
        own = logp[chosen[k].missing.id]
        return int((logp > own).sum()) + 1, float(np.exp(own))

    steps = at_each_step(place, src, prefixes, params, n_threads)
    for d, translation, ids, places in zip(chosen, full, src, steps):
        d.missing.rank, d.missing.prob = places[-1]  # the word follows the prefix
        if ranking:
            explain(d.missing, ranking, [*translation.src_units, "eos"], [*ids, EOS])


@dataclass
class Summary:
    """The divergences together."""

    kinds: dict  # kind -> number of sentences
    words: list  # of the missing words {"unit", "times", "needed_n", NEVER: times}, the most frequent first
    brought_by: dict | None  # n -> how many of the missing words are in the list then; None without counts


def summarise(divergences, ranking=None):
    missing = [d.missing for d in divergences if d.missing]
    kinds = Counter(d.kind for d in divergences)
    times = Counter(m.unit for m in missing)
    words = []
    for unit, n in sorted(times.items(), key=lambda item: (-item[1], item[0])):
        mine = [m for m in missing if m.unit == unit]
        needed = sorted({m.needed_n for m in mine if m.needed_n})
        words.append({"unit": unit, "times": n, "needed_n": needed, NEVER: sum(m.why == NEVER for m in mine)})
    brought_by = None
    if ranking:
        needed = [m.needed_n for m in missing if m.needed_n]
        brought_by = {f"n = {n}": sum(m <= n for m in needed) for n in LADDER if n > ranking.n}
        brought_by["every candidate that was ever linked"] = len(needed)
        brought_by[NEVER] = sum(m.why == NEVER for m in missing)
        if ranking.min_prob:
            brought_by[BELOW] = sum(m.why == BELOW for m in missing)
    return Summary({kind: kinds[kind] for kind in KINDS}, words, brought_by)
