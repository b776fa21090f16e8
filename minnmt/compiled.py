"""Plain and compiled: which of the two runs.

A plain function is the definition: numpy, where it is read, returning its results. One line names its counterpart:

    @compiled("gates.gru_gates")
    def gru_gates(...):

kernels/gates.py then holds a function gru_gates with the same arguments and the same results, compiled for float32. It
takes the plain function's place, except
- for float64, in which gradients are checked;
- in reading mode (MINNMT_KERNELS=numpy in the environment, or `decode --engine plain`). Then the plain functions run,
  in the main thread, and Numba is not even imported.

Arguments are given by position; the first is an array, and decides. What a docstring calls "used up" may be
overwritten by the counterpart, which then returns its results in the same memory.
"""

import contextlib
import functools
import importlib
import os

import numpy as np

FLOAT64 = np.dtype(np.float64)
FOR_GOOD = os.environ.get("MINNMT_KERNELS", "") == "numpy"
_reading = FOR_GOOD


def reading_mode():
    """Are the plain functions to run, in the main thread?"""
    return _reading


@contextlib.contextmanager
def reading():
    """Within it, as if MINNMT_KERNELS=numpy were in the environment."""
    global _reading
    before, _reading = _reading, True
    try:
        yield
    finally:
        _reading = before


def compiled(counterpart):
    """Name the compiled counterpart, "file.function" in kernels/, of the plain function that follows."""

    def decorate(plain):
        plain.counterpart, plain.plain = counterpart, plain
        if FOR_GOOD:
            return plain
        kernel = None  # imported when it is first called

        @functools.wraps(plain)
        def call(first, *rest):
            nonlocal kernel
            if first.dtype == FLOAT64 or _reading:
                return plain(first, *rest)
            if kernel is None:
                kernel = find_kernel(counterpart)
            return kernel(first, *rest)

        call.__code__ = call.__code__.replace(co_name=plain.__name__)  # a breakpoint and a profile go by this name
        return call

    return decorate


def find_kernel(counterpart):
    """ "gates.gru_gates" -> what has that name in kernels/gates.py."""
    module, name = counterpart.split(".")
    return getattr(importlib.import_module(f"kernels.{module}"), name)
