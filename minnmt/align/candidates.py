"""From counts to candidates: the n best target words of every source word.

    by source:  p(target | source) = count / sum of its row      (19)
    by target:  p(source | target) = count / sum of its column

The first cannot change the order within a row, the second can. Ties go to the lower id. Notebook 07.
"""

from dataclasses import dataclass

import numpy as np

from kernels.lists import best_cells


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
    return (counts.data / np.where(sums == 0, 1, sums)[ids]).astype(np.float32)


def best_candidates(counts, n, by="source", min_prob=0.0):
    """The n best of every row, those with a probability below min_prob left out."""
    n = min(n, counts.n_trg)
    probs = probabilities(counts, by)
    chosen = np.empty(int(np.minimum(np.diff(counts.indptr), n).sum()), np.int64)
    indptr = np.empty_like(counts.indptr)
    best_cells(probs, counts.indptr, n, min_prob, chosen, indptr)
    chosen = chosen[: indptr[-1]]
    return Candidates(indptr, counts.indices[chosen], probs[chosen], counts.n_trg)


def random_candidates(n_src, n_trg, n, seed=1):
    """The control: n target words for every source word, drawn at random."""
    rng = np.random.default_rng(seed)
    n = min(n, n_trg)
    ids = np.concatenate([np.zeros(0, np.int64), *(rng.choice(n_trg, n, replace=False) for _ in range(n_src))])
    probs = np.full(len(ids), 1 / max(n, 1), np.float32)
    return Candidates(np.arange(n_src + 1) * n, ids.astype(np.int32), probs, n_trg)
