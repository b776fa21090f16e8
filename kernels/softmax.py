"""The output layer over lists of words: the logits of a few rows for each sentence's own words."""

import numba
import numpy as np

from .jit import kernel
from .products import add_columns

LIST_PARTS = 4  # of a sentence's list, shared out among a team's threads
LOW = np.float32(-np.inf)


def list_logits_numpy(o, W, b, begins, ends, logits):
    """o (N,E), W (L,E), b (L), begins (N), ends (N) -> fills logits (N,M).

    Row n gets its words begins[n] to ends[n] of W in the first columns, and -inf in the others.
    """
    logits[:] = -np.inf
    for n, (begin, end) in enumerate(zip(begins, ends)):
        logits[n, : end - begin] = W[begin:end] @ o[n] + b[begin:end]


@kernel(twin=list_logits_numpy, parallel=True)
def list_logits(o, W, b, begins, ends, logits):
    N = len(o)
    for task in numba.prange(N * LIST_PARTS):
        part, n = task // N, task % N  # a thread's tasks are neighbours: it gets some parts of every list
        if n > 0 and begins[n] == begins[n - 1]:
            continue  # done with the row before: neighbours with one list share the reading of its weights
        last = n + 1
        while last < N and begins[last] == begins[n]:
            last += 1
        size = ends[n] - begins[n]
        first, end = part * size // LIST_PARTS, (part + 1) * size // LIST_PARTS
        rows = slice(begins[n] + first, begins[n] + end)
        for row in range(n, last):
            logits[row, first:end] = b[rows]
        add_columns(o[n:last], W[rows], logits[n:last, first:end])
        if part == 0:
            logits[n:last, size:] = LOW
