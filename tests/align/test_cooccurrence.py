"""In how many sentence pairs two words occur."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.bitext import Bitext
from minnmt.align.model1 import train_cooccurrence

SENTENCES = st.lists(st.integers(0, 3), max_size=5)


@settings(deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), max_size=8))
def test_counts_are_those_of_sets(pairs):
    bitext = Bitext.from_lists([src for src, _ in pairs], [trg for _, trg in pairs], 4, 4)
    counts = train_cooccurrence(bitext).counts
    counts.check("counts")
    expected = Counter((s, t) for src, trg in pairs for s in set(src) for t in set(trg))
    found = list(zip(counts.rows.tolist(), counts.indices.tolist()))
    assert found == sorted(expected)
    assert dict(zip(found, counts.data.tolist())) == expected


def test_blank_lines_are_not_pairs():
    counts = train_cooccurrence(Bitext.from_lines(["a a", "a", "", "a"], ["x y", "", "x", "x x"])[0]).counts
    assert counts.indices.tolist() == [0, 1]
    assert counts.data.tolist() == [2, 1]
    assert counts.info == {"method": "cooc", "pairs": 2, "iterations": 0}


def test_as_an_aligner_the_larger_share_wins():
    bitext = Bitext.from_lines(["das haus", "das buch", "das"], ["the house", "the book", "the"])[0]
    aligner = train_cooccurrence(bitext)
    ids, probs = aligner.table.row(0)  # das: the 3, house 1, book 1
    assert ids.tolist() == [0, 1, 2]
    np.testing.assert_allclose(probs, [0.6, 0.2, 0.2], rtol=1e-6)
    assert aligner.null == pytest.approx(np.array([0.6, 0.2, 0.2]))
    assert aligner.links(bitext).tolist() == [-1, 1, -1, 1, -1]  # NULL stands before das, which shares alike
