"""Rows added in place: the reverse of a lookup."""

import numpy as np

from .jit import kernel


def add_rows_numpy(rows, ids, out):
    """rows (K,E), ids (K) -> adds rows[k] into out[ids[k]] (V,E), for one k after the other; ids may repeat."""
    np.add.at(out, ids, rows)


@kernel(twin=add_rows_numpy)
def add_rows(rows, ids, out):
    K, E = rows.shape
    for k in range(K):
        to = out[ids[k]]
        for e in range(E):
            to[e] += rows[k, e]
