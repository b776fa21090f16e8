"""Threads that each keep a processor to themselves, for work that numpy and the kernels do outside Python's lock.

minnmt gives BLAS one thread and spreads the work by itself: a training batch's sentences, or a text's batches. On
products as small as ours, two BLAS threads spend much of their time waiting for each other.
"""

import ctypes
import os
import threading
from concurrent.futures import ThreadPoolExecutor


def n_processors():
    """How many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


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
