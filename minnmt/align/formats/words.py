"""How a vocabulary's words are spelled in exchange files, and which of them can be written there at all.

Marian, Sockeye and CTranslate2 spell the end of a sentence </s> and the unknown word <unk>; so do the files written
here. Read are these and the vocabulary's own spellings ("eos", "UNK"). Units of BPE keep their marks (ein@@).
"""

import numpy as np

from ...text.vocab import EOS, UNK

EOS_SPELLED, UNK_SPELLED = "</s>", "<unk>"
WHITE_SPACE = frozenset(" \t\n\v\f\r")  # what the programs that read these files take for a separator


class Words:
    """One vocabulary: spelled[id] is written, ids.get(word) is read."""

    def __init__(self, vocab):
        self.spelled = [EOS_SPELLED, UNK_SPELLED, *vocab.words[UNK + 1 :]]
        self.ids = {word: i for i, word in reversed([*enumerate(self.spelled)])}  # of the same words the first
        self.ids[vocab.words[EOS]], self.ids[vocab.words[UNK]] = EOS, UNK
        self.ids.setdefault("eos", EOS)
        self.ids.setdefault("UNK", UNK)

    def __len__(self):
        return len(self.spelled)

    def writable(self, null=""):
        """(V) bool: would this word's spelling be read as this word again? `null` is what stands for no word."""
        return np.array(
            [
                self.ids[word] == i and word != null and word != "" and WHITE_SPACE.isdisjoint(word)
                for i, word in enumerate(self.spelled)
            ]
        )


def keep_writable(candidates, src, trg, null=""):
    """Leave out the candidates that text cannot hold -> (Candidates, how many were left out)."""
    kept = src.writable(null)[candidates.rows] & trg.writable(null)[candidates.ids]
    return candidates.select(kept), int((~kept).sum())
