"""Alignment counts: a sparse table of how much each target word belongs to each source word, and alignments.npz.

A cell holds the attention that a target word has paid to a source word, summed over a corpus; the tables of the
statistical aligners have the same form. How counts grow is in accumulator.py. Notebook 06.
"""

import math
from dataclasses import dataclass, field

import numpy as np

from ..arrays import ArrayFile, as_json_array, save_arrays
from ..errors import UserError
from .sparse import SparseTable, offsets

LARGEST = 2**31 - 1  # a vocabulary: target ids are int32
MOST_WEIGHT = 1e30  # of a cell in a file, so that sums of many are finite in float32


@dataclass
class Counts(SparseTable):
    """A sparse table of weights; the target ids of a row are ascending."""

    info: dict = field(default_factory=dict)  # where they come from: method, threshold, epochs, pairs

    @classmethod
    def empty(cls, n_src, n_trg, info=None):
        return cls(np.zeros(n_src + 1, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), n_trg, info or {})

    @classmethod
    def from_cells(cls, src_ids, trg_ids, weights, n_src, n_trg, info=None):
        """Cells in any order, each (source, target) once."""
        order = np.lexsort((trg_ids, src_ids))
        indptr = offsets(np.bincount(np.asarray(src_ids, np.int64), minlength=n_src))
        indices, data = (np.asarray(a, kind)[order] for a, kind in ((trg_ids, np.int32), (weights, np.float32)))
        return cls(indptr, indices, data, n_trg, info or {})

    def save(self, path):
        """Write alignments.npz; the file is either complete or untouched."""
        save_arrays(path, {**self.arrays(), "info": as_json_array({**self.info, "n_trg": self.n_trg})})

    def arrays(self, prefix=""):
        """For a file: {name: array}."""
        return {f"{prefix}{name}": getattr(self, name) for name in ("indptr", "indices", "data")}

    @classmethod
    def load(cls, path, n_src=None, n_trg=None):
        """Read a file of counts; with sizes given, refuse those of another model."""
        with ArrayFile(path, "make the counts again") as file:
            info = file.read_json("info")
            n_columns = info.pop("n_trg", None)
            if type(n_columns) is not int or not 0 <= n_columns <= LARGEST:
                raise UserError(f"{path} holds no counts (indptr, indices, data and info): make it again")
            n_rows = math.prod(file.member("indptr").shape) - 1
            if n_src is not None and (n_rows, n_columns) != (n_src, n_trg):
                raise UserError(
                    f"{path} counts {n_rows} source and {n_columns} target words, the model has {n_src} and "
                    f"{n_trg}: it belongs to another model"
                )
            return cls.read(file, n_rows, n_columns, info)

    @classmethod
    def read(cls, file, n_src, n_trg, info=None, prefix=""):
        """The counts in an ArrayFile, of which nothing is believed: what does not hold together is refused."""
        indptr = file.read(f"{prefix}indptr", np.int64, (n_src + 1,), least=0)
        n_cells = int(indptr[-1]) if len(indptr) else -1
        if not 0 <= n_cells <= n_src * n_trg or indptr[0] or (indptr[1:] < indptr[:-1]).any():  # differences may wrap
            raise UserError(f"{file.path}: the rows of its counts do not follow each other: {file.remedy}")
        indices = file.read(f"{prefix}indices", np.int32, (n_cells,), least=0)
        data = file.read(f"{prefix}data", np.float32, (n_cells,), least=0, most=MOST_WEIGHT)
        counts = cls(indptr, indices, data, n_trg, info or {})
        if indices.max(initial=-1) >= n_trg or not counts._ascending():
            raise UserError(f"{file.path}: the target words of its counts are damaged: {file.remedy}")
        return counts

    def _ascending(self):
        """Does every row have its cells in order, each once?"""
        rises = self.indices[1:] > self.indices[:-1]
        starts = self.indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(self.indices))] - 1] = True  # from one row to the next
        return bool(rises.all())
