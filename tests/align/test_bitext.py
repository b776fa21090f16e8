"""Parallel sentences as flat arrays."""

import numpy as np
import pytest

from minnmt.align.bitext import Bitext, find_occurrences, find_shapes

LINES = ["das  haus", "", "das\tist das ", "ein buch"], ["the house", "nothing here", "", "a book"]


def test_lines_become_ids_in_the_order_of_the_words():
    bitext, src_words, trg_words = Bitext.from_lines(*LINES)
    assert src_words == ["das", "haus", "ist", "ein", "buch"]
    assert trg_words == ["the", "house", "nothing", "here", "a", "book"]
    assert bitext.src_ids.tolist() == [0, 1, 0, 2, 0, 3, 4]
    assert bitext.src_starts.tolist() == [0, 2, 2, 5, 7]
    assert bitext.trg_starts.tolist() == [0, 2, 4, 4, 6]
    assert (bitext.n_src, bitext.n_trg, len(bitext)) == (5, 6, 4)


def test_lists_give_what_lines_give():
    lines = Bitext.from_lines(*LINES)[0]
    lists = Bitext.from_lists(
        [[0, 1], [], [0, 2, 0], [3, 4]], [[0, 1], [2, 3], [], [4, 5]], 5, 6
    )  # fmt: skip
    for name in ("src_ids", "src_starts", "trg_ids", "trg_starts"):
        ours, theirs = getattr(lists, name), getattr(lines, name)
        assert ours.dtype == theirs.dtype == (np.int32 if name.endswith("ids") else np.int64)
        np.testing.assert_array_equal(ours, theirs, err_msg=name)


def test_pairs_with_a_blank_side_are_dropped_together():
    bitext, src_words, trg_words = Bitext.from_lines(*LINES)
    kept = bitext.without_blanks()
    assert [src_words[i] for i in kept.src_ids] == ["das", "haus", "ein", "buch"]
    assert [trg_words[i] for i in kept.trg_ids] == ["the", "house", "a", "book"]
    assert kept.src_starts.tolist() == kept.trg_starts.tolist() == [0, 2, 4]
    assert kept.without_blanks() is kept


@pytest.mark.parametrize("lines", [([], []), (["a"], [""]), ([""], ["b"])])
def test_nothing_may_be_left(lines):
    kept = Bitext.from_lines(*lines)[0].without_blanks()
    assert len(kept) == 0 and kept.src_starts.tolist() == [0] and kept.src_starts.dtype == np.int64


def test_occurrences_find_every_word_of_every_sentence():
    bitext = Bitext.from_lines(["a b a", "c", "b a"], ["x y", "z", "y x"])[0]
    shapes, of_pair = find_shapes(bitext)
    assert list(zip(shapes.S, shapes.T, shapes.n_pairs)) == [(1, 1, 1), (2, 2, 1), (3, 2, 1)]
    assert of_pair.tolist() == [2, 0, 1]
    assert shapes.blocks.tolist() == [0, 2, 2 + 6, 2 + 6 + 8]
    found = find_occurrences(bitext, shapes, of_pair)
    assert found.starts.tolist() == [0, 3, 5, 6, 9]  # a, b, c, NULL
    assert found.place.tolist() == [1, 3, 2, 2, 1, 1, 0, 0, 0]
    assert found.first.tolist() == [0, 0, 3, 0, 3, 2, 0, 2, 3]
    assert found.length.tolist() == [2, 2, 2, 2, 2, 1, 2, 1, 2]
    assert found.entry.tolist() == [10, 14, 6, 12, 4, 1, 8, 0, 2]


def test_tables_are_views_of_the_flat_numbers():
    bitext = Bitext.from_lines(["a b a", "c"], ["x y", "z"])[0]
    shapes, _ = find_shapes(bitext)
    flat = np.zeros(shapes.blocks[-1])
    for S, T, table in shapes.tables(flat):
        assert table.shape == (S + 1, T)
        table[:] = S
    assert flat.tolist() == [1] * 2 + [3] * 8
    j, S, T, n_pairs = (column.tolist() for column in shapes.columns())
    assert (j, S, T, n_pairs) == ([1, 1, 2], [1, 3, 3], [1, 2, 2], [1, 1, 1])
    assert shapes.n_tokens == 3


def test_words_end_at_spaces_and_tabs_only():
    bitext, src_words, _ = Bitext.from_lines(["a  10\u00a0000\tb ", ""], ["x", "y"])
    assert src_words == ["a", "10\u00a0000", "b"] and bitext.src_lengths.tolist() == [3, 0]
