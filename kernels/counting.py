"""Attention weights into sparse counts: find the links above a threshold, add them to the cells of a CSR matrix.

A cell's links are added one after the other in the order of their arrival, so the sums do not depend on how the links
were cut into portions. Notebook 06.
"""

from typing import NamedTuple

import numpy as np

from .jit import device_function, kernel


class Links(NamedTuple):
    """How much target words attend to source words."""

    weights: np.ndarray  # (N) float32
    src: np.ndarray  # (N) int32, source ids
    trg: np.ndarray  # (N) int32, target ids


class Csr(NamedTuple):
    """A sparse matrix: row i has the cells indptr[i] : indptr[i + 1] of indices, ascending, and of data."""

    data: np.ndarray  # (cells) float32
    indices: np.ndarray  # (cells) int32, columns
    indptr: np.ndarray  # (rows + 1) int64


def find_links_numpy(alphas, batch, threshold, links):
    """alphas (T,S,B), a batch of ids and masks (S,B), (T,B) -> n links above threshold, in the first n of `links`."""
    real = (batch.trg_mask[:, None, :] > 0) & (batch.src_mask[None, :, :] > 0)
    t, i, b = np.nonzero((alphas > np.float32(threshold)) & real)
    n = len(t)
    links.weights[:n], links.src[:n], links.trg[:n] = alphas[t, i, b], batch.src_ids[i, b], batch.trg_ids[t, b]
    return n


@kernel(twin=find_links_numpy)
def find_links(alphas, batch, threshold, links):
    T, S, B = alphas.shape
    least = np.float32(threshold)
    hits = np.empty(S * B + 1, np.int32)
    n = 0
    for t in range(T):
        # links are rare and anywhere: to write down every place, and keep it only after a hit, spares a branch
        alpha = alphas[t].reshape(-1)
        n_hits = 0
        for k in range(S * B):
            hits[n_hits] = k
            n_hits += alpha[k] > least
        i = 0
        for hit in hits[:n_hits]:
            while hit >= (i + 1) * B:
                i += 1
            b = hit - i * B
            if batch.trg_mask[t, b] > 0 and batch.src_mask[i, b] > 0:
                links.weights[n] = alpha[hit]
                links.src[n] = batch.src_ids[i, b]
                links.trg[n] = batch.trg_ids[t, b]
                n += 1
    return n


def add_links_numpy(weights, links, matrix, n_trg, new):
    """Add links (`weights` is links.weights) to the cells that a matrix has; sum up those it lacks in `new`, another.

    Returns the number of new cells; new.data and new.indices have room for as many as there are links.
    """
    n_src = len(matrix.indptr) - 1
    keys = links.src.astype(np.int64) * n_trg + links.trg
    known_keys = np.repeat(np.arange(n_src), np.diff(matrix.indptr)) * n_trg + matrix.indices
    at = np.searchsorted(known_keys, keys)
    known = at < len(known_keys)
    known[known] = known_keys[at[known]] == keys[known]
    np.add.at(matrix.data, at[known], weights[known])
    new_keys, at = np.unique(keys[~known], return_inverse=True)
    n = len(new_keys)
    new.data[:n] = 0
    np.add.at(new.data, at, weights[~known])
    new.indices[:n] = new_keys % n_trg
    new.indptr[0] = 0
    np.cumsum(np.bincount(new_keys // n_trg, minlength=n_src), out=new.indptr[1:])
    return n


@device_function
def sort_by_row(links, n_src):
    """The links of a row together, in the order of their arrival -> where each row ends, targets, weights."""
    ends = np.zeros(n_src + 1, np.int64)
    for src in links.src:
        ends[src + 1] += 1
    for row in range(n_src):
        ends[row + 1] += ends[row]
    trg, weights = np.empty(len(links.src), np.int32), np.empty(len(links.src), np.float32)
    for k in range(len(links.src)):
        place = ends[links.src[k]]
        trg[place], weights[place] = links.trg[k], links.weights[k]
        ends[links.src[k]] += 1
    return ends, trg, weights


NONE, NEW = -1, -2


@kernel(twin=add_links_numpy)
def add_links(weights, links, matrix, n_trg, new):
    n_src = len(matrix.indptr) - 1
    ends, sorted_trg, sorted_weights = sort_by_row(links, n_src)
    # row by row, with the place of every target's cell spread out in an array as long as the vocabulary
    cell = np.full(n_trg, NONE, np.int64)
    total = np.empty(n_trg, np.float32)
    n = first = 0
    for row in range(n_src):
        new.indptr[row] = n
        if ends[row] == first:
            continue
        begin, end = matrix.indptr[row], matrix.indptr[row + 1]
        for k in range(begin, end):
            cell[matrix.indices[k]] = k
        for k in range(first, ends[row]):
            trg = sorted_trg[k]
            if cell[trg] >= 0:
                matrix.data[cell[trg]] += sorted_weights[k]
            elif cell[trg] == NEW:
                total[trg] += sorted_weights[k]
            else:
                cell[trg] = NEW
                total[trg] = sorted_weights[k]
                new.indices[n] = trg
                n += 1
        new.indices[new.indptr[row] : n].sort()
        for k in range(new.indptr[row], n):
            new.data[k] = total[new.indices[k]]
            cell[new.indices[k]] = NONE
        for k in range(begin, end):
            cell[matrix.indices[k]] = NONE
        first = ends[row]
    new.indptr[n_src] = n
    return n


def merge_cells_numpy(out_data, out_indices, matrix, new):
    """Two matrices without a common cell -> fills out_data and out_indices with the cells of both, row by row."""
    rows = np.concatenate([np.repeat(np.arange(len(m.indptr) - 1), np.diff(m.indptr)) for m in (matrix, new)])
    both = np.concatenate([matrix.indices, new.indices])
    order = np.lexsort((both, rows))
    out_indices[:] = both[order]
    out_data[:] = np.concatenate([matrix.data, new.data])[order]


@kernel(twin=merge_cells_numpy)
def merge_cells(out_data, out_indices, matrix, new):
    n = 0
    for row in range(len(matrix.indptr) - 1):
        k, end = matrix.indptr[row], matrix.indptr[row + 1]
        j, new_end = new.indptr[row], new.indptr[row + 1]
        while k < end or j < new_end:
            if j == new_end or (k < end and matrix.indices[k] < new.indices[j]):
                out_indices[n], out_data[n] = matrix.indices[k], matrix.data[k]
                k += 1
            else:
                out_indices[n], out_data[n] = new.indices[j], new.data[j]
                j += 1
            n += 1
