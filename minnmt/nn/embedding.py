"""Word ids to vectors: a lookup of rows, and its reverse, a sum of gradient rows.

Notebook 01 derives why the reverse of a lookup is a sum.
"""

from .functions import add_rows, flat


def embedding_forward(ids, table):
    """ids (T,B), table (V,E) -> x (T,B,E); the cache is the ids themselves."""
    return table[ids], ids


def embedding_backward(dx, ids, dtable):
    """dx (T,B,E) -> nothing (ids have no gradient); adds the rows of dx into dtable (V,E)."""
    # forward: x[t, b] = table[ids[t, b]], so a word met several times collects several gradients
    add_rows(flat(dx), ids.reshape(-1), dtable)
