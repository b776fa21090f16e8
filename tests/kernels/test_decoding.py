"""The kernels of decoding and of products with few rows, alone and shared by a team, against their twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.decoding import attend, best_words, gru_cell, read_sentences, readout
from kernels.functions import exp
from kernels.jit import USE_NUMPY, team, team_size
from kernels.products import Weights, few_rows
from kernels.softmax import list_logits
from tests.kernels.compared import compares

if USE_NUMPY:
    pytest.skip("MINNMT_KERNELS=numpy: there are only twins", allow_module_level=True)

SEED = st.integers(0, 2**32 - 1)
TEAM = st.sampled_from([1, 2])


def assert_like_twin(kernel, inputs, outputs, n_threads=1):
    """Run both: the outputs, filled with nonsense before, agree, and no input has changed."""
    ours = [a.copy() for a in outputs]
    theirs = [in_float64(a) for a in outputs]
    before = [in_float64(a) for a in inputs]
    with team(n_threads):
        kernel(*inputs, *ours)
    for a, b in zip(inputs, before):
        for array, copy in zip(*(x if isinstance(x, tuple) else (x,) for x in (a, b))):
            np.testing.assert_array_equal(array, copy, err_msg="an input was changed")
    kernel.twin(*before, *theirs)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.dtype == outputs[i].dtype
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5, err_msg=f"output {i}")
    return ours


def in_float64(a):
    """A copy, of a named tuple's arrays too; what is not float32 stays what it is."""
    if isinstance(a, tuple):
        return type(a)(*map(in_float64, a))
    return a.astype(np.float64 if a.dtype == np.float32 else a.dtype)


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def draw_weights(rng, shape, rounded):
    """Weights, in 16 bits or not."""
    if rounded:
        return Weights(rng.integers(-32767, 32768, shape, np.int16), 1e-4 * np.abs(normal(rng, shape[1])))
    return Weights(normal(rng, *shape), np.ones(shape[1], np.float32))


@compares(few_rows)
@settings(max_examples=80, deadline=None)
@given(
    P=st.integers(1, 3), M=st.integers(0, 13), N=st.integers(0, 70) | st.integers(1100, 1200), E=st.integers(0, 40),
    rounded=st.booleans(), n_threads=TEAM, seed=SEED,
)  # fmt: skip
def test_products_with_few_rows(P, M, N, E, rounded, n_threads, seed):
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, P, M, E), draw_weights(rng, (P, N, E), rounded), normal(rng, N)]
    assert_like_twin(few_rows, inputs, [normal(rng, M, N)], n_threads)


@compares(list_logits)
@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(st.integers(1, 7), max_size=4), E=st.integers(1, 40), longest=st.integers(1, 30), n_threads=TEAM,
    seed=SEED,
)  # fmt: skip
def test_list_logits(rows, E, longest, n_threads, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, len(rows))
    ends = np.cumsum(lengths)
    begins, ends = np.repeat(ends - lengths, rows), np.repeat(ends, rows)
    N, L = sum(rows), lengths.sum()
    inputs = [normal(rng, N, E), normal(rng, L, E), normal(rng, L), begins, ends]
    (logits,) = assert_like_twin(list_logits, inputs, [normal(rng, N, longest)], n_threads)
    assert np.isneginf(logits).sum() == N * longest - (ends - begins).sum()


@compares(gru_cell)
@settings(max_examples=40, deadline=None)
@given(N=st.integers(0, 6), H=st.integers(0, 21), more=st.integers(0, 5), seed=SEED)
def test_gru_cell(N, H, more, seed):
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, N, 3 * H + more), normal(rng, N, 3 * H), normal(rng, N, H)]
    assert_like_twin(gru_cell, inputs, [normal(rng, N, H)])


@compares(read_sentences)
@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 6), max_size=4), H=st.integers(1, 13), P=st.integers(1, 3), rounded=st.booleans(),
    n_threads=TEAM, seed=SEED,
)  # fmt: skip
def test_read_sentences(lengths, H, P, rounded, n_threads, seed):
    rng = np.random.default_rng(seed)
    B, S = len(lengths), max(lengths, default=0)
    size = -(-H // P) + 1  # filled up with something, which must not count
    weights = [draw_weights(rng, (P, 3 * H, size), rounded) for _ in range(2)]
    inputs = [normal(rng, B, S, 6 * H), np.array(lengths, np.int64), *weights]
    assert_like_twin(read_sentences, inputs, [normal(rng, B, S, 2 * H)], n_threads)


@compares(attend)
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), N=st.integers(0, 6), C=st.integers(1, 20),
    P=st.integers(0, 20), n_threads=TEAM, seed=SEED,
)  # fmt: skip
def test_attend(lengths, N, C, P, n_threads, seed):
    rng = np.random.default_rng(seed)
    B, S = len(lengths), max(lengths) + 1
    memory, v = normal(rng, B, S, C + P), normal(rng, C)
    inputs = [normal(rng, N, P + C), rng.integers(0, B, N), memory, np.array(lengths, np.int64), v]
    alpha, _ = assert_like_twin(attend, inputs, [normal(rng, N, S), normal(rng, N, P)], n_threads)
    np.testing.assert_allclose(alpha.sum(axis=1), 1, rtol=1e-5)


@compares(readout)
@settings(max_examples=40, deadline=None)
@given(N=st.integers(0, 6), E=st.integers(1, 21), more=st.integers(0, 9), seed=SEED)
def test_readout(N, E, more, seed):
    rng = np.random.default_rng(seed)
    o, word, context = normal(rng, N, E), normal(rng, N, E + more), normal(rng, N, E + more)
    ours, theirs = o.copy(), o.astype(np.float64)
    readout(ours, word, context)
    readout.twin(theirs, word.astype(np.float64), context.astype(np.float64))
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5)


@compares(best_words)
@settings(max_examples=80, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), max_size=5), K=st.integers(1, 12), n_threads=TEAM, ties=st.booleans(), seed=SEED
)
def test_best_words(sizes, K, n_threads, ties, seed):
    rng = np.random.default_rng(seed)
    N = len(sizes)
    logits = 5 * normal(rng, N, max(sizes, default=1))
    logits = np.round(logits) if ties else logits
    inputs = [logits, np.array(sizes, np.int64), rng.integers(0, 2, N) > 0]
    assert_like_twin(best_words, inputs, [rng.integers(0, 9, (N, K)), normal(rng, N, K)], n_threads)


def test_exp_is_as_exact_as_float32_allows():
    x = np.concatenate([np.linspace(-86.9, 20, 20001), -np.logspace(-8, 0, 500), [0.0]]).astype(np.float32)
    np.testing.assert_allclose([exp(value) for value in x], np.exp(x.astype(np.float64)), rtol=4e-7)
    assert 0 <= exp(np.float32(-1e30)) < 1e-37
    assert np.isnan(exp(np.float32(np.nan))) or exp(np.float32(np.nan)) > 0


def test_a_team_ends_with_its_block_and_belongs_to_one_thread():
    assert team_size() == 1
    with team(2):
        assert team_size() == 2
        with team(1):
            assert team_size() == 1
        assert team_size() == 2
    assert team_size() == 1
