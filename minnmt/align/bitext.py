"""Parallel sentences as flat arrays of word ids, and the same sentences seen from their source words.

The word aligners (model1.py, fastalign.py, cooccurrence.py) work on the second form; kernels/aligners.py says why.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from kernels.aligners import Cells, Meetings, count_cells, fill_cells


@dataclass
class Bitext:
    """Source sentence k is src_ids[src_starts[k] : src_starts[k + 1]]; the target likewise. Either may be empty."""

    src_ids: np.ndarray  # (source tokens) int32
    src_starts: np.ndarray  # (pairs + 1) int64
    trg_ids: np.ndarray  # (target tokens) int32
    trg_starts: np.ndarray  # (pairs + 1) int64
    n_src: int  # vocabulary sizes: ids are 0 .. n - 1
    n_trg: int

    def __len__(self):
        return len(self.src_starts) - 1

    @property
    def src_lengths(self):
        return np.diff(self.src_starts)

    @property
    def trg_lengths(self):
        return np.diff(self.trg_starts)

    @classmethod
    def from_lists(cls, src, trg, n_src, n_trg):
        """Two lists of id lists, sentence by sentence."""
        assert len(src) == len(trg), (len(src), len(trg))
        return cls(*_flat(src), *_flat(trg), n_src, n_trg)

    @classmethod
    def from_lines(cls, src_lines, trg_lines):
        """Two lists of lines, words apart by spaces -> (Bitext, source words, target words).

        Ids are given in the order in which words come up; the lists of words lead back.
        """
        (src, src_words), (trg, trg_words) = (_number(lines) for lines in (src_lines, trg_lines))
        return cls(*src, *trg, len(src_words), len(trg_words)), src_words, trg_words

    def without_blanks(self):
        """The pairs that have words on both sides."""
        kept = (self.src_lengths > 0) & (self.trg_lengths > 0)
        if kept.all():
            return self
        src, trg = (_select(*side, kept) for side in ((self.src_ids, self.src_starts), (self.trg_ids, self.trg_starts)))
        return Bitext(*src, *trg, self.n_src, self.n_trg)


def _flat(sentences):
    """Lists of ids -> (ids, starts)."""
    starts = np.zeros(len(sentences) + 1, np.int64)
    np.cumsum(np.fromiter(map(len, sentences), np.int64, len(sentences)), out=starts[1:])
    return np.fromiter(chain.from_iterable(sentences), np.int32, starts[-1]), starts


def _number(lines):
    """Lines -> ((ids, starts), words)."""
    word_ids = defaultdict(count().__next__)  # a word not seen before takes the next number
    ids, starts = [], [0]
    for line in lines:
        # at spaces and tabs only: other white space, such as a no-break space in a number, is part of a word
        ids.extend(word_ids[word] for word in line.replace("\t", " ").split(" ") if word)
        starts.append(len(ids))
    return (np.array(ids, np.int32), np.array(starts, np.int64)), list(word_ids)


def _select(ids, starts, kept):
    """The sentences of one side for which `kept` is true."""
    lengths = np.diff(starts)
    return ids[np.repeat(kept, lengths)], np.concatenate([[0], np.cumsum(lengths[kept])])


class Shapes(NamedTuple):
    """The different pairs of lengths (S, T) in a bitext; position probabilities depend on nothing else.

    Each has a block of (S + 1, T) numbers in one flat array: a row for NULL, then one for each source word.
    """

    S: np.ndarray  # (shapes) source words
    T: np.ndarray  # (shapes) target words
    n_pairs: np.ndarray  # (shapes) how many sentence pairs have it
    blocks: np.ndarray  # (shapes + 1) where its block starts

    @property
    def n_tokens(self):
        """Target tokens of the whole bitext."""
        return int(self.n_pairs @ self.T)

    def tables(self, flat):
        """Each shape's block as a table -> S, T, (S + 1, T)."""
        for S, T, start in zip(self.S.tolist(), self.T.tolist(), self.blocks.tolist()):
            yield S, T, flat[start : start + (S + 1) * T].reshape(S + 1, T)

    def columns(self):
        """Every target word of every shape -> j (from 1), S, T, how many sentence pairs have it."""
        j = np.arange(1, self.T.sum() + 1) - np.repeat(np.cumsum(self.T) - self.T, self.T)
        return j, *(np.repeat(a, self.T) for a in (self.S, self.T, self.n_pairs))


def find_shapes(bitext):
    """-> Shapes, and the shape of each sentence pair."""
    S, T = bitext.src_lengths, bitext.trg_lengths
    width = T.max(initial=0) + 1
    keys, of_pair, n_pairs = np.unique(S * width + T, return_inverse=True, return_counts=True)
    S, T = np.divmod(keys, width)
    return Shapes(S, T, n_pairs, np.concatenate([[0], np.cumsum((S + 1) * T)])), of_pair


def find_meetings(bitext, shapes, of_pair):
    """The bitext sorted by source word, NULL behind the last: 20 bytes a source token, nothing a token pair."""
    n_pairs, n_tokens = len(bitext), len(bitext.src_ids)
    lengths, T = bitext.src_lengths, bitext.trg_lengths
    words = np.concatenate([bitext.src_ids, np.full(n_pairs, bitext.n_src, np.int64)])
    pair = np.concatenate([np.repeat(np.arange(n_pairs), lengths), np.arange(n_pairs)])
    place = np.zeros(len(words), np.int64)
    place[:n_tokens] = np.arange(1, n_tokens + 1) - np.repeat(bitext.src_starts[:-1], lengths)
    # numpy sorts numbers faster than it can say in which order they were, so that goes into the number
    order = np.sort(words * len(words) + np.arange(len(words))) % max(len(words), 1)
    pair, place = pair[order], place[order]
    starts = np.zeros(bitext.n_src + 2, np.int64)
    np.cumsum(np.bincount(words, minlength=bitext.n_src + 1), out=starts[1:])
    entry = shapes.blocks[of_pair[pair]] + place * T[pair]
    first, length, place = (a.astype(np.int32) for a in (bitext.trg_starts[pair], T[pair], place))
    return Meetings(starts, first, length, place, entry, bitext.trg_ids, bitext.n_trg)


def find_cells(meetings):
    """A cell for any two words that meet, 8 bytes each -> (Cells, in how many sentence pairs they do, float32)."""
    row_cells = np.zeros(len(meetings.starts) - 1, np.float32)
    count_cells(row_cells, meetings)
    indptr = np.zeros(len(row_cells) + 1, np.int64)
    np.cumsum(row_cells, dtype=np.int64, out=indptr[1:])
    cells, n_pairs = Cells(indptr, np.zeros(indptr[-1], np.int32)), np.zeros(indptr[-1], np.float32)
    fill_cells(n_pairs, cells, meetings)
    return cells, n_pairs
