"""Selectors: which target words compete when a sentence is translated.

    list(sentence) = union of the n best of its words + eos + UNK   (20)

that is, its source words' candidates (eos is a source word too), and always eos, UNK and the k most frequent words.
Every sentence has its own list, whatever batch it is in. Where a selector's counts come from is in sources.py. A new
control is added here, to CONTROLS. Notebook 07.
"""

import numpy as np

from ..compiled import compiled
from ..text.batches import Batch
from ..text.vocab import EOS, UNK
from .candidates import random_candidates
from .sparse import offsets


@compiled("lists.sentence_lists")
def sentence_lists(ids, indptr, batch, always, n_trg):
    """Candidates (ids, indptr), a Batch -> the words of its sentences, int64, ascending and each once; their starts.

    A list has the candidates of the source words, the target words themselves (T may be 0), and `always`. Sentence b
    has words[starts[b] : starts[b + 1]]; all of them are below n_trg.
    """
    lists = []
    for b in range(batch.src_ids.shape[1]):
        src = batch.src_ids[batch.src_mask[:, b] > 0, b]
        own = batch.trg_ids[batch.trg_mask[:, b] > 0, b]
        candidates = [ids[indptr[f] : indptr[f + 1]] for f in src]
        lists.append(np.unique(np.concatenate([always, own, *candidates])))  # (20)
    words = np.concatenate([*lists, np.zeros(0, np.int64)]).astype(np.int64)
    return words, offsets(np.array([len(union) for union in lists], np.int64))


class Selector:
    """Lists from a table of candidates per source word."""

    def __init__(self, candidates, frequent=0):
        self.candidates = candidates
        self.always = always_words(candidates.n_trg, frequent)

    def lists(self, src_ids, src_mask, trg_ids=None, trg_mask=None):
        """src_ids, src_mask (S,B) -> B arrays of target ids, ascending, each once.

        With trg_ids and trg_mask (T,B), as in training, each sentence's own target words are among them.
        """
        if trg_ids is None:
            trg_ids, trg_mask = src_ids[:0], src_mask[:0]
        batch, candidates = Batch(src_ids, src_mask, trg_ids, trg_mask), self.candidates
        words, starts = sentence_lists(candidates.ids, candidates.indptr, batch, self.always, candidates.n_trg)
        return [words[start:end] for start, end in zip(starts, starts[1:])]


class FrequentSelector:
    """The same number of words per source word, but always the most frequent ones: what a list must beat."""

    def __init__(self, n, n_trg, frequent=0):
        self.n, self.n_trg, self.frequent = n, n_trg, frequent

    def lists(self, src_ids, src_mask):
        """src_ids, src_mask (S,B) -> B arrays of target ids, as Selector.lists gives them."""
        sizes = self.frequent + self.n * (src_mask > 0).sum(axis=0)
        return [always_words(self.n_trg, int(size)).astype(np.int64) for size in sizes]


def always_words(n_trg, frequent):
    """eos, UNK and the most frequent words: a vocabulary is sorted by frequency, so they are the first ids."""
    return np.arange(min(max(EOS, UNK) + 1 + frequent, n_trg), dtype=np.int32)


# Selectors that need no counts: --counts NAME -> a function of n, the sizes of both vocabularies, and k
CONTROLS = {
    "frequent": lambda n, n_src, n_trg, frequent: FrequentSelector(n, n_trg, frequent),
    "random": lambda n, n_src, n_trg, frequent: Selector(random_candidates(n_src, n_trg, n), frequent),
}
