"""Parallel sentences as flat arrays of word ids, and the same sentences seen from their source words.

The word aligners (model1.py, fastalign.py) work on the second form, Occurrences; kernels/model1.py says why.
Tokenizing is not done here: lines are cut at spaces. Notebook 06.
"""

from collections import defaultdict
from dataclasses import dataclass
from itertools import chain, count
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from .sparse import offsets, rows_of


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
        S, T = self.src_lengths, self.trg_lengths
        kept = (S > 0) & (T > 0)
        if kept.all():
            return self
        src = self.src_ids[np.repeat(kept, S)], offsets(S[kept])
        trg = self.trg_ids[np.repeat(kept, T)], offsets(T[kept])
        return Bitext(*src, *trg, self.n_src, self.n_trg)


def _flat(sentences):
    """Lists of ids -> (ids, starts)."""
    starts = offsets(np.fromiter(map(len, sentences), np.int64, len(sentences)))
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
        starts = offsets(self.T)
        shape = rows_of(starts)
        return np.arange(1, len(shape) + 1) - starts[shape], self.S[shape], self.T[shape], self.n_pairs[shape]


def find_shapes(bitext):
    """-> Shapes, and the shape of each sentence pair."""
    S, T = bitext.src_lengths, bitext.trg_lengths
    width = T.max(initial=0) + 1
    keys, of_pair, n_pairs = np.unique(S * width + T, return_inverse=True, return_counts=True)
    S, T = np.divmod(keys, width)
    return Shapes(S, T, n_pairs, offsets((S + 1) * T)), of_pair


class Occurrences(NamedTuple):
    """A bitext seen from its source words: in which sentences each occurs, and with which target words.

    Row e occurs at o in starts[e] : starts[e + 1]. The last row is NULL, which occurs in every sentence.
    """

    starts: np.ndarray  # (rows + 1) int64
    first: np.ndarray  # (occurrences) int32, the first target token of the sentence
    length: np.ndarray  # (occurrences) int32, how many target tokens it has
    place: np.ndarray  # (occurrences) int32, the word's place in the sentence: 1, 2, ...; NULL is 0
    entry: np.ndarray  # (occurrences) int64, where its position probabilities start, one for each target token
    trg_ids: np.ndarray  # (target tokens) int32
    n_trg: int

    def token_pairs(self):
        """Every (source token, target token) of a sentence -> its row, occurrence, target token, position entry."""
        starts = offsets(self.length)
        occurrence = rows_of(starts)
        step = np.arange(len(occurrence)) - starts[occurrence]
        row = rows_of(self.starts)[occurrence]
        return row, occurrence, self.first[occurrence] + step, self.entry[occurrence] + step

    def cooccurrences(self):
        """In how many sentence pairs do two words occur? -> CSR: data, indices, indptr; 8 bytes per cell."""
        return cooccurrences(self.starts, self.first, self.length, self.trg_ids, self.n_trg)


def find_occurrences(bitext, shapes, of_pair):
    """The bitext sorted by source word, NULL behind the last: 20 bytes a source token, nothing a token pair."""
    n_pairs, n_tokens = len(bitext), len(bitext.src_ids)
    T = bitext.trg_lengths
    words = np.concatenate([bitext.src_ids, np.full(n_pairs, bitext.n_src, np.int64)])
    pair = np.concatenate([rows_of(bitext.src_starts), np.arange(n_pairs)])
    place = np.zeros(len(words), np.int64)
    place[:n_tokens] = np.arange(1, n_tokens + 1) - bitext.src_starts[pair[:n_tokens]]
    # numpy sorts numbers faster than it can say in which order they were, so that goes into the number
    order = np.sort(words * len(words) + np.arange(len(words))) % max(len(words), 1)
    pair, place = pair[order], place[order]
    starts = offsets(np.bincount(words, minlength=bitext.n_src + 1))
    entry = shapes.blocks[of_pair[pair]] + place * T[pair]
    first, length, place = (a.astype(np.int32) for a in (bitext.trg_starts[pair], T[pair], place))
    return Occurrences(starts, first, length, place, entry, bitext.trg_ids, bitext.n_trg)


@compiled("model1.cooccurrences")
def cooccurrences(starts, first, length, trg_ids, n_trg):
    """Fields of Occurrences -> the number of sentence pairs in which two words occur: data, indices, indptr.

    A word that occurs twice in a sentence still counts once.
    """
    n_rows, n_tokens = len(starts) - 1, len(trg_ids)
    null = slice(*starts[-2:])  # NULL occurs in every sentence, so there they all are, known by their first token
    paired = length > 0
    src = incidence(first[paired], rows_of(starts)[paired], (n_tokens, n_rows))
    trg = incidence(np.repeat(first[null], length[null]), trg_ids, (n_tokens, n_trg))
    together = (src.T @ trg).tocsr().sorted_indices()
    return together.data, together.indices.astype(np.int32), together.indptr.astype(np.int64)


def incidence(sentence, word, shape):
    """The sentence and the word of every token -> (sentences, words) a csr_array: 1 where the word occurs."""
    from scipy.sparse import coo_array  # here, not above: it takes 0.1 s to import

    matrix = coo_array((np.ones(len(word), np.float32), (sentence, word)), shape).tocsr()
    matrix.data[:] = 1  # it had summed up words that occur twice
    return matrix
