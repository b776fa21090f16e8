"""Attention weights into sparse counts: find the links above a threshold, add them to the cells of a CSR matrix.

Links are (weight, source id, target id). A cell's links are added one after the other in the order of their arrival,
so the sums do not depend on how the links were cut into portions. Notebook 06.
"""

import numpy as np

from .jit import kernel


def find_links_numpy(alphas, src_mask, trg_mask, src_ids, trg_ids, threshold, weights, link_src, link_trg):
    """alphas (T,S,B), masks and ids (S,B), (T,B) -> n links with a weight above threshold, into weights[:n], ..."""
    real = (trg_mask[:, None, :] > 0) & (src_mask[None, :, :] > 0)
    t, i, b = np.nonzero((alphas > np.float32(threshold)) & real)
    n = len(t)
    weights[:n], link_src[:n], link_trg[:n] = alphas[t, i, b], src_ids[i, b], trg_ids[t, b]
    return n


@kernel(twin=find_links_numpy)
def find_links(alphas, src_mask, trg_mask, src_ids, trg_ids, threshold, weights, link_src, link_trg):
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
            if trg_mask[t, b] > 0 and src_mask[i, b] > 0:
                weights[n] = alpha[hit]
                link_src[n] = src_ids[i, b]
                link_trg[n] = trg_ids[t, b]
                n += 1
    return n


def add_links_numpy(weights, link_src, link_trg, data, indices, indptr, n_trg, new_data, new_indices, new_indptr):
    """Add links to the cells that a CSR matrix has; those it lacks are summed up in new_*, a CSR of their own.

    Returns the number of new cells.
    """
    n_src = len(indptr) - 1
    keys = link_src.astype(np.int64) * n_trg + link_trg
    known_keys = np.repeat(np.arange(n_src), np.diff(indptr)) * n_trg + indices
    at = np.searchsorted(known_keys, keys)
    known = at < len(known_keys)
    known[known] = known_keys[at[known]] == keys[known]
    np.add.at(data, at[known], weights[known])
    new_keys, at = np.unique(keys[~known], return_inverse=True)
    n = len(new_keys)
    new_data[:n] = 0
    np.add.at(new_data, at, weights[~known])
    new_indices[:n] = new_keys % n_trg
    new_indptr[0] = 0
    np.cumsum(np.bincount(new_keys // n_trg, minlength=n_src), out=new_indptr[1:])
    return n


@kernel(twin=add_links_numpy)
def add_links(weights, link_src, link_trg, data, indices, indptr, n_trg, new_data, new_indices, new_indptr):
    n_src = len(indptr) - 1
    # bring the links of a row together, in the order of their arrival
    row_end = np.zeros(n_src + 1, np.int64)
    for k in range(len(weights)):
        row_end[link_src[k] + 1] += 1
    for row in range(n_src):
        row_end[row + 1] += row_end[row]
    sorted_trg = np.empty(len(weights), np.int32)
    sorted_weights = np.empty(len(weights), np.float32)
    for k in range(len(weights)):
        place = row_end[link_src[k]]
        sorted_trg[place] = link_trg[k]
        sorted_weights[place] = weights[k]
        row_end[link_src[k]] += 1
    # row by row, with the place of every target's cell spread out in an array as long as the vocabulary
    NONE, NEW = -1, -2
    cell = np.full(n_trg, NONE, np.int64)
    total = np.empty(n_trg, np.float32)
    n = 0
    first = 0
    for row in range(n_src):
        new_indptr[row] = n
        if row_end[row] == first:
            continue
        for k in range(indptr[row], indptr[row + 1]):
            cell[indices[k]] = k
        for k in range(first, row_end[row]):
            trg = sorted_trg[k]
            if cell[trg] >= 0:
                data[cell[trg]] += sorted_weights[k]
            elif cell[trg] == NEW:
                total[trg] += sorted_weights[k]
            else:
                cell[trg] = NEW
                total[trg] = sorted_weights[k]
                new_indices[n] = trg
                n += 1
        new_indices[new_indptr[row] : n].sort()
        for k in range(new_indptr[row], n):
            new_data[k] = total[new_indices[k]]
            cell[new_indices[k]] = NONE
        for k in range(indptr[row], indptr[row + 1]):
            cell[indices[k]] = NONE
        first = row_end[row]
    new_indptr[n_src] = n
    return n


def merge_cells_numpy(data, indices, indptr, new_data, new_indices, new_indptr, out_data, out_indices):
    """Two CSR matrices without a common cell -> the cells of both, row by row, ascending."""
    rows = np.concatenate([np.repeat(np.arange(len(p) - 1), np.diff(p)) for p in (indptr, new_indptr)])
    both = np.concatenate([indices, new_indices])
    order = np.lexsort((both, rows))
    out_indices[:] = both[order]
    out_data[:] = np.concatenate([data, new_data])[order]


@kernel(twin=merge_cells_numpy)
def merge_cells(data, indices, indptr, new_data, new_indices, new_indptr, out_data, out_indices):
    n = 0
    for row in range(len(indptr) - 1):
        k, new = indptr[row], new_indptr[row]
        end, new_end = indptr[row + 1], new_indptr[row + 1]
        while k < end or new < new_end:
            if new == new_end or (k < end and indices[k] < new_indices[new]):
                out_indices[n] = indices[k]
                out_data[n] = data[k]
                k += 1
            else:
                out_indices[n] = new_indices[new]
                out_data[n] = new_data[new]
                new += 1
            n += 1
