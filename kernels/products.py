"""Matrix products with few rows: a sentence's beam against the weights, where reading the weights takes the time.

BLAS rearranges the weights at every call before it multiplies, which pays with many rows. Here they are read once, in
the order in which they lie in memory, and every number read serves five rows. Weights have a row for each output.

Long rows come in panels, w (P,N,E): first a piece of every row, then the next piece of every row. Five rows of x as
long as one panel stay in the fastest cache while all of a panel streams past them; five of 1,000 numbers do not, and
reading took 1.7 times as long. A whole table of words is one panel.

Weights may be 16-bit integers with a scale for each row: half as much to read. All arithmetic is in float32.
Notebook 08.
"""

import numba
import numpy as np

from .functions import ZERO
from .jit import device_function, kernel

GROUP = 5  # rows of x that are multiplied together
SHARES = 16  # of the weights, for threads that share the kernel
BLOCK = 32  # rows of w that all rows of x are multiplied with before the next are read; twice, from both halves


@kernel(parallel=True)
def few_rows(x, weights, bias):
    """Each weight is read once and serves all rows; threads that share the kernel have parts of the weights."""
    w, scale = weights
    P, N = w.shape[:2]
    out = np.empty((x.shape[1], N), np.float32)
    for share in numba.prange(SHARES):
        begin, end = share * N // SHARES, (share + 1) * N // SHARES
        out[:, begin:end] = ZERO
        for panel in range(P):
            add_columns(x[panel], w[panel, begin:end], out[:, begin:end])
        for i in range(len(out)):
            for n in range(begin, end):
                out[i, n] = scale[n] * out[i, n] + bias[n]
    return out


@device_function
def add_columns(x, w, out):
    """x (M,E), w (N,E) -> adds x w^T into out (M,N), which may be a part of a wider array."""
    M, N = len(x), len(w)
    if M == 1:
        add_one_row(x[0], w, out[0])
        return
    # Two rows of w at a time, from its first and from its second half: the processor fetches two streams ahead. Were
    # they neighbours, it would have to find the second stream anew for every pair, at half the speed.
    half = (N + 1) // 2
    for begin in range(0, half, BLOCK):
        for first in range(0, M, GROUP):
            # Of a last group that is short, the missing rows repeat its last one, and what they give is not used:
            # cheaper than code for every size.
            i, i1, i2 = first, min(first + 1, M - 1), min(first + 2, M - 1)
            i3, i4 = min(first + 3, M - 1), min(first + 4, M - 1)
            x0, x1, x2, x3, x4 = x[i], x[i1], x[i2], x[i3], x[i4]
            for n in range(begin, min(begin + BLOCK, half)):
                m = min(n + half, N - 1)
                a, b = dot_group(x0, x1, x2, x3, x4, w[n], w[m])
                add_group(a, out[first : first + GROUP, n])
                if n + half < N:  # else the first half has a row more
                    add_group(b, out[first : first + GROUP, m])


@device_function
def add_group(sums, column):
    """As many of the five sums as the column has rows."""
    for i, value in enumerate(sums):
        if i < len(column):
            column[i] += value


@device_function
def add_one_row(x, w, out):
    """x (E), w (N,E) -> adds w x into out (N): four streams of w, from its four quarters."""
    N = len(w)
    quarter = N // 4
    for n in range(quarter):
        n1, n2, n3 = n + quarter, n + 2 * quarter, n + 3 * quarter
        w0, w1, w2, w3 = w[n], w[n1], w[n2], w[n3]
        s0 = s1 = s2 = s3 = ZERO
        for e in range(len(x)):
            s0 += x[e] * np.float32(w0[e])
            s1 += x[e] * np.float32(w1[e])
            s2 += x[e] * np.float32(w2[e])
            s3 += x[e] * np.float32(w3[e])
        out[n] += s0
        out[n1] += s1
        out[n2] += s2
        out[n3] += s3
    for n in range(4 * quarter, N):
        total = ZERO
        for e in range(len(x)):
            total += x[e] * np.float32(w[n, e])
        out[n] += total


@device_function
def dot_group(x0, x1, x2, x3, x4, w, v):
    """Five rows times two: ((x0 w, ..., x4 w), (x0 v, ..., x4 v))."""
    a0 = a1 = a2 = a3 = a4 = b0 = b1 = b2 = b3 = b4 = ZERO
    for e in range(len(w)):
        we, ve = np.float32(w[e]), np.float32(v[e])
        a0 += x0[e] * we
        a1 += x1[e] * we
        a2 += x2[e] * we
        a3 += x3[e] * we
        a4 += x4[e] * we
        b0 += x0[e] * ve
        b1 += x1[e] * ve
        b2 += x2[e] * ve
        b3 += x3[e] * ve
        b4 += x4[e] * ve
    return (a0, a1, a2, a3, a4), (b0, b1, b2, b3, b4)
