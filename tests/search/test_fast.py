"""The fast engine's own parts: packed weights, projected words, batches read together, use by several threads."""

from types import SimpleNamespace

import numpy as np
import pytest

from minnmt.compiled import find_kernel, reading_mode
from minnmt.search import fast
from minnmt.search import packed as packing
from minnmt.search.batch_beam import batch_beam_search
from minnmt.search.beam import SearchSettings
from minnmt.search.desks import Team
from minnmt.search.fast import FastEngine, ProjectedWords
from minnmt.search.packed import PRECISIONS, from_tiles, make_rows
from minnmt.threads import threads
from tests.conftest import random_parameters
from tests.search.searches import fast_search, plain_search

with_kernels = pytest.mark.skipif(reading_mode(), reason="nothing is compiled")


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
    W, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((5, 3), (5,)))
    words = ProjectedWords(embedding, make_rows(W, b, "float32").tiles)
    for _ in range(50):
        asked = rng.integers(-1, 20, rng.integers(1, 7))  # up to six: more than the table has places
        y = np.where(asked[:, None] >= 0, embedding[asked], 0)
        np.testing.assert_allclose(words(asked), y @ W.T + b, rtol=1e-5, atol=1e-5)
    assert words.n <= 4


def test_a_word_is_projected_once(monkeypatch):
    calls = []
    monkeypatch.setattr(fast, "product", lambda y, weights: calls.append(len(y)) or packing.product(y, weights))
    ones = make_rows(np.ones((3, 2), np.float32), np.ones(3, np.float32), "float32").tiles
    words = ProjectedWords(np.ones((9, 2), np.float32), ones)
    for asked in ([3, 3, -1], [3, -1], [4, 3]):
        words(np.array(asked))
    assert calls == [2, 1]


def test_many_sentences_are_read_together_as_they_are_one_by_one(rng):
    params = random_parameters(rng, dtype=np.float32)
    sentences = draw_sentences(rng, 25)
    settings = SearchSettings(beam=3, n_best=3, max_length=8)
    assert_same(fast_search(sentences, params, settings), plain_search(sentences, params, settings))


@with_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("with_lists", [False, True])
def test_a_team_finds_what_one_thread_finds(rng, monkeypatch, precision, with_lists):
    monkeypatch.setattr(fast, "WORTH_HELP", 0)
    # enough of everything for parts that are worth a meeting: states, words, and rows of a beam
    params = random_parameters(rng, trg_words=4200, hidden=260, dtype=np.float32)
    sentences, settings = draw_sentences(rng, 6), SearchSettings(beam=4, n_best=4, max_length=9)
    lists = [np.array([0, 1, 3, 4]), np.arange(800)] * 3 if with_lists else None
    engine, team, asked = FastEngine(params, precision), Team(3), []
    helping = team.helping
    monkeypatch.setattr(team, "helping", lambda *given: asked.append(given) or helping(*given))
    expected = batch_beam_search(sentences, engine, settings, lists)

    def search_with_the_team():
        for found, one in zip(batch_beam_search(sentences, engine, settings, lists, team), expected, strict=True):
            assert [(h.ids, h.score) for h in found] == [(h.ids, h.score) for h in one]

    for _ in range(20):
        search_with_the_team()
    assert [given[0] for given in asked] == ["reading.help_reading", "decoding.help_steps"] * 20
    n_rounds = [int(given[-1].board[0]) >> 32 for given in asked]
    n_steps = max(len(h.ids) + 1 for found in expected for h in found)
    n_stages = 4 if with_lists else 5  # choosing the best of a few words is not shared
    assert n_rounds[0] == 3 and n_rounds[1] == n_steps * n_stages  # every stage of every step was
    engine.forget_words()
    search_with_the_team()
    n_new = int(asked[-1][-1].board[0] >> 32) - n_steps * n_stages
    assert 0 < n_new <= n_steps  # words that are new are shared, too


def test_a_team_does_without_help_that_came_late():
    team = Team(2)
    desk = SimpleNamespace(board=np.zeros(30, np.int64))
    team.pool = SimpleNamespace(submit=lambda *given: asked.append(given))
    found = []
    for late in (True, True, False, True, False, False, False):
        asked, desk.board[:] = [], 0
        with team.helping("decoding.help_steps", desk):
            desk.board[find_kernel("team.ENDED")] = late
        found.append((bool(asked), team.leave))
    # late: leave for one; late in the middle of the leave changes nothing; back in time; late again: leave for two
    assert found == [(True, 1), (False, 0), (True, 0), (True, 1), (False, 0), (True, 0), (True, 0)]


def test_threads_may_share_an_engine(rng):
    params = random_parameters(rng, dtype=np.float32)
    engine, settings = FastEngine(params, "float32"), SearchSettings(beam=4, max_length=9)
    batches = [draw_sentences(rng, 5) for _ in range(8)]
    with threads(2) as each:
        found = each(lambda batch: batch_beam_search(batch, engine, settings), batches)
    for batch, one in zip(batches, found):
        assert_same(one, plain_search(batch, params, settings))


@with_kernels
@pytest.mark.parametrize("precision", PRECISIONS)
def test_a_translation_does_not_depend_on_its_batch(rng, precision):
    params = random_parameters(rng, dtype=np.float32)
    sentences, settings = draw_sentences(rng, 30), SearchSettings(beam=3, n_best=3, max_length=8)
    engine = FastEngine(params, precision)
    together = batch_beam_search(sentences, engine, settings)
    for sentence, found in zip(sentences, together):
        (alone,) = batch_beam_search([sentence], engine, settings)
        assert [(h.ids, h.score) for h in found] == [(h.ids, h.score) for h in alone]  # to the last bit
    scores = ([found[0].score for found in each] for each in (together, plain_search(sentences, params, settings)))
    np.testing.assert_allclose(*scores, atol=0.05)


def test_rounding_to_8_bits(rng):
    W, b = rng.standard_normal((37, 22)).astype(np.float32), rng.standard_normal(37).astype(np.float32)
    W[4] = 0
    rows = make_rows(W, b, "int8")
    numbers = from_tiles(rows.tiles)
    assert rows.w.dtype == rows.tiles.w.dtype == np.int8 and np.abs(numbers).max() == 127
    back, largest = (numbers * rows.scale[:, None])[:, :22], np.abs(W).max(axis=1, keepdims=True)
    assert (np.abs(back - W) <= largest / 253).all() and (back[4] == 0).all()
    assert (numbers[:, 22:] == 0).all() and rows.tiles.w.ctypes.data % 64 == 0


def test_lists_are_tiles_of_their_own(rng):
    W, b = rng.standard_normal((70, 5)).astype(np.float32), rng.standard_normal(70).astype(np.float32)
    lists = [np.array([0, 1, 69]), np.arange(40), np.arange(64)]
    for precision in PRECISIONS:
        rows = make_rows(W, b, precision)
        output = rows.listed(lists)
        assert output.begins.tolist() == [0, 1, 3] and output.sizes.tolist() == [3, 40, 64]
        for begin, ids in zip(output.begins, lists):
            places = slice(32 * begin, 32 * begin + len(ids))
            np.testing.assert_array_equal(from_tiles(output.weights)[places], from_tiles(rows.tiles)[ids])
            np.testing.assert_array_equal(output.weights.bias[places], b[ids])


def test_what_is_faster_here_is_taken(rng, monkeypatch):
    params = random_parameters(rng, dtype=np.float32)
    for name, precision in (("AVX-512 VNNI", "int8"), (None, "float32")):
        monkeypatch.setattr(packing, "instruction", lambda name=name: name)
        assert FastEngine(params).packed.precision == precision
    assert FastEngine(params).name == "float32"
