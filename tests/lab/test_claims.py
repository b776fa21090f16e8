"""The summary: what counts as alike, and the gain of a list in the network of the paper."""

import pytest

from minnmt.lab.reproduce.claims_table import alike, each, no_worse, words
from minnmt.report.scores import Difference
from minnmt.search.cost import Shape, computed_rest, gain, rest_in_words


def test_the_rest_is_what_the_gain_says():
    for r in (500.0, 12_000.0):
        assert rest_in_words(gain(r, 34_494, 700), 34_494, 700) == pytest.approx(r)
    assert gain(0, 80_000, 800) == 100
    assert rest_in_words(0.9, 1000, 10) == pytest.approx(991_000)  # nothing gained: large, and finite
    assert rest_in_words(500, 1000, 10) == 0  # more than a list can gain


def test_the_papers_network_has_a_larger_rest_than_a_small_one():
    paper, ours = Shape(620, 1000, 25, 5, 0), Shape(256, 512, 25, 5, 0)
    assert computed_rest(paper) > computed_rest(ours) > 1000
    by_hand = 5 * 1000 * 1000 + 3620 * 1000 + 26 * (2000 + 3000 + 620)  # a step, each row of the beam
    assert computed_rest(paper) > by_hand / 620
    assert computed_rest(paper._replace(n_words=9)) == computed_rest(paper)


def test_alike():
    assert alike(Difference(-0.15, -0.3, -0.1)) and alike(Difference(0.5, -0.1, 1.1))
    assert not alike(Difference(-0.5, -0.9, -0.1)) and not alike(Difference(0.5, 0.1, 0.9))


def test_what_is_better_is_no_worse():
    assert no_worse(Difference(1.0, 0.5, 1.5)) and no_worse(Difference(-0.5, -1.1, 0.1))
    assert not no_worse(Difference(-0.5, -0.9, -0.1))


def test_texts():
    assert each({"bpe": "+0.1", "words": "+0.2"}) == "BPE +0.1; words +0.2"
    assert words(12_345.6) == "12,000"
