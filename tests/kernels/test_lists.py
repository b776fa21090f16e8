"""Candidate lists: the kernels do what their twins do."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kernels.lists import best_cells, best_cells_numpy, sentence_lists, sentence_lists_numpy
from minnmt.text.batches import Batch
from tests.kernels.compared import compares
from tests.kernels.test_counting import draw_csr


@compares(best_cells)
@settings(max_examples=80, deadline=None)
@given(
    n_src=st.integers(0, 6), n_trg=st.integers(1, 9), n=st.integers(0, 12), share=st.sampled_from([0.0, 0.5, 1.0]),
    least=st.sampled_from([0.0, 0.25, 0.5]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_best_cells(n_src, n_trg, n, share, least, seed):
    rng = np.random.default_rng(seed)
    scores, indices, indptr = draw_csr(rng, n_src, n_trg, share)
    scores = rng.choice(np.float32([0.125, 0.25, 0.5, 0.75]), len(scores))  # many ties
    found = []
    for function in (best_cells, best_cells_numpy):
        chosen, chosen_indptr = np.zeros(len(scores), np.int64), np.zeros(n_src + 1, np.int64)
        function(scores, indptr, n, least, chosen, chosen_indptr)
        found.append((chosen[: chosen_indptr[-1]].tolist(), chosen_indptr.tolist()))
    assert found[0] == found[1]
    expected = []
    for i in range(n_src):
        cells = [c for c in range(indptr[i], indptr[i + 1])]
        best = sorted(cells, key=lambda c: (-scores[c], c))[:n]
        expected += [c for c in best if scores[c] >= least]
    assert found[0][0] == expected


@compares(sentence_lists)
@settings(max_examples=80, deadline=None)
@given(
    S=st.integers(0, 6), T=st.integers(0, 4), B=st.integers(0, 5), n_trg=st.integers(2, 12),
    n_always=st.integers(0, 12), share=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_sentence_lists(S, T, B, n_trg, n_always, share, seed):
    rng = np.random.default_rng(seed)
    n_src = 4  # so few that words repeat
    table = draw_csr(rng, n_src, n_trg, share)
    always = np.arange(min(n_always, n_trg), dtype=np.int32)
    src_ids, trg_ids = rng.integers(0, n_src, (S, B)), rng.integers(0, n_trg, (T, B))
    src_mask, trg_mask = (rng.integers(0, 2, ids.shape).astype(np.float32) for ids in (src_ids, trg_ids))
    found = []
    for function in (sentence_lists, sentence_lists_numpy):
        ids, starts = np.zeros(B * (S * n_trg + T + len(always)), np.int64), np.zeros(B + 1, np.int64)
        batch = Batch(src_ids, src_mask, trg_ids, trg_mask)
        function(src_mask, batch, table, always, n_trg, ids, starts)
        found.append([ids[starts[b] : starts[b + 1]].tolist() for b in range(B)])
    assert found[0] == found[1]
    for b, words in enumerate(found[0]):
        expected = set(always.tolist()) | set(trg_ids[trg_mask[:, b] > 0, b].tolist())
        for i in src_ids[src_mask[:, b] > 0, b]:
            expected |= set(table.indices[table.indptr[i] : table.indptr[i + 1]].tolist())
        assert words == sorted(expected)
