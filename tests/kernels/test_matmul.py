"""Products in bfloat16 against their plain functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import reading_mode
from minnmt.nn.functions import add_bf16_product, bf16_product, bf16_tiles
from tests.kernels.compared import both, compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

SEED = st.integers(0, 2**32 - 1)
SIZE = st.integers(0, 13) | st.integers(60, 90)


def draw(rng, *shape, turned=False):
    """Normal numbers; turned: as the transpose of an array."""
    x = rng.standard_normal(shape[::-1] if turned else shape).astype(np.float32)
    return x.T if turned else x


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
@given(M=SIZE, K=st.integers(1, 90), N=st.integers(1, 90) | st.integers(250, 300), seed=SEED)
def test_products(M, K, N, seed):
    rng = np.random.default_rng(seed)
    a, tiles = draw(rng, M, K), bf16_tiles(draw(rng, K, N))
    ours, theirs = (function(a, tiles, N) for function in both(bf16_product))
    assert ours.dtype == np.float32 and ours.shape == (M, N)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4)


@compares(add_bf16_product)
@settings(max_examples=60, deadline=None)
@given(R=SIZE, M=SIZE, N=st.integers(1, 90) | st.integers(250, 300), seed=SEED)
def test_products_that_are_added(R, M, N, seed):
    rng = np.random.default_rng(seed)
    a, b, before = draw(rng, R, M), draw(rng, R, N), draw(rng, M, N)
    ours, theirs = before.copy(), before.copy()
    for function, total in zip(both(add_bf16_product), (ours, theirs)):
        function(total, a, b)
    np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-4)
