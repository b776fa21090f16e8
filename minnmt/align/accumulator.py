"""Counts that grow: attention weights above a threshold are added cell by cell while a model trains.

    count[f, e] += alpha   where alpha > threshold   (18)  f: source word, e: target word

Links wait until they are many, then they are added to the matrix. Memory: 8 bytes for a stored cell, 16 while the
matrix grows (the old and the new one), and a fixed part: 40 bytes per waiting link and some arrays as long as a
vocabulary. A cell is a float32, exact enough up to 16 million links of weight 1. The attention itself comes from
train/. Notebook 06.
"""

import numpy as np

from ..compiled import compiled
from ..ranks import ALONE
from .counts import Counts
from .sparse import offsets, rows_of

BUFFER = 1 << 20  # links that wait


@compiled("counting.find_links")
def find_links(alphas, batch, threshold):
    """alphas (T,S,B), a Batch -> the weights above the threshold between two real words, their source ids, target ids.

    All three (links).
    """
    real = (batch.trg_mask[:, None, :] > 0) & (batch.src_mask[None, :, :] > 0)
    t, i, b = np.nonzero((alphas > np.float32(threshold)) & real)
    return alphas[t, i, b], batch.src_ids[i, b].astype(np.int32), batch.trg_ids[t, b].astype(np.int32)


@compiled("counting.add_links")
def add_links(weights, src, trg, data, indices, indptr, n_trg):
    """Links (weights, source ids, target ids) into a CSR matrix, which is used up -> data, indices, indptr of the sum.

    It is matrix + coo_array((weights, (src, trg))), but in the order of arrival: a cell's links are added one after the
    other, so its sum does not depend on how many links a buffer holds.
    """
    n_src = len(indptr) - 1
    keys = np.concatenate([rows_of(indptr), src]) * n_trg + np.concatenate([indices, trg])
    cells, cell = np.unique(keys, return_inverse=True)
    count = np.zeros(len(cells), np.float32)
    np.add.at(count, cell, np.concatenate([data, weights]))  # (18)
    f, e = np.divmod(cells, n_trg)
    return count, e.astype(np.int32), offsets(np.bincount(f, minlength=n_src))


class Accumulator:
    """Add attention weights or other counts; `counts()` is the matrix so far."""

    def __init__(self, n_src, n_trg, threshold=0.1, buffer=BUFFER):
        self.n_src, self.n_trg, self.threshold, self.buffer = n_src, n_trg, threshold, buffer
        empty = Counts.empty(n_src, n_trg)
        self._matrix = empty.data, empty.indices, empty.indptr
        self._links, self._n = [], 0  # those that wait, in the order of their arrival, and how many they are

    def add_attention(self, alphas, batch):
        """alphas (T,S,B), a Batch -> add every weight above the threshold between two real words, eos included."""
        self._add_links(self.links(alphas, batch))

    def add_all(self, attention, ranks=ALONE):
        """The same for many (alphas, Batch); of several ranks, in their order, into the first one's matrix.

        The links arrive as they do in one process, and so the matrix is the same to the bit for any number of ranks.
        """
        for links in ranks.to_first([self.links(*each) for each in attention]):
            self._add_links(links)

    def links(self, alphas, batch):
        """What find_links finds in alphas (T,S,B) of a Batch."""
        assert batch.src_ids.max(initial=0) < self.n_src and batch.trg_ids.max(initial=0) < self.n_trg
        return find_links(np.ascontiguousarray(alphas, np.float32), batch, self.threshold)

    def _add_links(self, links):
        self._links.append(links)
        self._n += len(links[0])
        if self._n >= self.buffer:
            self._flush()

    def add(self, counts):
        """Add another matrix of the same size, such as another epoch's or another part of a corpus."""
        assert (counts.n_src, counts.n_trg) == (self.n_src, self.n_trg), "counts of another size"
        self._flush()
        for start in range(0, counts.n_cells, self.buffer):  # in parts: `rows` of all would take memory
            data, indices = (array[start : start + self.buffer] for array in (counts.data, counts.indices))
            rows = np.searchsorted(counts.indptr, np.arange(start, start + len(data)), side="right") - 1
            self._matrix = add_links(data, rows.astype(np.int32), indices, *self._matrix, self.n_trg)

    def counts(self, info=None):
        """The matrix so far; it is not touched by what is added later."""
        self._flush()
        data, indices, indptr = (array.copy() for array in self._matrix)
        return Counts(indptr, indices, data, self.n_trg, info or {})

    def _flush(self):
        """Move the waiting links into the matrix."""
        if self._n:
            links = (np.concatenate(arrays) for arrays in zip(*self._links))
            self._matrix = add_links(*links, *self._matrix, self.n_trg)
            self._links, self._n = [], 0


def add_counts(parts):
    """The sum of Counts of the same size, read one after the other: about 24 bytes per cell are in memory."""
    total = None
    for part in parts:
        total = total or Accumulator(part.n_src, part.n_trg)
        total.add(part)
        del part  # before the next one is read
    return total.counts()
