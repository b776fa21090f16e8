"""Candidate lists: the kernels do what the plain functions do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.candidates import best_cells
from minnmt.align.selector import sentence_lists
from minnmt.compiled import reading_mode
from minnmt.text.batches import Batch
from tests.kernels.compared import compares
from tests.kernels.csr import assert_same_bits, both, draw_csr

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: there are only plain functions", allow_module_level=True)


@compares(best_cells)
@settings(max_examples=80, deadline=None)
@given(
    n_src=st.integers(0, 6), n_trg=st.integers(1, 9), n=st.integers(0, 12), share=st.sampled_from([0.0, 0.5, 1.0]),
    least=st.sampled_from([0.0, 0.25, 0.5]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_best_cells(n_src, n_trg, n, share, least, seed):
    rng = np.random.default_rng(seed)
    scores, _, indptr = draw_csr(rng, n_src, n_trg, share)
    scores = rng.choice(np.float32([0.125, 0.25, 0.5, 0.75]), len(scores))  # many ties
    found = both(best_cells, scores, indptr, n, least)
    assert_same_bits(found)
    expected = []
    for i in range(n_src):
        best = sorted(range(indptr[i], indptr[i + 1]), key=lambda c: (-scores[c], c))[:n]
        expected.append([c for c in best if scores[c] >= least])
    assert found[0][0].tolist() == sum(expected, [])
    assert found[0][1].tolist() == [0, *np.cumsum([len(row) for row in expected])]


@compares(sentence_lists)
@settings(max_examples=80, deadline=None)
@given(
    S=st.integers(0, 6), T=st.integers(0, 4), B=st.integers(0, 5), n_trg=st.integers(2, 12),
    n_always=st.integers(0, 12), share=st.sampled_from([0.0, 0.3, 1.0]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_sentence_lists(S, T, B, n_trg, n_always, share, seed):
    rng = np.random.default_rng(seed)
    n_src = 4  # so few that words repeat
    _, ids, indptr = draw_csr(rng, n_src, n_trg, share)
    always = np.arange(min(n_always, n_trg), dtype=np.int32)
    src_ids, trg_ids = rng.integers(0, n_src, (S, B)), rng.integers(0, n_trg, (T, B))
    src_mask, trg_mask = (rng.integers(0, 2, ids.shape).astype(np.float32) for ids in (src_ids, trg_ids))
    found = both(sentence_lists, ids, indptr, Batch(src_ids, src_mask, trg_ids, trg_mask), always, n_trg)
    assert_same_bits(found)
    words, starts = found[0]
    assert len(starts) == B + 1 and starts[-1] == len(words)
    for b in range(B):
        expected = set(always.tolist()) | set(trg_ids[trg_mask[:, b] > 0, b].tolist())
        for i in src_ids[src_mask[:, b] > 0, b]:
            expected |= set(ids[indptr[i] : indptr[i + 1]].tolist())
        assert words[starts[b] : starts[b + 1]].tolist() == sorted(expected)
