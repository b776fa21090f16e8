"""Counts that grow: attention weights above a threshold are added cell by cell while a model trains.

    count[f, e] += alpha   where alpha > threshold   (18)  f: source word, e: target word

Links wait in a buffer; when it is full they are sorted by row and added to the matrix. Memory: 8 bytes for a stored
cell, 16 while the matrix grows (the old and the new one), and a fixed part: 28 bytes a link of the buffer, some arrays
as long as a vocabulary. A cell is a float32, exact enough up to 16 million links of weight 1.
"""

import numpy as np

from kernels.counting import Csr, Links, add_links, find_links, merge_cells

from .counts import Counts

BUFFER = 1 << 20  # links


class Accumulator:
    """Add attention weights or other counts; `counts()` is the matrix so far."""

    def __init__(self, n_src, n_trg, threshold=0.1, buffer=BUFFER):
        self.n_src, self.n_trg, self.threshold = n_src, n_trg, threshold
        empty = Counts.empty(n_src, n_trg)
        self._matrix = Csr(empty.data, empty.indices, empty.indptr)
        self._buffer = empty_links(buffer)
        self._n = 0  # links in the buffer

    def add_attention(self, alphas, batch):
        """alphas (T,S,B), a Batch -> add every weight above the threshold between two real words, eos included."""
        T, S, B = alphas.shape
        if alphas.size > len(self._buffer.weights) and T > 1:
            for part in (slice(0, T // 2), slice(T // 2, T)):
                shorter = batch._replace(trg_ids=batch.trg_ids[part], trg_mask=batch.trg_mask[part])
                self.add_attention(alphas[part], shorter)
            return
        assert batch.src_ids.max(initial=0) < self.n_src and batch.trg_ids.max(initial=0) < self.n_trg
        if self._n + alphas.size > len(self._buffer.weights):
            self._flush()
        if alphas.size > len(self._buffer.weights):
            self._buffer = empty_links(alphas.size)
        room = Links(*(array[self._n :] for array in self._buffer))
        self._n += find_links(np.ascontiguousarray(alphas), batch, self.threshold, room)

    def add(self, counts):
        """Add another matrix of the same size, such as another epoch's or another part of a corpus."""
        assert (counts.n_src, counts.n_trg) == (self.n_src, self.n_trg), "counts of another size"
        room = len(self._buffer.weights)
        for start in range(0, counts.n_cells, room):
            self._flush()
            cells = slice(start, min(start + room, counts.n_cells))
            rows = np.searchsorted(counts.indptr, np.arange(cells.start, cells.stop), side="right") - 1
            self._n = len(rows)
            for array, values in zip(self._buffer, (counts.data[cells], rows, counts.indices[cells])):
                array[: self._n] = values

    def counts(self, info=None):
        """The matrix so far; it is not touched by what is added later."""
        self._flush()
        data, indices, indptr = self._matrix
        return Counts(indptr.copy(), indices.copy(), data.copy(), self.n_trg, info or {})

    def _flush(self):
        """Move the buffered links into the matrix."""
        if not self._n:
            return
        links = Links(*(array[: self._n] for array in self._buffer))
        new = Csr(np.empty(self._n, np.float32), np.empty(self._n, np.int32), np.empty(self.n_src + 1, np.int64))
        n_new = add_links(links.weights, links, self._matrix, self.n_trg, new)
        self._n = 0
        if n_new:
            new = Csr(new.data[:n_new], new.indices[:n_new], new.indptr)
            n_cells = len(self._matrix.data) + n_new
            data, indices = np.empty(n_cells, np.float32), np.empty(n_cells, np.int32)
            merge_cells(data, indices, self._matrix, new)
            self._matrix = Csr(data, indices, self._matrix.indptr + new.indptr)


def empty_links(n):
    """Room for n links."""
    return Links(np.empty(n, np.float32), np.empty(n, np.int32), np.empty(n, np.int32))


def add_counts(parts):
    """The sum of Counts of the same size, read one after the other: about 24 bytes a cell are in memory."""
    total = None
    for part in parts:
        total = total or Accumulator(part.n_src, part.n_trg)
        total.add(part)
        del part  # before the next one is read
    return total.counts()
