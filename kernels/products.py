"""Matrix products with few rows: a sentence's beam against the weights, where reading the weights takes the time.

BLAS rearranges the weights at every call before it multiplies, which pays with many rows. Here they are read once, in
the order in which they lie in memory, and every number read serves five rows. Weights have a row for each output.
"""

import numba
import numpy as np

from .jit import device_function, kernel

GROUP = 5  # rows of x that are multiplied together
PARTS = 16  # of the weights, shared out among a team's threads


def few_rows_numpy(x, w, bias, out):
    """x (M,E), w (N,E), bias (N) -> fills out (M,N) = x w^T + bias."""
    np.matmul(x, w.T, out=out)
    out += bias


@kernel(twin=few_rows_numpy, parallel=True)
def few_rows(x, w, bias, out):
    N = len(w)
    for part in numba.prange(PARTS):
        begin, end = part * N // PARTS, (part + 1) * N // PARTS
        columns(x, w[begin:end], bias[begin:end], out[:, begin:end])


@device_function
def columns(x, w, bias, out):
    """x (M,E), w (N,E), bias (N) -> out (M,N), where out may be a part of a wider array."""
    M, N = len(x), len(w)
    if M == 1:
        one_row(x[0], w, bias, out[0])
        return
    # Two rows of w at a time, from its first and from its second half: the processor fetches two streams ahead. Were
    # they neighbours, it would have to find the second stream anew for every pair, at half the speed.
    half = (N + 1) // 2
    for n in range(half):
        m = min(n + half, N - 1)
        for first in range(0, M, GROUP):
            # a last group that is short starts earlier: computing some rows twice is cheaper than code for every size
            i = max(0, min(first, M - GROUP))
            i1, i2, i3, i4 = min(i + 1, M - 1), min(i + 2, M - 1), min(i + 3, M - 1), min(i + 4, M - 1)
            a, b = dot_group(x[i], x[i1], x[i2], x[i3], x[i4], w[n], w[m])
            out[i, n], out[i1, n], out[i2, n], out[i3, n], out[i4, n] = a
            out[i, m], out[i1, m], out[i2, m], out[i3, m], out[i4, m] = b
        for i in range(M):
            out[i, n] += bias[n]
        if m > n:
            for i in range(M):
                out[i, m] += bias[m]


@device_function
def one_row(x, w, bias, out):
    """x (E), w (N,E), bias (N) -> out (N): four streams of w, from its four quarters."""
    N = len(w)
    quarter = (N + 3) // 4
    for n in range(quarter):
        n1, n2, n3 = min(n + quarter, N - 1), min(n + 2 * quarter, N - 1), min(n + 3 * quarter, N - 1)
        w0, w1, w2, w3 = w[n], w[n1], w[n2], w[n3]
        s0 = s1 = s2 = s3 = np.float32(0)
        for e in range(len(x)):
            s0 += x[e] * w0[e]
            s1 += x[e] * w1[e]
            s2 += x[e] * w2[e]
            s3 += x[e] * w3[e]
        out[n], out[n1], out[n2], out[n3] = s0 + bias[n], s1 + bias[n1], s2 + bias[n2], s3 + bias[n3]


@device_function
def dot_group(x0, x1, x2, x3, x4, w, v):
    """Five rows times two: ((x0 w, ..., x4 w), (x0 v, ..., x4 v))."""
    a0 = a1 = a2 = a3 = a4 = b0 = b1 = b2 = b3 = b4 = np.float32(0)
    for e in range(len(w)):
        a0 += x0[e] * w[e]
        a1 += x1[e] * w[e]
        a2 += x2[e] * w[e]
        a3 += x3[e] * w[e]
        a4 += x4[e] * w[e]
        b0 += x0[e] * v[e]
        b1 += x1[e] * v[e]
        b2 += x2[e] * v[e]
        b3 += x3[e] * v[e]
        b4 += x4[e] * v[e]
    return (a0, a1, a2, a3, a4), (b0, b1, b2, b3, b4)
