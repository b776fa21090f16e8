"""From counts to lists: the best cells of every row, and the union of a sentence's candidates. Notebook 07.

The plain functions are in minnmt/align/candidates.py and minnmt/align/selector.py.
"""

import numpy as np

from .jit import device_function, kernel


@kernel
def best_cells(scores, indptr, n, least):
    """Fast, because every row is sorted alone, while it is in the cache."""
    lowest = np.float32(least)
    cells, best_indptr = np.empty(np.minimum(np.diff(indptr), n).sum(), np.int64), np.zeros_like(indptr)
    n_best = 0
    for row in range(len(indptr) - 1):
        begin = indptr[row]
        order = np.argsort(-scores[begin : indptr[row + 1]], kind="mergesort")
        for k in order[: min(n, len(order))]:
            if scores[begin + k] < lowest:
                break
            cells[n_best] = begin + k
            n_best += 1
        best_indptr[row + 1] = n_best
    return cells[:n_best], best_indptr


@kernel
def sentence_lists(ids, indptr, batch, always, n_trg):
    """Fast, because an array as long as the vocabulary knows which words a sentence has already: only the union,
    without repetitions, is sorted.
    """
    S, B = batch.src_ids.shape
    most = B * (len(always) + len(batch.trg_ids))
    for i in range(S):
        for b in range(B):
            if batch.src_mask[i, b] > 0:
                most += indptr[batch.src_ids[i, b] + 1] - indptr[batch.src_ids[i, b]]
    seen_by = np.full(n_trg, -1, np.int32)  # the last sentence that has the word
    words, starts = np.empty(most, np.int64), np.empty(B + 1, np.int64)
    n = 0
    starts[0] = 0
    for b in range(B):
        for word in always:
            n = add_word(word, b, seen_by, words, n)
        for t in range(len(batch.trg_ids)):
            if batch.trg_mask[t, b] > 0:
                n = add_word(batch.trg_ids[t, b], b, seen_by, words, n)
        for i in range(S):
            if batch.src_mask[i, b] > 0:
                row = batch.src_ids[i, b]
                for word in ids[indptr[row] : indptr[row + 1]]:
                    n = add_word(word, b, seen_by, words, n)
        words[starts[b] : n].sort()
        starts[b + 1] = n
    return words[:n], starts


@device_function
def add_word(word, b, seen_by, words, n):
    """Write a word to words[n], unless sentence b has it already -> the new n."""
    if seen_by[word] == b:
        return n
    seen_by[word] = b
    words[n] = word
    return n + 1
