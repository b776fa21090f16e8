"""Sparse tables: a row per source word, a column per target word, of which only the touched cells are stored.

Kept as CSR (indptr, indices, data), 8 bytes per cell, as scipy.sparse does. `Counts` (counts.py) and
`Candidates` (candidates.py) are such tables. Notebook 06.
"""

from dataclasses import dataclass, replace

import numpy as np


@dataclass
class SparseTable:
    """Row i: the cells indptr[i] : indptr[i + 1] of indices and data."""

    indptr: np.ndarray  # (Vs + 1) int64
    indices: np.ndarray  # (cells) int32, target ids
    data: np.ndarray  # (cells) float32
    n_trg: int

    @property
    def n_src(self):
        return len(self.indptr) - 1

    @property
    def n_cells(self):
        return len(self.indices)

    @property
    def n_rows(self):
        """How many source ids have a cell."""
        return int((np.diff(self.indptr) > 0).sum())

    @property
    def rows(self):
        """(cells) the source id of every cell."""
        return rows_of(self.indptr)

    def row(self, src_id):
        """The target ids of one source id, and their data."""
        cells = slice(self.indptr[src_id], self.indptr[src_id + 1])
        return self.indices[cells], self.data[cells]

    def select(self, kept):
        """The cells for which kept (cells) is true, in the same order."""
        indptr = offsets(kept)[self.indptr]
        return replace(self, indptr=indptr, indices=self.indices[kept], data=self.data[kept])


def offsets(lengths):
    """Lengths of rows that lie one behind the other -> (rows + 1) int64: where each starts, and the end."""
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])


def rows_of(indptr):
    """Where rows start, and the end -> (cells) the row of every cell."""
    return np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
