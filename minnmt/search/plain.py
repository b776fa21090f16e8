"""The plain engine: each step of a search calls the network as training does. The fast one is compared with it."""

import numpy as np

from ..model.network import encode, next_word
from ..nn.attention import Memory
from ..nn.list_softmax import gather_lists
from ..profile import lap
from ..text.batches import pad
from ..text.vocab import EOS


class PlainEngine:
    """A network as it is."""

    def __init__(self, params):
        self.params = params

    def begin(self, sentences, lists=None):
        """sentences: B lists of source ids without eos; lists: B arrays of target ids, or None -> PlainSteps."""
        return PlainSteps(self.params, sentences, lists)


class PlainSteps:
    """One batch on its way: its encoded sentences and the states of its hypotheses."""

    def __init__(self, params, sentences, lists=None):
        self.params = params
        self.s, self.memory, _ = encode(*pad(sentences), params)
        lap("encoder")
        self.listed = None if lists is None else gather_lists(lists, params.softmax)
        lap("selection")
        self.sentence = None  # of each row, one step before; rows_memory and rows_listed are theirs

    def step(self, sentence, parents, words, ending, n):
        """Take the hypotheses one word further and look at what could follow.

        sentence (N), ascending, of each row; parents (N), the row it continues, of the step before (of the batch's
        sentences, at the first step); words (N) chosen then, -1 at the first; ending (N), which rows may only end.
        -> the n best words (N,n) of each row, best first, their log-probabilities (N,n), attention weights (N,S).
        """
        self._look_at(sentence)
        y = self.params.trg_embedding[words] * (words >= 0)[:, None].astype(self.s.dtype)
        lap("bookkeeping")
        self.s, logp, alpha = next_word(y, self.s[parents], self.rows_memory, self.params, self.rows_listed)
        # rows that have reached their longest length have no word but eos, the first of every list
        logp[ending, :EOS] = -np.inf
        logp[ending, EOS + 1 :] = -np.inf
        words, logps = best_columns(logp, n)
        if self.listed is not None:
            words = np.take_along_axis(self.rows_listed.ids, words, axis=1)
        lap("softmax")
        return words, logps, alpha.T

    def _look_at(self, sentence):
        """Give every row its sentence's annotations and list; they stay until the rows change."""
        if self.sentence is None or not np.array_equal(sentence, self.sentence):
            self.sentence = sentence
            self.rows_memory = Memory(*(array.take(sentence, axis=1) for array in self.memory))
            self.rows_listed = self.listed and self.listed.keep(sentence)


def best_columns(values, n):
    """values (N,V) -> the columns (N,n) of each row's n best and their values, best first, ties to the lower column.

    With fewer than n columns the last places get -inf.
    """
    N, V = values.shape
    k = min(n, V)
    worst_kept = np.partition(values, V - k, axis=1)[:, V - k]
    rows, columns = np.nonzero(values >= worst_kept[:, None])
    order = np.lexsort((-values[rows, columns], rows))  # by row, then by value; equal values stay in their order
    chosen = order[np.searchsorted(rows, np.arange(N))[:, None] + np.arange(k)]
    best, found = np.zeros((N, n), np.int64), np.full((N, n), -np.inf, values.dtype)
    best[:, :k], found[:, :k] = columns[chosen], values[rows, columns][chosen]
    return best, found
