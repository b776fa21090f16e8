"""Rows added in place: the reverse of a lookup. The plain function is in minnmt/nn/functions.py.

Notebook 01 teaches why, 08 the kernels.
"""

from .jit import kernel


@kernel
def add_rows(rows, ids, table):
    """Fast because numpy's add.at, which it replaces, looks at every number by itself."""
    K, E = rows.shape
    for k in range(K):
        row = table[ids[k]]
        for e in range(E):
            row[e] += rows[k, e]
