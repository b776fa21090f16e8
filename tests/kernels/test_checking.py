"""Many readouts against all words, alone and shared by threads: the kernels against their plain functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import find_kernel, reading, reading_mode
from minnmt.search import estimating
from minnmt.search.checking import best_of_all
from minnmt.search.desks import Team, check_desk, estimating_desk
from minnmt.search.estimating import Layer, Listed, beyond_lists
from minnmt.search.packed import finer_rows, make_rows
from minnmt.search.stages import best_words, word_logits
from tests.kernels.compared import compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

from kernels import checking as compiled_checking  # noqa: E402
from tests.kernels.test_decoding import N_THREADS, PRECISION, SEED, copied, normal  # noqa: E402


@compares(best_of_all)
@settings(max_examples=60, deadline=None)
@given(
    N=st.integers(0, 12), V=st.integers(1, 70) | st.integers(500, 1200), E=st.integers(1, 20), K=st.integers(1, 6),
    precision=PRECISION, n_threads=N_THREADS, seed=SEED,
)  # fmt: skip
def test_best_of_all(N, V, E, K, precision, n_threads, seed):
    rng = np.random.default_rng(seed)
    output = make_rows(normal(rng, V, E), normal(rng, V), precision).all_words(1)
    o, ending = normal(rng, N, E), rng.integers(0, 2, N) > 0
    desk = check_desk(N, K, output, n_threads)
    with Team(n_threads).helping("checking.help_checking", output, desk):
        found = [array.copy() for array in find_kernel(best_of_all.counterpart)(o, ending, output, K, desk)]
    exact = [copied(a, np.float64 if precision == "float32" else np.float32) for a in (o, ending, output)]
    with reading():
        words, logps = best_of_all.plain(*exact, K)
    assert found[0].shape == words.shape and found[1].dtype == np.float32
    np.testing.assert_allclose(found[1], logps, rtol=2e-5, atol=2e-5)
    everybody = np.zeros(N, np.int64)
    with reading():
        row_by_row = [best_of_all.plain(*(a[i : i + 1] for a in exact[:2]), exact[2], K)[1] for i in range(N)]
    np.testing.assert_allclose(logps, np.array(row_by_row).reshape(logps.shape), rtol=1e-5, atol=1e-5)
    sizes = output.sizes[everybody]
    logits = find_kernel(word_logits.counterpart)(o, everybody, output)
    again = find_kernel(best_words.counterpart)(logits, sizes, ending, K)
    for ours, steps in zip(found, again):
        np.testing.assert_array_equal(ours, steps)  # to the last bit what a step with all words gives


@compares(beyond_lists)
@settings(max_examples=60, deadline=None)
@given(
    R=st.integers(0, 9), V=st.integers(2, 70) | st.integers(500, 1200), E=st.integers(1, 40), K=st.integers(1, 40),
    share=st.floats(0, 1), sharpness=st.sampled_from([0.3, 2.0, 9.0]), n_threads=N_THREADS, seed=SEED,
)  # fmt: skip
def test_beyond_lists(R, V, E, K, share, sharpness, n_threads, seed):
    case = draw_case(np.random.default_rng(seed), R, V, E, share, sharpness)
    (_, listed, layer), n = case, min(K, V)
    desk = estimating_desk(R, n, layer.rough, E, n_threads)
    with Team(n_threads).helping("checking.help_estimating", listed.ids, listed.sizes, layer, desk):
        found = [array.copy() for array in find_kernel(beyond_lists.counterpart)(*case, n, desk)]
    with reading():
        words, logits, unseen, weights, deviation = beyond_lists.plain(*case, n)
    for ours, theirs in ((found[0], words), (found[1], logits)):
        np.testing.assert_allclose(np.sort(ours, axis=1), np.sort(theirs, axis=1), rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found[2], unseen, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(np.log1p(found[3]), np.log1p(weights), rtol=1e-4, atol=5e-5)
    np.testing.assert_allclose(found[4], deviation, rtol=0.05, atol=1e-12)
    assert all(array.dtype == expected.dtype for array, expected in zip(found[1:], (logits, unseen, weights)))


@settings(max_examples=60, deadline=None)
@given(
    V=st.integers(2, 70) | st.integers(500, 3000), E=st.integers(1, 60), n=st.integers(1, 20),
    share=st.floats(0, 1), sharpness=st.sampled_from([0.3, 2.0, 9.0]), seed=SEED,
)  # fmt: skip
def test_estimates_are_as_good_as_they_say(V, E, n, share, sharpness, seed):
    o, listed, layer = draw_case(np.random.default_rng(seed), 6, V, E, share, sharpness)
    with reading():
        words, logits, unseen, rest, deviation = beyond_lists.plain(o, listed, layer, min(n, V))
    exact = o.astype(np.float64) @ layer.w.T.astype(np.float64) + layer.bias
    rounding = 1e-6 * max(10.0, np.abs(exact).max())  # of float32
    for i, (b, row) in enumerate(zip(listed.owner, exact)):
        ids = listed.ids[b, : listed.sizes[b]]
        inside = np.logaddexp.reduce(row[ids])
        others = np.setdiff1d(np.arange(V), np.r_[ids, words[i][logits[i] > -np.inf]])
        outside = np.exp(row[np.setdiff1d(np.arange(V), ids)] - inside).sum()
        estimate = np.exp(logits[i].astype(np.float64)).sum() + rest[i]
        assert abs(np.log1p(estimate) - np.log1p(outside)) <= 6 * deviation[i] + rounding
        assert (row[others] - inside).max(initial=-np.inf) <= unseen[i] + rounding
        there = logits[i] > -np.inf
        np.testing.assert_allclose(logits[i][there], (row - inside)[words[i][there]], atol=rounding)


def test_estimates_say_how_far_they_are_off():
    """Neither much less than they are, nor much more."""
    rng, shares = np.random.default_rng(5), []
    for _ in range(20):
        o, listed, layer = draw_case(rng, 10, 1500, 60, 0.2, 1.5)
        with reading():
            words, logits, _, rest, deviation = beyond_lists.plain(o, listed, layer, 8)
        exact = o.astype(np.float64) @ layer.w.T.astype(np.float64) + layer.bias
        for i, (b, row) in enumerate(zip(listed.owner, exact)):
            ids = listed.ids[b, : listed.sizes[b]]
            inside, everything = np.logaddexp.reduce(row[ids]), np.logaddexp.reduce(row)
            estimate = np.log1p(np.exp(logits[i].astype(np.float64)).sum() + rest[i])
            shares.append((estimate - (everything - inside)) / deviation[i])
    assert 0.05 < np.sqrt(np.mean(np.square(shares))) < 1 and np.abs(shares).max() < 4


def test_a_list_that_is_far_too_poor_is_not_trusted():
    """Weights that float32 cannot add up: the deviation is infinite, not a number that compares as small."""
    rng = np.random.default_rng(5)
    o, listed, layer = draw_case(rng, 4, 900, 20, 0.0, 1.0)
    listed = listed._replace(logps=listed.logps + np.float32(90))
    desk = estimating_desk(4, 5, layer.rough, 20)
    for function in (find_kernel(beyond_lists.counterpart), beyond_lists.plain):
        *_, weights, deviation = function(o, listed, layer, 5, desk)
        assert (deviation == np.inf).all()


def draw_case(rng, R, V, E, share, sharpness):
    """What beyond_lists is given, but n: two sentences, each with a list of about this share of all words."""
    w, bias = sharpness * normal(rng, V, E) / np.float32(E**0.5), normal(rng, V)
    lists = [np.unique(np.r_[0, rng.choice(V, int(share * V), replace=False)]) for _ in range(2)]
    ids = np.zeros((2, max(map(len, lists))), np.int64)
    for b, words in enumerate(lists):
        ids[b, : len(words)] = words
    o, owner = np.tanh(normal(rng, R, E)), np.sort(rng.integers(0, 2, R))
    best = np.array([rng.choice(lists[b]) for b in owner], np.int64)
    logits = o.astype(np.float64) @ w.T + bias
    inside = np.array([np.logaddexp.reduce(row[lists[b]]) for row, b in zip(logits, owner)])
    logps = (logits[np.arange(R), best] - inside).astype(np.float32)
    listed = Listed(owner, ids, np.array([len(words) for words in lists]), best, logps)
    preview = make_rows(w, bias, "int8")
    finer, longest = finer_rows(preview, w)
    return o, listed, Layer(w, bias, preview.all_words(1), finer.all_words(1), longest)


@pytest.mark.parametrize("name", ["SURE", "ROUGH", "RUN", "MOST", "FINEST", "LARGE"])
def test_both_have_the_same_constants(name):
    assert getattr(compiled_checking, name) == np.float32(getattr(estimating, name))
