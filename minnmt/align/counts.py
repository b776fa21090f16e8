"""Alignment counts: a sparse table of how much each target word belongs to each source word, and alignments.npz.

A cell holds the attention that a target word has paid to a source word, summed over a corpus; the tables of the
statistical aligners have the same form. How counts grow is in accumulator.py. Notebook 06.
"""

import json
from dataclasses import dataclass, field

import numpy as np

from ..arrays import load_arrays, save_arrays
from ..errors import UserError
from .sparse import SparseTable, offsets


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
        info = np.frombuffer(json.dumps({**self.info, "n_trg": self.n_trg}).encode(), np.uint8)
        save_arrays(path, {"indptr": self.indptr, "indices": self.indices, "data": self.data, "info": info})

    @classmethod
    def load(cls, path, n_src=None, n_trg=None):
        """Read a file of counts; with sizes given, refuse those of another model."""
        arrays = load_arrays(path)
        try:
            info = json.loads(arrays["info"].tobytes())
            counts = cls(arrays["indptr"], arrays["indices"], arrays["data"], info.pop("n_trg"), info)
        except (KeyError, TypeError, ValueError, AttributeError):
            raise UserError(f"{path} holds no counts (indptr, indices, data and info): make it again") from None
        counts.check(path, n_src, n_trg)
        return counts

    def check(self, path, n_src=None, n_trg=None):
        """Refuse a matrix that does not hold together, or one of other sizes, before anything indexes with it."""
        kinds = [(self.indptr, np.int64), (self.indices, np.int32), (self.data, np.float32)]
        sound = (
            all(array.ndim == 1 and array.dtype == kind for array, kind in kinds)
            and type(self.n_trg) is int
            and len(self.indptr) > 0
            and self.indptr[0] == 0
            and self.indptr[-1] == len(self.indices) == len(self.data)
            and (self.indptr[1:] >= self.indptr[:-1]).all()  # a difference may wrap around
            and (len(self.indices) == 0 or 0 <= self.indices.min() <= self.indices.max() < self.n_trg)
            and self._ascending()
            and bool(np.isfinite(self.data).all() and (self.data >= 0).all())
        )
        if not sound:
            raise UserError(f"{path}: its counts do not hold together, the file is damaged: make it again")
        if n_src is not None and (self.n_src, self.n_trg) != (n_src, n_trg):
            raise UserError(
                f"{path} counts {self.n_src} source and {self.n_trg} target words, the model has {n_src} and "
                f"{n_trg}: it is of another model"
            )

    def _ascending(self):
        """Does every row have its cells in order, each once?"""
        rises = self.indices[1:] > self.indices[:-1]
        starts = self.indptr[1:-1]
        rises[starts[(starts > 0) & (starts < len(self.indices))] - 1] = True  # from one row to the next
        return bool(rises.all())
