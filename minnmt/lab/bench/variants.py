"""Ways to decode: beam, batch, threads and list, and functions that do it."""

from collections.abc import Callable
from typing import NamedTuple

from ...search.batch_beam import batch_beam_search
from ...search.beam import SearchSettings
from ...search.fast import FastEngine
from ...search.packed import Packed
from ...threads import sharing
from .yardstick import LIST_WORDS, random_lists

BATCH = 16


class Variant(NamedTuple):
    """One way to decode."""

    beam: int
    batch: int  # 1: the threads share a sentence; more: each thread has so many of its own
    threads: int
    topn: int  # 0: all words
    exact: bool = False  # no weights in 16 bits
    cold: bool = False  # no word looked up before

    @property
    def list_name(self):
        name = f"top-{self.topn}" if self.topn else "full"
        return name + (", float32" if self.exact else "") + (", new words" if self.cold else "")

    def n_listed(self, n_words):
        """How many of the vocabulary's n_words the softmax runs over."""
        return LIST_WORDS * self.topn + 2 if self.topn else n_words

    @property
    def group(self):
        """What it shares with the variant that has all words."""
        return self._replace(topn=0)


class Task(NamedTuple):
    """What is decoded."""

    packed: Packed
    exact: Packed  # the same with no weights in 16 bits
    sentences: list
    length: int  # of each sentence and of its translation
    n_alone: int  # sentences that are decoded one by one
    map: Callable = map  # in as many threads as variants have, for batches

    @property
    def n_words(self):
        return len(self.packed.softmax.W)

    def n_decoded(self, variant):
        return self.n_alone if variant.batch == 1 else variant.batch * variant.threads


def decoder(task, variant):
    """A function that decodes the task's sentences as the variant says -> the best hypothesis of each.

    It has an engine of its own, which keeps the products of the words it has met unless the variant is cold.
    """
    engine = FastEngine(None, task.exact if variant.exact else task.packed)
    settings = SearchSettings(beam=variant.beam, max_length=task.length)
    n = task.n_decoded(variant)
    lists = random_lists(n, variant.topn, task.n_words)

    def begin():
        if variant.cold:
            engine.forget_words()

    def decode(start, end):
        return batch_beam_search(task.sentences[start:end], engine, settings, lists and lists[start:end])

    def one_by_one():
        begin()
        with sharing(variant.threads):
            return [decode(i, i + 1)[0][0] for i in range(n)]

    def in_batches():
        begin()
        starts = range(0, n, variant.batch)
        each = task.map if variant.threads > 1 else map
        found = each(lambda i: decode(i, i + variant.batch), starts)
        return [hypotheses[0] for batch in found for hypotheses in batch]

    return one_by_one if variant.batch == 1 else in_batches
