"""Word ids to vectors: row lookup, and its reverse, a scatter-add of gradient rows.

Notebook 01 derives why the reverse of a lookup is a sum.
"""

import numpy as np


def embedding_forward(ids, table):
    """ids (T,B), table (V,E) -> x (T,B,E); the cache is the ids themselves."""
    return table[ids], ids


def embedding_backward(dx, ids, dtable):
    """dx (T,B,E) -> nothing (ids have no gradient); adds the rows of dx into dtable (V,E)."""
    # forward: x[t, b] = table[ids[t, b]], so a word met several times collects several gradients
    add_rows(dtable, ids.reshape(-1), dx.reshape(-1, dx.shape[-1]))


def add_rows(table, ids, rows):
    """table[ids[n]] += rows[n] for every n, with repeated ids added up (sorted, so the order is always the same)."""
    if len(ids) == 0:
        return
    order = np.argsort(ids, kind="stable")
    sorted_ids = ids[order]
    starts = np.flatnonzero(np.r_[True, sorted_ids[1:] != sorted_ids[:-1]])
    table[sorted_ids[starts]] += np.add.reduceat(rows[order], starts, axis=0)
