"""What the paper reports, as far as its figures are known here, to stand beside ours.

Sankaran, Freitag and Al-Onaizan (2017), German to English, decoding on a CPU, the mean of ten runs. Known are the gain
in speed and the candidates a source word for lists of 100; its BLEU and TER belong to another corpus and another model,
and would compare with nothing here.
"""

from typing import NamedTuple

BPE, WORDS = "bpe", "words"


class PaperRow(NamedTuple):
    """One setting of the paper."""

    vocabulary: int
    topn: int
    speedup: float
    candidates: float  # a source word


ROWS = {BPE: PaperRow(34_494, 100, 3.1, 43), WORDS: PaperRow(80_000, 100, 6.93, 32)}
TOPNS = (20, 50, 100, 200)
TOPN = 100  # where only one list is looked at
THRESHOLDS = (0.05, 0.1, 0.2, 0.25)


def paper_cells(units, source, topn):
    """The paper's speedup and candidates for a row of ours, as texts; "-" where they are not known."""
    row = ROWS[units]
    known = source == "scratch" and topn == row.topn
    return (f"{row.speedup:g}", f"{row.candidates:g}") if known else ("-", "-")
