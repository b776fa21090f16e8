"""Products over all time steps at once, and gradients added block by block."""

import numpy as np
import pytest

from minnmt.model.network import word_loss_backward, word_loss_forward
from minnmt.nn import functions
from minnmt.nn.functions import add_product, product
from minnmt.nn.softmax import Softmax


@pytest.mark.parametrize("shape", [(4, 3, 5), (7, 5), (0, 3, 5), (4, 0, 5)])
def test_a_product_of_all_time_steps(rng, shape):
    x, W = rng.standard_normal(shape), rng.standard_normal((5, 2))
    np.testing.assert_allclose(product(x, W), x @ W)
    np.testing.assert_allclose(product(x[::-1], W), x[::-1] @ W)


@pytest.mark.parametrize("block", [1, 6, 7, 1000])
@pytest.mark.parametrize("M, N, R", [(5, 3, 4), (1, 3, 2), (5, 3, 0), (0, 3, 4)])
def test_the_size_of_blocks_does_not_matter(rng, monkeypatch, block, M, N, R):
    monkeypatch.setattr(functions, "BLOCK", block)
    total, a, b = (rng.standard_normal(shape) for shape in ((M, N), (R, M), (R, N)))
    expected = total + a.T @ b
    add_product(total, a, b)
    np.testing.assert_allclose(total, expected)


@pytest.mark.parametrize("ids", [None, np.array([0, 2, 3])])
def test_the_softmax_does_not_look_at_padding(rng, ids):
    """Not even at numbers that have gone wrong there."""
    p = Softmax(rng.standard_normal((6, 3)), rng.standard_normal(6))
    o, targets, mask = rng.standard_normal((4, 3)), np.array([2, 5, 3, 0]), np.array([1.0, 0, 1, 0])
    found = []
    for garbage in (0.0, np.nan):
        o[mask == 0] = garbage
        g = Softmax(np.zeros_like(p.W), np.zeros_like(p.b))
        nll, cache = word_loss_forward(o, targets, mask, p, ids)
        found.append([nll, word_loss_backward(np.ones(4), cache, p, g), g.W, g.b])
        assert [part.rows.tolist() for part in cache.parts] == [[0, 2]]
        assert not nll[[1, 3]].any() and not found[-1][1][[1, 3]].any()
    for ours, theirs in zip(*found):
        np.testing.assert_array_equal(ours, theirs)
