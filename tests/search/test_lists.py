"""Search over candidate lists: against all listed translations and the full search; short lists, batches, lines."""

import itertools

import numpy as np
import pytest

from minnmt.align.candidates import Candidates, random_candidates
from minnmt.align.selector import Selector
from minnmt.model.network import network_forward
from minnmt.model.parameters import map_arrays
from minnmt.search.beam import SearchSettings
from minnmt.search.output import Output
from minnmt.search.translate import Translator, translate
from minnmt.text.batches import make_batch, pad
from minnmt.text.vocab import EOS, UNK
from tests.conftest import random_parameters
from tests.search.conftest import WORDS

V = 30


def sharp(rng, dtype=np.float32, trg_words=V, factor=3.0):
    """A random network with clear preferences."""
    params = random_parameters(rng, trg_words=trg_words, embedding=6, hidden=8, dtype=dtype)
    return map_arrays(lambda a: a * dtype(factor), params)


@pytest.fixture
def params(rng):
    return sharp(rng)


def draw_sentences(rng, *lengths):
    return [rng.integers(1, 9, size=length).tolist() for length in lengths]


def draw_lists(rng, n_lists, most=12, trg_words=V):
    """Lists of different lengths, with eos and UNK."""
    sizes = rng.integers(1, most, size=n_lists)
    return [np.unique([EOS, UNK, *rng.integers(2, trg_words, size=size)]) for size in sizes]


def assert_same(found, expected, tolerance=2e-4):
    """The same translations with the same scores, for every sentence.

    Sharp networks magnify the rounding of float32: even the plain search is up to 6e-5 away from float64.
    """
    assert [[h.ids for h in one] for one in found] == [[h.ids for h in one] for one in expected]
    for one, other in zip(found, expected):
        np.testing.assert_allclose([h.score for h in one], [h.score for h in other], rtol=tolerance, atol=tolerance)
        np.testing.assert_allclose([h.logp for h in one], [h.logp for h in other], rtol=tolerance, atol=10 * tolerance)


# The whole vocabulary as a list


@pytest.mark.parametrize("dtype, tolerance", [(np.float32, 2e-4), (np.float64, 1e-9)])
@pytest.mark.parametrize("beam, n_best", [(1, 1), (2, 2), (5, 1), (12, 12), (40, 3)])
def test_a_list_of_all_words_is_no_list(rng, beam, n_best, dtype, tolerance, search):
    params = sharp(rng, dtype)
    sentences = draw_sentences(rng, 1, 2, 14, 3, 3, 7)
    settings = SearchSettings(beam=beam, n_best=n_best, max_length=12)
    everything = [np.arange(V)] * len(sentences)
    full = search(sentences, params, settings)
    assert max(len(h.ids) for one in full for h in one) > 2
    assert_same(search(sentences, params, settings, everything), full, tolerance)


def test_attention_is_that_of_the_full_search_too(rng, params, search):
    sentences = draw_sentences(rng, 3, 6)
    settings = SearchSettings(beam=3, n_best=2, max_length=8, keep_attention=True)
    full = search(sentences, params, settings)
    for one, other in zip(search(sentences, params, settings, [np.arange(V)] * 2), full):
        for ours, theirs in zip(one, other):
            np.testing.assert_allclose(ours.alpha, theirs.alpha, atol=1e-5)


# All translations that a list allows


def listed_translations(src, params, ids, max_length, penalty):
    """All translations of up to max_length words of the list -> [(score, ids)], best first.

    The full softmax's probabilities, renormalised over the list.
    """
    words = [int(i) for i in ids if i != EOS]
    found = []
    for length in range(max_length + 1):
        translations = [list(t) for t in itertools.product(words, repeat=length)]
        batch = make_batch([src] * len(translations), translations)
        _, cache = network_forward(batch, params)
        probs = cache.loss.parts[0].cache.probs.reshape(length + 1, len(translations), -1)
        chosen = np.take_along_axis(probs, batch.trg_ids[:, :, None], axis=2)[:, :, 0]
        logps = np.log(chosen / probs[:, :, ids].sum(axis=2)).sum(axis=0)
        found += [(float(logp) / (length + 1) ** penalty, t) for logp, t in zip(logps, translations)]
    return sorted(found, key=lambda item: -item[0])


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 1e-5)])
@pytest.mark.parametrize("penalty", [0.0, 1.0])
@pytest.mark.parametrize("ids", [[0, 1, 2], [0, 1, 4, 6], [0, 3, 5], [0, 1, 2, 3, 4, 5, 6]])
def test_a_wide_beam_finds_the_n_best_of_all_listed_translations(rng, ids, penalty, dtype, tolerance, search):
    params = sharp(rng, dtype, trg_words=7, factor=2.0)
    settings = SearchSettings(beam=400, length_penalty=penalty, max_length=3, n_best=7)
    for src in draw_sentences(rng, 1, 4):
        found = search([src], params, settings, [np.array(ids)])[0]
        expected = listed_translations(src, params, ids, 3, penalty)[:7]
        np.testing.assert_allclose([h.score for h in found], [score for score, _ in expected], atol=tolerance)
        assert [h.ids for h in found] == [words for _, words in expected]


def test_different_lists_in_one_batch_are_each_searched_exhaustively(rng, search):
    params = sharp(rng, np.float64, trg_words=7, factor=2.0)
    sentences, lists = draw_sentences(rng, 5, 1, 3), [np.array(ids) for ids in ([0, 1], [0, 2, 3, 4, 6], [0, 1, 5])]
    settings = SearchSettings(beam=200, max_length=3, n_best=4)
    for src, ids, found in zip(sentences, lists, search(sentences, params, settings, lists)):
        expected = listed_translations(src, params, ids, 3, 1.0)[: len(found)]
        assert [h.ids for h in found] == [words for _, words in expected] and len(found) == 4
        np.testing.assert_allclose([h.score for h in found], [score for score, _ in expected], atol=1e-9)


# Batches


@pytest.mark.parametrize("beam", [1, 4])
def test_a_sentence_alone_equals_the_sentence_in_any_batch(rng, params, beam, search):
    sentences = draw_sentences(rng, 1, 2, 30, 3, 3, 11, 1)
    lists = draw_lists(rng, len(sentences))
    settings = SearchSettings(beam=beam, n_best=beam, max_length=15)
    alone = [search([src], params, settings, [ids])[0] for src, ids in zip(sentences, lists)]
    assert len({tuple(one[0].ids) for one in alone}) > 3
    assert_same(search(sentences, params, settings, lists), alone)
    assert_same(search(sentences[::-1], params, settings, lists[::-1]), alone[::-1])
    for size in (2, 3):
        cut = [slice(i, i + size) for i in range(0, len(sentences), size)]
        parts = [search(sentences[part], params, settings, lists[part]) for part in cut]
        assert_same([one for part in parts for one in part], alone)


def test_one_sentence_with_several_lists(rng, params, search):
    """The same source with other words allowed: nothing but the list makes the difference."""
    src, lists = draw_sentences(rng, 6)[0], draw_lists(rng, 6)
    settings = SearchSettings(beam=3, max_length=10)
    found = search([src] * 6, params, settings, lists)
    assert_same(found, [search([src], params, settings, [ids])[0] for ids in lists])
    assert len({tuple(one[0].ids) for one in found}) > 1


# What comes out


@pytest.mark.parametrize("beam", [1, 3, 8])
def test_translations_use_listed_words_only(rng, params, beam, search):
    sentences = draw_sentences(rng, *[4] * 12)
    lists = draw_lists(rng, 12)
    settings = SearchSettings(beam=beam, n_best=beam)
    for ids, hypotheses in zip(lists, search(sentences, params, settings, lists)):
        assert hypotheses
        for h in hypotheses:
            assert set(h.ids) <= set(ids.tolist()) - {EOS}
            assert np.isfinite(h.score) and h.score < 1e-6
        assert len({tuple(h.ids) for h in hypotheses}) == len(hypotheses)
    full = search(sentences, params, settings)
    assert any(set(one[0].ids) - set(ids.tolist()) for ids, one in zip(lists, full))  # or nothing was seen here


def test_a_list_shorter_than_the_beam(rng, params, search):
    """Of 1 word and eos there are 1, 2, 3, ... hypotheses of up to 0, 1, 2, ... words."""
    settings = SearchSettings(beam=10, n_best=10, max_length=4)
    short, long = np.array([EOS, 5]), np.arange(V)
    for lists in ([short], [short, long], [long, short]):
        found = search(draw_sentences(rng, *[3] * len(lists)), params, settings, lists)
        for ids, hypotheses in zip(lists, found):
            if ids is short:
                assert sorted(len(h.ids) for h in hypotheses) == [0, 1, 2, 3, 4]
            else:
                assert len(hypotheses) == 10


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("beam", [1, 5])
def test_a_list_of_eos_alone(rng, beam, dtype, search):
    params = sharp(rng, dtype)
    lists = [np.array([EOS]), np.array([EOS, 7])]
    found = search([[3, 4], [5]], params, SearchSettings(beam=beam, n_best=beam), lists)
    assert [h.ids for h in found[0]] == [[]] and found[0][0].score == pytest.approx(0, abs=1e-6)


def test_a_list_of_eos_and_unk_alone(rng, params, search):
    params.softmax.b[:] = 0
    params.softmax.b[EOS] = -20.0  # eos only when it must be
    found = search([[3, 4]], params, SearchSettings(beam=3, max_length=5), [np.array([EOS, UNK])])[0]
    assert found[0].ids == [UNK] * 5


def test_the_longest_length_holds_for_lists(rng, params, search):
    params.softmax.b[EOS] = -90.0
    sentences, lists = [[2], [2, 3, 4, 5]], draw_lists(rng, 2)
    found = search(sentences, params, SearchSettings(beam=2), lists)
    assert [len(one[0].ids) for one in found] == [2 * 1 + 10, 2 * 4 + 10]


# From lines to lines

LINES = ["a b c d e f g", "a", "", "c d zug", "g f e", "b", "a b", "d d d d", "   "]


@pytest.mark.parametrize("batch_size, n_threads", [(1, 1), (3, 1), (3, 2), (32, 1)])
def test_lines_are_translated_each_with_its_own_list(model, batch_size, n_threads, search):
    selector = Selector(random_candidates(len(WORDS), len(WORDS), 1, seed=3))
    settings = SearchSettings(beam=4)
    found = translate(LINES, model, settings, batch_size, n_threads, selector)
    sizes = []
    for line, translation in zip(LINES, found):
        if not line.strip():
            assert translation.best == "" and translation.list_size == 0
            continue
        src = model.src.ids(line)
        ids = selector.lists(*pad([src]))[0]
        assert set(translation.hypotheses[0].ids) <= set(ids.tolist())
        assert translation.best == model.trg.text(search([src], model.params, settings, [ids])[0][0].ids)
        sizes.append(len(ids))
    assert [t.list_size for t in found if t.hypotheses] == sizes and len(set(sizes)) > 1


def test_lists_of_all_words_change_no_line(model):
    selector = Selector(random_candidates(len(WORDS), len(WORDS), len(WORDS)))
    for n_best in (1, 3):
        translators = [Translator(model, SearchSettings(beam=3, n_best=n_best), selector=s) for s in (None, selector)]
        full, listed = (translator.translate(LINES) for translator in translators)
        assert [t.lines for t in full] == [t.lines for t in listed] and len({t.best for t in full}) > 3
        assert {t.list_size for t in listed if t.lines} == {len(WORDS)} and {t.list_size for t in full} == {0}


def test_the_report_of_the_lists(model, tmp_path):
    """Each sentence's words divided by its length, then the mean; blank lines do not count."""
    rows = [[], [], [2, 3, 4], [5], []]  # eos, UNK, a, b, c
    ids = np.array([i for row in rows for i in row], np.int32)
    indptr = np.cumsum([0, *map(len, rows), 0, 0, 0, 0])
    selector = Selector(Candidates(indptr, ids, np.ones(len(ids), np.float32), len(WORDS)))
    with Output(Translator(model, SearchSettings(), selector=selector), tmp_path / "out") as output:
        assert output.list_report() == ""
        output.add(["a b", ""])  # 6 words for 2
        output.add(["c c c"])  # 2 words for 3
    report = output.list_report()
    assert f"{(6 / 2 + 2 / 3) / 2:.1f} candidates per source word" in report and "4.0 words per sentence" in report
    assert f"{100 * 4 / 9:.2f} % of the vocabulary of 9" in report
    with Output(Translator(model, SearchSettings()), tmp_path / "out") as without:
        without.add(["a b"])
    assert without.list_report() == ""
