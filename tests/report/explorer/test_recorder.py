"""The recorder sees what the search computes, changes nothing of it, and leaves no trace behind."""

import numpy as np
import pytest

from minnmt.compiled import reading
from minnmt.model import network
from minnmt.nn import attention, gru
from minnmt.report.explorer.recorder import NOTES, Recorder
from minnmt.search import beam
from minnmt.search.beam import SearchSettings, beam_search
from minnmt.text.vocab import EOS
from tests.conftest import random_parameters

SRC, LIST = [3, 5, 2], np.array([0, 1, 3, 4, 6])


@pytest.fixture
def params(rng):
    params = random_parameters(rng, embedding=6, hidden=8, dtype=np.float32)
    params.softmax.W *= 4
    return params


def record(params, ids=None, forced=(), settings=None):
    recorder = Recorder(SRC, params, settings or SearchSettings(), forced)
    with recorder.watching():
        return recorder, recorder.search(ids)


@pytest.mark.parametrize("ids", [None, LIST], ids=["all words", "a list"])
@pytest.mark.parametrize("size", [1, 3, 5])
def test_a_watched_search_finds_what_an_unwatched_one_finds(params, ids, size):
    settings = SearchSettings(beam=size)
    with reading():
        expected = beam_search(SRC, params, settings, ids)[0]
    _, search = record(params, ids, settings=settings)
    assert (search.best.ids, search.best.score) == (expected.ids, expected.score)


def test_steps_that_were_taken_before_are_not_taken_again_and_give_the_same(params):
    recorder = Recorder(SRC, params, SearchSettings())
    with recorder.watching():
        recorder.search()
        n_steps = len(recorder.steps)
        second = recorder.search()
        assert len(recorder.steps) == n_steps
        listed = recorder.search(LIST)
    assert second.best.score == record(params)[1].best.score
    assert listed.best.score == record(params, LIST)[1].best.score


def test_a_step_is_what_the_network_computes(params):
    recorder, search = record(params)
    before = search.winner[:1]
    step, first = recorder.steps[before], recorder.steps[()]
    with reading():
        y = params.trg_embedding[list(before)]
        s, logps, alpha = network.next_word(y, first.s, recorder.start[1], params)
    np.testing.assert_array_equal(step.y, y)
    for name, expected in (("s", s), ("logps", logps), ("alpha", alpha)):
        np.testing.assert_array_equal(getattr(step, name), expected, err_msg=name)
    r, u = np.split(step.gates1, 2, axis=1)
    np.testing.assert_allclose(step.s1, u * first.s + (1 - u) * step.cand1, atol=1e-6)  # (3)
    np.testing.assert_allclose(step.c[0], step.alpha[:, 0] @ recorder.start[1].h[:, 0], atol=1e-6)  # (7)
    r, u = np.split(step.gates2, 2, axis=1)
    np.testing.assert_allclose(step.s, u * step.s1 + (1 - u) * step.cand2, atol=1e-6)  # (10)
    assert not recorder.steps[()].y.any()


def test_rounds_hold_the_beam_and_what_just_missed_it(params):
    _, search = record(params, settings=SearchSettings(beam=3))
    assert len(search.rounds[0].kept) == 3 and len(search.rounds[0].pruned) == 3
    ended = 0
    for kept, pruned in search.rounds:
        assert len(kept) <= 3 - ended and not set(kept) & set(pruned)
        ended += sum(words[-1] == EOS for words in kept)
    assert search.winner in [words for kept, _ in search.rounds for words in kept]


@pytest.mark.parametrize("ids", [None, LIST], ids=["all words", "a list"])
def test_forced_words_come_first_whatever_their_probability(params, ids):
    recorder, free = record(params, ids)
    word = int(recorder.steps[()].logps[0][LIST].argmin())
    word = int(LIST[word])
    if word == EOS:
        word = int(LIST[-1])
    recorder, search = record(params, ids, forced=(word, 3))
    assert search.best.ids[:2] == [word, 3]
    assert np.isfinite(search.best.score)


def test_everything_is_as_before_also_after_an_error(params):
    def held():
        modules = (beam, network, gru, attention)
        return [(m.__name__, name, value) for m in modules for name, value in vars(m).items() if callable(value)]

    before = held()
    record(params)
    assert held() == before
    recorder = Recorder(SRC, params, SearchSettings())
    with pytest.raises(ZeroDivisionError), recorder.watching():
        assert held() != before
        raise ZeroDivisionError
    assert held() == before


def test_the_recording_interface_is_small_and_the_network_does_not_know_of_it():
    from pathlib import Path

    from minnmt.report.explorer import recorder

    path = Path(recorder.__file__)
    assert len(path.read_text().splitlines()) < 150
    for folder in ("nn", "model", "search", "align"):
        for source in (path.parents[2] / folder).rglob("*.py"):
            assert "recorder" not in source.read_text() and "explorer" not in source.read_text(), source
    assert all(function.__module__.startswith("minnmt.nn.") for function in NOTES)
