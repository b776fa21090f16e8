"""Products in bfloat16 against their plain functions."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minnmt.compiled import reading_mode
from minnmt.nn.bf16 import (
    add_bf16_product,
    add_bf16_rows,
    bf16_product,
    bf16_softmax_nll,
    bf16_tiles,
    numbers,
    to_bf16,
    upper_half,
)
from tests.kernels.compared import both, compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

SEED = st.integers(0, 2**32 - 1)
SIZE = st.integers(0, 13) | st.just(32) | st.integers(60, 90)


def draw(rng, *shape, turned=False):
    """Normal numbers; turned: as the transpose of an array."""
    x = rng.standard_normal(shape[::-1] if turned else shape).astype(np.float32)
    return x.T if turned else x


def test_rounding_to_the_nearest_of_two_the_even_one():
    """Between 1 and the next bfloat16, 1 + 2^-7, lies 1 + 2^-8: half-way, and 1 is even; nan and inf stay."""
    step = np.float32(2.0**-7)
    halfway = np.float32([1 + step / 2, 1 + 3 * step / 2, -1 - step / 2, np.nextafter(np.float32(1 + step / 2), 2)])
    special = np.float32([np.inf, -np.inf, 3.4e38, 0.0, -0.0])
    low_nan = np.uint32([0x7F800001, 0xFF800001]).view(np.float32)  # nan by its last bit alone
    x = np.concatenate([halfway, special, low_nan])
    rounded = np.float32([1, 1 + 2 * step, -1, 1 + step, np.inf, -np.inf, np.inf, 0, -0.0, np.nan, np.nan])
    for function in both(bf16_tiles):
        tiles = function(np.repeat(x[:, None], 2, axis=1).T.copy())
        np.testing.assert_array_equal(numbers(tiles.reshape(-1, 2)[: len(x), 0]), rounded)
    np.testing.assert_array_equal(to_bf16(x), rounded)


@compares(bf16_tiles)
@settings(max_examples=60, deadline=None)
@given(K=SIZE, N=SIZE, turned=st.booleans(), seed=SEED)
def test_tiles(K, N, turned, seed):
    b = draw(np.random.default_rng(seed), K, N, turned=turned)
    b[:1] = np.nan
    ours, theirs = (function(b) for function in both(bf16_tiles))
    assert ours.dtype == theirs.dtype
    np.testing.assert_array_equal(*((tiles.astype(np.uint32) << 16).view(np.float32) for tiles in (ours, theirs)))


@compares(bf16_product)
@settings(max_examples=60, deadline=None)
@given(M=SIZE | st.just(150), K=st.integers(0, 90) | st.just(1500), N=SIZE, rounded=st.booleans(), seed=SEED)
def test_products(M, K, N, rounded, seed):
    rng = np.random.default_rng(seed)
    a, tiles = draw(rng, M, K), bf16_tiles(draw(rng, K, N))
    a = upper_half(a) if rounded else a
    ours, theirs = (function(a, tiles, N) for function in both(bf16_product))
    assert ours.dtype == np.float32 and ours.shape == (M, N)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=3e-4)


@compares(add_bf16_product)
@settings(max_examples=60, deadline=None)
@given(R=SIZE | st.just(700), M=SIZE | st.just(150), N=SIZE | st.integers(250, 300), rounded=st.booleans(), seed=SEED)
@example(R=64, M=32, N=5, rounded=True, seed=1)  # whole squares alone
@example(R=129, M=160, N=40, rounded=False, seed=1)  # and some that are not
def test_products_that_are_added(R, M, N, rounded, seed):
    rng = np.random.default_rng(seed)
    a, b, before = draw(rng, R, M), draw(rng, R, N), draw(rng, M, N)
    a = upper_half(a) if rounded else a
    ours, theirs = before.copy(), before.copy()
    for function, total in zip(both(add_bf16_product), (ours, theirs)):
        function(total, a, b)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4)


@compares(bf16_softmax_nll)
@settings(max_examples=60, deadline=None)
@given(
    N=SIZE, E=st.integers(1, 13), K=st.integers(1, 90), scale=st.sampled_from([0.01, 1.0, 30.0]), seed=SEED
)
def test_losses_and_errors(N, E, K, scale, seed):
    rng = np.random.default_rng(seed)
    o, b, targets = draw(rng, N, E), scale * draw(rng, K), rng.integers(0, K, N)
    tiles = bf16_tiles(scale * draw(rng, E, K))
    (nll, errors), (expected, others) = (function(o, tiles, b, targets) for function in both(bf16_softmax_nll))
    assert nll.dtype == np.float32 and errors.dtype == others.dtype and errors.shape == (N, K)
    np.testing.assert_allclose(nll, expected, rtol=5e-5, atol=1e-5 * max(1, scale))
    # a bfloat16 has 8 bits: the last may fall on either side
    np.testing.assert_allclose(numbers(errors), numbers(others), rtol=2**-7, atol=1e-6 * max(1, scale))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_bad_logit_shows_in_the_loss(bad):
    b = np.zeros(40, np.float32)
    b[7] = bad
    tiles = bf16_tiles(np.ones((3, 40), np.float32))
    nll, _ = bf16_softmax_nll(np.zeros((2, 3), np.float32), tiles, b, np.array([3, 7]))
    assert not np.isfinite(nll).any()


@compares(add_bf16_rows)
@settings(max_examples=40, deadline=None)
@given(N=SIZE, K=SIZE, seed=SEED)
def test_rows_that_are_added(N, K, seed):
    rng = np.random.default_rng(seed)
    weights, a, before = draw(rng, N), upper_half(draw(rng, N, K)), draw(rng, K)
    ours, theirs = before.copy(), before.copy()
    for function, total in zip(both(add_bf16_rows), (ours, theirs)):
        function(total, weights, a)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4)
