"""From counts to lists: the best cells of every row, and the union of a sentence's candidates."""

import numpy as np

from .jit import kernel


def best_cells_numpy(scores, indptr, n, least, chosen, chosen_indptr):
    """scores (cells) of a CSR matrix -> the cells of the n best scores of each row, best first, none below `least`.

    Ties go to the lower column. They fill chosen[: chosen_indptr[-1]]; row i has those from chosen_indptr[i] on.
    """
    rows = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    order = np.lexsort((-scores, rows))
    place = np.arange(len(order)) - indptr[rows]
    kept = order[(place < n) & (scores[order] >= np.float32(least))]
    chosen[: len(kept)] = kept
    chosen_indptr[0] = 0
    np.cumsum(np.bincount(rows[kept], minlength=len(indptr) - 1), out=chosen_indptr[1:])


@kernel(twin=best_cells_numpy)
def best_cells(scores, indptr, n, least, chosen, chosen_indptr):
    lowest = np.float32(least)
    n_chosen = 0
    for row in range(len(indptr) - 1):
        chosen_indptr[row] = n_chosen
        begin = indptr[row]
        order = np.argsort(-scores[begin : indptr[row + 1]], kind="mergesort")
        for k in order[: min(n, len(order))]:
            if scores[begin + k] < lowest:
                break
            chosen[n_chosen] = begin + k
            n_chosen += 1
    chosen_indptr[len(indptr) - 1] = n_chosen


def sentence_lists_numpy(src_mask, src_ids, trg_mask, trg_ids, indptr, candidates, always, n_trg, ids, starts):
    """src_ids (S,B), trg_ids (T,B) and their masks -> each sentence's words, ascending, each once.

    A list has the candidates of the source words, the target words themselves (T may be 0), and `always`. They fill
    ids[: starts[-1]]; sentence b has those from starts[b] on.
    """
    starts[0] = 0
    for b in range(src_ids.shape[1]):
        parts = [candidates[indptr[i] : indptr[i + 1]] for i in src_ids[src_mask[:, b] > 0, b]]
        union = np.unique(np.concatenate([always, trg_ids[trg_mask[:, b] > 0, b], *parts]))
        starts[b + 1] = starts[b] + len(union)
        ids[starts[b] : starts[b + 1]] = union


@kernel(twin=sentence_lists_numpy)
def sentence_lists(src_mask, src_ids, trg_mask, trg_ids, indptr, candidates, always, n_trg, ids, starts):
    S, B = src_ids.shape
    seen_by = np.full(n_trg, -1, np.int32)  # the last sentence that has the word
    n = 0
    starts[0] = 0
    for b in range(B):
        for word in always:
            if seen_by[word] != b:
                seen_by[word] = b
                ids[n] = word
                n += 1
        for t in range(len(trg_ids)):
            word = trg_ids[t, b]
            if trg_mask[t, b] > 0 and seen_by[word] != b:
                seen_by[word] = b
                ids[n] = word
                n += 1
        for i in range(S):
            if src_mask[i, b] == 0:
                continue
            for k in range(indptr[src_ids[i, b]], indptr[src_ids[i, b] + 1]):
                word = candidates[k]
                if seen_by[word] != b:
                    seen_by[word] = b
                    ids[n] = word
                    n += 1
        ids[starts[b] : n].sort()
        starts[b + 1] = n
