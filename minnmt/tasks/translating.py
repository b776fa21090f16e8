"""Translating on several ranks: rank 0 reads and writes, and all of them translate.

Rank 0 makes the Translator; the others get it, its weights memory-mapped, so that each machine has them once. Chunks of
lines go to the pool of ranks that mpi4py has, two for each, and rank 0 takes those for which nobody is free.
"""

import contextlib
import queue
import threading
from collections import deque
from concurrent.futures import Future
from typing import NamedTuple

from ..search.fast import FastEngine
from ..search.output import as_text
from ..search.translate import Translator

AHEAD = 2  # chunks that a rank has, the one that it works at included
READ = 2  # chunks that are read ahead
WAITING = 4  # chunks of each rank that may be finished and wait for one before them

_translator = None  # of this rank, for what the pool asks


def share_translator(translator, ranks, n_threads):
    """Rank 0's Translator (elsewhere None) -> the same on all ranks, with n_threads each."""
    given, packed = None, None
    if translator:
        given = translator.model, translator.settings, translator.batch_size, translator.selector, translator.replacer
        given += (translator.verify,)
        packed = translator.engine and translator.engine.packed
        if packed and not translator.selector:
            _ = packed.softmax.tiles  # made when they are first needed: here, for all ranks
    given, packed = ranks.share_mapped((given, packed))
    model, settings, batch_size, selector, replacer, verify = given
    engine = FastEngine(None, packed=packed) if packed else None
    return Translator(model, settings, batch_size, n_threads, selector, replacer, engine, verify=verify)


@contextlib.contextmanager
def crew_of(ranks, translator):
    """Rank 0 gets a crew, as search/output.py wants one; the others are part of it until it is closed, and get None."""
    global _translator
    _translator = translator
    with ranks.pool() as pool:
        yield pool and (lambda chunks: in_order(chunks, pool, ranks.size - 1))


def translate_here(lines):
    """What a rank of the pool is asked to do."""
    return _translator.translate(lines)


def in_order(chunks, pool, n_others):
    """Lists of lines -> (lines, their translations) in the same order; few of them are in memory.

    What is translated is handed on as soon as all before it is, also while the next lines are waited for, and before
    an error of the reading.
    """
    events, room = queue.SimpleQueue(), threading.Semaphore(READ)
    threading.Thread(target=read_ahead, args=(chunks, events, room), daemon=True).start()
    begun, reading = deque(), True
    while reading or begun:
        if not reading:
            take_over(begun)
        event = events.get() if reading or not begun[0][1].done() else None
        if isinstance(event, Chunk):
            room.release()
            begun.append((event.lines, translated(event.lines, begun, pool, n_others, events)))
        elif isinstance(event, End):
            reading, error = False, event.error
        while begun and (begun[0][1].done() or len(begun) > WAITING * n_others):
            lines, future = begun.popleft()
            yield lines, future.result()
    if error:
        raise error


class Chunk(NamedTuple):
    """Lines that were read."""

    lines: list


class End(NamedTuple):
    """There are no more, perhaps because of an error."""

    error: BaseException | None


def read_ahead(chunks, events, room):
    """Put what is read among the events; a thread of its own, for a pipe may be slow."""
    error = None
    try:
        for lines in chunks:
            room.acquire()
            events.put(Chunk(lines))
    except BaseException as found:
        error = found
    events.put(End(error))


def translated(lines, begun, pool, n_others, events):
    """A Future of the translations: by the pool, or here and now if it has enough to do."""
    if sum(not future.done() for _, future in begun) >= AHEAD * n_others:
        return done_here(lines)
    future = pool.submit(translate_here, as_text(lines))
    future.add_done_callback(lambda future: events.put(None))
    return future


def take_over(begun):
    """Translate here what was given to the pool last and nobody has begun with, if there is anything."""
    for place in reversed(range(len(begun))):
        lines, future = begun[place]
        if future.cancel():
            begun[place] = lines, done_here(lines)
            return


def done_here(lines):
    """A Future with the translations that this rank has made."""
    future = Future()
    future.set_result(translate_here(as_text(lines)))
    return future
