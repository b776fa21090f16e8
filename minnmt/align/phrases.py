"""Candidates of phrases: counts keyed by two or three source words that stand together.

    count[f f', e] += alpha_f + alpha_f'   where the sum > threshold   (26)  f, f': neighbours, e: target word

An idiom's words may never be linked one by one with what they mean together, or too rarely to be among the n best; the
phrase has a list of its own, of up to 20 words beside those that its words bring already. What was linked once only is
left out. Notebook 11.
"""

from dataclasses import dataclass, field

import numpy as np

from ..arrays import ArrayFile, as_json_array, save_arrays
from ..errors import UserError
from ..ranks import ALONE
from .candidates import best_candidates
from .counts import LARGEST, MOST_WEIGHT, Counts
from .selector import always_words
from .sparse import offsets

LENGTHS = (2, 3)
THRESHOLD = 0.5  # of the attention that a target word pays to a phrase
MOST = 20  # candidates of a phrase
LEAST_SEEN = 2  # times
WAITING = 1 << 22  # links that are kept before they are added up
NO_WORD = -1  # in the place of the third word of two


def phrase_links(alphas, batch, length, threshold=THRESHOLD):
    """alphas (T,S,B), a Batch -> phrases (L,3) of `length` words, target ids (L), weights (L) above the threshold."""
    S = alphas.shape[1] - length + 1
    shifted = [slice(i, i + S) for i in range(length)]
    total = sum(alphas[:, part] for part in shifted)  # (26)
    real = np.prod([batch.src_mask[part] for part in shifted], axis=0) > 0
    t, i, b = np.nonzero((total > threshold) & real & (batch.trg_mask[:, None] > 0))
    phrases = np.full((len(t), max(LENGTHS)), NO_WORD, np.int32)
    for place in range(length):
        phrases[:, place] = batch.src_ids[i + place, b]
    return phrases, batch.trg_ids[t, b].astype(np.int32), total[t, i, b].astype(np.float32)


class PhraseAccumulator:
    """Adds attention up, as accumulator.py does for words."""

    def __init__(self, n_src, n_trg, threshold=THRESHOLD):
        self.n_src, self.n_trg, self.threshold = n_src, n_trg, threshold
        self.links, self.n, self.sum = [], 0, None

    def add_all(self, attention, ranks=ALONE):
        """Many (alphas (T,S,B), Batch); of several ranks, in their order, into the first one's counts."""
        for found in ranks.to_first([self.links_of(*each) for each in attention]):
            self.links += found
            self.n += sum(len(trg) for _, trg, *_ in found)
            if self.n >= WAITING:
                self._add_up()

    def links_of(self, alphas, batch):
        """alphas (T,S,B), a Batch -> [(phrases, target ids, weights, times)] for each length of phrases."""
        lengths = [length for length in LENGTHS if alphas.shape[1] >= length]
        found = [phrase_links(alphas, batch, length, self.threshold) for length in lengths]
        return [(*links, np.ones(len(links[1]), np.int32)) for links in found]

    def _add_up(self):
        """Links of the same phrase and word become one."""
        parts = [*([self.sum] if self.sum else []), *self.links]
        empty = np.zeros((0, max(LENGTHS)), np.int32), *(np.zeros(0, kind) for kind in (np.int32, np.float32, np.int32))
        phrases, trg, weights, seen = (np.concatenate(arrays) for arrays in zip(empty, *parts))
        order = np.lexsort((trg, *phrases.T[::-1]))
        keys = np.column_stack([phrases, trg])[order]
        first = np.flatnonzero(differs_from_last(keys))
        total, times = (np.add.reduceat(a[order], first) if len(first) else a for a in (weights, seen))
        self.sum, self.links, self.n = (keys[first, :-1], keys[first, -1], total, times), [], 0

    def counts(self, info=None):
        """-> PhraseCounts."""
        self._add_up()
        phrases, trg, weights, seen = self.sum
        kept = seen >= LEAST_SEEN
        return PhraseCounts.from_cells(phrases[kept], trg[kept], weights[kept], self.n_src, self.n_trg, info)


@dataclass
class PhraseCounts:
    """A sparse table whose rows are phrases, in ascending order."""

    phrases: np.ndarray  # (P,3) source ids
    table: Counts  # (P rows, target words)
    n_src: int
    info: dict = field(default_factory=dict)

    @classmethod
    def from_cells(cls, phrases, trg, weights, n_src, n_trg, info=None):
        """Cells sorted by phrase, then by target id, each once."""
        new = differs_from_last(phrases)
        row = np.cumsum(new) - 1
        n_rows = int(new.sum())
        table = Counts(offsets(np.bincount(row, minlength=n_rows)), trg.astype(np.int32), weights, n_trg)
        return cls(phrases[new].astype(np.int32).reshape(n_rows, max(LENGTHS)), table, n_src, info or {})

    def save(self, path):
        info = as_json_array({**self.info, "n_src": self.n_src, "n_trg": self.table.n_trg})
        save_arrays(path, {"phrases": self.phrases, **self.table.arrays(), "info": info})

    @classmethod
    def load(cls, path, n_src, n_trg):
        """Read a file; one of another model is refused."""
        with ArrayFile(path, "make it again with align --method phrases") as file:
            info = file.read_json("info")
            sizes = info.pop("n_src", None), info.pop("n_trg", None)
            if not all(type(size) is int and 0 <= size <= LARGEST for size in sizes):
                raise UserError(f"{path} holds no phrases: {file.remedy}")
            if sizes != (n_src, n_trg):
                raise UserError(
                    f"{path} is of {sizes[0]} source and {sizes[1]} target words, the model has {n_src} and {n_trg}: "
                    "it is of another model"
                )
            n_rows = file.member("phrases").shape[0]
            phrases = file.read("phrases", np.int32, (n_rows, max(LENGTHS)), least=NO_WORD, most=n_src - 1)
            indptr = file.read("indptr", np.int64, (n_rows + 1,), least=0)
            n_cells = int(indptr[-1])
            indices = file.read("indices", np.int32, (n_cells,), least=0, most=n_trg - 1)
            data = file.read("data", np.float32, (n_cells,), least=0, most=MOST_WEIGHT)
            if indptr[0] or (indptr[1:] < indptr[:-1]).any() or not is_ascending(phrases):
                raise UserError(f"{path}: its phrases do not follow each other: {file.remedy}")
            return cls(phrases, Counts(indptr, indices, data, n_trg), n_src, info)

    def beside(self, candidates, most=MOST):
        """Candidates of words -> Candidates whose rows are the phrases: the best that their words do not bring."""
        brought = candidates.rows * candidates.n_trg + candidates.ids  # a number for each source and target word
        words = self.phrases[self.table.rows].astype(np.int64)  # (cells,3); NO_WORD gives a number below 0: no cell
        own = words * self.table.n_trg + self.table.indices[:, None]
        return best_candidates(self.table.select(~np.isin(own, brought).any(axis=1)), most)


def differs_from_last(rows):
    """rows (N,K) -> (N) is it another than the row before it?"""
    new = np.ones(len(rows), bool)
    new[1:] = (rows[1:] != rows[:-1]).any(axis=1)
    return new


def is_ascending(phrases):
    """Is every phrase after the one before it?"""
    order = np.lexsort(phrases.T[::-1])
    return bool((order == np.arange(len(phrases))).all())


class PhraseSelector:
    """Lists of the phrases' own candidates; eos and UNK are in all of them."""

    def __init__(self, counts, candidates, most=MOST):
        """PhraseCounts; the words' Candidates, beside which they are to be."""
        self.counts, self.candidates = counts, counts.beside(candidates, most)
        self.rows = {tuple(phrase): p for p, phrase in enumerate(counts.phrases.tolist())}
        self.always = always_words(counts.table.n_trg, 0).astype(np.int64)

    def lists(self, src_ids, src_mask):
        """src_ids, src_mask (S,B) -> B arrays of target ids, ascending, each once."""
        sentences = (src_ids[src_mask[:, b] > 0, b].tolist() for b in range(src_ids.shape[1]))
        return [np.unique(np.concatenate([self.always, *self.own(ids)])).astype(np.int64) for ids in sentences]

    def own(self, ids):
        """Source ids of a sentence -> the candidates of each phrase in it."""
        found = (self.rows.get(phrase) for phrase in phrases_of(ids))
        return [self.candidates.row(p)[0] for p in found if p is not None]

    def why(self, ids, trg_id):
        """The first phrase, a tuple of source ids, that brings a target id; None if none does."""
        known = (phrase for phrase in phrases_of(ids) if phrase in self.rows)
        return next((phrase for phrase in known if trg_id in self.candidates.row(self.rows[phrase])[0]), None)


def phrases_of(ids):
    """A list of ids -> all its phrases, as tuples of three."""
    for length in LENGTHS:
        for i in range(len(ids) - length + 1):
            yield tuple(ids[i : i + length]) + (NO_WORD,) * (max(LENGTHS) - length)
