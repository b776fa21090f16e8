"""The one decorator for all kernels: compiled, cached on disk, and switched off by MINNMT_KERNELS=numpy."""

import os

import numba

USE_NUMPY = os.environ.get("MINNMT_KERNELS", "") == "numpy"

# Not among them: "nnan" and "ninf", with which isnan would lie. error_model="numpy" drops the check for division by
# zero, which would keep a loop from being vectorised.
FASTMATH = {"reassoc", "contract", "nsz", "arcp"}


def kernel(twin):
    """Compile the decorated function; with MINNMT_KERNELS=numpy its `twin`, the same in numpy, takes its place.

    Kernels use one thread and let go of Python's lock: several threads may run them side by side.
    """

    def decorate(function):
        if USE_NUMPY:
            return twin
        compiled = numba.njit(cache=True, nogil=True, error_model="numpy", fastmath=FASTMATH)(function)
        compiled.twin = twin
        return compiled

    return decorate
