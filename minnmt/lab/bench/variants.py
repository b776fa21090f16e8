"""Ways to decode: beam, batch, threads, list and numbers, and functions that do it."""

from collections.abc import Callable
from typing import NamedTuple

from ...search.batch_beam import batch_beam_search
from ...search.beam import SearchSettings
from ...search.desks import Team
from ...search.fast import FastEngine
from .yardstick import LIST_WORDS, random_lists

BATCH = 16


class Variant(NamedTuple):
    """One way to decode."""

    beam: int
    batch: int  # 1: the threads share a sentence; more: each thread has so many of its own
    threads: int
    topn: int  # 0: all words
    precision: str = "int8"
    cold: bool = True  # no word looked up before

    @property
    def list_name(self):
        name = f"top-{self.topn}" if self.topn else "full"
        numbers = "" if self.precision == "int8" else f", {self.precision}"
        return name + numbers + ("" if self.cold else ", known words")

    def n_listed(self, n_words):
        """How many of the vocabulary's n_words the softmax runs over."""
        return LIST_WORDS * self.topn + 2 if self.topn else n_words

    @property
    def group(self):
        """What it shares with the variant that has all words."""
        return self._replace(topn=0)


class Task(NamedTuple):
    """What is decoded."""

    packed: dict  # {precision: Packed}
    n_words: int
    sentences: list
    length: int  # of each sentence and of its translation
    n_alone: int  # sentences that are decoded one by one
    map: Callable = map  # in as many threads as variants have

    def n_decoded(self, variant):
        return self.n_alone if variant.batch == 1 else variant.batch * variant.threads


def decoder(task, variant):
    """A function that decodes the task's sentences as the variant says -> the best hypothesis of each.

    It has an engine of its own, which keeps the products of the words it has met unless the variant is cold.
    """
    engine = FastEngine(None, packed=task.packed[variant.precision])
    settings = SearchSettings(beam=variant.beam, max_length=task.length)
    n, alone = task.n_decoded(variant), variant.batch == 1
    lists = random_lists(n, variant.topn, task.n_words)
    team = Team(variant.threads if alone else 1)
    each = map if alone or variant.threads == 1 else task.map

    def decode_batch(start):
        batch = slice(start, start + variant.batch)
        return batch_beam_search(task.sentences[batch], engine, settings, lists and lists[batch], team)

    def decode():
        if variant.cold:
            engine.forget_words()
        found = each(decode_batch, range(0, n, variant.batch))
        return [hypotheses[0] for batch in found for hypotheses in batch]

    return decode
