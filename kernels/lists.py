"""From counts to lists: the best cells of every row, and the union of a sentence's candidates."""

import numpy as np

from .jit import device_function, kernel


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


def sentence_lists_numpy(src_mask, batch, table, always, n_trg, ids, starts):
    """A batch of ids and masks (S,B), (T,B), and its src_mask -> each sentence's words, ascending, each once.

    A list has the candidates of the source words (rows of `table`), the target words themselves (T may be 0), and
    `always`. They fill ids[: starts[-1]]; sentence b has those from starts[b] on.
    """
    starts[0] = 0
    for b in range(src_mask.shape[1]):
        rows = batch.src_ids[src_mask[:, b] > 0, b]
        parts = [table.indices[table.indptr[i] : table.indptr[i + 1]] for i in rows]
        own = batch.trg_ids[batch.trg_mask[:, b] > 0, b]
        union = np.unique(np.concatenate([always, own, *parts]))
        starts[b + 1] = starts[b] + len(union)
        ids[starts[b] : starts[b + 1]] = union


@kernel(twin=sentence_lists_numpy)
def sentence_lists(src_mask, batch, table, always, n_trg, ids, starts):
    S, B = src_mask.shape
    seen_by = np.full(n_trg, -1, np.int32)  # the last sentence that has the word
    n = 0
    starts[0] = 0
    for b in range(B):
        for word in always:
            n = add_word(word, b, seen_by, ids, n)
        for t in range(len(batch.trg_ids)):
            if batch.trg_mask[t, b] > 0:
                n = add_word(batch.trg_ids[t, b], b, seen_by, ids, n)
        for i in range(S):
            if src_mask[i, b] > 0:
                row = batch.src_ids[i, b]
                for word in table.indices[table.indptr[row] : table.indptr[row + 1]]:
                    n = add_word(word, b, seen_by, ids, n)
        ids[starts[b] : n].sort()
        starts[b + 1] = n


@device_function
def add_word(word, b, seen_by, ids, n):
    """Write a word to ids[n], unless sentence b has it already -> the new n."""
    if seen_by[word] == b:
        return n
    seen_by[word] = b
    ids[n] = word
    return n + 1
