"""Phrases: what is counted, against a loop over all positions; the file; lists beside those of the words."""

import numpy as np
import pytest

from minnmt.align import phrases as module
from minnmt.align.candidates import best_candidates
from minnmt.align.counts import Counts
from minnmt.align.phrases import NO_WORD, PhraseAccumulator, PhraseCounts, PhraseSelector, phrases_of
from minnmt.errors import UserError
from minnmt.text.batches import make_batch, pad

N_SRC, N_TRG = 6, 7


def draw(rng, n=4):
    src = [rng.integers(1, N_SRC, rng.integers(1, 6)).tolist() for _ in range(n)]
    trg = [rng.integers(1, N_TRG, rng.integers(1, 5)).tolist() for _ in range(n)]
    batch = make_batch(src, trg)
    S, B = batch.src_ids.shape
    alphas = rng.dirichlet(np.full(S, 0.3), (len(batch.trg_ids), B)).transpose(0, 2, 1).astype(np.float32)
    return alphas * batch.src_mask, batch


def counted(batches, threshold):
    """By a loop -> {(phrase, target): (weight, times)}."""
    found = {}
    for alphas, batch in batches:
        T, S, B = alphas.shape
        for t, b, length in np.ndindex(T, B, 4):
            if length < 2 or not batch.trg_mask[t, b]:
                continue
            for i in range(int(batch.src_mask[:, b].sum()) - length + 1):
                weight = float(alphas[t, i : i + length, b].sum())
                if weight > threshold:
                    phrase = tuple(batch.src_ids[i : i + length, b].tolist()) + (NO_WORD,) * (3 - length)
                    old = found.get((phrase, int(batch.trg_ids[t, b])), (0.0, 0))
                    found[phrase, int(batch.trg_ids[t, b])] = old[0] + weight, old[1] + 1
    return found


@pytest.mark.parametrize("waiting", [1, 50, 1 << 20])
def test_counts_are_those_of_a_loop(rng, monkeypatch, waiting):
    monkeypatch.setattr(module, "WAITING", waiting)
    batches = [draw(rng) for _ in range(6)]
    accumulator = PhraseAccumulator(N_SRC, N_TRG, 0.5)
    for alphas, batch in batches:
        accumulator.add_all([(alphas, batch)])
    counts = accumulator.counts({"method": "test"})
    expected = {key: weight for key, (weight, times) in counted(batches, 0.5).items() if times >= 2}
    assert len(expected) > 20
    rows = [tuple(phrase) for phrase in counts.phrases.tolist()]
    assert rows == sorted(set(rows))
    found = {(rows[p], trg): weight for p in range(len(rows)) for trg, weight in zip(*map(list, counts.table.row(p)))}
    assert set(found) == set(expected)
    np.testing.assert_allclose([found[key] for key in expected], list(expected.values()), rtol=1e-5)


def test_nothing_at_all():
    counts = PhraseAccumulator(N_SRC, N_TRG).counts()
    assert counts.phrases.shape == (0, 3) and counts.table.n_cells == 0
    words = best_candidates(Counts.empty(N_SRC, N_TRG), 5)
    assert [ids.tolist() for ids in PhraseSelector(counts, words).lists(*pad([[2, 3], [4]]))] == [[0, 1], [0, 1]]


def some_counts():
    phrases = np.array([[2, 3, NO_WORD]] * 3 + [[2, 3, 4]] + [[3, 4, NO_WORD]], np.int32)
    trg, weights = np.array([2, 5, 6, 4, 3]), np.array([3.0, 1.0, 2.0, 1.0, 1.0], np.float32)
    return PhraseCounts.from_cells(phrases, trg, weights, N_SRC, N_TRG, {"method": "test"})


def test_a_file_and_back(tmp_path):
    path, counts = tmp_path / "phrases.npz", some_counts()
    counts.save(path)
    back = PhraseCounts.load(path, N_SRC, N_TRG)
    np.testing.assert_array_equal(back.phrases, counts.phrases)
    for name, array in counts.table.arrays().items():
        np.testing.assert_array_equal(back.table.arrays()[name], array)
    assert back.info == {"method": "test"}
    with pytest.raises(UserError, match="another model"):
        PhraseCounts.load(path, N_SRC + 1, N_TRG)
    for damage in ({"phrases": counts.phrases[::-1]}, {"indices": counts.table.indices + N_TRG}):
        arrays = {"phrases": counts.phrases, **counts.table.arrays(), **damage}
        bad = PhraseCounts(arrays["phrases"], Counts(*(arrays[n] for n in ("indptr", "indices", "data")), N_TRG), N_SRC)
        bad.save(path)
        with pytest.raises(UserError):
            PhraseCounts.load(path, N_SRC, N_TRG)


def test_lists_have_what_the_words_do_not_bring():
    words = best_candidates(Counts.from_cells([2, 3], [2, 3], [1.0, 1.0], N_SRC, N_TRG), 5)
    selector = PhraseSelector(some_counts(), words, most=1)
    # "2 3" has 2 (brought by the word 2), 6 and 5, of which the best is 6; "2 3 4" has 4; 3 of "3 4" is brought
    found = selector.lists(*pad([[2, 3, 5], [2, 3, 4], [3, 4], [5]]))
    assert [ids.tolist() for ids in found] == [[0, 1, 6], [0, 1, 4, 6], [0, 1], [0, 1]]
    assert all(ids.dtype == np.int64 for ids in found)
    assert selector.why([2, 3, 4], 4) == (2, 3, 4) and selector.why([2, 3], 6) == (2, 3, NO_WORD)
    assert selector.why([2, 3], 5) is None


def test_phrases_of_a_sentence():
    assert list(phrases_of([7, 8, 9])) == [(7, 8, -1), (8, 9, -1), (7, 8, 9)]
    assert list(phrases_of([7])) == []


# CTranslate2's vmap


def test_a_vmap_and_back(tmp_path):
    from minnmt.align.formats import export_candidates, import_counts, import_phrases
    from minnmt.text.vocab import Vocab

    src, trg = (Vocab(["eos", "UNK", *(side + letter for letter in "abcde")]) for side in "st")
    src = Vocab(src.words[:N_SRC])
    words = best_candidates(Counts.from_cells([2, 3], [2, 3], [1.0, 1.0], N_SRC, N_TRG), 5)
    counts, path = some_counts(), tmp_path / "vmap.txt"
    beside = counts.beside(words)
    export_candidates("ct2", path, words, src, trg, 5, phrases=(counts.phrases, beside))
    lines = path.read_text().splitlines()
    assert "sa sb\tte td" in lines and "sa sb sc\ttc" in lines and "sb sc\ttb" not in lines
    back = import_phrases(path, src, trg)
    assert [tuple(p) for p in back.phrases.tolist()] == [(2, 3, NO_WORD), (2, 3, 4)]
    assert back.beside(words).row(0)[0].tolist() == beside.row(0)[0].tolist() == [6, 5]
    _, remarks, name = import_counts(None, path, src, trg)
    assert name == "ct2" and remarks == ["left out: lines for phrases (2)"]
