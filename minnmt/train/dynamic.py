"""Dynamic vocabulary selection in training: the softmax runs over few words, chosen by the counts so far.

The table of candidates is made anew from all counts at the start of an epoch. Then either every batch has a list, for
all its sentences, when it comes up ("batch"), or every sentence pair has a list of its own, chosen for the whole corpus
before the epoch starts ("epoch"). The target words themselves, eos and UNK are always in. Notebook 10.
"""

import numpy as np

from ..align.candidates import best_candidates
from ..align.selector import Selector
from ..errors import UserError
from ..text.batches import make_batch

CHUNK = 1000  # pairs whose lists are chosen together


def epoch_words(run):
    """What chooses the softmax's words in the epoch under way; None for all words.

    It starts with the epoch after the first whole epoch with counts.
    """
    settings, epoch = run.settings, run.progress.epoch
    if not settings.dynamic_vocab or not 0 < settings.align_from_epoch < epoch:
        return None
    selector = run.ranks.share(epoch_selector(run) if run.ranks.is_first else None)
    return (BatchWords if settings.dynamic_lists == "batch" else EpochWords)(selector, run.src, run.trg)


def epoch_selector(run):
    """The candidates of all counts until the epoch under way."""
    settings, epoch = run.settings, run.progress.epoch
    for needed in range(settings.align_from_epoch, epoch):  # with fewer counts a resumed run would be another one
        if not run.counts_path(needed).exists():
            raise UserError(f"{run.counts_path(needed)} is gone, but --dynamic-vocab needs it: put it back")
    counts, _ = run.counts_so_far(epoch - 1)
    return Selector(best_candidates(counts, settings.dynamic_vocab))


class BatchWords:
    """One list for all sentences of a batch."""

    def __init__(self, selector, src, trg):
        self.selector, self.src, self.trg = selector, src, trg

    def lists(self, chosen, shares):
        """The pairs of a batch, and how threads share them -> for each share, the words of its softmax."""
        batch = make_batch([self.src[i] for i in chosen], [self.trg[i] for i in chosen])
        as_one_sentence = (array.reshape(-1, 1) for array in batch)
        ids = self.selector.lists(*as_one_sentence)[0]
        return [ids] * len(shares)


class EpochWords:
    """A list for every sentence pair, all of them chosen at once; 4 bytes per word and pair."""

    def __init__(self, selector, src, trg):
        self.own = []
        for start in range(0, len(src), CHUNK):
            batch = make_batch(src[start : start + CHUNK], trg[start : start + CHUNK])
            self.own += [ids.astype(np.int32) for ids in selector.lists(*batch)]

    def lists(self, chosen, shares):
        """As BatchWords.lists; here a share has a list for each of its sentences."""
        return [[self.own[i] for i in share] for share in shares]
