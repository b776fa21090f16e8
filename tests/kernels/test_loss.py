"""The kernels of the softmax's loss, and rows added in place, against their twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.jit import USE_NUMPY
from kernels.loss import softmax_loss, softmax_loss_gradient, softmax_loss_gradient_numpy, softmax_loss_numpy
from kernels.rows import add_rows, add_rows_numpy
from tests.kernels.compared import compares

if USE_NUMPY:
    pytest.skip("MINNMT_KERNELS=numpy: there are only twins", allow_module_level=True)


@compares(softmax_loss, softmax_loss_gradient)
@settings(max_examples=60, deadline=None)
@given(
    N=st.integers(0, 6), K=st.integers(1, 70), scale=st.sampled_from([0.01, 1.0, 30.0, 200.0]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_loss_and_gradient(N, K, scale, seed):
    rng = np.random.default_rng(seed)
    logits, b = (scale * rng.standard_normal(shape).astype(np.float32) for shape in ((N, K), K))
    columns, dnll = rng.integers(0, K, N), rng.standard_normal(N).astype(np.float32)
    db = rng.standard_normal(K).astype(np.float32)
    found = []
    for loss, gradient, dtype in (
        (softmax_loss, softmax_loss_gradient, np.float32),
        (softmax_loss_numpy, softmax_loss_gradient_numpy, np.float64),
    ):
        rows, nll, bias = logits.astype(dtype), np.empty(N, dtype), db.astype(dtype)
        loss(rows, b.astype(dtype), columns, nll)
        probs = rows.copy()
        gradient(rows, columns, dnll.astype(dtype), bias)
        found.append([nll, probs, rows, bias])
    for name, ours, theirs in zip(("nll", "probs", "dlogits", "db"), *found):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours, theirs, rtol=5e-5, atol=5e-6 * max(1, scale), err_msg=name)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
@pytest.mark.parametrize("column", [0, 5, 66])
def test_a_bad_logit_shows_in_the_loss(bad, column):
    logits, nll = np.zeros((2, 67), np.float32), np.zeros(2, np.float32)
    logits[1, column] = bad
    softmax_loss(logits, np.zeros(67, np.float32), np.array([3, 3]), nll)
    assert np.isfinite(nll).tolist() == [True, False]


@compares(add_rows)
@settings(max_examples=60, deadline=None)
@given(
    V=st.integers(1, 8), E=st.integers(0, 20), K=st.integers(0, 12), dtype=st.sampled_from([np.int32, np.int64]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_add_rows_with_repeated_ids(V, E, K, dtype, seed):
    rng = np.random.default_rng(seed)
    rows, ids = rng.standard_normal((K, E)).astype(np.float32), rng.integers(0, V, K).astype(dtype)
    ours, theirs = (np.ones((V, E), np.float32) for _ in range(2))
    add_rows(rows, ids, ours)
    add_rows_numpy(rows, ids, theirs)
    np.testing.assert_array_equal(ours, theirs)
