"""The output layer over lists of words: the logits of a few rows for each sentence's own words, rows added in place."""

import numpy as np

from .jit import kernel


def list_logits_numpy(o, W, b, begins, ends, logits):
    """o (A*K,E), W (L,E), b (L) -> fills logits (A*K,M).

    The K rows of sentence a get its words begins[a] to ends[a] of W in the first columns, and -inf in the others.
    """
    K = len(o) // max(len(begins), 1)
    logits[:] = -np.inf
    for a, (begin, end) in enumerate(zip(begins, ends)):
        rows = slice(a * K, (a + 1) * K)
        logits[rows, : end - begin] = o[rows] @ W[begin:end].T + b[begin:end]


@kernel(twin=list_logits_numpy)
def list_logits(o, W, b, begins, ends, logits):
    A, E = len(begins), o.shape[1]
    K = len(o) // max(A, 1)
    for a in range(A):
        first, n = a * K, ends[a] - begins[a]
        for j in range(n):
            w, bias = W[begins[a] + j], b[begins[a] + j]
            # four rows at a time: each weight is read once for all of them
            for r in range(first, first + K - 3, 4):
                x0, x1, x2, x3 = o[r], o[r + 1], o[r + 2], o[r + 3]
                s0, s1, s2, s3 = bias, bias, bias, bias
                for e in range(E):
                    s0 += x0[e] * w[e]
                    s1 += x1[e] * w[e]
                    s2 += x2[e] * w[e]
                    s3 += x3[e] * w[e]
                logits[r, j], logits[r + 1, j], logits[r + 2, j], logits[r + 3, j] = s0, s1, s2, s3
            for r in range(first + K - K % 4, first + K):
                x = o[r]
                s = bias
                for e in range(E):
                    s += x[e] * w[e]
                logits[r, j] = s
        logits[first : first + K, n:] = -np.inf


def add_rows_numpy(rows, ids, out):
    """rows (K,E), ids (K), each once -> adds rows into out[ids] (V,E)."""
    out[ids] += rows


@kernel(twin=add_rows_numpy)
def add_rows(rows, ids, out):
    K, E = rows.shape
    for k in range(K):
        to = out[ids[k]]
        for e in range(E):
            to[e] += rows[k, e]
