"""How the time of a sentence grows with the vocabulary, the list, the sentence and the beam."""

from typing import NamedTuple

import numpy as np

from ...search.packed import pack
from ..tables import Table
from ..timing import interleave, spread
from .variants import Task, Variant, decoder
from .yardstick import LISTS, random_sentences, with_words

LIST_SIZES, LENGTHS, BEAMS = (20, 50, 100, 200), (10, 25, 50, 100), (1, 2, 5, 10, 20)
N_SENTENCES = 2  # a repeat
AXES = {
    "vocabulary": "target words",
    "candidates": "candidates per source word",
    "length": "words of the sentence",
    "beam": "beam",
}


class Point(NamedTuple):
    """Where the time is measured."""

    n_words: int
    topn: int  # 0: all words
    length: int
    beam: int


def measure_growth(bench):
    """Yields a Table for each axis."""
    size = bench.size
    usual = Point(size.vocabularies[0], 100, size.length, 5)
    packed = pack(bench.params)
    for axis, label in AXES.items():
        points = axis_points(axis, usual, size)
        cases = {key: point_decoder(bench, packed, point) for key, point in points.items()}
        found = interleave(cases, bench.n_repeats())
        yield axis_table(bench, axis, label, points, found)


def axis_points(axis, usual, size):
    """-> {(value on the axis, "full" or "top-n"): Point}; full has no number of candidates, and is there at None."""
    if axis == "candidates":
        points = {(n, "top-n"): usual._replace(topn=n) for n in LIST_SIZES}
        return {(None, "full"): usual._replace(topn=0), **points}
    field, values = {
        "vocabulary": ("n_words", size.growing_vocabularies), "length": ("length", LENGTHS), "beam": ("beam", BEAMS),
    }[axis]  # fmt: skip
    return {
        (value, name): usual._replace(topn=topn, **{field: value})
        for value in values
        for name, topn in (("full", 0), ("top-100", 100))
    }


def point_decoder(bench, packed, point):
    """A function that decodes a few sentences, one after the other, all threads sharing each."""
    sentences = random_sentences(N_SENTENCES, point.length, bench.size.src_words)
    packed = {packed.precision: with_words(packed, point.n_words)}
    task = Task(packed, point.n_words, sentences, point.length, N_SENTENCES)
    return decoder(task, Variant(point.beam, 1, bench.n_threads, point.topn, *packed, cold=False))


def axis_table(bench, axis, label, points, found):
    """-> Table."""
    size = bench.size
    fixed = {"vocabulary": f"{size.vocabularies[0]:,} target words", "length": f"{size.length} words", "beam": "beam 5"}
    rest = ", ".join(text for name, text in fixed.items() if name != axis)
    table = Table(
        "growth", f"by {axis}; {rest}, one sentence at a time, {bench.n_threads} threads, known words",
        (label, "list", "ms per sentence"), (f"{LISTS}; top-100 unless stated otherwise.",),
    )  # fmt: skip
    for (value, name), point in points.items():
        seconds = np.array(found[value, name].seconds) / N_SENTENCES
        record = {"axis": axis, "value": value, "list": name, **point._asdict()}
        record.update(threads=bench.n_threads, seconds_per_sentence=seconds.tolist())
        table.add(record, f"{value:,}" if value else "all", name, spread(1e3 * seconds))
    return table
