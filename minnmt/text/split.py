"""Parallel text in memory."""

from typing import NamedTuple


class Split(NamedTuple):
    """Raw lines of both sides, and gold alignments (Pharaoh strings over their tokens) where they are known."""

    src: list
    trg: list
    alignments: list = ()
    name: str = "the embedded corpus"
