"""Selectors: which target words compete when a sentence is translated.

    list(sentence) = union of the n best of its words + eos + UNK   (20)

that is, its source words' candidates (eos is a source word too), and always eos, UNK and the k most frequent words.
Every sentence has its own list, whatever batch it is in. Notebook 07.
"""

import numpy as np

from kernels.counting import Csr
from kernels.lists import sentence_lists

from ..text.batches import Batch
from ..text.vocab import EOS, UNK


class Selector:
    """Lists from a table of candidates per source word."""

    def __init__(self, candidates, frequent=0):
        self.candidates = candidates
        self.always = always_words(candidates.n_trg, frequent)

    def lists(self, src_ids, src_mask, trg_ids=None, trg_mask=None):
        """src_ids, src_mask (S,B) -> B arrays of target ids, ascending, each once.

        With trg_ids and trg_mask (T,B), as in training, each sentence's own target words are among them.
        """
        B = src_ids.shape[1]
        if trg_ids is None:
            trg_ids, trg_mask = np.zeros((0, B), src_ids.dtype), np.zeros((0, B), src_mask.dtype)
        c = self.candidates
        most = int((np.diff(c.indptr)[src_ids] * (src_mask > 0)).sum()) + B * (len(self.always) + len(trg_ids))
        ids, starts = np.empty(most, np.int64), np.empty(B + 1, np.int64)
        batch, table = Batch(src_ids, src_mask, trg_ids, trg_mask), Csr(c.probs, c.ids, c.indptr)
        sentence_lists(src_mask, batch, table, self.always, c.n_trg, ids, starts)
        return [ids[starts[b] : starts[b + 1]] for b in range(B)]


class FrequentSelector:
    """The same number of words a source word, but always the most frequent ones: what a list must beat."""

    def __init__(self, n, n_trg, frequent=0):
        self.n, self.n_trg, self.frequent = n, n_trg, frequent

    def lists(self, src_ids, src_mask):
        """src_ids, src_mask (S,B) -> B arrays of target ids, as Selector.lists gives them."""
        sizes = self.frequent + self.n * (src_mask > 0).sum(axis=0)
        return [always_words(self.n_trg, int(size)).astype(np.int64) for size in sizes]


def always_words(n_trg, frequent):
    """eos, UNK and the most frequent words: a vocabulary is sorted by frequency, so they are the first ids."""
    return np.arange(min(max(EOS, UNK) + 1 + frequent, n_trg), dtype=np.int32)
