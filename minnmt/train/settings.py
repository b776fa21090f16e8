"""Every setting of a training run: its default, what it may be, and what it means.

The options of `train` and `reproduce` are made from this table, and config.json in a run's directory is checked against
it: a value that the command line would refuse is refused from a file, too.
"""

import os
import sys
from dataclasses import dataclass, field, fields

from ..errors import UserError, quoted


class Range:
    """A number, whole or not, within limits; `above` and `below` are limits that it may not reach."""

    def __init__(self, kind, least=None, most=None, above=None, below=None):
        self.kind, self.least, self.most, self.above, self.below = kind, least, most, above, below

    def holds(self, value):
        if isinstance(value, bool) or not isinstance(value, int if self.kind is int else (int, float)):
            return False
        return (
            abs(value) <= sys.float_info.max  # not NaN, not infinity, no whole number beyond what floats can hold
            and (self.least is None or value >= self.least)
            and (self.most is None or value <= self.most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def __str__(self):
        names = {"at least": self.least, "at most": self.most, "above": self.above, "below": self.below}
        limits = " and ".join(f"{name} {limit}" for name, limit in names.items() if limit is not None)
        return ("a whole number " if self.kind is int else "a number ") + limits


class Choice(tuple):
    """One of some words."""

    def holds(self, value):
        return isinstance(value, str) and value in self

    def __str__(self):
        return " or ".join(self)


class Flag:
    """Yes or no."""

    def holds(self, value):
        return isinstance(value, bool)

    def __str__(self):
        return "true or false"


class Text:
    """The path of a text, or none."""

    def holds(self, value):
        return value is None or (isinstance(value, str) and value != "" and is_file_name(value))

    def __str__(self):
        return "a file's name or null"


def is_file_name(text):
    """Can the system be asked for a file of this name?"""
    try:
        return b"\0" not in os.fsencode(text)
    except UnicodeEncodeError:  # half a character
        return False


MOST = 2**31 - 1  # of whole numbers: arrays are indexed with them


MOST_SHARES = 4096  # of a batch


def whole(default, help, least=0, most=MOST):
    return field(default=default, metadata={"values": Range(int, least, most), "help": help})


def number(default, help, **limits):
    return field(default=default, metadata={"values": Range(float, **limits), "help": help})


def choice(default, help, *words):
    return field(default=default, metadata={"values": Choice(words), "help": help})


def flag(help):
    return field(default=False, metadata={"values": Flag(), "help": help})


def text():
    return field(default=None, metadata={"values": Text()})


LATER = {"pairs": 0, "precision": "float32", "epoch_pairs": 0, "shares": 0}  # what older runs do not name, and had


@dataclass
class Settings:
    """All that decides the outcome of training. None for `src` means the embedded corpus."""

    src: str | None = text()
    trg: str | None = text()
    dev_src: str | None = text()
    dev_trg: str | None = text()
    test_src: str | None = text()
    test_trg: str | None = text()
    pairs: int = whole(0, "Use only the first N pairs of every text, 0 = all: for a quick look, or to step through.")

    bpe: int = whole(4000, "BPE merges on each side, 0 = whole words.")
    vocab_size: int = whole(0, "Words in each vocabulary, eos and UNK included, 0 = all.")
    shared: bool = flag("One set of BPE codes and one vocabulary for both languages.")
    pretokenized: bool = flag("The text is tokenized already: cut it at spaces only.")
    max_train_length: int = whole(100, "Leave out training pairs with more units than this on a side.", least=1)

    embedding: int = whole(128, "Size of the word embeddings.", least=1, most=100_000)
    hidden: int = whole(192, "Size of the recurrent states.", least=1, most=100_000)
    init: str = choice(
        "unigram", "How the parameters start: glorot, scaled by their sizes; unigram, the same with the output bias at "
        "the words' frequencies; dl4mt, all small.", "unigram", "glorot", "dl4mt",
    )  # fmt: skip
    dropout: float = number(0.1, "Share of values dropped while training.", least=0, below=1)

    batch_size: int = whole(64, "Sentence pairs per update.", least=1)
    pool: int = whole(50, "Batches that are sorted by length together.", least=1)
    learning_rate: float = number(0.002, "Adam's step size.", above=0)
    clip: float = number(1.0, "Limit of the gradient's global norm, 0 = none.", least=0)
    adam: str = choice(
        "dense", "sparse: skip words that are not in the batch; faster with large vocabularies, worse for rare words.",
        "dense", "sparse",
    )  # fmt: skip
    precision: str = choice(
        "bf16", "bf16: matrix products in bfloat16 where the CPU has an instruction for it (AVX-512 BF16); "
        "elsewhere, and in reading mode, float32.", "bf16", "float32",
    )  # fmt: skip
    epochs: int = whole(18, "Passes over the training text.", least=1)
    epoch_pairs: int = whole(
        0, "Pairs per epoch, 0 = the whole text. With a long text: validate and count attention that often."
    )
    patience: int = whole(4, "Stop after this many epochs without a better dev BLEU.", least=1)
    halve_after: int = whole(1, "Halve the learning rate after this many epochs without a better dev BLEU.", least=1)
    align_from_epoch: int = whole(2, "Count the attention from this epoch on, 0 = never.")
    align_threshold: float = number(0.1, "Count only attention weights above this.", least=0, below=1)
    dynamic_vocab: int = whole(0, "Train with a softmax over N candidates per source word, 0 = all words.")
    dynamic_lists: str = choice(
        "batch", "With --dynamic-vocab: one list per batch, or one per pair as an epoch starts.", "batch", "epoch"
    )
    seed: int = whole(1, "Seed of all random numbers.")
    threads: int = whole(2, "Threads that share each batch.", least=1, most=1024)
    shares: int = whole(
        0, "Parts that a batch is cut into, for threads and ranks to share. Sums are rounded by it alone, so that the "
        "result does not depend on the number of ranks. [default: the threads of one machine]", most=MOST_SHARES,
    )  # fmt: skip

    def __post_init__(self):
        for name, values in allowed_values().items():
            value = getattr(self, name)
            if not values.holds(value):
                raise UserError(f"the setting {name} is {quoted(value, 40)}: it must be {values}")
        self.check_texts()
        if self.dynamic_vocab and not self.align_from_epoch:
            raise UserError("the setting dynamic_vocab needs counts, and with align_from_epoch 0 there are none")

    def check_texts(self):
        """Parallel texts come in pairs, and training text needs dev text."""
        for src, trg in (("src", "trg"), ("dev_src", "dev_trg"), ("test_src", "test_trg")):
            if bool(getattr(self, src)) != bool(getattr(self, trg)):
                raise UserError(f"the settings {src} and {trg} go together: one of them is missing")
        if bool(self.src) != bool(self.dev_src) or (self.test_src and not self.src):
            raise UserError("the settings src, trg, dev_src and dev_trg go together: some of them are missing")

    @classmethod
    def from_config(cls, config):
        """The settings in a run's config.json."""
        given = config["settings"]
        missing = [name for name in allowed_values() if name not in given and name not in LATER]
        unknown = [name for name in given if name not in allowed_values()]
        if missing or unknown:
            what = f"lacks {missing[0]}" if missing else f"has {quoted(unknown[0], 40)}"
            raise UserError(
                f"config.json was written by another version of minnmt (it {what}): train again, or use that version"
            )
        try:
            return cls(**{**LATER, **given})
        except UserError as error:
            raise UserError(f"config.json is damaged: {error}; restore it or train again") from None


def allowed_values():
    """{setting: what it may be}."""
    return {f.name: f.metadata["values"] for f in fields(Settings)}


def help_texts():
    """{setting: its help}, of those that have an option."""
    return {f.name: f.metadata["help"] for f in fields(Settings) if "help" in f.metadata}
