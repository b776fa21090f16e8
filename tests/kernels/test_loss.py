"""The kernels of the softmax's loss against their plain functions."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import reading_mode
from minnmt.nn.softmax import softmax_nll, softmax_nll_backward
from tests.kernels.compared import both, compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: only plain functions run", allow_module_level=True)


@compares(softmax_nll, softmax_nll_backward)
@settings(max_examples=60, deadline=None)
@given(
    N=st.integers(0, 6), K=st.integers(1, 70), scale=st.sampled_from([0.01, 1.0, 30.0, 200.0]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_loss_and_gradient(N, K, scale, seed):
    rng = np.random.default_rng(seed)
    scores, b = (scale * rng.standard_normal(shape).astype(np.float32) for shape in ((N, K), K))
    targets, dnll = rng.integers(0, K, N), rng.standard_normal(N).astype(np.float32)
    found = []
    for forward, backward, dtype in zip(both(softmax_nll), both(softmax_nll_backward), (np.float32, np.float64)):
        nll, probs = forward(scores.astype(dtype), b.astype(dtype), targets)
        found.append([nll, probs.copy(), *backward(dnll.astype(dtype), probs, targets)])
    for name, ours, theirs in zip(("nll", "probs", "dscores", "db"), *found):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, theirs, rtol=5e-5, atol=5e-6 * max(1, scale), err_msg=name)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("column", [0, 5, 66])
def test_a_bad_logit_shows_in_the_loss(bad, column):
    scores = np.zeros((2, 67), np.float32)
    scores[1, column] = bad
    nll, _ = softmax_nll(scores, np.zeros(67, np.float32), np.array([3, 3]))
    assert np.isfinite(nll).tolist() == [True, False]
