"""The aligners' kernels do what their twins do, on small bitexts with empty sentences and repeated words."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from kernels import aligners
from kernels.aligners import Cells
from minnmt.align.bitext import Bitext, find_cells, find_meetings, find_shapes
from tests.kernels.compared import compares

N_SRC, N_TRG = 4, 5
SENTENCE_PAIRS = st.lists(
    st.tuples(st.lists(st.integers(0, N_SRC - 1), max_size=6), st.lists(st.integers(0, N_TRG - 1), max_size=6)),
    max_size=7,
)
SEEDS = st.integers(0, 2**32 - 1)
STEPS = np.float32([0.125, 0.25, 0.5, 1.0])  # their products are exact, so equal scores stay equal


def arranged(pairs):
    """Drawn sentence pairs -> meetings, how many numbers their position tables have, cells."""
    bitext = Bitext.from_lists([src for src, _ in pairs], [trg for _, trg in pairs], N_SRC, N_TRG)
    shapes, of_pair = find_shapes(bitext)
    meetings = find_meetings(bitext, shapes, of_pair)
    return meetings, shapes.blocks[-1], find_cells(meetings)[0]


def run_both(name, probs, *inputs, outputs=()):
    """A kernel on float32 and its twin on float64, each with its own probs and outputs -> all that they wrote."""
    found = []
    for function, dtype in ((name, np.float32), (name + "_numpy", np.float64)):
        written = [probs.astype(dtype), *(a.copy() for a in outputs)]
        getattr(aligners, function)(written[0], *inputs, *written[1:])
        found.append(written)
    return found


def assert_both_equal(found, rtol=1e-6):
    for i, (ours, theirs) in enumerate(zip(*found)):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-30, err_msg=f"array {i}")


@compares(aligners.count_cells)
@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS)
def test_count_cells(pairs):
    meetings, _, _ = arranged(pairs)
    found = run_both("count_cells", np.full(N_SRC + 1, 7.0), meetings)
    assert_both_equal(found)
    met = [{t for src, trg in pairs if e in src for t in trg} for e in range(N_SRC)]
    assert found[0][0].tolist() == [len(words) for words in [*met, {t for _, trg in pairs for t in trg}]]


@compares(aligners.fill_cells)
@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS)
def test_fill_cells(pairs):
    meetings, _, cells = arranged(pairs)
    found = []
    for function in (aligners.fill_cells, aligners.fill_cells_numpy):
        indices, data = np.full(len(cells.indices), -1, np.int32), np.full(len(cells.indices), -1, np.float32)
        function(data, Cells(cells.indptr, indices), meetings)
        found.append((indices.tolist(), data.tolist()))
    assert found[0] == found[1]


@compares(aligners.add_scores)
@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS, SEEDS)
def test_add_scores(pairs, seed):
    rng = np.random.default_rng(seed)
    meetings, n_entries, cells = arranged(pairs)
    probs, positions = rng.random(len(cells.indices), np.float32), rng.random(n_entries)
    totals = rng.random(len(meetings.trg_ids))  # the scores are added to what is there
    assert_both_equal(run_both("add_scores", probs, cells, meetings, positions, outputs=[totals]))


@compares(aligners.share_counts)
@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS, SEEDS)
def test_share_counts(pairs, seed):
    rng = np.random.default_rng(seed)
    meetings, n_entries, cells = arranged(pairs)
    probs, positions = rng.random(len(cells.indices), np.float32), rng.random(n_entries)
    totals, mass = 0.1 + rng.random(len(meetings.trg_ids)), rng.random(n_entries)
    assert_both_equal(run_both("share_counts", probs, cells, meetings, positions, totals, outputs=[mass]))


@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS, SEEDS)
def test_every_target_token_is_shared_out_as_a_whole(pairs, seed):
    rng = np.random.default_rng(seed)
    meetings, n_entries, cells = arranged(pairs)
    probs, positions = 0.1 + rng.random(len(cells.indices), np.float32), 0.1 + rng.random(n_entries)
    totals, mass = np.zeros(len(meetings.trg_ids)), np.zeros(n_entries)
    aligners.add_scores(probs, cells, meetings, positions, totals)
    aligners.share_counts(probs, cells, meetings, positions, totals, mass)
    words, rows = meetings.trg_ids, np.bincount(cells.indices, probs, minlength=N_TRG)
    np.testing.assert_allclose(rows, np.bincount(words, minlength=N_TRG), rtol=1e-5)
    np.testing.assert_allclose(mass.sum(), len(words), rtol=1e-9)


@compares(aligners.normalise_rows)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=6), st.sampled_from([0.0, 0.01, 1.0]),
    st.sampled_from([0.0, 1e-9, 0.1, 30.0, 1e6]), SEEDS,
)  # fmt: skip
def test_normalise_rows(row_lengths, alpha, scale, seed):
    indptr = np.concatenate([[0], np.cumsum(np.array(row_lengths, np.int64))])
    counts = (scale * np.random.default_rng(seed).random(indptr[-1])).astype(np.float32)
    assert_both_equal(run_both("normalise_rows", counts, indptr, alpha), rtol=2e-6)


def test_exp_digamma_is_exact():
    x = np.concatenate([np.logspace(-2.2, 8, 3000), np.linspace(5, 8, 301)])
    found = [aligners.exp_digamma(value) for value in x]
    np.testing.assert_allclose(found, np.exp(digamma(x)), rtol=1e-7)


@compares(aligners.best_links)
@settings(max_examples=100, deadline=None)
@given(SENTENCE_PAIRS, st.sampled_from([0.0, 0.3, 1.0]), SEEDS)
def test_best_links(pairs, missing, seed):
    rng = np.random.default_rng(seed)
    meetings, n_entries, cells = arranged(pairs)
    kept = rng.random(len(cells.indices)) >= missing  # other text has pairs that the table lacks
    cells = Cells(np.concatenate([[0], np.cumsum(kept)])[cells.indptr], cells.indices[kept])
    probs, positions = rng.choice(STEPS, len(cells.indices)), rng.choice(STEPS, n_entries).astype(np.float64)
    n = len(meetings.trg_ids)
    outputs = [rng.random(n), rng.integers(0, 9, n, np.int32)]
    found = run_both("best_links", probs, cells, meetings, positions, 0.25, outputs=outputs)
    assert_both_equal(found)
    assert found[0][2].tolist() == found[1][2].tolist()
