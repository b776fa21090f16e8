"""What the machine can do at best: reading memory, and multiplying in 8 bits. Notebooks 08 and 09.

The plain functions are in minnmt/lab/bench/limits.py.
"""

import numpy as np

from .functions import ZERO
from .intrinsics import LANES, dot, fill, load, spread, store
from .jit import kernel


@kernel
def add_up(numbers):
    """Four streams: with one, a core does not reach what memory can deliver."""
    size = len(numbers) // 4
    a, b, c, d = numbers[:size], numbers[size : 2 * size], numbers[2 * size : 3 * size], numbers[3 * size :]
    total_a = total_b = total_c = total_d = ZERO
    for i in range(size):
        total_a += a[i]
        total_b += b[i]
        total_c += c[i]
        total_d += d[i]
    return total_a + total_b + total_c + total_d


@kernel
def many_dots(w, x, n):
    """Nothing but the instruction: all numbers are in registers, and ten totals do not wait for each other."""
    u, y = load(w, 0), spread(x, 0)
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = a8 = a9 = fill(w, 0)
    for _ in range(n):
        a0, a1, a2, a3, a4 = dot(a0, u, y), dot(a1, u, y), dot(a2, u, y), dot(a3, u, y), dot(a4, u, y)
        a5, a6, a7, a8, a9 = dot(a5, u, y), dot(a6, u, y), dot(a7, u, y), dot(a8, u, y), dot(a9, u, y)
    totals = np.empty((10, LANES), np.float32)
    for i, total in enumerate((a0, a1, a2, a3, a4, a5, a6, a7, a8, a9)):
        store(totals, i * LANES, total)
    return totals
