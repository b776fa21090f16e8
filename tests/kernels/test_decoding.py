"""The kernels of decoding and of products with few rows, alone and shared by threads, against their plain functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import find_kernel, reading_mode
from minnmt.lab.bench.limits import PARTS, add_up
from minnmt.nn.list_softmax import list_logits
from minnmt.search.packed import Weights, few_rows
from minnmt.search.stages import attend, best_words, gru_cell, read_sentences, readout
from tests.kernels.compared import compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

from kernels.functions import exp  # noqa: E402  (Numba)
from kernels.jit import n_sharing, sharing  # noqa: E402

SEED = st.integers(0, 2**32 - 1)
N_SHARING = st.sampled_from([1, 2])


def assert_like_plain(function, arguments, n_sharing=1):
    """Run both: the results agree, the compiled one's are float32, and no argument has changed."""
    exact = [in_float64(a) for a in arguments]
    with sharing(n_sharing):
        ours = as_tuple(find_kernel(function.counterpart)(*arguments))
    for a, b in zip(arguments, exact):
        for array, copy in zip(as_tuple(a), as_tuple(b)):
            np.testing.assert_array_equal(array, copy, err_msg="an argument was changed")
    theirs = as_tuple(function.plain(*exact))
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a.dtype == (np.float32 if b.dtype == np.float64 else b.dtype) and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=2e-5, atol=2e-5, err_msg=f"result {i}")
    return ours


def as_tuple(a):
    return a if isinstance(a, tuple) else (a,)


def in_float64(a):
    """A copy, of a named tuple's arrays too; what is not float32 stays what it is."""
    if isinstance(a, tuple):
        return type(a)(*map(in_float64, a))
    return a.astype(np.float64 if a.dtype == np.float32 else a.dtype) if isinstance(a, np.ndarray) else a


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
    rounded=st.booleans(), n_sharing=N_SHARING, seed=SEED,
)  # fmt: skip
def test_products_with_few_rows(P, M, N, E, rounded, n_sharing, seed):
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, P, M, E), draw_weights(rng, (P, N, E), rounded), normal(rng, N)]
    assert_like_plain(few_rows, inputs, n_sharing)


@compares(list_logits)
@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(st.integers(1, 7), max_size=4), E=st.integers(1, 40), longest=st.integers(1, 30), n_sharing=N_SHARING,
    seed=SEED,
)  # fmt: skip
def test_list_logits(rows, E, longest, n_sharing, seed):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(1, longest + 1, len(rows))
    ends = np.cumsum(lengths)
    begins, ends = np.repeat(ends - lengths, rows), np.repeat(ends, rows)
    N, L = sum(rows), lengths.sum()
    inputs = [normal(rng, N, E), normal(rng, L, E), normal(rng, L), begins, ends]
    (logits,) = assert_like_plain(list_logits, inputs, n_sharing)
    assert np.isneginf(logits).sum() == logits.size - (ends - begins).sum()


@compares(gru_cell)
@settings(max_examples=40, deadline=None)
@given(N=st.integers(0, 6), H=st.integers(0, 21), more=st.integers(0, 5), seed=SEED)
def test_gru_cell(N, H, more, seed):
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, N, 3 * H + more), normal(rng, N, 3 * H), normal(rng, N, H)]
    assert_like_plain(gru_cell, inputs)


@compares(read_sentences)
@settings(max_examples=30, deadline=None)
@given(
    lengths=st.lists(st.integers(0, 6), max_size=4), H=st.integers(1, 13), P=st.integers(1, 3), rounded=st.booleans(),
    n_sharing=N_SHARING, seed=SEED,
)  # fmt: skip
def test_read_sentences(lengths, H, P, rounded, n_sharing, seed):
    rng = np.random.default_rng(seed)
    B, S = len(lengths), max(lengths, default=0)
    size = -(-H // P) + 1  # filled up with something, which must not count
    weights = [draw_weights(rng, (P, 3 * H, size), rounded) for _ in range(2)]
    inputs = [normal(rng, B, S, 6 * H), np.array(lengths, np.int64), *weights]
    assert_like_plain(read_sentences, inputs, n_sharing)


@compares(attend)
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), N=st.integers(0, 6), C=st.integers(1, 20),
    P=st.integers(0, 20), n_sharing=N_SHARING, seed=SEED,
)  # fmt: skip
def test_attend(lengths, N, C, P, n_sharing, seed):
    rng = np.random.default_rng(seed)
    B, S = len(lengths), max(lengths) + 1
    memory, v = normal(rng, B, S, C + P), normal(rng, C)
    inputs = [normal(rng, N, P + C), rng.integers(0, B, N), memory, np.array(lengths, np.int64), v]
    alpha, _ = assert_like_plain(attend, inputs, n_sharing)
    np.testing.assert_allclose(alpha.sum(axis=1), 1, rtol=1e-5)


@compares(readout)
@settings(max_examples=40, deadline=None)
@given(N=st.integers(0, 6), E=st.integers(1, 21), more=st.integers(0, 9), seed=SEED)
def test_readout(N, E, more, seed):
    rng = np.random.default_rng(seed)
    assert_like_plain(readout, [normal(rng, N, E), normal(rng, N, E + more), normal(rng, N, E + more)])


@compares(best_words)
@settings(max_examples=80, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), max_size=5), K=st.integers(1, 12), ties=st.booleans(), n_sharing=N_SHARING,
    seed=SEED,
)  # fmt: skip
def test_best_words(sizes, K, n_sharing, ties, seed):
    rng = np.random.default_rng(seed)
    N = len(sizes)
    logits = 5 * normal(rng, N, max(sizes, default=1))
    logits = np.round(logits) if ties else logits
    assert_like_plain(best_words, [logits, np.array(sizes, np.int64), rng.integers(0, 2, N) > 0, K], n_sharing)


@compares(add_up)
@settings(max_examples=20, deadline=None)
@given(n=st.integers(0, 5), n_sharing=N_SHARING, seed=SEED)
def test_reading_memory_reads_all_of_it(n, n_sharing, seed):
    (sums,) = assert_like_plain(add_up, [normal(np.random.default_rng(seed), 64 * n)], n_sharing)
    assert len(sums) == PARTS


def test_exp_is_as_exact_as_float32_allows():
    x = np.concatenate([np.linspace(-86.9, 20, 20001), -np.logspace(-8, 0, 500), [0.0]]).astype(np.float32)
    np.testing.assert_allclose([exp(value) for value in x], np.exp(x.astype(np.float64)), rtol=4e-7)
    assert 0 <= exp(np.float32(-1e30)) < 1e-37
    assert np.isnan(exp(np.float32(np.nan))) or exp(np.float32(np.nan)) > 0


def test_sharing_ends_with_its_block():
    assert n_sharing() == 1
    with sharing(2):
        assert n_sharing() == 2
        with sharing(1):
            assert n_sharing() == 1
        assert n_sharing() == 2
    assert n_sharing() == 1
