"""Reading memory as fast as it can be read: what the bandwidth is measured with. Notebook 08."""

import numba
import numpy as np

from .functions import ZERO
from .jit import kernel

PARTS = 16


@kernel(parallel=True)
def add_up(numbers):
    """Four streams in each part: with one, a thread does not reach what memory can deliver."""
    sums, size = np.empty(PARTS, np.float32), len(numbers) // PARTS
    for part in numba.prange(PARTS):
        quarter, first = size // 4, part * size
        a, b = numbers[first : first + quarter], numbers[first + quarter : first + 2 * quarter]
        c, d = numbers[first + 2 * quarter : first + 3 * quarter], numbers[first + 3 * quarter : first + size]
        total_a = total_b = total_c = total_d = ZERO
        for i in range(quarter):
            total_a += a[i]
            total_b += b[i]
            total_c += c[i]
            total_d += d[i]
        sums[part] = total_a + total_b + total_c + total_d
    return sums
