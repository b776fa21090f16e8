"""Matrix products: what is rounded, and when."""

import numpy as np
import pytest

from minnmt.nn import bf16
from minnmt.nn.bf16 import bf16_products, to_bf16
from minnmt.nn.functions import add_product, matmul, product
from minnmt.nn.softmax import Softmax, softmax_loss_backward, softmax_loss_forward


def test_rounding_to_bfloat16():
    one = 2.0**-7  # the last place of a bfloat16 between 1 and 2
    values = [1 + one / 2, 1 + 3 * one / 2, 1 + 0.51 * one, -1 - 0.49 * one, 0, np.inf, -np.inf, 3.0e38, 1e-30]
    rounded = to_bf16(np.array(values, np.float32))
    expected = [1, 1 + 2 * one, 1 + one, -1, 0, np.inf, -np.inf]  # half-way, to the even one
    assert rounded[:7].tolist() == expected and rounded.dtype == np.float32
    np.testing.assert_allclose(rounded[7:], values[7:], rtol=2**-8)
    assert np.isnan(to_bf16(np.array([np.nan], np.float32))).all()
    assert (rounded.view(np.uint32) & 0xFFFF == 0).all()


def test_nothing_is_rounded_outside_or_in_float64(rng):
    a, b = rng.standard_normal((5, 7)).astype(np.float32), rng.standard_normal((7, 3)).astype(np.float32)
    np.testing.assert_array_equal(matmul(a, b), a @ b)
    with bf16_products([b]):
        a64, b64 = a.astype(np.float64), b.astype(np.float64)
        np.testing.assert_array_equal(matmul(a64, b64), a64 @ b64)
        rounded = to_bf16(a) @ to_bf16(b)
        np.testing.assert_allclose(matmul(a, b), rounded, rtol=1e-5, atol=1e-5)
        np.testing.assert_allclose(product(a[None], b)[0], rounded, rtol=1e-5, atol=1e-5)
        assert np.abs(rounded - a @ b).max() > 1e-3
        total = np.ones((7, 7), np.float32)
        add_product(total, a, a)
        np.testing.assert_allclose(total, 1 + to_bf16(a).T @ to_bf16(a), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(matmul(a, b), a @ b)


def test_weights_are_packed_once_and_other_arrays_every_time(rng, monkeypatch):
    packed = []
    plain = bf16.bf16_tiles
    monkeypatch.setattr(bf16, "bf16_tiles", lambda b: packed.append(b.shape) or plain(b))
    W, x = rng.standard_normal((4, 6)).astype(np.float32), rng.standard_normal((3, 4)).astype(np.float32)
    with bf16_products([W]):
        for _ in range(3):
            y = matmul(x, W)
            matmul(y, W.T)
        assert packed == [(4, 6), (6, 4)]
        for _ in range(2):
            matmul(x, W.copy())
        assert len(packed) == 4
    W *= 2
    with bf16_products([W]):  # another update: the weights have changed
        np.testing.assert_allclose(matmul(x, W), 2 * y, rtol=1e-6)


@pytest.mark.parametrize("ids", [None, np.array([0, 1, 4, 6, 9])])
def test_the_loss_in_bfloat16_and_its_gradients_are_those_of_float64_but_for_the_rounding(rng, ids):
    exact = Softmax(rng.standard_normal((11, 5)), rng.standard_normal(11))
    o, targets, dnll = rng.standard_normal((7, 5)), np.array([4, 0, 6, 1, 4, 9, 9]), rng.random(7)
    found = []
    for dtype in (np.float64, np.float32):
        p = Softmax(exact.W.astype(dtype), exact.b.astype(dtype))
        g = Softmax(np.zeros_like(p.W), np.zeros_like(p.b))
        with bf16_products([p.W, p.b]):
            nll, cache = softmax_loss_forward(o.astype(dtype), targets, p, ids)
            do = softmax_loss_backward(dnll.astype(dtype), cache, g)
        found.append((nll, do, g.W, g.b))
    for name, expected, rounded in zip(("nll", "do", "dW", "db"), *found):
        assert rounded.dtype == np.float32
        np.testing.assert_allclose(rounded, expected, atol=0.03, err_msg=name)
        assert not np.allclose(rounded, expected, atol=1e-6), f"{name} is not rounded"
