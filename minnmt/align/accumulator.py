"""Counts that grow: attention weights above a threshold are added cell by cell while a model trains.

Links wait in a buffer; when it is full they are sorted by row and added to the matrix. Memory: 8 bytes for a stored
cell, 16 while the matrix grows (the old and the new one), and a fixed part: 28 bytes a link of the buffer, some arrays
as long as a vocabulary. A cell is a float32, exact enough up to 16 million links of weight 1.
"""

import numpy as np

from kernels.counting import add_links, find_links, merge_cells

from .counts import Counts

BUFFER = 1 << 20  # links


class Accumulator:
    """Add attention weights or other counts; `counts()` is the matrix so far."""

    def __init__(self, n_src, n_trg, threshold=0.1, buffer=BUFFER):
        self.threshold = threshold
        self._counts = Counts.empty(n_src, n_trg)
        self._weights = np.empty(buffer, np.float32)
        self._src, self._trg = np.empty(buffer, np.int32), np.empty(buffer, np.int32)
        self._n = 0  # links in the buffer

    def add_attention(self, alphas, batch):
        """alphas (T,S,B), a Batch -> add every weight above the threshold between two real words, eos included."""
        T, S, B = alphas.shape
        assert batch.src_ids.max(initial=0) < self._counts.n_src and batch.trg_ids.max(initial=0) < self._counts.n_trg
        alphas = np.ascontiguousarray(alphas)
        steps = max(1, len(self._weights) // max(S * B, 1))  # so many always fit into an empty buffer
        if S * B > len(self._weights):
            self._make_room(S * B)
        for t in range(0, T, steps):
            part = slice(t, t + steps)
            if self._n + alphas[part].size > len(self._weights):
                self._flush()
            room = slice(self._n, None)
            self._n += find_links(
                alphas[part], batch.src_mask, batch.trg_mask[part], batch.src_ids, batch.trg_ids[part],
                self.threshold, self._weights[room], self._src[room], self._trg[room],
            )  # fmt: skip

    def add(self, counts):
        """Add another matrix of the same size, such as another epoch's or another part of a corpus."""
        assert (counts.n_src, counts.n_trg) == (self._counts.n_src, self._counts.n_trg), "counts of another size"
        for start in range(0, counts.n_cells, len(self._weights)):
            self._flush()
            cells = slice(start, min(start + len(self._weights), counts.n_cells))
            rows = np.searchsorted(counts.indptr, np.arange(cells.start, cells.stop), side="right") - 1
            self._n = n = len(rows)
            self._weights[:n], self._src[:n], self._trg[:n] = counts.data[cells], rows, counts.indices[cells]

    def counts(self, info=None):
        """The matrix so far; it is not touched by what is added later."""
        self._flush()
        c = self._counts
        return Counts(c.indptr.copy(), c.indices.copy(), c.data.copy(), c.n_trg, info or {})

    def _make_room(self, n):
        self._flush()
        self._weights = np.empty(n, np.float32)
        self._src, self._trg = np.empty(n, np.int32), np.empty(n, np.int32)

    def _flush(self):
        """Move the buffered links into the matrix."""
        if not self._n:
            return
        c, n = self._counts, self._n
        links = self._weights[:n], self._src[:n], self._trg[:n]
        new_data, new_indices = np.empty(n, np.float32), np.empty(n, np.int32)
        new_indptr = np.empty_like(c.indptr)
        n_new = add_links(*links, c.data, c.indices, c.indptr, c.n_trg, new_data, new_indices, new_indptr)
        self._n = 0
        if n_new:
            data, indices = np.empty(c.n_cells + n_new, np.float32), np.empty(c.n_cells + n_new, np.int32)
            merge_cells(
                c.data, c.indices, c.indptr, new_data[:n_new], new_indices[:n_new], new_indptr, data, indices
            )
            self._counts = Counts(c.indptr + new_indptr, indices, data, c.n_trg)


def add_counts(parts):
    """The sum of Counts of the same size, read one after the other: about 24 bytes a cell are in memory."""
    total = None
    for part in parts:
        total = total or Accumulator(part.n_src, part.n_trg)
        total.add(part)
        del part  # before the next one is read
    return total.counts()
