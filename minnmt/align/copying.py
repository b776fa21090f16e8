"""Words that are copied: for every source unit the target unit that is spelled the same.

Names, numbers and addresses are often the same in both languages, and rare, so that counts may not know them. Where
the two sides are cut differently, the same name has other units on the other side: a word that the source side had to
cut is cut again as the target side would. Notebook 11.
"""

import numpy as np

from ..text.bpe import join_units
from ..text.vocab import UNK
from .selector import always_words


class CopySelector:
    """Lists of the words that could be copied; eos and UNK are in all of them."""

    def __init__(self, src, trg):
        """Pipelines of both sides."""
        self.src, self.trg = src, trg
        self.always = always_words(len(trg.vocab), 0).astype(np.int64)
        self.same = np.array(trg.vocab.encode(src.vocab.words))  # of each source id, UNK if there is none
        self.same[: UNK + 1] = UNK
        self.cut = {}  # word -> target ids

    def lists(self, src_ids, src_mask):
        """src_ids, src_mask (S,B) -> B arrays of target ids, ascending, each once."""
        sentences = (src_ids[src_mask[:, b] > 0, b] for b in range(src_ids.shape[1]))
        return [np.union1d(self.always, np.concatenate([self.same[ids], *self.other_cuts(ids)])) for ids in sentences]

    def other_cuts(self, ids):
        """Source ids of a sentence -> for each of its words of several units, the ids of the target's units."""
        if not (self.src.bpe and self.trg.bpe):
            return []
        units = self.src.vocab.decode(ids[ids != UNK].tolist())
        return [self.units_of(word) for word in join_units(units) if word not in units]

    def units_of(self, word):
        if word not in self.cut:
            self.cut[word] = np.array(self.trg.vocab.encode(self.trg.bpe.segment([word])), np.int64)
        return self.cut[word]

    def why(self, src_ids, trg_id):
        """Source ids of a sentence, a target id -> the spelling through which it is copied; None if it is not."""
        spelled = self.trg.vocab.words[trg_id]
        if (self.same[src_ids] == trg_id).any() and trg_id != UNK:
            return spelled
        words = join_units(self.src.vocab.decode([i for i in src_ids if i != UNK])) if self.src.bpe else []
        return next((word for word in words if self.trg.bpe and trg_id in self.units_of(word)), None)
