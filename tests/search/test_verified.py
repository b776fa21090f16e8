"""Verified lists: the search that is read against full search, the fast one to the last bit, and what it took."""

import json

import numpy as np
import pytest

from minnmt.align.candidates import random_candidates
from minnmt.align.selector import Selector
from minnmt.compiled import reading, reading_mode
from minnmt.search import estimating, fast
from minnmt.search.batch_beam import Beams, batch_beam_search
from minnmt.search.batch_verified import checked_batch_search, verified_batch_search
from minnmt.search.beam import SearchSettings, beam_search
from minnmt.search.desks import Team
from minnmt.search.fast import FastEngine
from minnmt.search.translate import VERIFIED, Translator
from minnmt.search.verified import Effort, checked_search, draft_length, verified_search
from minnmt.text.vocab import EOS
from tests.conftest import run_cli
from tests.search.conftest import WORDS
from tests.search.test_lists import LINES, V, draw_lists, draw_sentences, sharp

BEAMS = [(1, 1), (2, 2), (5, 1), (5, 3), (12, 12)]
with_kernels = pytest.mark.skipif(reading_mode(), reason="nothing is compiled")


def plain(found):
    return [(h.ids, h.score, h.logp) for h in found]


def assert_close(found, expected, tolerance=1e-9):
    assert [h.ids for h in found] == [h.ids for h in expected]
    np.testing.assert_allclose([h.score for h in found], [h.score for h in expected], atol=tolerance)


# all: what full search finds


@pytest.mark.parametrize("beam, n_best", BEAMS)
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_verified_search_is_full_search(rng, beam, n_best, penalty):
    params, total = sharp(rng, np.float64), Effort()
    settings = SearchSettings(beam, penalty, max_length=12, n_best=n_best, keep_attention=True)
    for src, ids in zip(draw_sentences(rng, 1, 2, 14, 3, 3, 7), draw_lists(rng, 6)):
        full = beam_search(src, params, settings)
        found, effort = verified_search(src, params, settings, ids)
        assert_close(found, full)
        for ours, theirs in zip(found, full):
            np.testing.assert_allclose(ours.alpha, theirs.alpha, atol=1e-9)
        total += effort
    assert total.misses > 5 and total.added > 5 and total.touched > 3  # or nothing was seen here
    assert total.sentences == 6 and total.redone == total.drafted - total.kept > 0


@with_kernels
@pytest.mark.parametrize("how", ["int8", "float32", "estimated"])
@pytest.mark.parametrize("beam, n_best", BEAMS)
def test_the_fast_one_is_full_search_in_any_batch(rng, beam, n_best, how, monkeypatch):
    """To the last bit, unless what is outside the lists is estimated."""
    params, sentences = sharp(rng, trg_words=200), draw_sentences(rng, 1, 2, 30, 3, 3, 11, 1)
    lists = draw_lists(rng, 7, most=100, trg_words=200)
    settings = SearchSettings(beam=beam, n_best=n_best, max_length=15, keep_attention=True)
    engine = engine_for(how, params, monkeypatch)
    monkeypatch.setattr(estimating, "MORE_WORDS", 1)  # the others are estimated
    full = batch_beam_search(sentences, engine, settings)
    together, efforts = verified_batch_search(sentences, engine, settings, lists)
    assert sum(effort.misses for effort in efforts) > 5
    for size in (1, 3):
        for i in range(0, 7, size):
            part = slice(i, i + size)
            found, again = verified_batch_search(sentences[part], engine, settings, lists[part])
            assert [plain(one) for one in found] == [plain(one) for one in together[part]]
            assert again == efforts[part]  # not even the work depends on the others
    for one, other in zip(together, full):
        assert_close(one, other, 1e-5)
        assert how == "estimated" or plain(one) == plain(other)
        assert all(np.allclose(ours.alpha, theirs.alpha, atol=1e-6) for ours, theirs in zip(one, other))


def engine_for(how, params, monkeypatch):
    """ "int8" or "float32", where everything is exact, or "estimated": float32 with a preview in 8 bits."""
    monkeypatch.setattr(fast, "fastest_precision", lambda: "int8" if how == "estimated" else "float32")
    engine = FastEngine(params, "int8" if how == "int8" else "float32")
    assert (engine.preview is not None) == (how == "estimated")
    return engine


@pytest.mark.parametrize("beam, n_best", BEAMS)
@pytest.mark.parametrize("lengths", [(4, 9, 2), (26, 3, 33)])
def test_both_do_the_same_work(rng, beam, n_best, lengths):
    """Long sentences are checked on the way."""
    params, sentences, lists = sharp(rng, np.float64), draw_sentences(rng, *lengths), draw_lists(rng, 3)
    settings = SearchSettings(beam=beam, n_best=n_best, max_length=max(lengths))
    for plain_one, fast_one in VERIFIED.values():
        found, efforts = fast_one(sentences, FastEngine(params, "float32"), settings, lists)
        for src, ids, one, effort in zip(sentences, lists, found, efforts):
            expected, same_effort = plain_one(src, params, settings, ids)
            assert_close(one, expected)
            assert effort == same_effort


@with_kernels
def test_a_team_verifies_what_one_thread_verifies(rng, monkeypatch):
    monkeypatch.setattr(fast, "WORTH_HELP", 0)
    params = sharp(rng, trg_words=4200, factor=1.0)
    sentences, settings = draw_sentences(rng, 3, 6), SearchSettings(beam=4, n_best=4, max_length=9)
    lists = draw_lists(rng, 2, most=300, trg_words=4200)
    for how in ("int8", "float32", "estimated"):
        engine = engine_for(how, params, monkeypatch)
        full = batch_beam_search(sentences, engine, settings)
        alone = [fast_one(sentences, engine, settings, lists) for _, fast_one in VERIFIED.values()]
        for one, other in zip(alone[0][0], full):
            assert_close(one, other, 1e-5)
        for _ in range(5):
            for (_, fast_one), (expected, effort) in zip(VERIFIED.values(), alone):
                found, again = fast_one(sentences, engine, settings, lists, Team(3))
                assert [plain(o) for o in found] == [plain(o) for o in expected] and again == effort


@with_kernels
def test_what_an_estimate_cannot_decide_is_searched_again(rng, monkeypatch):
    """Two words with the same weights are a tie, which only exact numbers settle: the lower word wins."""
    params = sharp(rng, trg_words=300)
    params.softmax.W[150:] = params.softmax.W[:150]
    params.softmax.b[150:] = params.softmax.b[:150]
    params.softmax.b[[EOS, 150]] = -1e6
    engine, settings = engine_for("estimated", params, monkeypatch), SearchSettings(beam=3, n_best=3, max_length=6)
    sentences, lists = draw_sentences(rng, 4, 7, 2), draw_lists(rng, 3, most=20, trg_words=300)
    found, efforts = verified_batch_search(sentences, engine, settings, lists)
    assert [plain(one) for one in found] == [plain(one) for one in batch_beam_search(sentences, engine, settings)]
    assert [effort.again for effort in efforts] == [1, 1, 1]


@with_kernels
def test_lists_that_keep_nothing(rng, monkeypatch):
    """What is outside outweighs the list beyond what float32 can add up, or divide."""
    for factor, trg_words, eos in ((1.0, 8000, -200), (3.0, 30, -120), (1.0, 300, -1e6)):
        params, settings = sharp(rng, factor=factor, trg_words=trg_words), SearchSettings(2, n_best=2, max_length=4)
        params.softmax.b[EOS] = eos
        engine, sentences = engine_for("estimated", params, monkeypatch), draw_sentences(rng, 3, 5)
        found, _ = verified_batch_search(sentences, engine, settings, [np.array([EOS])] * 2)
        for one, other in zip(found, batch_beam_search(sentences, engine, settings)):
            assert_close(one, other, 1e-5)


@with_kernels
@pytest.mark.parametrize("beam", [1, 5, 12])
def test_estimates_of_flat_and_of_peaked_models(rng, monkeypatch, beam):
    """Where a list keeps little, and where it keeps nearly all: the same translations, scores to 1e-5."""
    again = 0
    for factor in (0.3, 1.0, 4.0):
        params = sharp(rng, factor=factor, trg_words=2000)
        engine = engine_for("estimated", params, monkeypatch)
        sentences, lists = draw_sentences(rng, *[3, 5, 8] * 4), draw_lists(rng, 12, most=400, trg_words=2000)
        settings = SearchSettings(beam=beam, n_best=min(beam, 2), max_length=12)
        found, efforts = verified_batch_search(sentences, engine, settings, lists)
        for one, other in zip(found, batch_beam_search(sentences, engine, settings)):
            assert_close(one, other, 1e-5)
        again += sum(effort.again for effort in efforts)
    assert again < 18


def test_a_list_of_all_words_is_never_wrong(rng):
    params, settings = sharp(rng), SearchSettings(beam=3, max_length=20)
    (found,), (effort,) = verified_batch_search([[3, 4, 5]], FastEngine(params, "float32"), settings, [np.arange(V)])
    assert effort.misses == effort.added == effort.touched == effort.redone == 0
    assert effort.kept >= len(found[0].ids) + 1


def test_a_list_of_eos_alone_still_gives_full_search(rng):
    params, settings = sharp(rng, np.float64), SearchSettings(beam=4, n_best=4, max_length=8)
    found, effort = verified_search([3, 4, 5], params, settings, np.array([EOS]))
    assert_close(found, beam_search([3, 4, 5], params, settings))
    assert effort.added > 3


def test_drafts_grow_without_misses_and_shrink_with_them():
    long = 10_000
    assert draft_length(0, 0, 1, long) == 9 > draft_length(0, 0, 5, long) == 4 > draft_length(0, 0, 12, long)
    assert draft_length(40, 0, 5, long) > draft_length(8, 0, 5, long) > draft_length(8, 4, 5, long) >= 2
    expected = [9, draft_length(40, 0, 1, long)]
    np.testing.assert_array_equal(draft_length(np.array([0, 40]), np.array([0, 0]), 1, np.full(2, long)), expected)


def test_drafts_divide_what_is_left_of_a_sentence():
    assert draft_length(0, 0, 1, 24) == 8  # 9 would leave a short one at the end
    assert draft_length(13, 0, 1, 26) == 16  # to the end, which is expected sooner
    assert draft_length(30, 0, 1, 3) == draft_length(30, 0, 1, 10_000) == 12  # longer than expected already


def test_sentences_have_their_own_clocks(rng):
    """A sentence that stands still is not changed by the steps of the others."""
    beams = Beams([[2], [3], [4]], SearchSettings(beam=2))
    words, logps = np.array([[5, 6]] * 3), np.array([[-1.0, -2.0]] * 3)
    assert beams.advance(beams.choose(words, logps)).tolist() == [0, 0, 1, 1, 2, 2]
    rows = np.array([0, 1, 4, 5])
    came_from = beams.advance(beams.choose(words[[0, 0, 1, 1]], logps[[0, 0, 1, 1]], rows), rows=rows)
    assert came_from.tolist() == [0, 0, 2, 3, 4, 4] and beams.time.tolist() == [2, 1, 2]
    assert beams.live.logps.tolist() == [-2, -3, -1, -2, -2, -3]


def test_a_step_of_all_rows_is_a_step():
    words, logps = np.array([[5, 6]] * 3), np.array([[-1.0, -2.0]] * 3)
    named, unnamed = (Beams([[2], [3], [4]], SearchSettings(beam=2)) for _ in range(2))
    every = np.arange(3)
    ours = named.advance(named.choose(words, logps, every), rows=every)
    assert ours.tolist() == unnamed.advance(unnamed.choose(words, logps)).tolist()
    assert all(np.array_equal(a, b) for a, b in zip(named.live, unnamed.live))


# best: the translations that were found


def test_without_a_beam_checked_search_is_full_search(rng):
    params, settings = sharp(rng, np.float64), SearchSettings(beam=1, max_length=12)
    for src, ids in zip(draw_sentences(rng, 1, 2, 14, 3, 3, 7), draw_lists(rng, 6)):
        found, effort = checked_search(src, params, settings, ids)
        assert_close(found, beam_search(src, params, settings))
        assert effort.drafted >= effort.kept == len(found[0].ids) + 1


def test_checked_search_goes_back_to_the_first_miss_only(rng):
    """Without a beam: a word is missing that the translation needs at its second step or later."""
    params, settings = sharp(rng, np.float64), SearchSettings(beam=1, max_length=12)
    params.softmax.b[EOS] = -1e6
    for src in draw_sentences(rng, 5, 8, 9):
        ids = beam_search(src, params, settings)[0].ids
        first = {word: ids.index(word) for word in ids if ids.index(word)}
        for word, t in first.items():
            found, effort = checked_search(src, params, settings, np.setdiff1d(np.arange(V), [word]))
            assert found[0].ids == ids
            assert effort == Effort(1, drafted=13 + 13 - t, kept=13, misses=1, added=1, touched=1)


def test_checked_search_looks_at_long_sentences_on_the_way(rng):
    """Without a beam, 41 steps: a miss is found at the next multiple of PACE, or at the end if that is near."""
    params, settings = sharp(rng, np.float64), SearchSettings(beam=1, max_length=40)
    params.softmax.b[EOS] = -1e6
    (src,) = draw_sentences(rng, 40)
    ids, found_at = beam_search(src, params, settings)[0].ids, set()
    for word, t in {word: ids.index(word) for word in ids if ids.index(word)}.items():
        found, effort = checked_search(src, params, settings, np.setdiff1d(np.arange(V), [word]))
        seen = next((step for step in (13, 26) if t < step), 41)
        assert found[0].ids == ids and effort == Effort(1, seen + 41 - t, 41, misses=1, added=1, touched=1)
        found_at.add(seen)
    assert len(found_at) > 1


def test_scores_of_checked_search_are_those_of_all_words(rng):
    params, sentences = sharp(rng, np.float64), draw_sentences(rng, 3, 6)
    settings = SearchSettings(beam=3, n_best=3, max_length=6)
    everything = SearchSettings(beam=400, n_best=400, max_length=6)
    both, _ = checked_batch_search(sentences, FastEngine(params, "float32"), settings, draw_lists(rng, 2))
    for found, src in zip(both, sentences):
        of = {tuple(h.ids): h.score for h in beam_search(src, params, everything)}
        known = [(h.score, of[tuple(h.ids)]) for h in found if tuple(h.ids) in of]
        assert known
        np.testing.assert_allclose(*zip(*known), atol=1e-9)


def test_checked_search_ranks_by_the_scores_of_all_words(rng):
    params, settings = sharp(rng, factor=1.0), SearchSettings(beam=4, n_best=4, max_length=6)
    sentences, lists, engine = draw_sentences(rng, *[5] * 12), draw_lists(rng, 12), FastEngine(params, "float32")
    found, _ = checked_batch_search(sentences, engine, settings, lists)
    assert all(one == sorted(one, key=lambda h: -h.score) and len(one) > 1 for one in found)
    listed = batch_beam_search(sentences, engine, settings, lists)
    assert any([h.ids for h in a] != [h.ids for h in b] for a, b in zip(found, listed))


@with_kernels
def test_a_preview_in_8_bits_finds_the_same_words(rng, monkeypatch):
    params = sharp(rng)
    sentences, lists = draw_sentences(rng, 4, 9, 2, 7), draw_lists(rng, 4)
    settings = SearchSettings(beam=1, max_length=9)
    monkeypatch.setattr(fast, "fastest_precision", lambda: "int8")
    engine = FastEngine(params, "float32")
    assert engine.preview is not None and FastEngine(params, "int8").preview is None
    found, _ = checked_batch_search(sentences, engine, settings, lists)
    full = batch_beam_search(sentences, engine, settings)
    assert [one[0].ids for one in found] == [one[0].ids for one in full]
    np.testing.assert_allclose([o[0].score for o in found], [o[0].score for o in full], atol=0.2)


# From lines to lines


@pytest.mark.parametrize("mode", ["plain", "fast"])
@pytest.mark.parametrize("batch_size, n_threads", [(1, 1), (3, 2), (32, 1)])
def test_lines_are_those_of_all_words(model, mode, batch_size, n_threads):
    selector = Selector(random_candidates(len(WORDS), len(WORDS), 1, seed=3))
    settings = SearchSettings(beam=4, n_best=2)

    def translated(**more):
        return Translator(model, settings, batch_size, n_threads, precision="float32", **more).translate(LINES)

    with reading() if mode == "plain" else pytest.MonkeyPatch.context():
        full, listed = translated(), translated(selector=selector)
        verified = translated(selector=selector, verify="all")
    assert [t.lines for t in verified] == [t.lines for t in full] != [t.lines for t in listed]
    assert [t.effort is None for t in verified] == [not t.src_units for t in full]
    assert all(t.effort is None for t in listed)


def test_the_command(tiny_run, tmp_path):
    text = tmp_path / "text"
    text.write_text("eins zwei blau.\nrot Haus vier.\n\nHund Hund drei.\n")
    options = ["decode", "-m", tiny_run, "-i", text, "--engine", "float32"]
    full = run_cli(*options)
    for level in ("all", "best"):
        path = tmp_path / f"{level}.json"
        found = run_cli(*options, "--topn", 2, "--verify", level, "--json", path)
        assert found.code == 0 and f"verify {level}: " in found.err and "steps drafted" in found.err
        assert level == "best" or found.out == full.out
        record = json.loads(path.read_text())
        assert record["sentences"] == 3 and record["verify"]["level"] == level
        assert record["verify"]["drafted_steps"] >= record["verify"]["kept_steps"] > 0
    plain = run_cli("decode", "-m", tiny_run, "-i", text, "--engine", "plain", "--topn", 2, "--verify", "all")
    assert plain.code == 0 and plain.out == full.out


@pytest.mark.parametrize(
    "options, message",
    [
        (["--verify", "all"], "--verify goes with --topn N"),
        (["--json", "x.json"], "--json goes with --topn N"),
        (["--topn", 5, "--verify", "some"], "'some'"),
        (["--topn", 5, "--verify", "all", "--reference", "x"], "--verify"),
    ],
)
def test_what_is_refused(tiny_run, options, message):
    result = run_cli("decode", "-m", tiny_run, *options)
    assert result.code == 2 and message in result.err
