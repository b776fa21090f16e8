"""Where estimated log-probabilities do not suffice to say which hypotheses stay in a beam, and which is best.

A decision is sure if what was chosen is ahead of all that was not by SURE standard deviations, and by what float32 may
round otherwise. What two live hypotheses have in common is counted twice, which errs on the side of doubt. Errors of
different steps are taken as independent; they are not quite, but each is taken too large by more than that.

Left out: when a search may stop. A hypothesis that could then still win would have to be certain of all its words to
come, and to equal the best score there is to four digits.
"""

import numpy as np

from .estimating import SURE

CLOSE = 2e-5  # log-probabilities that are added up in another order differ by less, sums of t of them by sqrt(t) times


class Doubts:
    """Of a batch of B sentences."""

    def __init__(self, n_sentences):
        self.unsure = np.zeros(n_sentences, bool)
        self.variance = np.zeros(n_sentences)  # of the log-probability of each live hypothesis

    def advance(self, beams, chosen, notes, rows, more, variance, listed):
        """As Beams.advance, of what was chosen by `more` (N,K).

        variance (N): of these log-probabilities; it becomes the last of the notes. listed (N,K): which of them belong
        to words of the lists.
        """
        total = self.variance.copy()
        total[rows] += variance
        self.look(beams, rows, chosen, more, total[rows], listed)
        parents = beams.advance(chosen, [*notes, variance], rows)
        self.variance = total[parents]
        return parents

    def look(self, beams, rows, chosen, more, variance, listed):
        """Before a step: is whatever was chosen clearly better than what each row would add next?"""
        sentence, logps, K = beams.live.sentence[rows], beams.live.logps[rows], more.shape[1]
        self.unsure[sentence[variance == np.inf]] = True
        parents, _, totals = chosen
        n_chosen = np.minimum(np.bincount(parents, minlength=len(rows)), K - 1)
        nexts = logps + more[np.arange(len(rows)), n_chosen]
        own = parents[:, None] == np.arange(len(rows))
        needed = CLOSE * np.sqrt(beams.time[sentence] + 1.0) + SURE * np.sqrt(variance[parents][:, None] + variance)
        both = listed[parents, nth_of_row(parents)][:, None] & listed[np.arange(len(rows)), n_chosen]
        needed[own & both] = 0  # in the order that full decoding has them in
        ahead = totals[:, None] - nexts >= needed
        same = sentence[parents][:, None] == sentence
        self.unsure[sentence[parents[(same & ~ahead).any(axis=1)]]] = True

    def at_the_end(self, beams):
        """Beams that are over, whose last notes are variances -> (B) which sentences had a decision that is not sure.

        The order of the best translations is a decision, too.
        """
        settings, history = beams.settings, beams.history
        for b, ended in enumerate(beams.best(settings.beam)):
            paths = [history.path(node) for *_, node in ended]
            for i in range(min(settings.n_best, len(ended))):
                for j in range(i + 1, len(ended)):
                    shares = {node: settings.score(1.0, len(paths[i])) for node in paths[i]}
                    for node in paths[j]:
                        shares[node] = shares.get(node, 0.0) - settings.score(1.0, len(paths[j]))
                    variance = sum(share**2 * history.notes[node][-1] for node, share in shares.items() if share)
                    needed = CLOSE + SURE * np.sqrt(variance)
                    self.unsure[b] |= not ended[i][0] - ended[j][0] >= needed
        return self.unsure


def nth_of_row(parents):
    """parents (N), the row that each extension continues -> (N) how many before it continue the same row."""
    order = np.argsort(parents, kind="stable")
    places = np.empty(len(parents), int)
    places[order] = np.arange(len(parents)) - np.searchsorted(parents[order], parents[order])
    return places
