"""IBM Model 1: worked by hand, and what can be said of any training."""

import math
from fractions import Fraction

import numpy as np
import pytest

from minnmt.align.bitext import Bitext
from minnmt.align.links import parse_pharaoh
from minnmt.align.model1 import pharaoh_lines, train_model1
from tests.align.sound import assert_sound
from tests.conftest import toy_lines

BOOKS = ["das haus", "das buch", "ein buch"], ["the house", "the book", "a book"]


def trained(src, trg, **options):
    reports = []
    bitext, src_words, trg_words = Bitext.from_lines(src, trg)
    aligner = train_model1(bitext, report=lambda *report: reports.append(report), **options)
    return aligner, bitext, reports


def test_two_sentences_worked_by_hand():
    """a b | x y  and  a | x. At first all words are alike: x and y are shared out in thirds, the second x in halves."""
    aligner, _, reports = trained(["a b", "a"], ["x y", "x"], iterations=1)
    assert reports == [(1, 1.0, "")]  # both words have probability 1/2: one bit
    np.testing.assert_allclose(aligner.table.data, [5 / 7, 2 / 7, 1 / 2, 1 / 2], rtol=1e-6)  # a: 1/3 + 1/2, 1/3
    np.testing.assert_allclose(aligner.null, [5 / 7, 2 / 7], rtol=1e-6)

    # second round. First x: NULL 5/7, a 5/7, b 1/2; y: 2/7, 2/7, 1/2; last x: halves again
    aligner, _, reports = trained(["a b", "a"], ["x y", "x"], iterations=2)
    x, y, last_x = Fraction(27, 14) / 3, Fraction(15, 14) / 3, Fraction(5, 7)
    assert reports[1][1] == pytest.approx(-math.log2(x * y * last_x) / 3, rel=1e-6)
    a_x, a_y, b_x, b_y = Fraction(10, 27) + Fraction(1, 2), Fraction(4, 15), Fraction(7, 27), Fraction(7, 15)
    expected = [a_x / (a_x + a_y), a_y / (a_x + a_y), b_x / (b_x + b_y), b_y / (b_x + b_y)]
    np.testing.assert_allclose(aligner.table.data, np.array(expected, float), rtol=1e-6)
    assert aligner.table.info == {"method": "model1", "pairs": 2, "iterations": 2}


def test_the_house_and_the_book():
    aligner, bitext, reports = trained(*BOOKS, iterations=20)
    assert pharaoh_lines(bitext, aligner.links(bitext)) == ["0-0 1-1", "0-0 1-1", "0-0 1-1"]
    bits = [report[1] for report in reports]
    assert bits[0] == pytest.approx(2)  # four words, all alike
    assert all(later <= earlier for earlier, later in zip(bits, bits[1:]))


def test_rows_sum_to_one(rng):
    aligner, _, _ = trained(*toy_lines(rng, 60))
    sums = np.bincount(aligner.table.rows, aligner.table.data, minlength=aligner.table.n_src)
    np.testing.assert_allclose(sums, 1, rtol=1e-4)
    assert aligner.null.sum() == pytest.approx(1, rel=1e-4)
    assert_sound(aligner.table)
    assert aligner.table.data.dtype == aligner.null.dtype == np.float32


def test_the_prior_takes_from_rare_words():
    plain, smoothed = (trained(*toy_lines(np.random.default_rng(5), 60), alpha=alpha)[0] for alpha in (0.0, 0.01))
    assert smoothed.table.data.sum() < plain.table.data.sum()
    assert smoothed.table.n_cells < plain.table.n_cells


def test_blank_sides_change_nothing():
    plain, bitext, reports = trained(*BOOKS)
    src, trg = (["", *lines, ""] for lines in BOOKS)
    src[0], trg[-1] = "das", "book"
    blank, blank_bitext, blank_reports = trained(src, trg)
    assert blank_reports == reports and blank.info == plain.info
    lines = pharaoh_lines(bitext, plain.links(bitext))
    assert pharaoh_lines(blank_bitext, blank.links(blank_bitext)) == ["", *lines, ""]


@pytest.mark.parametrize("lines", [([], []), (["", ""], ["a", ""])])
def test_nothing_to_align(lines):
    aligner, bitext, reports = trained(*lines)
    assert aligner.table.n_cells == 0 and pharaoh_lines(bitext, aligner.links(bitext)) == [""] * len(lines[0])
    assert [report[1] for report in reports] == [0.0] * 5


def test_of_equal_words_the_first_is_linked():
    aligner, bitext, _ = trained(["a a b", "b c"], ["x y", "y z"], iterations=8)
    assert aligner.links(bitext)[0] == 0


def test_links_of_other_text():
    """Words that never met in training, or never stood in it at all, are not linked."""
    words = ["das haus buch ein neu".split(), "the house book a new".split()]
    ids = [{word: i for i, word in enumerate(side)} for side in words]

    def as_bitext(*lines):
        return Bitext.from_lists(*([[ids[k][w] for w in line.split()] for line in lines[k]] for k in (0, 1)), 5, 5)

    aligner = train_model1(as_bitext(*BOOKS), iterations=20)
    other = as_bitext(["buch haus", "neu haus", "neu", "", "haus"], ["house book", "new house", "new a", "a", "a"])
    assert pharaoh_lines(other, aligner.links(other)) == ["1-0 0-1", "1-1", "", "", ""]


def test_another_vocabulary_is_refused():
    aligner, _, _ = trained(*BOOKS)
    with pytest.raises(ValueError, match="other vocabularies"):
        aligner.links(Bitext.from_lines(["das"], ["the"])[0])


def test_pharaoh_lines_are_ordered_by_target():
    bitext = Bitext.from_lists([[0] * 12, [0], [0, 0]], [[0] * 4, [], [0, 0, 0]], 1, 1)
    lines = pharaoh_lines(bitext, np.array([11, -1, 2, 0, 1, 1, 0]))
    assert lines == ["11-0 2-2 0-3", "", "1-0 1-1 0-2"]
    assert parse_pharaoh(lines[0]) == {(11, 0), (2, 2), (0, 3)}
