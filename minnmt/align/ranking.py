"""Why is a target word in a sentence's list, or missing from it? Its ranks among the candidates of the source words.

`candidates why` asks for one word, `audit` for all that the full decoder wrote and the list lacks. How the answer is
written down is in inspect.py and report/. Notebook 07.
"""

from copy import copy
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ..text.batches import pad
from ..text.vocab import EOS, UNK
from .candidates import best_candidates, probabilities
from .selector import Selector, always_words

BEYOND, BELOW, NEVER = "beyond n", "below --min-prob", "never linked"


class Link(NamedTuple):
    """A source word and one of its candidates."""

    src_id: int
    trg_id: int
    rank: int  # among the source word's candidates, from 1
    prob: float  # by which it is ranked
    barred: str  # what keeps the source word from bringing the target word, BEYOND or BELOW, or ""


class Reason(NamedTuple):
    """Why a target id is in a sentence's list, or not."""

    trg_id: int
    always: str  # why it is in every list, or ""
    links: list  # its Links with the source words of the sentence, the best rank first

    @property
    def included(self):
        return bool(self.always) or any(not link.barred for link in self.links)

    @property
    def needed(self):
        """The Link that brings the word, with the smallest n that does it: its rank; None if no n does."""
        return next((link for link in self.links if link.barred != BELOW), None)

    @property
    def why_missing(self):
        return BEYOND if self.needed else BELOW if self.links else NEVER


class Ranking:
    """All that the counts link with a source word, however far down, and which of it n, min_prob and k let through."""

    def __init__(self, counts, n, by="source", min_prob=0.0, frequent=0):
        self.counts, self.n, self.by, self.min_prob, self.frequent = counts, n, by, min_prob, frequent
        self.candidates = best_candidates(counts, counts.n_trg, by)

    def with_n(self, n):
        """The same ranking, of which another number is let through."""
        other = copy(self)
        other.n = n
        return other

    def links(self, src_id, trg_id=None):
        """The Links of a source word: with its n best candidates, best first, or with one target word, if there are."""
        ids, probs = self.candidates.row(src_id)
        links = []
        for place in np.arange(len(ids))[: self.n] if trg_id is None else np.flatnonzero(ids == trg_id):
            below = probs[place] < np.float32(self.min_prob)  # as best_candidates() compares
            barred = BELOW if below else BEYOND if place >= self.n else ""
            links.append(Link(src_id, int(ids[place]), int(place) + 1, float(probs[place]), barred))
        return links

    def reason(self, src_ids, trg_id):
        """The Reason for one target id and a sentence's source ids (eos among them)."""
        always = ""
        if trg_id in (EOS, UNK):
            always = "eos" if trg_id == EOS else "UNK"
        elif trg_id < len(always_words(self.counts.n_trg, self.frequent)):
            always = f"one of the {self.frequent} most frequent words"
        links = [link for src_id in dict.fromkeys(src_ids) for link in self.links(src_id, trg_id)]
        return Reason(trg_id, always, sorted(links, key=lambda link: link.rank))

    def details(self, link):
        """A Link -> its count, p(target | source), p(source | target), and the rank back: from 1, by count, among the
        target word's source words."""
        counts = self.counts
        column = np.flatnonzero(counts.indices == link.trg_id)  # its cells, by ascending source id
        cell = column[np.searchsorted(column, counts.indptr[link.src_id])]
        count = counts.data[cell]
        above = (counts.data[column] > count) | ((counts.data[column] == count) & (column < cell))
        p_trg, p_src = (float(p[cell]) for p in self._probabilities)
        return float(count), p_trg, p_src, int(above.sum()) + 1

    @cached_property
    def _probabilities(self):
        return probabilities(self.counts, "source"), probabilities(self.counts, "target")

    def needed(self, src_ids):
        """(Vt) for every target id the smallest n that brings it into a sentence's list: 0 always, inf never."""
        needed = np.full(self.counts.n_trg, np.inf)
        for src_id in dict.fromkeys(src_ids):
            ids, probs = self.candidates.row(src_id)
            allowed = probs >= np.float32(self.min_prob)
            ids, ranks = ids[allowed], np.arange(1, len(ids) + 1)[allowed]
            needed[ids] = np.minimum(needed[ids], ranks)
        needed[: len(always_words(self.counts.n_trg, self.frequent))] = 0
        return needed

    def list_size(self, src_ids):
        """How many target words a sentence's list has."""
        selector = Selector(best_candidates(self.counts, self.n, self.by, self.min_prob), self.frequent)
        return len(selector.lists(*pad([src_ids]))[0])
