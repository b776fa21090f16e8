"""Threads that each keep a processor to themselves, for work that numpy and the kernels do outside Python's lock.

minnmt gives BLAS one thread and spreads the work by itself: a training batch's sentences, or a text's batches. On
products as small as ours, two BLAS threads spend much of their time waiting for each other.
"""

import contextlib
import ctypes
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

from .compiled import reading_mode


def n_processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def threads(n):
    """Yields a map that returns a list: in n threads; one thread, and any number in reading mode, is this one."""
    if n <= 1 or reading_mode():
        yield lambda function, *arguments: list(map(function, *arguments))
    else:
        with thread_pool(n) as pool:
            yield lambda function, *arguments: in_pool(pool, function, *arguments)


def in_pool(pool, function, *arguments):
    """map in a pool's threads; this one waits for the results."""
    return list(pool.map(function, *arguments))


@contextlib.contextmanager
def sharing(n):
    """Within it, n threads share every kernel that this one calls, if it is one of those that can be shared."""
    if n <= 1 or reading_mode():
        yield
    else:
        from kernels.jit import team

        with team(n):
            yield


def n_sharing():
    """How many threads share the kernels that this one calls."""
    jit = sys.modules.get("kernels.jit")  # not there: no kernel was called yet
    return jit.team_size() if jit else 1


def thread_pool(n_threads):
    """A ThreadPoolExecutor; with as many threads as processors, each thread stays on its own.

    Left alone, Linux was seen to keep two busy threads on one processor for minutes, at half the speed.
    """
    pool = ThreadPoolExecutor(n_threads)
    if n_threads > 1 and n_threads == n_processors() and hasattr(os, "sched_setaffinity"):
        processors = sorted(os.sched_getaffinity(0))
        together = threading.Barrier(n_threads)

        def pin(i):
            together.wait()  # so that every thread takes exactly one number
            os.sched_setaffinity(0, {processors[i]})

        list(pool.map(pin, range(n_threads)))
    return pool


def keep_freed_memory(huge=False):
    """Ask the C library to keep freed memory for the next array instead of returning it to the system.

    Training allocates the same large arrays for every batch; fetching fresh pages for them took a tenth of its time.
    The C library hands back arrays above 32 MB all the same, unless `huge`: then all threads share one heap, which
    grows to what is needed and stays.
    """
    settings = {-3: 32 << 20, -1: 1 << 30, -2: 64 << 20}  # M_MMAP_THRESHOLD, M_TRIM_THRESHOLD, M_TOP_PAD of glibc
    if huge:
        settings |= {-4: 0, -8: 1}  # M_MMAP_MAX, M_ARENA_MAX
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError, TypeError):  # another C library, or Windows
        return
    for option, value in settings.items():
        mallopt(option, value)
