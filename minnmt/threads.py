"""Threads, and what a command asks of the process it runs in.

minnmt gives BLAS one thread and spreads the work by itself: a training batch's sentences, a text's batches, or the
parts of a single sentence's steps (search/desks.py). On products as small as ours, two BLAS threads spend much of their
time waiting for each other. One thread is the main thread, so that a debugger can follow it; in reading mode there is
no other.
"""

import contextlib
import ctypes
import gc
import os
import threading
from concurrent.futures import ThreadPoolExecutor

from .compiled import reading_mode

_pinning = False  # a thread on each core; see `tuned`


def n_processors():
    """How many cores this process may use; in reading mode one."""
    if reading_mode():
        return 1
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


def thread_pool(n_threads):
    """A ThreadPoolExecutor; in a tuned process with as many threads as cores, each thread stays on its own.

    Left alone, Linux was seen to keep two busy threads on one core for minutes, at half the speed.
    """
    pool = ThreadPoolExecutor(n_threads)
    if _pinning and n_threads == n_processors() and hasattr(os, "sched_setaffinity"):
        cores = sorted(os.sched_getaffinity(0))
        together = threading.Barrier(n_threads)

        def pin(i):
            together.wait()  # so that every thread takes exactly one number
            os.sched_setaffinity(0, {cores[i]})

        list(pool.map(pin, range(n_threads)))
    return pool


@contextlib.contextmanager
def tuned(huge=False):
    """A process of our own, made fast: memory is kept, threads are pinned, what is loaded stays.

    For commands, after they have read their data. Never for a library: a notebook's process belongs to the notebook.
    """
    global _pinning
    before, _pinning = _pinning, True
    keep_freed_memory(huge)
    gc.freeze()  # Python's collector need not look at the lists of a corpus again and again
    try:
        yield
    finally:
        gc.unfreeze()
        _pinning = before


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
