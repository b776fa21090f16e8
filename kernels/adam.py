"""Adam in one pass over memory, where numpy needs about ten. The equations are in minnmt/train/adam.py.

Notebook 04 teaches Adam, 08 the kernels.
"""

import numpy as np

from .jit import device_function, kernel


@kernel
def adam(p, g, m, v, rate, beta1, beta2, eps):
    """Fast because every number is read once and written once."""
    adam_numbers(p, g, m, v, rate, beta1, beta2, eps)


@kernel
def adam_rows(p, g, m, v, ids, rate, beta1, beta2, eps):
    """Fast as adam is, and because rows without a gradient are never touched."""
    for row in ids:
        adam_numbers(p[row], g[row], m[row], v[row], rate, beta1, beta2, eps)


@device_function
def adam_numbers(p, g, m, v, rate, beta1, beta2, eps):
    """One array, or one row of it."""
    keep1, keep2 = p.dtype.type(beta1), p.dtype.type(beta2)
    take1, take2 = p.dtype.type(1 - beta1), p.dtype.type(1 - beta2)
    step, small = p.dtype.type(rate), p.dtype.type(eps)
    for i in range(len(p)):
        m[i] = keep1 * m[i] + take1 * g[i]
        v[i] = keep2 * v[i] + take2 * g[i] * g[i]
        p[i] -= step * m[i] / (np.sqrt(v[i]) + small)
