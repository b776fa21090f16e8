"""The n best of each row: by source, by target, ties, thresholds, empty rows and zeros."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.candidates import best_candidates, probabilities, random_candidates
from minnmt.align.counts import Counts


def counts_of(rows, n_trg):
    """[{target id: weight}] -> Counts."""
    cells = [(s, t, w) for s, row in enumerate(rows) for t, w in row.items()]
    src, trg, weights = zip(*cells) if cells else ((), (), ())
    return Counts.from_cells(np.array(src, int), np.array(trg, int), np.array(weights, float), len(rows), n_trg)


# the columns' sums are            8     4     1     3
WORKED = counts_of([{0: 6.0, 1: 1.0, 3: 3.0}, {}, {0: 2.0, 1: 3.0, 2: 1.0}], 5)


def listed(candidates):
    """[[(target id, probability)]], best first, for each source id."""
    rows = (candidates.row(i) for i in range(candidates.n_src))
    return [[(i, pytest.approx(p)) for i, p in zip(ids.tolist(), probs.tolist())] for ids, probs in rows]


def ids(candidates):
    return [candidates.row(i)[0].tolist() for i in range(candidates.n_src)]


def test_by_source_worked_by_hand():
    found = best_candidates(WORKED, 9)
    assert listed(found) == [[(0, 0.6), (3, 0.3), (1, 0.1)], [], [(1, 0.5), (0, 2 / 6), (2, 1 / 6)]]
    assert (found.n_src, found.n_trg) == (3, 5)
    assert (found.indptr.dtype, found.ids.dtype, found.probs.dtype) == (np.int64, np.int32, np.float32)


def test_by_target_worked_by_hand():
    """Columns 2 and 3 belong to one source word alone, so they come first, however rare."""
    found = best_candidates(WORKED, 9, by="target")
    assert listed(found) == [[(3, 1.0), (0, 0.75), (1, 0.25)], [], [(2, 1.0), (1, 0.75), (0, 0.25)]]


@pytest.mark.parametrize("by, expected", [("source", [[0, 3], [], [1, 0]]), ("target", [[3, 0], [], [2, 1]])])
def test_the_n_best(by, expected):
    assert ids(best_candidates(WORKED, 2, by)) == expected
    assert ids(best_candidates(WORKED, 1, by)) == [row[:1] for row in expected]
    assert ids(best_candidates(WORKED, 0, by)) == [[], [], []]
    assert ids(best_candidates(WORKED, 3, by)) == ids(best_candidates(WORKED, 10**9, by))


def test_ties_go_to_the_lower_id():
    tied = counts_of([{4: 1.0, 2: 1.0, 3: 2.0, 0: 1.0, 1: 1.0}], 5)
    assert ids(best_candidates(tied, 3)) == [[3, 0, 1]]
    assert ids(best_candidates(tied, 5, by="target")) == [[0, 1, 2, 3, 4]]


@pytest.mark.parametrize(
    "by, least, expected",
    [
        ("source", 0.25, [[0, 3], [], [1, 0]]),
        ("source", 0.5, [[0], [], [1]]),  # a probability that is the limit itself stays
        ("source", 0.51, [[0], [], []]),
        ("source", 1.0, [[], [], []]),
        ("target", 0.75, [[3, 0], [], [2, 1]]),
        ("target", 0.76, [[3], [], [2]]),
    ],
)
def test_min_prob(by, least, expected):
    assert ids(best_candidates(WORKED, 9, by, least)) == expected


def test_min_prob_and_n_together():
    assert ids(best_candidates(WORKED, 1, min_prob=0.25)) == [[0], [], [1]]


def test_an_empty_matrix():
    for by in ("source", "target"):
        assert ids(best_candidates(Counts.empty(3, 4), 5, by)) == [[], [], []]
        assert len(probabilities(Counts.empty(3, 4), by)) == 0


@settings(max_examples=60, deadline=None)
@given(
    n_src=st.integers(1, 5), n_trg=st.integers(1, 6), n=st.integers(1, 7), by=st.sampled_from(["source", "target"]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_against_sorting_a_dense_matrix(n_src, n_trg, n, by, seed):
    rng = np.random.default_rng(seed)
    dense = rng.choice([0.0, 0.0, 1.0, 2.0, 4.0], (n_src, n_trg))
    probs = dense / np.maximum(dense.sum(axis=1 if by == "source" else 0, keepdims=True), 1)
    counts = counts_of([{t: w for t, w in enumerate(row) if w} for row in dense.tolist()], n_trg)
    found = best_candidates(counts, n, by)
    for i in range(n_src):
        cells = [t for t in range(n_trg) if dense[i, t]]
        expected = sorted(cells, key=lambda t: (-np.float32(probs[i, t]), t))[:n]
        assert found.row(i)[0].tolist() == expected, (dense, i)
        np.testing.assert_allclose(found.row(i)[1], probs[i, expected], rtol=1e-6)


@pytest.mark.parametrize("by", ["source", "target"])
def test_rows_and_columns_of_zeros(by):
    """A stored cell may weigh nothing: a probability too small for a float32 in somebody's table."""
    zeros = counts_of([{0: 0.0, 2: 0.0}, {1: 1.0}], 3)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = best_candidates(zeros, 2, by)
    assert np.isfinite(found.probs).all() and found.row(1)[0].tolist() == [1]


def test_one_zero_among_others():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert listed(best_candidates(counts_of([{0: 0.0, 2: 2.0, 1: 2.0}], 3), 3)) == [[(1, 0.5), (2, 0.5), (0, 0.0)]]


# The control


def test_random_candidates_are_different_words_and_always_the_same_ones():
    found = random_candidates(20, 50, 7)
    assert [len(set(row)) for row in ids(found)] == [7] * 20
    assert found.ids.min() >= 0 and found.ids.max() < 50 and len(set(found.ids.tolist())) > 30
    assert ids(found) == ids(random_candidates(20, 50, 7))
    assert ids(found) != ids(random_candidates(20, 50, 7, seed=2))
    assert len({tuple(row) for row in ids(found)}) == 20
    assert (found.indptr.dtype, found.ids.dtype, found.probs.dtype) == (np.int64, np.int32, np.float32)


@pytest.mark.parametrize("n_trg, n, expected", [(4, 9, 4), (4, 0, 0)])
def test_random_candidates_at_the_edges(n_trg, n, expected):
    assert [len(row) for row in ids(random_candidates(3, n_trg, n))] == [expected] * 3
    assert ids(random_candidates(0, n_trg, n)) == []
