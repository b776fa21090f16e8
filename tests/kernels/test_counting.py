"""Links and counts: the kernels do what their twins do, to the last bit."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.counting import (
    Csr,
    Links,
    add_links,
    add_links_numpy,
    find_links,
    find_links_numpy,
    merge_cells,
    merge_cells_numpy,
)
from minnmt.text.batches import Batch
from tests.kernels.compared import compares


def draw_csr(rng, n_src, n_trg, share):
    """A random matrix -> Csr."""
    cells = rng.random((n_src, n_trg)) < share
    indptr = np.concatenate([[0], np.cumsum(cells.sum(axis=1))]).astype(np.int64)
    indices = np.nonzero(cells)[1].astype(np.int32)
    return Csr(rng.random(len(indices)).astype(np.float32), indices, indptr)


def room_for(n):
    return Links(np.zeros(n, np.float32), np.zeros(n, np.int32), np.zeros(n, np.int32))


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
        links = room_for(alphas.size)
        n = function(alphas, Batch(ids[0], masks[0], ids[1], masks[1]), threshold, links)
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
    matrix = draw_csr(rng, n_src, n_trg, share)
    ids = (rng.integers(0, n, n_links).astype(np.int32) for n in (n_src, n_trg))
    links = Links(rng.random(n_links).astype(np.float32), *ids)
    found = []
    for function in (add_links, add_links_numpy):
        known = matrix._replace(data=matrix.data.copy())
        new = Csr(np.zeros(n_links, np.float32), np.zeros(n_links, np.int32), np.zeros(n_src + 1, np.int64))
        n = function(links.weights, links, known, n_trg, new)
        found.append([known.data.tolist(), new.indptr.tolist(), new.data[:n].tolist(), new.indices[:n].tolist()])
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
        return Csr(values[chosen], np.nonzero(chosen)[1].astype(np.int32), indptr)

    data, indices, _ = csr(owner < 2)
    for function in (merge_cells, merge_cells_numpy):
        out = np.zeros(len(data), np.float32), np.zeros(len(data), np.int32)
        function(*out, csr(owner == 0), csr(owner == 1))
        np.testing.assert_array_equal(out[0], data)
        np.testing.assert_array_equal(out[1], indices)
