"""What the paper reports: every cell of its three tables, to stand beside ours.

Sankaran, Freitag and Al-Onaizan (2017): embedding 620, 1,000 cells, decoding on a CPU. German to English with 34,494
BPE units and 80,000 words, dev newstest2014 and test newstest2015; Italian to English with 33,497 BPE units, test
newstest2009. The cells are in paper_tables/, with the digits of its source. What its text says of them is in claims.py.
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

from ...files import read_lines
from ..timing import number

BPE, WORDS = "bpe", "words"
TOPNS = (20, 50, 100, 200)
TOPN = 100  # where only one list is looked at
THRESHOLDS = (0.05, 0.1, 0.2, 0.25)
EMBEDDING, HIDDEN = 620, 1000
UNKNOWN = {"dev": 4.5, "test": 4.3}  # % of the words, of the model of words

SOURCES = {"none": "full", "scratch": "scratch", "continue": "continued", "fastalign": "fastalign"}  # its names: ours
LISTS = (*((source, n) for source in ("scratch", "continued") for n in TOPNS), ("fastalign", TOPN))  # its rows


class PaperRow(NamedTuple):
    """A row of Table 1 or 3."""

    speedup: float
    candidates: float  # per source word; of full decoding, the vocabulary
    bleu: float
    ter: float

    def texts(self):
        """For a table, with the digits that the paper prints."""
        candidates = f"{self.candidates:.1f}" if self.speedup > 1 else f"{self.candidates:,.0f}"
        return {
            "speedup": number(self.speedup), "candidates": candidates, "BLEU": f"{self.bleu:.1f}",
            "TER": f"{self.ter:.1f}",
        }  # fmt: skip


class PaperThreshold(NamedTuple):
    """A row of Table 2."""

    candidates: float
    dev_bleu: float
    dev_ter: float
    test_bleu: float
    test_ter: float
    density: float  # % of the matrix
    megabytes: float  # 4 bytes per cell, as far as its numbers tell


def read_table(name):
    """paper_tables/NAME.tsv -> its rows as dictionaries of texts."""
    header, *rows = (line.split("\t") for line in read_lines(Path(__file__).parent / "paper_tables" / f"{name}.tsv"))
    return [dict(zip(header, row, strict=True)) for row in rows]


@cache
def decoding_rows(pair):
    """Table 1 ("deen") or Table 3 ("iten") -> {(units, lists, n): PaperRow}; n of full decoding is None."""
    table, test = {"deen": ("table1.deen", "newstest2015"), "iten": ("table3.iten", "newstest2009")}[pair]
    found = {}
    for row in read_table(table):
        key = row.get("units", BPE), SOURCES[row["alignments"]], None if row["n"] == "-" else int(row["n"])
        columns = "speedup", "candidates_per_word", f"{test}_bleu", f"{test}_ter"
        found[key] = PaperRow(*(float(row[column]) for column in columns))
    return found


@cache
def threshold_rows():
    """Table 2 -> {threshold: PaperThreshold}."""
    rows = [[float(text) for text in row.values()] for row in read_table("table2.thresholds")]
    return {threshold: PaperThreshold(*cells) for threshold, *cells in rows}


def vocabulary(units, pair="deen"):
    """Target units of the paper's model."""
    return round(decoding_rows(pair)[units, "full", None].candidates)
