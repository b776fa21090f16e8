"""Translating on several ranks: rank 0 reads and writes, and all of them translate.

Rank 0 makes the Translator; the others get it, its weights memory-mapped, so that each machine has them once. Chunks of
lines go to the pool of ranks that mpi4py has, two for each, and rank 0 takes those for which nobody is free.
"""

import contextlib
from collections import deque
from concurrent.futures import Future

from ..search.fast import FastEngine
from ..search.output import as_text
from ..search.translate import Translator

AHEAD = 2  # chunks that a rank has, the one that it works at included
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
    """Lists of lines -> (lines, their translations) in the same order; few of them are in memory."""
    queue = deque()
    for lines in chunks:
        if sum(not future.done() for _, future in queue) < AHEAD * n_others:
            queue.append((lines, pool.submit(translate_here, as_text(lines))))
        else:
            queue.append((lines, done_here(lines)))
        while queue and (queue[0][1].done() or len(queue) > WAITING * n_others):
            yield finished(queue)
    while queue:
        if not queue[0][1].done() and queue[-1][1].cancel():  # nobody has begun with the last one
            lines, _ = queue[-1]
            queue[-1] = lines, done_here(lines)
        else:
            yield finished(queue)


def finished(queue):
    lines, future = queue.popleft()
    return lines, future.result()


def done_here(lines):
    """A Future with the translations that this rank has made."""
    future = Future()
    future.set_result(translate_here(as_text(lines)))
    return future
