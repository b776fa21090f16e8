"""The fast engine's own parts: the table of projected words, batches read together, use by several threads."""

import numpy as np

from minnmt.search import fast
from minnmt.search import packed as packing
from minnmt.search.batch_beam import batch_beam_search
from minnmt.search.beam import SearchSettings
from minnmt.search.fast import FastEngine, ProjectedWords
from minnmt.search.packed import FEW, RECURRENT, Product, pack
from minnmt.threads import sharing, threads
from tests.conftest import random_parameters
from tests.search.searches import fast_search, plain_search


def draw_sentences(rng, n, n_words=9):
    return [rng.integers(1, n_words, length).tolist() for length in rng.integers(1, 12, n)]


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        np.testing.assert_allclose([h.score for h in one], [h.score for h in other], rtol=1e-5, atol=1e-5)


def test_a_table_that_is_too_small_is_emptied_and_gives_the_same_products(rng, monkeypatch):
    monkeypatch.setattr(fast, "WORD_BUDGET", 0)
    monkeypatch.setattr(fast, "LEAST_WORDS", 4)
    embedding = rng.standard_normal((20, 3)).astype(np.float32)
    product = Product(*(rng.standard_normal(shape).astype(np.float32) for shape in ((1, 5, 3), (5,))))
    words = ProjectedWords(embedding, product)
    for _ in range(50):
        asked = rng.integers(-1, 20, rng.integers(1, 7))  # up to six: more than the table has places
        y = np.where(asked[:, None] >= 0, embedding[asked], 0)
        np.testing.assert_allclose(words(asked), y @ product.W[0].T + product.b, rtol=1e-5, atol=1e-5)
    assert words.n <= 4


def test_a_word_is_projected_once(rng):
    calls = []
    words = ProjectedWords(np.ones((9, 2), np.float32), Product(np.ones((1, 3, 2), np.float32), np.ones(3, np.float32)))
    product = words.product
    words.product = lambda y: calls.append(len(y)) or product(y)
    for asked in ([3, 3, -1], [3, -1], [4, 3]):
        words(np.array(asked))
    assert calls == [2, 1]


def test_many_sentences_are_read_together_as_they_are_one_by_one(rng):
    params = random_parameters(rng, dtype=np.float32)
    sentences = draw_sentences(rng, 25)
    settings = SearchSettings(beam=3, n_best=3, max_length=8)
    expected = plain_search(sentences, params, settings)
    assert_same(fast_search(sentences, params, settings), expected)
    assert 3 * len(sentences) > FEW and len(sentences) > fast.FEW_SENTENCES  # products by BLAS, too
    with sharing(2):
        assert_same(fast_search(sentences, params, settings), expected)


def test_threads_may_share_an_engine(rng):
    params = random_parameters(rng, dtype=np.float32)
    engine, settings = FastEngine(params), SearchSettings(beam=4, max_length=9)
    batches = [draw_sentences(rng, 5) for _ in range(8)]
    with threads(2) as each:
        found = each(lambda batch: batch_beam_search(batch, engine, settings), batches)
    for batch, one in zip(batches, found):
        assert_same(one, plain_search(batch, params, settings))


def test_packed_weights_are_contiguous(rng):
    packed = pack(random_parameters(rng, dtype=np.float32))
    for name in ("src_word", "trg_word", "annotation", "state", "middle", "readout", "start", *RECURRENT):
        assert getattr(packed, name).W.flags.c_contiguous, name


def test_long_rows_are_cut_into_panels(rng, monkeypatch):
    params = random_parameters(rng, dtype=np.float32)
    sentences, settings = draw_sentences(rng, 7), SearchSettings(beam=3, n_best=3, max_length=8)
    expected = plain_search(sentences, params, settings)
    monkeypatch.setattr(packing, "PANEL", 3)
    monkeypatch.setattr(packing, "LANES", 2)
    engine = FastEngine(params)
    assert len(engine.packed.annotation.W) > 2
    assert_same(batch_beam_search(sentences, engine, settings), expected)


def test_rounding_to_16_bits(rng):
    W, x = rng.standard_normal((7, 20)).astype(np.float32), rng.standard_normal((3, 20)).astype(np.float32)
    W[4] = 0
    exact = packing.stacked([W.T], [np.ones(7, np.float32)])
    rounded = exact.in_16_bits()
    assert rounded.W.dtype == np.float32 and rounded.weights.w.dtype == np.int16
    np.testing.assert_array_equal(rounded.W, rounded.weights.w * rounded.weights.scale[:, None])
    largest = np.abs(W).max(axis=1, keepdims=True)
    assert (np.abs(rounded.W[0] - W) <= largest / 65_000).all() and (rounded.W[0, 4] == 0).all()
    np.testing.assert_allclose(rounded(x), x @ rounded.W[0].T + 1, rtol=1e-5, atol=1e-5)


def test_large_networks_are_rounded_unless_they_shall_be_exact(rng, monkeypatch):
    params = random_parameters(rng, dtype=np.float32)
    assert not any(getattr(pack(params), name).rounded for name in RECURRENT)
    monkeypatch.setattr(packing, "LARGE", 0)
    sentences, settings = draw_sentences(rng, 30), SearchSettings(beam=3, max_length=8)
    expected = plain_search(sentences, params, settings)
    assert_same(batch_beam_search(sentences, FastEngine(params, exact=True), settings), expected)
    engine = FastEngine(params)
    assert all(getattr(engine.packed, name).rounded for name in RECURRENT)
    together = batch_beam_search(sentences, engine, settings)
    assert_same(together, [batch_beam_search([sentence], engine, settings)[0] for sentence in sentences])
    scores = ([h.score for hypotheses in found for h in hypotheses] for found in (together, expected))
    np.testing.assert_allclose(*scores, atol=1e-3)
