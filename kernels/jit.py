"""The one decorator for all kernels: compiled, cached on disk, and switched off by MINNMT_KERNELS=numpy."""

import functools
import os

import numba
import numpy as np

USE_NUMPY = os.environ.get("MINNMT_KERNELS", "") == "numpy"

# Not among them: "nnan" and "ninf", with which isnan would lie. error_model="numpy" drops the check for division by
# zero, which would keep a loop from being vectorised.
OPTIONS = dict(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})


def kernel(twin):
    """Compile the decorated function for float32 arrays; for float64, where every digit counts, and with
    MINNMT_KERNELS=numpy, its `twin`, the same in numpy, takes its place. The first argument is always an array.

    Kernels use one thread and let go of Python's lock: several threads may run them side by side.
    """

    def decorate(function):
        if USE_NUMPY:
            return twin
        compiled = numba.njit(**OPTIONS)(function)

        @functools.wraps(function)
        def call(first, *rest):
            if first.dtype == np.float32:
                return compiled(first, *rest)
            return twin(first, *rest)

        call.compiled, call.twin = compiled, twin
        return call

    return decorate


def device_function(function):
    """A small function that kernels call and the compiler inlines."""
    return numba.njit(**OPTIONS)(function)
