"""Ranks: the processes that mpiexec has started, on one machine or many. All that knows of MPI is here.

    mpiexec -n 4 python -m mpi4py cli.py train ...

A process that was started alone is ALONE, and needs no mpi4py. Rank 0 reads and writes all files and speaks to the
user; the others are sent what they need. If a rank dies, minnmt/guard.py ends the job.
"""

import contextlib
import importlib.util
import math
import os
import pickle
import signal
import sys
import tempfile
import time

import numpy as np

from . import errors, guard
from .errors import UsageError, UserError
from .threads import n_processors

COMMANDS = ("train", "align", "decode")  # that make use of ranks
NOT_INSTALLED = 'several ranks need mpi4py: install the extra mpi, with pip install -e ".[mpi]"'
LINE = 64  # bytes of the cache
LARGEST = 1 << 28  # bytes of one message; what is larger goes in parts


class Alone:
    """One process, as most are: it is the first rank, and the only one."""

    rank, size = 0, 1

    @property
    def is_first(self):
        """Is this the rank that reads, writes and speaks?"""
        return self.rank == 0

    def part(self, n, rank=None):
        """Which of n things a rank does; this one, unless another is named."""
        rank = self.rank if rank is None else rank
        return range(n * rank // self.size, n * (rank + 1) // self.size)

    def threads(self, asked=None):
        """Threads of each rank: those that were asked for, or as many as there are cores for."""
        return asked or n_processors()

    def said(self, text):
        """What a rank says, on all of them; the first that says anything is heard."""
        return text

    def share(self, value):
        """Rank 0's value, on all ranks."""
        return value

    def share_arrays(self, arrays):
        """Rank 0's numbers into the arrays of all ranks."""

    def all_in_order(self, values):
        """Lists of all ranks -> one list, on all of them."""
        return values

    def to_first(self, values):
        """Lists of all ranks -> one list on rank 0; on the others it is empty."""
        return values

    def share_mapped(self, value):
        """Rank 0's value, on all ranks; its arrays are in memory once for each machine."""
        return value

    def tell(self, remedy):
        """What to say to the user, should this rank die."""

    def meet(self):
        """Wait until all ranks are here."""

    def end(self):
        """Wait for all: whatever the exit code, nobody is in the middle of something."""


class Ranks(Alone):
    """Several processes, over mpi4py."""

    def __init__(self, mpi, line):
        self.mpi, self.comm, self.line = mpi, mpi.COMM_WORLD, line
        self.rank, self.size = self.comm.rank, self.comm.size
        self.node = self.comm.Split_type(mpi.COMM_TYPE_SHARED)  # the ranks on this machine
        self.n_machines = self.comm.allreduce(int(self.node.rank == 0))
        self.bytes_sent = 0  # to other ranks, for `bench mpi`

    def threads(self, asked=None):
        """The cores of a machine are shared out among its ranks, and each keeps to its own, if there are enough."""
        cores = sorted(set().union(*self.node.allgather(usable_cores())))
        fair = max(1, len(cores) // self.node.size)
        n = asked or fair
        if n <= fair and hasattr(os, "sched_setaffinity") and len(cores) >= n * self.node.size:
            os.sched_setaffinity(0, cores[fair * self.node.rank :][:fair])
        return n

    def describe(self, n_threads, n_shares=None):
        """What was chosen, in a line."""
        machines = "1 machine" if self.n_machines == 1 else f"{self.n_machines} machines"
        text = f"{self.size} ranks on {machines}, {n_threads} thread{'s' * (n_threads > 1)} each"
        if n_shares is None:
            return text
        few = f" (--shares {self.size * n_threads} would keep all busy)" if n_shares < self.size * n_threads else ""
        return f"{text}; shares of a batch: {n_shares}{few}"

    def said(self, text):
        return next(filter(None, self.all_in_order([text])), "")

    def share(self, value):
        data = np.frombuffer(pickle.dumps(value), np.uint8)
        size = np.array([len(data)])
        patient(self.comm.Ibcast(size))
        data = data.copy() if self.is_first else np.empty(size[0], np.uint8)
        self.share_arrays([data])
        return value if self.is_first else pickle.loads(data)

    def share_arrays(self, arrays):
        for array in arrays:
            for part in parts_of(array):
                polite(self.comm.Ibcast(part))

    def all_in_order(self, values):
        data, sizes = np.frombuffer(pickle.dumps(values), np.uint8), np.empty(self.size, np.int64)
        patient(self.comm.Iallgather(np.array([len(data)]), sizes))
        found = np.empty(sizes.sum(), np.uint8)
        patient(self.comm.Iallgatherv(data, [found, sizes.tolist()]))
        return unpacked(found, sizes)

    def to_first(self, values):
        data, sizes = np.frombuffer(pickle.dumps(values), np.uint8), np.zeros(self.size, np.int64)
        patient(self.comm.Igather(np.array([len(data)]), sizes if self.is_first else None))
        found = np.empty(sizes.sum(), np.uint8)
        patient(self.comm.Igatherv(data, [found, sizes.tolist()] if self.is_first else None))
        return unpacked(found, sizes) if self.is_first else []

    def share_mapped(self, value):
        buffers = []
        data = pickle.dumps(value, protocol=5, buffer_callback=buffers.append)
        data, sizes = self.share((data, [buffer.raw().nbytes for buffer in buffers]))
        starts = np.cumsum([0, *(-(-size // LINE) * LINE for size in sizes)])  # each begins with a line of the cache
        heads = self.comm.Split(0 if self.node.rank == 0 else 1)
        with tempfile.NamedTemporaryFile(prefix="minnmt-") if self.node.rank == 0 else contextlib.nullcontext() as file:
            if file:
                os.posix_fallocate(file.fileno(), 0, max(1, int(starts[-1])))  # a full disk is noticed here
                whole = np.memmap(file.name, np.uint8, "r+")
                for start, size, buffer in zip(starts, sizes, buffers or sizes):
                    part = whole[start : start + size]
                    if self.is_first and size:
                        part[:] = np.frombuffer(buffer.raw(), np.uint8)
                    for message in parts_of(part):
                        polite(heads.Ibcast(message))
                whole.flush()
            name = self.node.bcast(file and file.name)
            memory = np.memmap(name, np.uint8, "c")  # shared with the others until somebody writes into it
            patient(self.node.Ibarrier())
        views = [memory[start : start + size] for start, size in zip(starts, sizes)]
        return pickle.loads(data, buffers=views)

    @contextlib.contextmanager
    def pool(self):
        """Rank 0 gets a pool of all others, in which they call functions; the others are in it until it is closed."""
        from mpi4py.futures import MPICommExecutor

        if not self.is_first:
            for number in (signal.SIGINT, signal.SIGTERM):
                signal.signal(number, signal.SIG_IGN)  # rank 0 ends all
        executor = MPICommExecutor(self.comm)
        yield executor.__enter__()
        executor.__exit__(None, None, None)  # after an error nobody is waited for: the job is ended

    def tell(self, remedy):
        self.line.tell(f"rank {self.rank}", remedy)

    def meet(self):
        patient(self.comm.Ibarrier())

    def end(self):
        self.meet()
        self.mpi.Finalize()

    # Rows of an array (N,...) that has one owner for each row; `bounds` (ranks + 1) are where a rank's rows begin

    def exchange_rows(self, array, bounds, senders):
        """Those in `senders` send every rank its rows of their array -> mine (senders,n,...), in their order."""
        mine, requests = array[bounds[self.rank] : bounds[self.rank + 1]], []
        found = np.empty((len(senders), *mine.shape), array.dtype)
        for place, r in enumerate(senders):
            if r == self.rank:
                found[place] = mine
            elif mine.size:
                requests.append(self.comm.Irecv(found[place], r))
        if self.rank in senders:
            requests += self._send(array, bounds, bounds[1:])
        self._wait(requests)
        return found

    def gather_rows(self, array, bounds):
        """All ranks get all rows, in place."""
        mine, requests = array[bounds[self.rank] : bounds[self.rank + 1]], []
        for r in range(self.size):
            theirs = array[bounds[r] : bounds[r + 1]]
            if r != self.rank and theirs.size:
                requests.append(self.comm.Irecv(theirs, r))
            if r != self.rank and mine.size:
                requests.append(self.comm.Isend(mine, r))
                self.bytes_sent += mine.nbytes
        self._wait(requests)

    def _send(self, array, starts, ends):
        """Send every other rank its rows -> requests."""
        parts = [(r, array[start:end]) for r, (start, end) in enumerate(zip(starts, ends)) if r != self.rank]
        self.bytes_sent += sum(part.nbytes for _, part in parts)
        return [self.comm.Isend(part, r) for r, part in parts if part.size]

    def _wait(self, requests):
        """For large messages; others get the core meanwhile: MPICH would ask again and again, and keep it."""
        while not self.mpi.Request.Testall(requests):
            os.sched_yield()

    def collect_rows(self, array, bounds):
        """Rank 0 gets all rows, in place."""
        counts, mine = np.diff(bounds) * row_size(array), slice(*bounds[self.rank :][:2])
        if self.is_first:
            polite(self.comm.Igatherv(self.mpi.IN_PLACE, [array, counts.tolist()]))
        else:
            polite(self.comm.Igatherv(array[mine], None))

    def deal_rows(self, array, bounds):
        """The reverse: every rank gets its rows of rank 0's array, in place."""
        counts, mine = np.diff(bounds) * row_size(array), slice(*bounds[self.rank :][:2])
        if self.is_first:
            polite(self.comm.Iscatterv([array, counts.tolist()], self.mpi.IN_PLACE))
        else:
            polite(self.comm.Iscatterv(None, array[mine]))


def polite(request):
    """Wait for a large message, and let others have the core: MPICH itself would ask again and again, and keep it."""
    while not request.Test():
        os.sched_yield()


def patient(request):
    """Wait for a small message, the longer the less often: rank 0 may be writing a file."""
    nap = 0.0
    while not request.Test():
        time.sleep(nap)
        nap = min(nap + 1e-7, 1e-3)


def row_size(array):
    """How many numbers a row has."""
    return math.prod(array.shape[1:])


def unpacked(data, sizes):
    """Pickled lists, one after the other -> one list."""
    ends = np.cumsum(sizes)
    return [value for end, size in zip(ends, sizes) for value in pickle.loads(data[end - size : end])]


ALONE = Alone()
_ranks = ALONE


def current():
    """The ranks that this process belongs to."""
    return _ranks


def begin(arguments):
    """Become one of the ranks that mpiexec has started; `arguments` of the command line."""
    global _ranks
    if importlib.util.find_spec("mpi4py") is None:
        raise UserError(NOT_INSTALLED)
    if "mpi4py" not in sys.modules:
        start = f"python -m mpi4py {sys.argv[0]}"
        raise UsageError(f"mpiexec has started {guard.n_ranks()} processes: start them with {start} ...")
    if arguments and arguments[0] not in COMMANDS:
        raise UsageError(f"{', '.join(COMMANDS)} make use of several ranks, {arguments[0]} does not: leave out mpiexec")
    line = guard.split()
    from mpi4py import MPI

    _ranks = Ranks(MPI, line)
    _ranks.tell("Start it again.")
    errors.program = f"mpiexec -n {_ranks.size} python -m mpi4py {sys.argv[0]}"


def parts_of(array):
    """An array as flat views that are no larger than a message may be."""
    flat = array.reshape(-1)
    n = LARGEST // max(1, array.itemsize)
    return [flat[i : i + n] for i in range(0, len(flat), n)]


def usable_cores():
    return os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set(range(os.cpu_count() or 1))
