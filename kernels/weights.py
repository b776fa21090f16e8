"""Products with a weight inside a kernel: it is an array, or a Packed of minnmt/nn/bf16.py, and its type decides.

Their additions have one order, however they are compiled: it does not matter which copy runs. Notebook 08.
"""

import numpy as np
from numba import types
from numba.extending import overload

from .functions import ZERO
from .jit import OPTIONS
from .matmul import add_rows_times_tiles

OWN = dict(jit_options={name: value for name, value in OPTIONS.items() if name != "cache"})


def multiply(x, w, out):
    """out (M,N) = x (M,K) times w (K,N)."""
    raise TypeError("for kernels alone")


def multiply_turned(x, w, out):
    """out (M,K) = x (M,N) times w^T, for w (K,N)."""
    raise TypeError("for kernels alone")


@overload(multiply, **OWN)
def multiply_for(x, w, out):
    if isinstance(w, types.Array):
        return lambda x, w, out: np.dot(x, w, out)

    def rounded(x, w, out):
        out[:] = ZERO
        add_rows_times_tiles(x, w.tiles, out)

    return rounded


@overload(multiply_turned, **OWN)
def multiply_turned_for(x, w, out):
    if isinstance(w, types.Array):
        return lambda x, w, out: np.dot(x, w.T, out)

    def rounded(x, w, out):
        out[:] = ZERO
        add_rows_times_tiles(x, w.turned, out)

    return rounded
