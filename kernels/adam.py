"""Adam in one pass over memory, where numpy needs about ten: over all numbers of an array, or over some of its rows."""

import numpy as np

from .jit import device_function, kernel


def adam_numpy(p, g, m, v, rate, beta1, beta2, eps):
    """Update the parameters p and the moments m, v from the gradient g, all flat (N); g is left as it is.

    `rate` already holds both bias corrections (see minnmt/train/adam.py).
    """
    m *= beta1
    m += (1 - beta1) * g
    v *= beta2
    v += (1 - beta2) * (g * g)
    p -= rate * m / (np.sqrt(v) + eps)


@kernel(twin=adam_numpy)
def adam(p, g, m, v, rate, beta1, beta2, eps):
    """The same, one number after the other."""
    adam_numbers(p, g, m, v, rate, beta1, beta2, eps)


def adam_rows_numpy(p, g, m, v, ids, rate, beta1, beta2, eps):
    """The same for the rows `ids` (n), each once, of p, g, m, v (V,E); the other rows are left as they are."""
    p_rows, m_rows, v_rows = p[ids], m[ids], v[ids]
    adam_numpy(p_rows, g[ids], m_rows, v_rows, rate, beta1, beta2, eps)
    p[ids], m[ids], v[ids] = p_rows, m_rows, v_rows


@kernel(twin=adam_rows_numpy)
def adam_rows(p, g, m, v, ids, rate, beta1, beta2, eps):
    for row in ids:
        adam_numbers(p[row], g[row], m[row], v[row], rate, beta1, beta2, eps)


@device_function
def adam_numbers(p, g, m, v, rate, beta1, beta2, eps):
    keep1, keep2 = p.dtype.type(beta1), p.dtype.type(beta2)
    take1, take2 = p.dtype.type(1 - beta1), p.dtype.type(1 - beta2)
    step, small = p.dtype.type(rate), p.dtype.type(eps)
    for i in range(len(p)):
        m[i] = keep1 * m[i] + take1 * g[i]
        v[i] = keep2 * v[i] + take2 * g[i] * g[i]
        p[i] -= step * m[i] / (np.sqrt(v[i]) + small)
