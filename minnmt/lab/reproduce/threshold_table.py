"""Table 2: which attention weights are counted."""

from ..tables import Table
from ..timing import number
from .comparing import AGAINST_FULL, against_full, score, translated
from .paper import THRESHOLDS, TOPN, threshold_rows

SPLITS = ("dev", "test")
COLUMNS = ("candidates", "dev BLEU", "dev TER", "test BLEU", "test TER", "density, %", "MB")


def threshold_table(lab, name="bpe"):
    """A row for each threshold, and one for full decoding."""
    headings = [heading for column in COLUMNS for heading in (column, f"paper: {column}")]
    table = Table(
        "threshold-table", f"The threshold of counting, lists of {TOPN}",
        ("threshold", *headings, "dev, against full", "test, against full", "cells"),
        (
            "Counted in a pass over the training text with the finished model (align --frozen). Candidates: on the "
            "test text. MB: 4 bytes per cell, as in the paper; with its column, a cell takes 8 in memory.",
            AGAINST_FULL, *lab.count_notes(name),
        ),
    )  # fmt: skip
    full = {which: translated(lab, name, which=which) for which in SPLITS}
    scores = [text for cell in both_scores(full) for text in (cell, "-")]
    table.add({"threshold": None, **full}, "none: all words", "-", "-", *scores, *"-" * 7)
    for threshold in THRESHOLDS:
        add_threshold(table, lab, name, threshold)
    return table


def add_threshold(table, lab, name, threshold):
    """The row of one threshold."""
    counts, paper = lab.counts(name, f"frozen {threshold}"), threshold_rows()[threshold]
    found = {which: translated(lab, name, f"frozen {threshold}", which=which) for which in SPLITS}
    density, nbytes = counts.n_cells / (counts.n_src * counts.n_trg), 4 * counts.n_cells
    record = {"threshold": threshold, **found, "cells": counts.n_cells, "density": density, "bytes": nbytes}
    ours = f"{found['test']['candidates']:.1f}", *both_scores(found), number(100 * density), number(nbytes / 1e6)
    theirs = (
        f"{paper.candidates:.1f}", *map(score, paper[1:5]), number(paper.density), number(paper.megabytes)
    )  # fmt: skip
    cells = [cell for pair in zip(ours, theirs, strict=True) for cell in pair]
    differences = [against_full(found[which]) for which in SPLITS]
    table.add({**record, "paper": paper._asdict()}, threshold, *cells, *differences, f"{counts.n_cells:,}")


def both_scores(found):
    """{"dev", "test": quality} -> BLEU and TER of each, as texts."""
    return [score(q[key]) for q in found.values() for key in ("bleu", "ter")]
