"""What all words say of readouts that a search with lists has met: many rows, one reading of the output layer.

Notebook 11.
"""

import numpy as np

from ..compiled import compiled
from . import fast
from .desks import ALONE, check_desk
from .packed import round_rows, whole_numbers
from .stages import best_words, word_logits
from .verified import MOST_BETTER

MOST_ROWS = 40  # that are checked at a time: their logits should stay in the cache


class AllWords:
    """The whole output layer of an engine."""

    def __init__(self, engine, n, team):
        self.rows, self.n, self.preview = engine.packed.softmax, n, engine.preview
        self.team = team if self.rows.w.nbytes >= fast.WORTH_HELP and _is_float32(engine) else ALONE

    def best_words(self, o, ending):
        """Readouts (R,E), ending (R), which may only end -> the n best words (R,n), their log-probabilities (R,n)."""
        return self._best(o, ending, self.rows.all_words(1), self.n)

    def _best(self, o, ending, output, n):
        words, logps = np.empty((len(o), n), np.int64), np.empty((len(o), n), o.dtype)
        desk = check_desk(min(MOST_ROWS, len(o)), n, output, self.team.n_threads)
        with self.team.helping("checking.help_checking", output, desk):
            for start in range(0, len(o), MOST_ROWS):
                part = slice(start, start + MOST_ROWS)
                words[part], logps[part] = best_of_all(o[part], ending[part], output, n, desk)
        return words, logps

    def judge(self, o, chosen, least_share):
        """Readouts (R,E), the words (R) that were chosen there -> what all words say of that.

        -> log-probabilities (R) of the words chosen; R arrays, the words that were more than least_share times as
        probable, MOST_BETTER at most. Approximately, if there is a preview in 8 bits: then it ranks all words, and
        those in front are computed again as the engine does.
        """
        output, n = (self.preview or self.rows).all_words(1), min(MOST_BETTER, len(self.rows.bias))
        words, logps = self._best(o, np.zeros(len(o), bool), output, n)
        logits = chosen_logits(o, np.concatenate([chosen[:, None], words], axis=1), self.rows)
        normaliser = logits[:, 1] - logps[:, 0]
        better = logits[:, 1:] > logits[:, :1] + np.log(least_share)
        return logits[:, 0].astype(np.float64) - normaliser, [row[own] for row, own in zip(words, better)]


def chosen_logits(o, words, rows):
    """o (R,E), words (R,n), Rows of the output layer -> the logits (R,n) of these words."""
    rounded, scale = round_rows(o, rows.levels)
    W = whole_numbers(rows, words)[:, :, : o.shape[1]].astype(o.dtype)
    return scale[:, None] * rows.scale[words] * np.einsum("re,rne->rn", rounded, W) + rows.bias[words]


def _is_float32(engine):
    return engine.packed.v.dtype == np.float32


@compiled("checking.best_of_all")
def best_of_all(o, ending, output, n, desk=None):
    """o (R,E), ending (R), Output with one list -> its n best words (R,n) for each row, log-probabilities (R,n).

    The desk is for the compiled one, whose results lie on it until the next call.
    """
    everybody = np.zeros(len(o), np.int64)
    return best_words(word_logits(o, everybody, output), output.sizes[everybody], ending, n)
