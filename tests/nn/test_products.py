"""Matrix products: what is rounded, and when."""

import numpy as np

from minnmt.nn import functions as products
from minnmt.nn.functions import add_product, bf16_products, matmul, product, to_bf16


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
    plain = products.bf16_tiles
    monkeypatch.setattr(products, "bf16_tiles", lambda b: packed.append(b.shape) or plain(b))
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
