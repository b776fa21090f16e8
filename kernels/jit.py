"""The one decorator for all kernels: compiled, cached on disk, and switched off by MINNMT_KERNELS=numpy."""

import contextlib
import functools
import os
import threading
import types
from pathlib import Path

import numba
import numpy as np
from numba.core import event

import kernels

USE_NUMPY = os.environ.get("MINNMT_KERNELS", "") == "numpy"

# Not among them: "nnan" and "ninf", with which isnan would lie. error_model="numpy" drops the check for division by
# zero, which would keep a loop from being vectorised.
OPTIONS = dict(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})

# When and how long: of all files with kernels, for one calls functions of another.
SOURCES = tuple(
    (file.name, file.stat().st_size, file.stat().st_mtime) for file in sorted(Path(__file__).parent.glob("*.py"))
)

_team = threading.local()


def kernel(function=None, *, twin=None, parallel=False):
    """Compile a function for float32 arrays. The plain function whose place it takes is in minnmt/, and names it.

    Kernels use one thread and let go of Python's lock: several threads may run them side by side. A kernel that is
    `parallel` is compiled a second time, and in a thread that has a team (see `team`) it is shared by the whole team.
    """
    if function is None:
        return functools.partial(kernel, twin=twin, parallel=parallel)
    if twin is not None:
        return with_twin(function, twin, parallel)
    compiled = stamped(numba.njit(**OPTIONS)(function))
    if not parallel:
        return compiled
    shared = stamped(numba.njit(parallel=True, **OPTIONS)(renamed(function)))

    @functools.wraps(function)
    def call(*arguments):
        return (compiled if team_size() == 1 else shared)(*arguments)

    call.compiled, call.shared = compiled, shared
    return call


def with_twin(function, twin, parallel):
    if USE_NUMPY:
        return twin
    compiled = stamped(numba.njit(**OPTIONS)(function))
    shared = stamped(numba.njit(parallel=True, **OPTIONS)(renamed(function))) if parallel else compiled

    @functools.wraps(function)
    def call(first, *rest):
        if first.dtype != np.float32:
            return twin(first, *rest)
        return (compiled if team_size() == 1 else shared)(first, *rest)

    call.compiled, call.shared, call.twin = compiled, shared, twin
    return call


def renamed(function):
    """A copy under another name: Numba's cache on disk tells functions apart by name and place, not by options."""
    copy = types.FunctionType(function.__code__, function.__globals__, function.__name__ + "_shared")
    copy.__qualname__ = copy.__name__
    return copy


def stamped(compiled):
    """Numba compiles a function anew when its own file has changed; let it look at all of SOURCES as well."""
    cache_file = getattr(getattr(compiled, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):  # Numba's own affair, which a later version may arrange otherwise
        cache_file._source_stamp = (SOURCES, cache_file._source_stamp)
    return compiled


def device_function(function):
    """A small function that becomes part of every kernel that calls it.

    Left to the compiler, a larger one stays a function of its own. Each kernel then brings a copy under the same name,
    optimised in another way, and which copy runs depends on what was loaded from the cache: the last bits of the
    results would, too.
    """
    return stamped(numba.njit(forceinline=True, **OPTIONS)(function))


def team_size():
    """How many threads share the parallel kernels that this thread calls."""
    return getattr(_team, "size", 1)


@contextlib.contextmanager
def team(n):
    """Within it, parallel kernels that this thread calls are shared by n threads, as far as Numba has so many."""
    before = team_size()
    _team.size = max(1, min(n, numba.config.NUMBA_NUM_THREADS))
    numba.set_num_threads(_team.size)
    try:
        yield
    finally:
        _team.size = before
        numba.set_num_threads(before)


class FirstCompilation(event.Listener):
    """Calls kernels.on_compile when Numba starts to compile; kernels that it finds on disk do not count."""

    def on_start(self, event):
        if kernels.on_compile is not None:
            kernels.on_compile()

    def on_end(self, event):
        pass


event.register("numba:compile", FirstCompilation())
