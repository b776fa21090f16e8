"""Word links from attention weights, Pharaoh lines, the alignment error rate."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from minnmt.align.links import alignment_error_rate, format_pharaoh, hardest_links, parse_pharaoh, word_weights
from minnmt.errors import UserError

LINKS = st.sets(st.tuples(st.integers(0, 40), st.integers(0, 40)))


def test_pieces_are_added_on_the_source_side_and_averaged_on_the_target_side():
    alpha = np.array([
        [0.1, 0.2, 0.3, 0.4],
        [0.3, 0.4, 0.1, 0.2],
        [0.0, 0.1, 0.8, 0.1],
        [0.0, 0.0, 0.0, 1.0],  # eos
    ])  # fmt: skip
    weights = word_weights(alpha, [0, 0, 1], [0, 0, 1])  # source: two words and eos; target: the same
    np.testing.assert_allclose(weights, [[0.5, 0.2], [0.1, 0.8]])
    assert hardest_links(weights) == {(0, 0), (1, 1)}


def test_eos_and_padding_take_no_part():
    alpha = np.array([[0.1, 0.2, 0.7, 0.0], [0.0, 0.1, 0.9, 0.0]])
    assert hardest_links(word_weights(alpha, [0, 1], [0])) == {(1, 0)}


@pytest.mark.parametrize("src, trg", [([], [0]), ([0], []), ([], [])])
def test_an_empty_side_has_no_links(src, trg):
    assert hardest_links(word_weights(np.ones((2, 2)) / 2, src, trg)) == set()


@given(LINKS)
def test_pharaoh_lines_are_read_back(links):
    assert parse_pharaoh(format_pharaoh(links)) == links


def test_pharaoh_lines_are_sorted_by_number():
    assert format_pharaoh({(10, 0), (2, 1), (2, 0)}) == "2-0 2-1 10-0"


@pytest.mark.parametrize("line", ["0-0 1", "a-b", "0-0-0", "0:0"])
def test_other_lines_are_refused_with_their_place(line):
    with pytest.raises(UserError, match="gold.align, line 3.*0-0 1-2"):
        parse_pharaoh(line, "gold.align, line 3")


def test_error_rate_counts_over_the_whole_corpus():
    gold = [{(0, 0), (1, 1)}, {(0, 0)}]
    assert alignment_error_rate(gold, gold) == 0
    assert alignment_error_rate([{(5, 5)}, set()], gold) == 1
    assert alignment_error_rate([{(0, 0)}, {(0, 0), (0, 1)}], gold) == pytest.approx(1 - 2 * 2 / (3 + 3))
    assert alignment_error_rate([], []) == 0
