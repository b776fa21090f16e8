"""The work that is measured: a network with random weights, random sentences, random lists.

The yardstick is the paper's network. Its weights are drawn once, for the largest vocabulary that the chosen sections
need; smaller vocabularies are the first rows of its tables.
"""

from dataclasses import dataclass, replace
from functools import cached_property
from types import ModuleType

import numpy as np

from ...model.parameters import init_parameters
from ...search.cost import Limits
from ...text.vocab import EOS, UNK

# The bias of eos: every translation grows to its longest length, so that all work is the same. Other words' logits are
# below 10; with a bias of -10,000 the rounding of float32 would be all that is left of the difference of two scores.
NEVER = -100.0
LIST_WORDS = 7  # a top-n list has 7 n words, eos and UNK: top-100 had about 700 words for sentences of this length
LISTS = f"top-n: a list of {LIST_WORDS} n random words, eos and UNK per sentence"


@dataclass(frozen=True)
class Size:
    """How large everything is."""

    embedding: int
    hidden: int
    src_words: int
    vocabularies: tuple  # target words, for decoding; training has the first
    growing_vocabularies: tuple
    n_sentences: int  # that are decoded one by one in each repeat
    batch: int  # sentence pairs of an update
    train_words: int  # that lists and targets of an update are drawn from
    train_list: int  # words of a sentence's list
    count_pairs: int  # of the embedded corpus
    count_embedding: int
    count_hidden: int
    length: int = 25


SIZES = {
    "paper": Size(
        620, 1000, 34_494, (34_494, 80_000), (10_000, 20_000, 40_000, 80_000, 160_000),
        n_sentences=4, batch=80, train_words=5000, train_list=700,
        count_pairs=24_000, count_embedding=256, count_hidden=512,
    ),
    "medium": Size(
        256, 512, 34_494, (34_494, 80_000), (10_000, 20_000, 40_000, 80_000, 160_000),
        n_sentences=4, batch=80, train_words=5000, train_list=700,
        count_pairs=24_000, count_embedding=256, count_hidden=512,
    ),
    "default": Size(
        128, 192, 3811, (3467,), (1000, 2000, 4000), n_sentences=8, batch=64, train_words=1500, train_list=300,
        count_pairs=24_000, count_embedding=128, count_hidden=192, length=12,
    ),
    "small": Size(
        64, 96, 2000, (2000, 5000), (1000, 2000, 4000, 8000, 16_000),
        n_sentences=4, batch=80, train_words=1000, train_list=140,
        count_pairs=4000, count_embedding=64, count_hidden=96,
    ),
}  # fmt: skip


@dataclass
class Bench:
    """What is to be measured, and what the measurements share."""

    size: Size
    sections: list
    repeats: int | None  # None: as many as each section likes
    n_threads: int
    texts: tuple | None = None  # two tokenized files for the aligner
    torch: ModuleType | None = None  # with --peer torch
    limits: Limits | None = None

    def n_repeats(self, usual=5):
        return self.repeats or usual

    @cached_property
    def params(self):
        """The network, with the largest vocabulary that is needed."""
        size = self.size
        needed = dict.fromkeys(("decode", "verify"), size.vocabularies)
        needed.update(growth=size.growing_vocabularies, mpi=size.vocabularies[:1])
        return make_network(size, max(n for name in self.sections for n in needed.get(name, ())))


def make_network(size, n_words):
    """Random Parameters whose translations never end by themselves."""
    rng = np.random.default_rng(1)
    params = init_parameters(size.src_words, n_words, size.embedding, size.hidden, rng)
    params.softmax.b[EOS] = NEVER
    return params


def with_words(network, n_words):
    """Parameters, or the Packed ones of decoding -> the same with the first n_words target words; nothing is copied."""
    return replace(network, trg_embedding=network.trg_embedding[:n_words], softmax=network.softmax.first(n_words))


def random_sentences(n, length, n_words):
    """n lists of ids without eos."""
    rng = np.random.default_rng(2)
    return rng.integers(UNK + 1, n_words, (n, length)).tolist()


def random_lists(n, topn, n_words):
    """n ascending arrays of target ids, as the selector would give them for top-n; None for top-0, all words."""
    rng = np.random.default_rng(3)
    return [random_list(rng, LIST_WORDS * topn, n_words) for _ in range(n)] if topn else None


def random_list(rng, size, n_words):
    return np.r_[EOS, UNK, np.sort(rng.choice(np.arange(UNK + 1, n_words), size, replace=False))]
