"""Forced decoding: against the training network and beam search, and words that a list lacks."""

import numpy as np
import pytest

from minnmt.errors import UserError
from minnmt.model.network import network_forward
from minnmt.search.beam import SearchSettings
from minnmt.search.forced import BATCH, forced_log_probs
from minnmt.text.batches import make_batch
from minnmt.text.vocab import EOS, UNK
from tests.conftest import random_parameters

SRC = [[2, 3], [4], [5, 6, 7, 8, 2], []]
TRG = [[2, 3, 4], [5], [], [6, 7]]
V = 8


@pytest.fixture
def params(rng):
    params = random_parameters(rng, trg_words=V)
    params.softmax.W *= 4
    return params


def listed(*ids):
    return np.array([EOS, UNK, *ids])


def assert_close(found, expected):
    assert [len(row) for row in found] == [len(row) for row in expected]
    for row, other in zip(found, expected):
        np.testing.assert_allclose(row, other, atol=1e-9)


def test_the_words_and_eos_as_the_training_network_sees_them(params):
    found = forced_log_probs(SRC, TRG, params)
    assert [len(row) for row in found] == [len(trg) + 1 for trg in TRG]
    for src, trg, row in zip(SRC, TRG, found):
        output, cache = network_forward(make_batch([src], [trg]), params)
        probs = cache.loss.parts[0].cache.probs
        np.testing.assert_allclose(row, np.log(probs[np.arange(len(trg) + 1), [*trg, EOS]]), atol=1e-9)
        assert row.sum() == pytest.approx(-output.nll[0], abs=1e-9)


def test_the_sum_under_lists_is_the_training_networks(params):
    lists = [listed(2, 3, 4), listed(5, 7), listed(3), listed(6, 7)]
    output, _ = network_forward(make_batch(SRC, TRG), params, lists)
    sums = [row.sum() for row in forced_log_probs(SRC, TRG, params, lists, "refuse")]
    np.testing.assert_allclose(sums, -output.nll, atol=1e-9)
    full = [row.sum() for row in forced_log_probs(SRC, TRG, params)]
    assert (np.array(sums) > np.array(full) + 1e-6).all()  # fewer rivals, so each word is more probable


@pytest.mark.parametrize("outside", ["add", "unk", "refuse"])
def test_lists_of_the_whole_vocabulary_change_nothing(params, outside):
    found = forced_log_probs(SRC, TRG, params, [np.arange(V)] * len(SRC), outside)
    assert_close(found, forced_log_probs(SRC, TRG, params))


def test_add_is_the_list_with_the_word(params):
    lacking = [listed(3, 5), listed(5), listed(3), listed(2)]
    complete = [listed(2, 3, 4, 5), listed(5), listed(3), listed(2, 6, 7)]
    found = forced_log_probs(SRC, TRG, params, lacking, "add")
    assert_close(found, forced_log_probs(SRC, TRG, params, complete, "refuse"))
    assert [ids.tolist() for ids in lacking] == [[0, 1, 3, 5], [0, 1, 5], [0, 1, 3], [0, 1, 2]]  # left as they were


def test_unk_is_the_reference_with_unk_in_the_words_place(params):
    lists = [listed(3, 5), listed(5), listed(3), listed(2)]
    found = forced_log_probs(SRC, TRG, params, lists, "unk")
    assert_close(found, forced_log_probs(SRC, [[UNK, 3, UNK], [5], [], [UNK, UNK]], params, lists, "refuse"))


def test_refuse_names_the_sentence_and_the_word(params):
    with pytest.raises(UserError, match="line 4: the word 7 "):
        forced_log_probs(SRC, TRG, params, [np.arange(V)] * 3 + [np.arange(V - 1)], "refuse")


def test_any_other_policy_is_an_error(params):
    with pytest.raises(ValueError, match="ignore"):
        forced_log_probs(SRC, TRG, params, [np.arange(V)] * 4, "ignore")


@pytest.mark.parametrize("with_lists", [False, True])
def test_a_searchs_own_translation_has_the_searchs_score(rng, with_lists, search):
    params = random_parameters(rng, trg_words=30, embedding=6, hidden=7, dtype=np.float32)
    params.softmax.W *= 3
    src = [rng.integers(1, 9, size=n).tolist() for n in (1, 9, 4, 4, 2, 6)]
    lists = [listed(*np.unique(rng.integers(2, 30, size=9))) for _ in src] if with_lists else None
    best = [hypotheses[0] for hypotheses in search(src, params, SearchSettings(), lists)]
    found = forced_log_probs(src, [h.ids for h in best], params, lists, "refuse")
    assert max(len(h.ids) for h in best) > 2
    np.testing.assert_allclose([row.sum() for row in found], [h.logp for h in best], atol=1e-5)


def test_batches_and_threads_change_nothing(params, rng):
    src, trg = ([rng.integers(2, 8, size=rng.integers(0, 5)).tolist() for _ in range(2 * BATCH + 3)] for _ in range(2))
    alone = [forced_log_probs([s], [t], params)[0] for s, t in zip(src, trg)]
    assert_close(forced_log_probs(src, trg, params), alone)
    assert_close(forced_log_probs(src, trg, params, n_threads=2), alone)


def test_a_word_too_improbable_for_a_float_still_has_a_log_probability(rng):
    params = random_parameters(rng, trg_words=V, dtype=np.float32)
    params.softmax.b[3] = -500.0
    assert -600 < forced_log_probs([[2]], [[3]], params)[0][0] < -400


def test_no_sentences(params):
    assert forced_log_probs([], [], params) == forced_log_probs([], [], params, []) == []
