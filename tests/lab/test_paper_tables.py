"""The paper's cells: all of them, from the data file, and with the digits it prints."""

import pytest

from minnmt.lab.reproduce.epochs_figure import some
from minnmt.lab.reproduce.paper import LISTS, THRESHOLDS, UNKNOWN, decoding_rows, threshold_rows, vocabulary


def test_table_1_is_complete():
    rows = decoding_rows("deen")
    assert list(rows) == [(units, *key) for units in ("bpe", "words") for key in (("full", None), *LISTS)]
    assert rows["bpe", "scratch", 100] == (3.096, 43.0317, 27.77, 53.0)
    assert rows["words", "scratch", 100].speedup == 6.93 and rows["words", "continued", 100].speedup == 7.023
    assert rows["words", "fastalign", 100] == (6.943, 36.6832, 26.66, 53.95)


def test_table_2_is_complete():
    rows = threshold_rows()
    assert tuple(rows) == THRESHOLDS
    assert rows[0.1] == (43.6759, 27.25, 54.12, 27.77, 53.0, 1.9278, 108.9676)
    for row in rows.values():  # its megabytes are 4 bytes per cell of one and the same matrix
        assert row.megabytes / row.density == pytest.approx(56.5, abs=0.1)


def test_table_3_is_complete():
    rows = decoding_rows("iten")
    assert list(rows) == [("bpe", *key) for key in (("full", None), *LISTS[:-1])]
    assert rows["bpe", "continued", 200] == (3.6, 72.7, 29.65, 52.97)


def test_vocabularies():
    assert (vocabulary("bpe"), vocabulary("words"), vocabulary("bpe", "iten")) == (34_494, 80_000, 33_497)
    assert UNKNOWN == {"dev": 4.5, "test": 4.3}


def test_texts_have_no_more_digits_than_the_paper_prints():
    texts = decoding_rows("deen")["bpe", "continued", 50].texts()
    assert texts == {"speedup": "3.17", "candidates": "22.3", "BLEU": "27.5", "TER": "53.3"}


@pytest.mark.parametrize("n, chosen", [(1, [1]), (3, [1, 2, 3]), (9, [1, 3, 5, 7, 9])])
def test_some_epochs_of_many(n, chosen):
    assert some(list(range(1, n + 1)), most=5) == chosen
