"""Translating in several processes that share one copy of the weights.

A Translator's large arrays are written to a file once, and every worker maps that file into its memory (see
minnmt/arrays.py): the system keeps its pages once for all of them. What else the Translator holds is pickled beside it.
The parent cuts a text into batches of similar length, gives a batch to each worker that has nothing to do, and puts
the answers back in order.

Left out: new workers for those that died. The others go on without them.
"""

import contextlib
import multiprocessing
import os
import pickle
import signal
import sys
import tempfile
import traceback
from collections import deque
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import NamedTuple

import numpy as np

from ..arrays import map_arrays_file, write_arrays
from ..errors import UserError
from ..files import reason
from ..threads import n_processors

LARGE = 64 * 1024  # bytes; what is smaller goes into the pickle, a copy for every worker
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS", "NUMBA_NUM_THREADS")

# Sharing an object


def share(thing, directory):
    """Write any object into a directory, its large arrays so that they can be mapped; load_shared reads it."""
    try:
        with open(os.path.join(directory, "object.pickle"), "wb") as file:
            pickler = ArrayPickler(file)
            pickler.dump(thing)
        with open(os.path.join(directory, "arrays.npz"), "wb") as file:
            write_arrays(file, {name: array for name, array in pickler.large.values()})
    except OSError as error:
        raise UserError(
            f"cannot write the weights that workers share to {directory}: {reason(error)}; "
            "the environment variable TMPDIR can name another place"
        ) from None


def load_shared(directory):
    """The object that `share` wrote. Unpickling runs code: only ever for a directory that this program has made."""
    arrays = map_arrays_file(os.path.join(directory, "arrays.npz"), "c")
    with open(os.path.join(directory, "object.pickle"), "rb") as file:
        return ArrayUnpickler(file, arrays).load()


class ArrayPickler(pickle.Pickler):
    """Leaves large arrays out of the pickle and collects them; an array that is met twice is still one."""

    def __init__(self, file):
        super().__init__(file, pickle.HIGHEST_PROTOCOL)
        self.large = {}  # id of the array: (name, array)

    def persistent_id(self, thing):
        if type(thing) not in (np.ndarray, np.memmap) or thing.nbytes <= LARGE or thing.dtype.hasobject:
            return None
        return self.large.setdefault(id(thing), (str(len(self.large)), thing))[0]


class ArrayUnpickler(pickle.Unpickler):
    def __init__(self, file, arrays):
        super().__init__(file)
        self.arrays = arrays

    def persistent_load(self, name):
        return self.arrays[name]


# A worker


def work(directory, connection, processor):
    """The life of a worker: loads the Translator, says so, and answers lists of lines until the parent is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the parent's concern
    if processor is not None:
        os.sched_setaffinity(0, {processor})
    translator = attempt(load_shared, directory)
    with contextlib.suppress(EOFError, OSError):  # the parent is gone, however it ended: nobody wants an answer
        if isinstance(translator, Failure):
            connection.send(translator)
            return
        translator.n_threads = 1
        connection.send(None)
        while True:
            connection.send(attempt(translator.translate, connection.recv()))


class Failure(NamedTuple):
    """An exception on its way to the parent."""

    error: Exception
    traceback: str


def attempt(function, argument):
    """function(argument), or the Failure that came of it."""
    try:
        return function(argument)
    except Exception as error:
        text = traceback.format_exc()
        try:
            pickle.loads(pickle.dumps(error))
        except Exception:  # not every exception can travel
            error = RuntimeError(repr(error))
        return Failure(error, text)


class WorkerTraceback(Exception):
    """Where in a worker an exception came from, as the cause of that exception."""

    def __str__(self):
        return "\n" + self.args[0]


# The parent


@dataclass
class Piece:
    """Lines that are translated together."""

    places: list  # where each line stands in the text
    lines: list
    n_deaths: int = 0  # workers that died of it


@dataclass
class Worker:
    """A process as the parent sees it."""

    number: int
    process: BaseProcess
    connection: Connection
    piece: Piece | None = None  # what it works on

    def end(self):
        """Wait until it has ended -> how it did."""
        self.process.join(5)
        self.process.kill()  # of no effect on one that has ended
        self.process.join()
        code = self.process.exitcode
        if code == -signal.SIGKILL:
            return "killed by SIGKILL, as the system does when memory runs out"
        if code < 0:
            return f"killed by {_signal_name(-code)}"
        return f"exit code {code}"


def _signal_name(number):
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


class WorkerPool:
    """Takes a Translator's place and has its work done by `n_workers` processes with one thread each.

    Use it in a `with`. It is ready when it is made: every worker has loaded the Translator, and the files that brought
    it there are gone. A worker that dies is reported on stderr, and others translate its lines again; an exception in
    a worker is raised here. After any exception the pool is closed. As multiprocessing has it, a script that makes a
    pool must do so under `if __name__ == "__main__"`, for every worker imports the script; a notebook need not.
    """

    def __init__(self, translator, n_workers):
        self.model, self.settings = translator.model, translator.settings
        self.batch_size, self.selector = translator.batch_size, translator.selector
        self.n_workers = n_workers
        self.n_lines = 0  # translated so far: messages count a text's lines from its first
        self.processes = []  # of all workers, also of those that died
        self.alive = []
        with self._closed_after_errors(), tempfile.TemporaryDirectory(prefix="minnmt-") as directory:
            share(translator, directory)
            self._start(directory)
            self._wait_until_loaded()

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self.close()

    def close(self):
        """End all workers at once: they hold nothing that could be lost."""
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.join()
        for worker in self.alive:
            worker.connection.close()
        self.alive = []

    def translate(self, lines):
        """Raw lines -> a list of Translation in the same order, as Translator.translate gives it."""
        answers = [None] * len(lines)
        waiting = deque(self._cut(lines))
        with self._closed_after_errors():
            while waiting or any(worker.piece for worker in self.alive):
                self._hand_out(waiting)
                for piece, translations in self._answers(waiting):
                    for place, translation in zip(piece.places, translations):
                        answers[place] = translation
        self.n_lines += len(lines)
        return answers

    @contextlib.contextmanager
    def _closed_after_errors(self):
        """Workers may still be busy with what nobody waits for any more."""
        try:
            yield
        except BaseException:
            self.close()
            raise

    def _start(self, directory):
        """Start all workers. With as many as processors each has its own, for the reason in minnmt/threads.py."""
        spawn = multiprocessing.get_context("spawn")  # a fork would copy the locks of BLAS, but not its threads
        pinned = self.n_workers == n_processors() and hasattr(os, "sched_setaffinity")
        processors = sorted(os.sched_getaffinity(0)) if pinned else [None] * self.n_workers
        try:
            with _worker_environment():
                for number, processor in enumerate(processors, start=1):
                    ours, theirs = spawn.Pipe()
                    process = spawn.Process(target=work, args=(directory, theirs, processor), daemon=True)
                    process.start()
                    theirs.close()  # so that the worker's death is the end of the pipe
                    self.processes.append(process)
                    self.alive.append(Worker(number, process, ours))
        except OSError as error:
            number = len(self.processes) + 1
            raise UserError(f"cannot start worker {number}: {reason(error)}; ask for fewer workers") from None

    def _wait_until_loaded(self):
        loading = list(self.alive)
        while loading:
            for worker in _ready(loading):
                loading.remove(worker)
                try:
                    _receive(worker)
                except WorkerDied:
                    self._remove(worker, "while it started")

    def _cut(self, lines):
        """Raw lines -> Pieces of batch_size lines or fewer, the longest first: the batches that threads would take."""
        lengths = [len(self.model.src.units(line)) for line in lines]
        order = sorted(range(len(lines)), key=lambda i: -lengths[i])
        share = -(-len(lines) // self.n_workers)  # no worker without work
        size = max(1, min(self.batch_size, share))
        for first in range(0, len(order), size):
            places = order[first : first + size]
            yield Piece(places, [lines[i] for i in places])

    def _hand_out(self, waiting):
        """Give a piece to every worker that has none, as long as there are any."""
        if not self.alive:
            raise RuntimeError("the pool is closed")
        for worker in [w for w in self.alive if w.piece is None]:
            if not waiting:
                return
            try:
                worker.connection.send(waiting[0].lines)
            except OSError:  # it died when it had nothing to do: the piece is not to blame
                self._remove(worker, "with nothing to do")
            else:
                worker.piece = waiting.popleft()

    def _answers(self, waiting):
        """Wait for workers -> (piece, its translations) of those that are done; the others' pieces wait again."""
        for worker in _ready(self.alive):
            piece, worker.piece = worker.piece, None
            try:
                translations = _receive(worker)
            except WorkerDied:
                self._take_back(worker, piece, waiting)
            else:
                yield piece, translations

    def _take_back(self, worker, piece, waiting):
        """A worker is dead, and what it worked on waits again, unless it has killed before."""
        if piece is None:
            self._remove(worker, "with nothing to do")
            return
        piece.n_deaths += 1
        if piece.n_deaths == 2:
            raise UserError(
                f"two workers died while they translated {self._line_numbers(piece)} (the second: {worker.end()}): "
                "look at this text, or try a smaller --batch-size"
            ) from None
        waiting.appendleft(piece)
        self._remove(worker, f"while it translated {self._line_numbers(piece)}", "; the others translate them again")

    def _remove(self, worker, when, then=""):
        """Report a dead worker and go on without it."""
        how = worker.end()
        worker.connection.close()
        self.alive.remove(worker)
        if not self.alive:
            if self.n_workers == 1:
                raise UserError(f"the only worker died {when} ({how})") from None
            raise UserError(f"all {self.n_workers} workers died, the last one {when} ({how})") from None
        name = f"worker {worker.number} (process {worker.process.pid})"
        print(f"warning: {name} died {when} ({how}){then}", file=sys.stderr, flush=True)

    def _line_numbers(self, piece):
        numbers = sorted(self.n_lines + 1 + place for place in piece.places)
        if len(numbers) == 1:
            return f"line {numbers[0]}"
        more = f" and {len(numbers) - 8} more" if len(numbers) > 8 else ""
        return f"lines {', '.join(map(str, numbers[:8]))}{more}"


class WorkerDied(Exception):
    """A worker is dead and left no answer."""


def _ready(workers):
    """Wait until one of the workers has answered or died -> those that have."""
    ready = wait([w.connection for w in workers] + [w.process.sentinel for w in workers])
    return [w for w in workers if w.connection in ready or w.process.sentinel in ready]


def _receive(worker):
    """The answer of a worker that has one or is dead; an exception that it had instead is raised here."""
    try:
        if not worker.connection.poll() and not worker.process.is_alive():
            raise EOFError
        answer = worker.connection.recv()
    except (EOFError, OSError):
        raise WorkerDied from None
    if isinstance(answer, Failure):
        raise answer.error from WorkerTraceback(answer.traceback)
    return answer


@contextlib.contextmanager
def _worker_environment():
    """Processes that are started within have one thread, and from their first moment on no ear for Ctrl-C."""
    if hasattr(signal, "pthread_sigmask"):
        resource_tracker.ensure_running()  # else multiprocessing does so with the first worker, and unblocks Ctrl-C
        old_mask = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    old = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))  # read when numpy and Numba are imported
    try:
        yield
    finally:
        for name, value in old.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_SETMASK, old_mask)
