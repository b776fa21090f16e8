"""The output layer over lists of words: the logits of a few rows for each sentence's own words. Notebook 08."""

import numba
import numpy as np

from .functions import LOW
from .jit import kernel
from .products import add_columns

LIST_PARTS = 4  # of a sentence's list, for threads that share the kernel


@kernel(parallel=True)
def list_logits(o, W, b, begins, ends):
    """Neighbours that have one list share the reading of its weights."""
    N, M = len(o), 0
    for n in range(N):
        M = max(M, ends[n] - begins[n])
    logits = np.empty((N, M), np.float32)
    for task in numba.prange(N * LIST_PARTS):
        part, n = task // N, task % N  # a thread's tasks are neighbours: it gets some parts of every list
        if n > 0 and begins[n] == begins[n - 1] and ends[n] == ends[n - 1]:
            continue  # done with the row before
        last = n + 1
        while last < N and begins[last] == begins[n] and ends[last] == ends[n]:
            last += 1
        size = ends[n] - begins[n]
        first, end = part * size // LIST_PARTS, (part + 1) * size // LIST_PARTS
        rows = slice(begins[n] + first, begins[n] + end)
        for row in range(n, last):
            logits[row, first:end] = b[rows]
        add_columns(o[n:last], W[rows], logits[n:last, first:end])
        if part == 0:
            logits[n:last, size:] = LOW
    return logits
