"""Where estimated log-probabilities do not suffice to say which hypotheses stay in a beam, and which is best.

A decision is sure if what was chosen is ahead by SURE standard deviations, and by what float32 may round otherwise.
What two hypotheses have in common is counted twice, so that there is rather too much doubt.

Left out: when a search may stop. A hypothesis that could then still win would have to be certain of all its words to
come, and to equal the best score there is to four digits.
"""

from itertools import pairwise

import numpy as np

from .batch_beam import best_extensions
from .estimating import SURE

CLOSE = 6e-5  # sums over a sentence, added up in another order, differ by less;
NEXT = 5e-6  # so do two words after the same words


class Doubts:
    """Of a batch of B sentences."""

    def __init__(self, n_sentences):
        self.unsure = np.zeros(n_sentences, bool)
        self.variance = np.zeros(n_sentences)  # of the log-probability of each live hypothesis

    def advance(self, beams, best, more, notes, rows, variance):
        """As Beams.advance, with the variance (N) of what the rows say; it becomes the last of their notes."""
        total = self.variance.copy()
        total[rows] += variance
        self.look(beams, rows, best, more, total[rows])
        parents = beams.advance(best, more, [*notes, variance], rows)
        self.variance = total[parents]
        return parents

    def look(self, beams, rows, best, more, variance):
        """Before a step: is whatever will be chosen clearly better than what comes next?"""
        sentence, logps = beams.live.sentence[rows], beams.live.logps[rows]
        free = beams.settings.beam - beams.ended.n
        parents, _, logps = best_extensions(sentence, logps, best, more, free + 1)
        of = sentence[parents]
        place = np.arange(len(of)) - np.searchsorted(of, of)
        out, chosen = np.flatnonzero(place == free[of]), np.flatnonzero(place < free[of])
        rivals = np.full(len(self.unsure), -1)
        rivals[of[out]] = out
        chosen = chosen[rivals[of[chosen]] >= 0]
        rivals = rivals[of[chosen]]
        a, b = parents[chosen], parents[rivals]
        needed = CLOSE + SURE * np.sqrt(variance[a] + variance[b])
        needed[(a == b) & np.isfinite(variance[a])] = NEXT  # of one row, with the same error
        close = logps[chosen] - logps[rivals] < needed
        self.unsure[of[chosen[close]]] = True

    def at_the_end(self, beams):
        """Beams that are over, whose last notes are variances -> (B) which sentences had a decision that is not sure.

        The order of the best translations is a decision, too.
        """
        notes = beams.history.notes
        for b, ended in enumerate(beams.best(beams.settings.n_best + 1)):
            for (score, _, node), (next_score, _, next_node) in pairwise(ended):
                apart = set(beams.history.path(node)) ^ set(beams.history.path(next_node))
                variance = sum(notes[n][-1] for n in apart)
                self.unsure[b] |= score - next_score < CLOSE + SURE * np.sqrt(variance)
        return self.unsure
