"""Threads that share the work on one batch: the leader divides each stage into parts, and whoever is early takes more.

The leader runs the search, and stage after stage names a round on the board. The others help: they look for a new
round and claim parts of it, each thread beginning elsewhere, so that it finds the weights it read the last time in its
own cache. The leader claims parts as well, until none is left, and then waits for those that others have begun. It
never waits for a thread that has not begun: a helper that the system keeps from running costs nothing but its help.

Waiting is a short loop that then gives way to any other process. A helper that waits too long leaves. A leader that has
to wait long (the system took the core from a helper at work) sends the others away and keeps waiting for that one. So a
helper must not fail between its claim and its end, and asks for no memory there.

A round is a number that only grows: how many rounds there were, how many rows take part, which stage. A part is
claimed by writing the round beside it, if an earlier one is there. So a helper that wakes up late can claim nothing,
provided that the parts of a round follow from the round and from what stays the same for the whole batch.
Notebook 09.
"""

from .intrinsics import add, give_way, pause, peek, poke, swap
from .jit import device_function

ROUND, DONE, ENDED = 0, 8, 16  # places on the board, each in a line of the cache of its own
CLAIMS = 24
ROW_BITS, STAGE_BITS = 28, 4
SHORT, LONG = 2_000, 20_000  # turns of waiting: before a thread gives way, and before a helper leaves
PATIENCE = 100  # turns of giving way, for a row of hypotheses, before a leader finds that help comes late


@device_function
def begin_round(board, stage, n_rows):
    """The leader names a stage -> the round."""
    count = (board[ROUND] >> (ROW_BITS + STAGE_BITS)) + 1
    poke(board, DONE, 0)
    round_id = (count << (ROW_BITS + STAGE_BITS)) | (n_rows << STAGE_BITS) | stage
    poke(board, ROUND, round_id)
    return round_id


@device_function
def stage_of(round_id):
    return round_id & ((1 << STAGE_BITS) - 1)


@device_function
def rows_of(round_id):
    return (round_id >> STAGE_BITS) & ((1 << ROW_BITS) - 1)


@device_function
def claim(board, round_id, part):
    """-> is the part ours?"""
    before = peek(board, CLAIMS + part)
    return before < round_id and swap(board, CLAIMS + part, before, round_id)


@device_function
def part_done(board):
    add(board, DONE, 1)


@device_function
def wait_for_helpers(board, n_parts, patience):
    """Until all parts are done; if that takes long, the helpers are sent away."""
    turns = 0
    while peek(board, DONE) < n_parts:
        turns += 1
        if turns < SHORT:
            pause()
        else:
            give_way()
        if turns == SHORT + patience:
            poke(board, ENDED, 1)


@device_function
def next_round(board, last):
    """A helper waits for another round than the last -> the round; 0: it may leave."""
    turns = 0
    while turns < LONG:
        if peek(board, ENDED) != 0:
            return 0
        round_id = peek(board, ROUND)
        if round_id != last:
            return round_id
        turns += 1
        if turns < SHORT:
            pause()
        else:
            give_way()
    return 0
