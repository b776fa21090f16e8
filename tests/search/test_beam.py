"""Both beam searches against exhaustive and greedy search; batches, lengths and attention."""

import numpy as np
import pytest

from minnmt.model.parameters import map_arrays
from minnmt.search.beam import SearchSettings
from minnmt.search.greedy import greedy_search
from tests.conftest import random_parameters
from tests.search.searches import every_translation

PENALTIES = [0.0, 0.6, 1.0]


def sharp(params, factor=3.0):
    """The same network with clearer preferences: random ones make all words about equally likely."""
    return map_arrays(lambda a: a * factor, params)


def random_sentence(rng, length, n_words=9):
    return rng.integers(1, n_words, size=length).tolist()


def assert_same(found, expected):
    assert [h.ids for h in found] == [ids for _, ids in expected]
    np.testing.assert_allclose([h.score for h in found], [score for score, _ in expected], atol=1e-9)


@pytest.mark.parametrize("penalty", PENALTIES)
def test_a_wide_beam_finds_the_n_best_of_all_translations(rng, penalty, search):
    for length in (1, 3, 6):
        params = sharp(random_parameters(rng, trg_words=5))
        src = random_sentence(rng, length)
        settings = SearchSettings(beam=100, length_penalty=penalty, max_length=3, n_best=20)
        found = search([src], params, settings)[0]
        assert_same(found, every_translation(src, params, 3, penalty)[:20])


@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("beam", [1, 2, 4])
def test_stopping_early_never_changes_the_n_best(rng, beam, penalty, search):
    for _ in range(8):
        params = sharp(random_parameters(rng, trg_words=6))
        src = random_sentence(rng, 4)
        settings = [SearchSettings(beam, penalty, max_length=7, n_best=n_best) for n_best in range(1, beam + 1)]
        *found, complete = (search([src], params, each)[0] for each in settings)  # the last stops when all have ended
        assert len(complete) == beam
        for n_best, hypotheses in enumerate(found, start=1):
            assert_same(hypotheses, [(h.score, h.ids) for h in complete[:n_best]])


def test_a_beam_of_one_is_greedy_search(rng, search):
    for _ in range(30):
        params = sharp(random_parameters(rng, trg_words=12, dtype=np.float32), 2.0)
        src = random_sentence(rng, rng.integers(1, 12))
        settings = SearchSettings(beam=1)
        ids, logp = greedy_search(src, params, settings.longest(src))
        hypothesis = search([src], params, settings)[0][0]
        assert hypothesis.ids == ids
        assert hypothesis.logp == pytest.approx(logp, abs=1e-4)


def test_ties_go_to_the_lower_word_as_in_greedy_search(rng, search):
    params = random_parameters(rng, trg_words=500)
    params.softmax.W[:] = 0
    params.softmax.b[:] = 0
    params.softmax.b[0] = -5.0  # all words but eos are equally likely
    settings = SearchSettings(beam=1, max_length=4)
    assert search([[3, 4]], params, settings)[0][0].ids == greedy_search([3, 4], params, 4)[0] == [1] * 4


@pytest.mark.parametrize("better", [2, 3])
def test_rounding_of_a_long_sum_does_not_choose_the_word(rng, better, search):
    """After many words the sum is large; two words that differ by little must still be told apart."""
    params = random_parameters(rng, trg_words=6, dtype=np.float32)
    params.softmax.W[:] = 0
    params.softmax.b[:] = [-20, -20, 0, 0, -20, -20]
    params.softmax.b[better] = 2e-5
    hypothesis = search([[3]], params, SearchSettings(beam=1, max_length=1000))[0][0]
    assert set(hypothesis.ids) == set(greedy_search([3], params, 1000)[0]) == {better}


def test_a_sentence_alone_equals_the_sentence_in_any_batch(rng, search):
    params = sharp(random_parameters(rng, trg_words=20, embedding=6, hidden=8, dtype=np.float32), 2.0)
    sentences = [random_sentence(rng, length) for length in (1, 2, 30, 3, 3, 11, 60, 1)]
    settings = SearchSettings(beam=4, n_best=3, max_length=25)
    together = search(sentences, params, settings)
    backwards = search(sentences[::-1], params, settings)[::-1]
    for src, *found in zip(sentences, together, backwards):
        alone = search([src], params, settings)[0]
        for other in found:
            assert [h.ids for h in other] == [h.ids for h in alone]
            np.testing.assert_allclose([h.score for h in other], [h.score for h in alone], rtol=1e-5)


@pytest.mark.parametrize("max_length", [0, 1, 5])
def test_max_length_is_respected_and_reached(rng, max_length, search):
    params = random_parameters(rng)
    params.softmax.b[0] = -50.0  # eos only when it must be
    found = search([[2, 3], [4]], params, SearchSettings(beam=3, max_length=max_length, n_best=3))
    for hypotheses in found:
        assert {len(h.ids) for h in hypotheses} == {max_length}


def test_the_default_longest_length_follows_each_source(rng, search):
    params = random_parameters(rng)
    params.softmax.b[0] = -50.0
    found = search([[2], [2, 3, 4, 5]], params, SearchSettings(beam=2))
    assert [len(hypotheses[0].ids) for hypotheses in found] == [2 * 1 + 10, 2 * 4 + 10]


def test_eos_ends_a_translation_and_appears_in_none(rng, search):
    params = random_parameters(rng)
    params.softmax.b[0] = 50.0
    hypothesis = search([[2, 3]], params, SearchSettings(beam=3))[0][0]
    assert hypothesis.ids == [] and hypothesis.score == pytest.approx(0, abs=1e-6)


def test_a_beam_wider_than_the_vocabulary(rng, search):
    params = random_parameters(rng, trg_words=3)
    found = search([[2]], params, SearchSettings(beam=50, max_length=2, n_best=50))[0]
    assert len(found) == 1 + 2 + 4  # all there are


def test_attention_of_a_hypothesis_is_that_of_training(rng, search):
    from minnmt.model.network import network_forward
    from minnmt.text.batches import make_batch

    params = sharp(random_parameters(rng))
    sentences = [[2, 3, 4, 5, 6], [7]]
    settings = SearchSettings(beam=3, max_length=6, n_best=3, keep_attention=True)
    for src, hypotheses in zip(sentences, search(sentences, params, settings)):
        for h in hypotheses:
            assert h.alpha.shape == (len(h.ids) + 1, len(src) + 1)
            np.testing.assert_allclose(h.alpha.sum(axis=1), 1)
            forced, _ = network_forward(make_batch([src], [h.ids]), params)
            np.testing.assert_allclose(h.alpha, forced.alphas[:, :, 0], atol=1e-9)


def test_no_attention_unless_asked_for(rng, search):
    assert search([[2]], random_parameters(rng), SearchSettings())[0][0].alpha is None
