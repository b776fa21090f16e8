"""Where the compiled engine works: memory that is laid out once for a batch, and threads that help with it.

Several threads may work at one desk (kernels/team.py): the one that runs the search, and those of a Team, who take over
parts of its work. In reading mode there are no desks. Notebook 09.
"""

import contextlib
import ctypes
import os
import threading
from typing import NamedTuple

import numpy as np

from ..compiled import find_kernel, reading_mode
from ..threads import thread_pool
from .packed import TILE

SCHED_GETCPU = getattr(ctypes.CDLL(None), "sched_getcpu", None) if os.name == "posix" else None
LONGEST_LEAVE = 128  # how often a team does without help, at most, after it came late


class ReadingDesk(NamedTuple):
    """For `annotate` of B sentences of S words."""

    board: np.ndarray  # where threads meet
    h: np.ndarray  # (B,S,C)
    memory: np.ndarray  # (B,S,C+3H+E)
    rows: np.ndarray  # (B*S,C+) annotations as they are multiplied
    word_rows: np.ndarray  # (B*S,E+) embeddings
    word_products: np.ndarray  # (B*S,6H) of embeddings
    scale: np.ndarray  # (B*S) of rows, or word_rows
    shift: np.ndarray  # (B*S)
    order: np.ndarray  # (B) the longest sentence first
    state: np.ndarray  # (2,B,H) of the two directions
    state_rows: np.ndarray  # (2,B,H+) as they are multiplied
    state_scale: np.ndarray  # (2,B)
    state_shift: np.ndarray  # (2,B)
    products: np.ndarray  # (2,B,3H)
    totals: np.ndarray  # (threads,...) each thread's own


class StepDesk(NamedTuple):
    """For `decoder_step` with R rows at most."""

    board: np.ndarray
    sentence: np.ndarray  # (R)
    ending: np.ndarray  # (R)
    s1: np.ndarray  # (R,H)
    s: np.ndarray  # (R,H)
    state_rows: np.ndarray  # (R,H+) states as they are multiplied
    word_rows: np.ndarray  # (R,E+) embeddings, then readouts
    word_products: np.ndarray  # (R,3H+E) of embeddings
    scale: np.ndarray  # (R) of state_rows, or word_rows
    shift: np.ndarray  # (R)
    middle: np.ndarray  # (R,3H+C)
    products: np.ndarray  # (R,3H+E)
    alpha: np.ndarray  # (R,S)
    context: np.ndarray  # (R,3H+E)
    o: np.ndarray  # (R,E)
    logits: np.ndarray  # (R,M)
    places: np.ndarray  # (R,n)
    logps: np.ndarray  # (R,n)
    totals: np.ndarray  # (threads,...) each thread's own


class CheckDesk(NamedTuple):
    """For `best_of_all` with R rows at most."""

    board: np.ndarray
    sentence: np.ndarray  # (R) 0: they all have the same words
    ending: np.ndarray  # (R)
    word_rows: np.ndarray  # (R,E+) readouts as they are multiplied
    scale: np.ndarray  # (R)
    shift: np.ndarray  # (R)
    logits: np.ndarray  # (R,V)
    places: np.ndarray  # (R,n)
    logps: np.ndarray  # (R,n)
    totals: np.ndarray  # (threads,...) each thread's own


class EstimatingDesk(NamedTuple):
    """For `beyond_lists` with R rows at most."""

    board: np.ndarray
    sentence: np.ndarray  # (R) 0: they all have the same words
    owner: np.ndarray  # (R) whose list
    o: np.ndarray  # (R,E)
    rest: np.ndarray  # (E) what rounding leaves of a readout
    word_rows: np.ndarray  # (2R,E+) readouts as they are multiplied, then what is left of some
    scale: np.ndarray  # (2R)
    shift: np.ndarray  # (2R)
    all_logits: np.ndarray  # (3R,V) of readouts; what is added for some: with finer weights, with what is left of them
    inside: np.ndarray  # (R)
    words: np.ndarray  # (R,n)
    logits: np.ndarray  # (R,n)
    unseen: np.ndarray  # (R)
    weights: np.ndarray  # (R)
    own: np.ndarray  # (R) deviation of a logit by the rounding of its word, where that has a scale of 1
    common: np.ndarray  # (R) by the rounding of the readout
    deviation: np.ndarray  # (R) of log-probabilities
    finer: np.ndarray  # (R) rows that need finer weights
    totals: np.ndarray  # (threads,...) each thread's own


def reading_desk(inputs, weights, n_threads=1):
    """inputs (B,S,6H), EncoderWeights -> ReadingDesk."""
    if reading_mode():
        return None
    (B, S), H, annotation = inputs.shape[:2], inputs.shape[2] // 6, weights.annotation
    return ReadingDesk(
        make_board(max(2, len(annotation.w), len(weights.word.w))),  # two directions, or parts of the weights
        floats(B, S, 2 * H), floats(B, S, len(annotation.bias)),
        as_multiplied(B * S, annotation), as_multiplied(B * S, weights.word), floats(B * S, 6 * H),
        floats(B * S), np.empty(B * S, np.int32),
        np.empty(B, np.int64), floats(2, B, H), as_multiplied(2 * B, weights.u_forward).reshape(2, B, -1),
        floats(2, B), np.empty((2, B), np.int32), floats(2, B, 3 * H), make_totals(n_threads),
    )  # fmt: skip


def step_desk(R, n, state, source, weights, output, n_threads=1):
    """State, Source, StepWeights, Output of a batch; R rows at most, n best words of each -> StepDesk."""
    if reading_mode():
        return None
    H, P, (B, S) = state.s.shape[1], state.products.shape[1], source.memory.shape[:2]
    E, M = P - 3 * H, int(output.sizes.max())
    return StepDesk(
        make_board(max(*(len(each.w) for each in weights), R, B * (M // TILE + 1))),
        np.empty(R, np.int64), np.empty(R, bool), floats(R, H), floats(R, H),
        as_multiplied(R, weights.state), as_multiplied(R, output.weights), floats(R, P),
        floats(R), np.empty(R, np.int32),
        floats(R, len(weights.middle.bias)), floats(R, P), floats(R, S), floats(R, P), floats(R, E), floats(R, M),
        np.empty((R, n), np.int64), floats(R, n), make_totals(n_threads),
    )  # fmt: skip


def check_desk(R, n, output, n_threads=1):
    """R rows at most, n best words of each, Output with one list -> CheckDesk.

    Its logits lie where those of the thread's last desk were.
    """
    if reading_mode():
        return None
    V = int(output.sizes.max())
    return CheckDesk(
        make_board(max(R, V // TILE + 1)), np.zeros(R, np.int64), np.empty(R, bool), as_multiplied(R, output.weights),
        floats(R), np.empty(R, np.int32), kept_floats(R, V), np.empty((R, n), np.int64), floats(R, n),
        make_totals(n_threads),
    )  # fmt: skip


def estimating_desk(R, n, output, E, n_threads=1):
    """R rows at most of E numbers, n words of each, Output with one list -> EstimatingDesk.

    Its logits lie where those of the thread's last desk were.
    """
    if reading_mode():
        return None
    V = int(output.sizes.max())
    return EstimatingDesk(
        make_board(max(R, 2 * (V // TILE + 1))), np.zeros(R, np.int64), np.empty(R, np.int64), floats(R, E), floats(E),
        as_multiplied(2 * R, output.weights), floats(2 * R), np.empty(2 * R, np.int32), kept_floats(3 * R, V),
        floats(R), np.empty((R, n), np.int64), floats(R, n), *floats(5, R), np.empty(R, np.int64),
        make_totals(n_threads),
    )  # fmt: skip


def floats(*shape):
    return np.empty(shape, np.float32)


KEPT = threading.local()


def kept_floats(*shape):
    """The same in memory that the thread keeps: new pages would take longer than what is written there."""
    n = int(np.prod(shape))
    if not hasattr(KEPT, "floats") or KEPT.floats.size < n:
        KEPT.floats = np.empty(n, np.float32)
    return KEPT.floats[:n].reshape(shape)


def as_multiplied(n_rows, weights):
    """Rows to be multiplied with Weights: as wide as theirs, and of their kind."""
    w = weights.w
    return np.empty((n_rows, w.shape[1] * (w.shape[2] // TILE)), w.dtype)


def make_totals(n_threads):
    """What threads add up in."""
    block, group, part = (find_kernel(f"products.{name}") for name in ("BLOCK", "GROUP", "PART"))
    return floats(n_threads, block + group, part * TILE)


def make_board(most_parts):
    """Where threads post their progress; `most_parts` of a stage, or more."""
    return np.zeros(find_kernel("team.CLAIMS") + most_parts, np.int64)


def cleared(desk):
    """The same desk with an empty board, for other work: who comes late from the last finds nothing on it."""
    return desk and desk._replace(board=np.zeros_like(desk.board))


class Team:
    """Threads that help the one that runs the search, for a batch at a time.

    If help came so late that the search had to wait for it, because another process has the core, the team does without
    for a while, twice as long each time.
    """

    def __init__(self, n_threads):
        self.n_threads, self.pool = n_threads, None
        self.leave, self.next_leave = 0, 1

    @contextlib.contextmanager
    def helping(self, work, *arguments):
        """Within it, other threads run the helper `work`, "file.function" in kernels/; the last argument is a desk."""
        if self.n_threads == 1 or self.leave or arguments[-1] is None:
            self.leave = max(0, self.leave - 1)
            yield
            return
        helper, board, ended = find_kernel(work), arguments[-1].board, find_kernel("team.ENDED")
        self.pool, core = self.pool or thread_pool(self.n_threads - 1), current_core()
        for me in range(1, self.n_threads):
            self.pool.submit(help_elsewhere, core, helper, *arguments, me, self.n_threads)
        try:
            yield
        finally:
            late = board[ended] != 0
            board[ended] = 1
            self.leave = self.next_leave if late else 0
            self.next_leave = min(2 * self.next_leave, LONGEST_LEAVE) if late else max(1, self.next_leave // 2)


ALONE = Team(1)


def help_elsewhere(core, helper, *arguments):
    """Run a helper in this thread, on another core than the leader's: left alone, Linux may well keep both on one."""
    others = os.sched_getaffinity(os.getpid()) - {core} if core is not None else None
    if others:
        os.sched_setaffinity(0, others)  # of this thread
    helper(*arguments)


def current_core():
    """The core this thread runs on; None if unknown."""
    return SCHED_GETCPU() if SCHED_GETCPU and hasattr(os, "sched_setaffinity") else None
