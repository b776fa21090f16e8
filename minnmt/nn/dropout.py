"""Dropout: zero each value with probability `rate` while training, scale the rest so that the mean stays.

Inverted dropout: nothing has to change when the model is used. A rate of 0 costs nothing.
"""

import numpy as np


def dropout_forward(x, rate, rng):
    """x (...) -> x with a share `rate` of its values zeroed (...); the cache is the scaled mask, None at rate 0."""
    if rate == 0 or rng is None:
        return x, None
    keep = rng.random(x.shape, dtype=np.float32) >= rate
    mask = keep.astype(x.dtype) * (1.0 / (1.0 - rate))
    return x * mask, mask


def dropout_backward(dout, mask):
    """dout (...) -> dx (...)."""
    # forward: out = x * mask
    return dout if mask is None else dout * mask
