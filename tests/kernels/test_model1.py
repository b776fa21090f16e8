"""The aligners' kernels do what the plain functions do, on small bitexts with empty sentences and repeated words."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import digamma

from minnmt.align import bitext as bitexts
from minnmt.align.bitext import Bitext, find_occurrences, find_shapes
from minnmt.align.model1 import best_links, expected_counts, normalise_rows, token_probabilities
from minnmt.align.sparse import offsets
from minnmt.compiled import find_kernel, reading_mode
from tests.kernels.compared import compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: there are only plain functions", allow_module_level=True)

N_SRC, N_TRG = 4, 5
SENTENCE_PAIRS = st.lists(
    st.tuples(st.lists(st.integers(0, N_SRC - 1), max_size=6), st.lists(st.integers(0, N_TRG - 1), max_size=6)),
    max_size=7,
)
SEEDS = st.integers(0, 2**32 - 1)
STEPS = np.float32([0.125, 0.25, 0.5, 1.0])  # their products are exact, so equal scores stay equal


def arranged(pairs):
    """Drawn sentence pairs -> Occurrences, how many numbers their position tables have, indices, indptr."""
    bitext = Bitext.from_lists([src for src, _ in pairs], [trg for _, trg in pairs], N_SRC, N_TRG)
    shapes, of_pair = find_shapes(bitext)
    text = find_occurrences(bitext, shapes, of_pair)
    return text, shapes.blocks[-1], *text.cooccurrences()[1:]


def both(function, probs, *arguments):
    """The kernel on float32, the plain function on float64, each with its own probs -> both lists of results."""
    found = []
    for version, dtype in ((find_kernel(function.counterpart), np.float32), (function.plain, np.float64)):
        results = version(probs.astype(dtype), *arguments)
        found.append(results if isinstance(results, tuple) else (results,))
    return found


def assert_both_equal(found, rtol=1e-6):
    for i, (ours, theirs) in enumerate(zip(*found, strict=True)):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=1e-30, err_msg=f"result {i}")


@compares(bitexts.cooccurrences)
@settings(max_examples=80, deadline=None)
@given(SENTENCE_PAIRS)
def test_cooccurrences(pairs):
    text, *_ = arranged(pairs)
    arguments = text.starts, text.first, text.length, text.trg_ids, text.n_trg
    function = bitexts.cooccurrences
    found = [version(*arguments) for version in (function.plain, find_kernel(function.counterpart))]
    for plain, fast in zip(*found):
        assert plain.dtype == fast.dtype and plain.tolist() == fast.tolist()
    expected = Counter((e, t) for src, trg in pairs for e in {*src, N_SRC} for t in set(trg))
    data, indices, indptr = found[1]
    rows = np.repeat(np.arange(N_SRC + 1), np.diff(indptr))
    cells = list(zip(rows.tolist(), indices.tolist()))
    assert cells == sorted(expected) and dict(zip(cells, data.tolist())) == expected


@pytest.mark.parametrize("n_words", [3, 2000])
def test_rows_are_sorted_however_many_words_they_have(rng, n_words):
    """A kernel sorts few words of a large vocabulary, and reads off many."""
    trg = [rng.integers(0, 2000, n_words).tolist() for _ in range(3)]
    text = Bitext.from_lists([[0, 1], [1], [0]], trg, 2, 2000)
    _, indices, indptr = find_occurrences(text, *find_shapes(text)).cooccurrences()
    for row, sentences in enumerate(([0, 2], [0, 1], [0, 1, 2])):
        expected = sorted({word for k in sentences for word in trg[k]})
        assert indices[indptr[row] : indptr[row + 1]].tolist() == expected


@compares(token_probabilities)
@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS, SEEDS)
def test_token_probabilities(pairs, seed):
    rng = np.random.default_rng(seed)
    text, n_entries, indices, indptr = arranged(pairs)
    probs, positions = rng.random(len(indices), np.float32), rng.random(n_entries)
    assert_both_equal(both(token_probabilities, probs, indices, indptr, text, positions))


@compares(expected_counts)
@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS, SEEDS)
def test_expected_counts(pairs, seed):
    rng = np.random.default_rng(seed)
    text, n_entries, indices, indptr = arranged(pairs)
    probs, positions = rng.random(len(indices), np.float32), rng.random(n_entries)
    totals = 0.1 + rng.random(len(text.trg_ids))
    found = both(expected_counts, probs, indices, indptr, text, positions, totals)
    assert_both_equal(found)
    assert found[0][0].dtype == np.float32


@settings(max_examples=60, deadline=None)
@given(SENTENCE_PAIRS, SEEDS)
def test_every_target_token_is_shared_out_as_a_whole(pairs, seed):
    rng = np.random.default_rng(seed)
    text, n_entries, indices, indptr = arranged(pairs)
    probs, positions = 0.1 + rng.random(len(indices), np.float32), 0.1 + rng.random(n_entries)
    totals = token_probabilities(probs, indices, indptr, text, positions)
    counts, mass = expected_counts(probs, indices, indptr, text, positions, totals)
    columns = np.bincount(indices, counts, minlength=N_TRG)
    np.testing.assert_allclose(columns, np.bincount(text.trg_ids, minlength=N_TRG), rtol=1e-5)
    np.testing.assert_allclose(mass.sum(), len(text.trg_ids), rtol=1e-9)


@compares(normalise_rows)
@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.integers(0, 5), max_size=6), st.sampled_from([0.0, 0.01, 1.0]),
    st.sampled_from([0.0, 1e-9, 0.1, 30.0, 1e6]), SEEDS,
)  # fmt: skip
def test_normalise_rows(row_lengths, alpha, scale, seed):
    indptr = offsets(np.array(row_lengths, np.int64))
    counts = (scale * np.random.default_rng(seed).random(indptr[-1])).astype(np.float32)
    assert_both_equal(both(normalise_rows, counts, indptr, alpha), rtol=2e-6)


def test_exp_digamma_is_exact():
    x = np.concatenate([np.logspace(-2.2, 8, 3000), np.linspace(5, 8, 301)])
    exp_digamma = find_kernel("model1.exp_digamma")
    np.testing.assert_allclose([exp_digamma(value) for value in x], np.exp(digamma(x)), rtol=1e-7)


@compares(best_links)
@settings(max_examples=100, deadline=None)
@given(SENTENCE_PAIRS, st.sampled_from([0.0, 0.3, 1.0]), SEEDS)
def test_best_links(pairs, missing, seed):
    rng = np.random.default_rng(seed)
    text, n_entries, indices, indptr = arranged(pairs)
    kept = rng.random(len(indices)) >= missing  # other text has pairs that the table lacks
    indices, indptr = indices[kept], offsets(kept)[indptr]
    probs, positions = rng.choice(STEPS, len(indices)), rng.choice(STEPS, n_entries).astype(np.float64)
    (ours,), (theirs,) = both(best_links, probs, indices, indptr, text, positions, 0.25)
    assert ours.dtype == theirs.dtype == np.int32 and ours.tolist() == theirs.tolist()
