"""Links and counts: the kernels do what the plain functions do, to the last bit."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.accumulator import add_links, find_links
from minnmt.compiled import reading_mode
from minnmt.text.batches import Batch
from tests.kernels.compared import compares
from tests.kernels.csr import assert_same_bits, both, draw_csr

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: there are only plain functions", allow_module_level=True)


@compares(find_links)
@settings(max_examples=60, deadline=None)
@given(
    T=st.integers(0, 6), S=st.integers(0, 7), B=st.integers(0, 5),
    threshold=st.sampled_from([0.0, 0.1, 0.25, 0.99]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_find_links(T, S, B, threshold, seed):
    rng = np.random.default_rng(seed)
    alphas = rng.choice(np.float32([0, 0.05, 0.1, np.nextafter(np.float32(0.1), 1), 0.25, 0.9]), (T, S, B))
    masks = [rng.integers(0, 2, shape).astype(np.float32) for shape in ((S, B), (T, B))]
    ids = [rng.integers(0, 50, shape) for shape in ((S, B), (T, B))]
    found = both(find_links, alphas, Batch(ids[0], masks[0], ids[1], masks[1]), threshold)
    assert_same_bits(found)
    expected = [
        (float(alphas[t, i, b]), int(ids[0][i, b]), int(ids[1][t, b]))
        for t in range(T) for i in range(S) for b in range(B)
        if alphas[t, i, b] > np.float32(threshold) and masks[0][i, b] and masks[1][t, b]
    ]  # fmt: skip
    assert list(zip(*(array.tolist() for array in found[0]))) == expected


@compares(add_links)
@settings(max_examples=100, deadline=None)
@given(
    n_src=st.integers(1, 6), n_trg=st.integers(1, 7), n_links=st.integers(0, 40),
    share=st.sampled_from([0.0, 0.4, 1.0]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_add_links(n_src, n_trg, n_links, share, seed):
    """Also against one addition after the other in a dense matrix."""
    rng = np.random.default_rng(seed)
    data, indices, indptr = draw_csr(rng, n_src, n_trg, share)
    src, trg = (rng.integers(0, n, n_links).astype(np.int32) for n in (n_src, n_trg))
    weights = rng.random(n_links).astype(np.float32)
    found = both(add_links, weights, src, trg, data, indices, indptr, n_trg)
    assert_same_bits(found)
    dense = np.zeros((n_src, n_trg), np.float32)
    dense[np.repeat(np.arange(n_src), np.diff(indptr)), indices] = data
    for weight, f, e in zip(weights, src, trg):
        dense[f, e] += weight
    assert found[0][0].tolist() == dense[dense > 0].tolist()
    assert found[0][1].tolist() == np.nonzero(dense)[1].tolist()
    assert found[0][2].tolist() == [0, *np.cumsum((dense > 0).sum(axis=1))]


def test_a_matrix_without_rows():
    nothing = np.zeros(0, np.int32)
    found = both(add_links, np.zeros(0, np.float32), nothing, nothing, *draw_csr(np.random.default_rng(1), 0, 3, 1), 3)
    assert_same_bits(found)
    assert found[0][2].tolist() == [0]
