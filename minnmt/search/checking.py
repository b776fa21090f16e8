"""What all words say of readouts that a search with lists has met: many rows, one reading of the output layer.

Notebook 10.
"""

import numpy as np

from ..compiled import compiled
from . import fast
from .desks import ALONE, check_desk
from .stages import best_words, word_logits

MOST_ROWS = 40  # that are checked at a time: their logits should stay in the cache


class AllWords:
    """The whole output layer of an engine."""

    def __init__(self, engine, n, team):
        self.output, self.n = engine.packed.softmax.all_words(1), n
        self.team = team if self.output.weights.w.nbytes >= fast.WORTH_HELP and _is_float32(engine) else ALONE

    def best_words(self, o, ending):
        """Readouts (R,E), ending (R), which may only end -> the n best words (R,n), their log-probabilities (R,n)."""
        words, logps = np.empty((len(o), self.n), np.int64), np.empty((len(o), self.n), o.dtype)
        parts = [slice(start, start + MOST_ROWS) for start in range(0, len(o), MOST_ROWS)]
        desk = check_desk(min(MOST_ROWS, len(o)), self.n, self.output, self.team.n_threads)
        with self.team.helping("decoding.help_checking", self.output, desk):
            for part in parts:
                words[part], logps[part] = best_of_all(o[part], ending[part], self.output, self.n, desk)
        return words, logps

    def better_words(self, o, chosen):
        """Readouts (R,E), the word (R) that was chosen there -> rows (L) and words (L) that had a higher logit."""
        rows, words = [], []
        for start in range(0, len(o), MOST_ROWS):
            part = slice(start, start + MOST_ROWS)
            logits = word_logits(o[part], np.zeros(len(o[part]), np.int64), self.output)
            row, word = np.nonzero(logits > logits[np.arange(len(logits)), chosen[part]][:, None])
            rows.append(start + row)
            words.append(word)
        return np.concatenate(rows), np.concatenate(words)


def _is_float32(engine):
    return engine.packed.v.dtype == np.float32


@compiled("decoding.best_of_all")
def best_of_all(o, ending, output, n, desk=None):
    """o (R,E), ending (R), Output with one list -> its n best words (R,n) for each row, log-probabilities (R,n).

    The desk is for the compiled one, whose results lie on it until the next call.
    """
    everybody = np.zeros(len(o), np.int64)
    return best_words(word_logits(o, everybody, output), output.sizes[everybody], ending, n)
