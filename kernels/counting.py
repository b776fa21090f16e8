"""Attention weights into sparse counts: links above a threshold, added to the cells of a CSR matrix. Notebook 06.

The plain functions are in minnmt/align/accumulator.py.
"""

import numpy as np

from .jit import device_function, kernel


@kernel
def find_links(alphas, batch, threshold):
    """Fast, because
    - links are rare and anywhere: writing down every place, and keeping it only after a hit, spares a branch;
    - masks and ids are looked up for hits alone, whose t, i and b come from divisions of 32 bits, again no branch.
    """
    _, S, B = alphas.shape
    flat, least = alphas.reshape(-1), np.float32(threshold)
    hits = np.empty(len(flat) + 1, np.uint32)  # enough for 16 GB of weights
    n_hits = 0
    for k in range(len(flat)):
        hits[n_hits] = k
        n_hits += flat[k] > least
    weights, src, trg = np.empty(n_hits, np.float32), np.empty(n_hits, np.int32), np.empty(n_hits, np.int32)
    n = 0
    for hit in hits[:n_hits]:
        row, b = divide(hit, B)
        t, i = divide(row, S)
        if batch.trg_mask[t, b] > 0 and batch.src_mask[i, b] > 0:
            weights[n] = flat[hit]
            src[n] = batch.src_ids[i, b]
            trg[n] = batch.trg_ids[t, b]
            n += 1
    return weights[:n], src[:n], trg[:n]


@device_function
def divide(number, width):
    """divmod in uint32."""
    quotient = np.uint32(number // np.uint32(width))
    return quotient, np.uint32(number - quotient * np.uint32(width))


@kernel
def add_links(weights, src, trg, data, indices, indptr, n_trg):
    """Fast, because
    - links are sorted by row in one pass, and a row's cells are spread out in an array as long as the vocabulary:
      each link finds its cell in one step;
    - the matrix is copied only if it has new cells, once, row by row.
    """
    ends, sorted_trg, sorted_weights = sort_by_row(weights, src, trg, len(indptr) - 1)
    new_data, new_indices, new_indptr = add_known(sorted_weights, sorted_trg, ends, data, indices, indptr, n_trg)
    if len(new_data) == 0:
        return data, indices, indptr
    return merge(data, indices, indptr, new_data, new_indices, new_indptr)


@device_function
def sort_by_row(weights, src, trg, n_src):
    """The links of a row together, in the order of their arrival -> where each row ends, targets, weights."""
    ends = np.zeros(n_src + 1, np.int64)
    for row in src:
        ends[row + 1] += 1
    for row in range(n_src):
        ends[row + 1] += ends[row]
    sorted_trg, sorted_weights = np.empty(len(src), np.int32), np.empty(len(src), np.float32)
    for k in range(len(src)):
        place = ends[src[k]]
        sorted_trg[place], sorted_weights[place] = trg[k], weights[k]
        ends[src[k]] += 1
    return ends, sorted_trg, sorted_weights


NONE, NEW = -1, -2


@device_function
def add_known(weights, trgs, ends, data, indices, indptr, n_trg):
    """Add links, sorted by row, to the cells that are there -> the others, summed up: data, indices, indptr."""
    n_src = len(indptr) - 1
    new_data, new_indices = np.empty(len(weights), np.float32), np.empty(len(weights), np.int32)
    new_indptr = np.empty(n_src + 1, np.int64)
    cell = np.full(n_trg, NONE, np.int64)
    total = np.empty(n_trg, np.float32)
    n = first = 0
    for row in range(n_src):
        new_indptr[row] = n
        if ends[row] == first:
            continue
        begin, end = indptr[row], indptr[row + 1]
        for k in range(begin, end):
            cell[indices[k]] = k
        for k in range(first, ends[row]):
            trg = trgs[k]
            if cell[trg] >= 0:
                data[cell[trg]] += weights[k]
            elif cell[trg] == NEW:
                total[trg] += weights[k]
            else:
                cell[trg] = NEW
                total[trg] = weights[k]
                new_indices[n] = trg
                n += 1
        new_indices[new_indptr[row] : n].sort()
        for k in range(new_indptr[row], n):
            new_data[k] = total[new_indices[k]]
            cell[new_indices[k]] = NONE
        for k in range(begin, end):
            cell[indices[k]] = NONE
        first = ends[row]
    new_indptr[n_src] = n
    return new_data[:n], new_indices[:n], new_indptr


@device_function
def merge(data, indices, indptr, new_data, new_indices, new_indptr):
    """Two matrices without a common cell -> the cells of both: data, indices, indptr."""
    n_cells = len(data) + len(new_data)
    out_data, out_indices = np.empty(n_cells, np.float32), np.empty(n_cells, np.int32)
    n = 0
    for row in range(len(indptr) - 1):
        k, end = indptr[row], indptr[row + 1]
        j, new_end = new_indptr[row], new_indptr[row + 1]
        while k < end or j < new_end:
            if j == new_end or (k < end and indices[k] < new_indices[j]):
                out_indices[n], out_data[n] = indices[k], data[k]
                k += 1
            else:
                out_indices[n], out_data[n] = new_indices[j], new_data[j]
                j += 1
            n += 1
    return out_data, out_indices, indptr + new_indptr
