"""From counts to candidates: the n best target words of every source word.

    by source:  p(target | source) = count / sum of its row
    by target:  p(source | target) = count / sum of its column

The first cannot change the order within a row, the second can. Ties go to the lower id. Notebook 07.
"""

from dataclasses import dataclass

import numpy as np


@dataclass
class Candidates:
    """Source id i: the target ids ids[indptr[i] : indptr[i + 1]], best first, with their probabilities."""

    indptr: np.ndarray  # (Vs + 1) int64
    ids: np.ndarray  # int32
    probs: np.ndarray  # float32
    n_trg: int

    @property
    def n_src(self):
        return len(self.indptr) - 1

    def row(self, src_id):
        """The candidates of one source id and their probabilities, best first."""
        cells = slice(self.indptr[src_id], self.indptr[src_id + 1])
        return self.ids[cells], self.probs[cells]


def probabilities(counts, by="source"):
    """counts -> (cells) every cell's share of its row ("source") or of its column ("target")."""
    ids, n = (counts.rows, counts.n_src) if by == "source" else (counts.indices, counts.n_trg)
    sums = np.bincount(ids, weights=counts.data, minlength=n)
    return (counts.data / sums[ids]).astype(np.float32)


def best_candidates(counts, n, by="source", min_prob=0.0):
    """The n best of every row, those with a probability below min_prob left out."""
    probs = probabilities(counts, by)
    rows = counts.rows
    order = np.lexsort((counts.indices, -probs, rows))
    place = np.arange(len(order)) - np.repeat(counts.indptr[:-1], np.diff(counts.indptr))
    kept = order[(place < n) & (probs[order] >= min_prob)]
    indptr = np.zeros(counts.n_src + 1, np.int64)
    np.cumsum(np.bincount(rows[kept], minlength=counts.n_src), out=indptr[1:])
    return Candidates(indptr, counts.indices[kept], probs[kept], counts.n_trg)
