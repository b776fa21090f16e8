"""From counts to candidates: the n best target words of every source word.

    by source:  p(target | source) = count / sum of its row      (19)
    by target:  p(source | target) = count / sum of its column

The first cannot change the order within a row, the second can. Ties go to the lower id. How candidates become the list
of a sentence is in selector.py. Notebook 07.
"""

import numpy as np

from ..compiled import compiled
from .sparse import SparseTable, offsets, rows_of


class Candidates(SparseTable):
    """A sparse table of probabilities; the target ids of a row are best first."""

    @property
    def ids(self):
        return self.indices

    @property
    def probs(self):
        return self.data


def probabilities(counts, by="source"):
    """counts -> (cells) every cell's share of its row ("source") or of its column ("target")."""
    ids, n = (counts.rows, counts.n_src) if by == "source" else (counts.indices, counts.n_trg)
    sums = np.bincount(ids, weights=counts.data, minlength=n)
    return (counts.data / np.where(sums == 0, 1, sums)[ids]).astype(np.float32)  # (19)


@compiled("lists.best_cells")
def best_cells(scores, indptr, n, least):
    """scores (cells) of a sparse table -> the cells of the n best of each row, best first, none below `least`.

    Ties go to the lower column. They are (best), where row i has those from best_indptr[i] on: (rows + 1).
    """
    rows = rows_of(indptr)
    order = np.lexsort((-scores, rows))
    rank = np.arange(len(order)) - indptr[rows]
    best = order[(rank < n) & (scores[order] >= np.float32(least))]
    return best, offsets(np.bincount(rows[best], minlength=len(indptr) - 1))


def best_candidates(counts, n, by="source", min_prob=0.0):
    """The n best of every row, those with a probability below min_prob left out."""
    probs = probabilities(counts, by)
    best, indptr = best_cells(probs, counts.indptr, min(n, counts.n_trg), min_prob)
    return Candidates(indptr, counts.indices[best], probs[best], counts.n_trg)


def random_candidates(n_src, n_trg, n, seed=1):
    """The control: n target words for every source word, drawn at random."""
    rng = np.random.default_rng(seed)
    n = min(n, n_trg)
    ids = np.concatenate([np.zeros(0, np.int64), *(rng.choice(n_trg, n, replace=False) for _ in range(n_src))])
    probs = np.full(len(ids), 1 / max(n, 1), np.float32)
    return Candidates(np.arange(n_src + 1) * n, ids.astype(np.int32), probs, n_trg)
