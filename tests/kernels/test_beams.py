"""Choosing which hypotheses go on."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import reading_mode
from minnmt.search.batch_beam import best_extensions
from tests.kernels.compared import both, compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: only plain functions run", allow_module_level=True)


@compares(best_extensions)
@settings(max_examples=150, deadline=None)
@given(
    rows=st.lists(st.integers(0, 5), max_size=5), K=st.integers(1, 6), ties=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_best_extensions(rows, K, ties, seed):
    """With equal totals, words that may not be chosen, and sentences without rows or places."""
    rng = np.random.default_rng(seed)
    sentence, N = np.repeat(np.arange(len(rows)), rows), sum(rows)
    more = rng.integers(-3, 1, (N, K)).astype(np.float32) if ties else rng.standard_normal((N, K)).astype(np.float32)
    for never in (-np.inf, -np.inf, np.nan, np.inf):  # +inf is chosen first, nan never
        more[rng.random((N, K)) < 0.1] = never
    logps = rng.integers(-3, 1, N) * 1.0
    words, free = rng.integers(0, 99, (N, K)), rng.integers(0, 8, len(rows))
    ours, theirs = (function(more, words, logps, sentence, free) for function in both(best_extensions))
    for a, b in zip(ours, theirs):
        np.testing.assert_array_equal(a, b)
        assert a.dtype == b.dtype
