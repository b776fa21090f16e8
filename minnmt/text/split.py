"""Parallel text in memory: the lines of two languages, and the three splits of a corpus."""

from typing import NamedTuple


class Split(NamedTuple):
    """Raw lines of both sides, and gold alignments (Pharaoh strings over their tokens) where they are known."""

    src: list
    trg: list
    alignments: list = ()
    name: str = "the embedded corpus"

    def first(self, n):
        """The first n pairs; None stands for all."""
        return self._replace(src=self.src[:n], trg=self.trg[:n], alignments=self.alignments[:n])


class Corpus(NamedTuple):
    """A model learns from train, is chosen by dev and judged by test."""

    train: Split
    dev: Split
    test: Split

    def first(self, n):
        """The first n pairs of each split."""
        return Corpus(*(split.first(n) for split in self))
