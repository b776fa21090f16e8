"""Which hypotheses go on, for batches of beams. The plain function is in minnmt/search/batch_beam.py. Notebook 08."""

import numpy as np

from .functions import LOW
from .jit import kernel


@kernel
def best_extensions(more, words, logps, sentence, free):
    """Fast because a few numbers are put in their order one by one, where numpy sorts several times."""
    N, K = more.shape
    most = 0
    for b in range(len(free)):
        most += max(free[b], 0)
    parents, chosen, totals = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.float64)
    first = end = 0  # the places of a sentence, as far as they are taken
    for n in range(N):
        if n == 0 or sentence[n] != sentence[n - 1]:
            first = end
        for k in range(K):
            total, place = logps[n] + more[n, k], end
            if not total > LOW:  # a word that may not be chosen, or nan
                continue
            while place > first and total > totals[place - 1]:
                place -= 1
            last = first + free[sentence[n]] - 1
            if place <= last:
                end += end <= last
                for i in range(end - 1, place, -1):
                    parents[i], chosen[i], totals[i] = parents[i - 1], chosen[i - 1], totals[i - 1]
                parents[place], chosen[place], totals[place] = n, words[n, k], total
    return parents[:end], chosen[:end], totals[:end]
