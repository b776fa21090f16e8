"""Links and counts: the kernels do what their twins do, to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.counting import add_links, add_links_numpy, find_links, find_links_numpy, merge_cells, merge_cells_numpy
from tests.kernels.compared import compares


def draw_csr(rng, n_src, n_trg, share):
    """A random CSR matrix -> data, indices, indptr."""
    cells = rng.random((n_src, n_trg)) < share
    indptr = np.concatenate([[0], np.cumsum(cells.sum(axis=1))]).astype(np.int64)
    indices = np.nonzero(cells)[1].astype(np.int32)
    return rng.random(len(indices)).astype(np.float32), indices, indptr


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
    found = []
    for function in (find_links, find_links_numpy):
        links = np.zeros(alphas.size, np.float32), np.zeros(alphas.size, np.int32), np.zeros(alphas.size, np.int32)
        n = function(alphas, *masks, *ids, threshold, *links)
        found.append([array[:n].tolist() for array in links])
    assert found[0] == found[1]
    expected = [
        (float(alphas[t, i, b]), int(ids[0][i, b]), int(ids[1][t, b]))
        for t in range(T) for i in range(S) for b in range(B)
        if alphas[t, i, b] > np.float32(threshold) and masks[0][i, b] and masks[1][t, b]
    ]  # fmt: skip
    assert list(zip(*found[0])) == expected


@compares(add_links)
@settings(max_examples=80, deadline=None)
@given(
    n_src=st.integers(1, 6), n_trg=st.integers(1, 7), n_links=st.integers(0, 40),
    share=st.sampled_from([0.0, 0.4, 1.0]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_add_links(n_src, n_trg, n_links, share, seed):
    rng = np.random.default_rng(seed)
    data, indices, indptr = draw_csr(rng, n_src, n_trg, share)
    weights = rng.random(n_links).astype(np.float32)
    links = rng.integers(0, n_src, n_links).astype(np.int32), rng.integers(0, n_trg, n_links).astype(np.int32)
    found = []
    for function in (add_links, add_links_numpy):
        known, new = data.copy(), (np.zeros(n_links, np.float32), np.zeros(n_links, np.int32))
        new_indptr = np.zeros(n_src + 1, np.int64)
        n = function(weights, *links, known, indices, indptr, n_trg, *new, new_indptr)
        found.append([known.tolist(), new_indptr.tolist(), *(array[:n].tolist() for array in new)])
    assert found[0] == found[1]


@compares(merge_cells)
@settings(max_examples=60, deadline=None)
@given(n_src=st.integers(0, 6), n_trg=st.integers(1, 8), seed=st.integers(0, 2**32 - 1))
def test_merge_cells(n_src, n_trg, seed):
    rng = np.random.default_rng(seed)
    owner = rng.integers(0, 3, (n_src, n_trg))  # in the first matrix, in the second, in none
    values = rng.random((n_src, n_trg)).astype(np.float32)

    def csr(chosen):
        indptr = np.concatenate([[0], np.cumsum(chosen.sum(axis=1))]).astype(np.int64)
        return values[chosen], np.nonzero(chosen)[1].astype(np.int32), indptr

    data, indices, _ = csr(owner < 2)
    for function in (merge_cells, merge_cells_numpy):
        out = np.zeros(len(data), np.float32), np.zeros(len(data), np.int32)
        function(*csr(owner == 0), *csr(owner == 1), *out)
        np.testing.assert_array_equal(out[0], data)
        np.testing.assert_array_equal(out[1], indices)
