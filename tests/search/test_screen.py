"""A screen: words by the step (minnmt/search/screen.py)."""

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.errors import UserError
from minnmt.nn.softmax import log_softmax
from minnmt.search.batch_beam import batch_beam_search
from minnmt.search.beam import SearchSettings
from minnmt.search.fast import FastEngine, FastSteps
from minnmt.search.screen import Screen, ScreenedSteps, load_screen, screened_batch_search
from minnmt.tasks.selecting import k_means
from minnmt.text.vocab import EOS, UNK


def screen_of(n, centres=((0.0, 1.0), (1.0, 0.0)), n_readouts=(10, 30)):
    """Group 0 has needed word 2 always and word 4 at half of its steps, group 1 word 3 at two thirds, word 5 at one."""
    cells = np.array([0, 0, 1, 1]), np.array([2, 4, 3, 5]), np.array([10.0, 5.0, 20.0, 10.0])
    return Screen(np.float32(centres), Counts.from_cells(*cells, 2, 6), np.array(n_readouts), n)


def test_words_that_are_needed_most_often_come_first_and_cost_what_their_group_does():
    words = {n: [ids.tolist() for ids in screen_of(n).lists] for n in (0, 0.25, 1, 1.25, 2)}
    assert words[0] == [[EOS, UNK], [EOS, UNK]]
    assert words[0.25] == [[EOS, UNK, 2], [EOS, UNK]]  # a quarter of the steps pay for it
    assert words[1] == [[EOS, UNK, 2], [EOS, UNK, 3]]  # three quarters for this one
    assert words[1.25] == [[EOS, UNK, 2, 4], [EOS, UNK, 3]]
    assert words[2] == [[EOS, UNK, 2, 4], [EOS, UNK, 3, 5]]


def test_a_readout_belongs_to_the_nearest_centre():
    o = np.float32([[0.1, 0.8], [0.9, 0.2], [0.4, 0.6]])
    assert screen_of(1).groups(o).tolist() == [0, 1, 0]


def test_k_means_centres_are_the_means_of_what_is_near_them(rng):
    middles = np.repeat([[9, 0], [-9, 0], [0, 9]], 80, axis=0)
    o = (rng.standard_normal(middles.shape) + middles).astype(np.float32)
    centres = k_means(o, 6, np.random.default_rng(3))
    nearest = np.argmin(((o[:, None] - centres) ** 2).sum(axis=2), axis=1)
    assert centres.dtype == np.float32 and len(np.unique(nearest)) == 6
    means = [o[nearest == group].mean(axis=0) for group in range(6)]
    np.testing.assert_allclose(centres, means, atol=0.3)  # it stops after some rounds, perhaps before it is there


def test_with_all_words_it_is_full_search_and_with_few_only_these(rng, model):
    params, sources = model.params, [[2, 3, 4], [5], [3, 3, 2, 4, 5]]
    V, E = params.softmax.W.shape
    engine, settings, ones = FastEngine(params, "float32"), SearchSettings(beam=3), np.ones(4, int)
    cells = np.repeat(np.arange(4), V), np.tile(np.arange(V), 4), np.ones(4 * V)
    centres = rng.standard_normal((4, E)).astype(np.float32)
    everything = Screen(centres, Counts.from_cells(*cells, 4, V), ones, V)
    found, sizes = screened_batch_search(sources, engine, settings, everything)
    expected = batch_beam_search(sources, engine, settings)
    assert [[h.ids for h in one] for one in found] == [[h.ids for h in one] for one in expected]
    assert (sizes == V).all()
    few = Screen(centres, Counts.from_cells(np.arange(4), np.arange(4) + 2, np.ones(4), 4, V), ones, V)
    found, sizes = screened_batch_search(sources, engine, settings, few)
    assert (sizes <= 3).all() and {word for one in found for h in one for word in h.ids} <= {EOS, UNK, 2, 3, 4, 5}


def test_a_step_is_that_of_each_rows_own_group(rng, model):
    """Rows of several groups, in no order, some of which may only end, against one row after the other."""
    params, sources = model.params, [[2, 3, 4], [5, 2], [3, 3, 2, 4, 5], [6]]
    V, engine = len(params.softmax.b), FastEngine(params, "float32")
    given = np.arange(4), np.arange(4), np.full(4, -1), np.array([False, True, False, False])
    plain = FastSteps(engine, sources, None, 3)
    plain.step(*given)
    cells = np.repeat(np.arange(4), 3), np.array([[2, 3, 4], [4, 5, 6], [2, 6, 7], [3, 7, 8]]).reshape(-1), np.ones(12)
    screen = Screen(plain.o[[2, 0, 3, 1]].copy(), Counts.from_cells(*cells, 4, V), np.ones(4, int), V)
    steps = ScreenedSteps(engine, sources, screen, 3)
    words, logps, _ = steps.step(*given)
    assert screen.groups(plain.o).tolist() == [1, 3, 0, 2]
    for row, group in enumerate([1, 3, 0, 2]):
        ids = screen.lists[group]
        expected = log_softmax(plain.o[row : row + 1], params.softmax, ids)[0]
        best = np.array([0]) if given[3][row] else np.argsort(-expected)[:3]
        assert words[row, : len(best)].tolist() == ids[best].tolist()
        np.testing.assert_allclose(logps[row, : len(best)], expected[best], atol=1e-5)


def test_the_file_and_one_of_another_model(rng, model, tmp_path):
    params = model.params
    V, E = params.softmax.W.shape
    centres = rng.standard_normal((2, E)).astype(np.float32)
    screen = Screen(centres, Counts.from_cells([1], [3], [2.0], 2, V), np.arange(2), 7)
    screen.save(tmp_path / "screen.npz", {})
    again = load_screen(tmp_path / "screen.npz", 7, params)
    np.testing.assert_array_equal(again.centres, screen.centres)
    assert again.n == 7 and [ids.tolist() for ids in again.lists] == [ids.tolist() for ids in screen.lists]
    screen_of(1).save(tmp_path / "other.npz", {})
    with pytest.raises(UserError, match="are of another model"):
        load_screen(tmp_path / "other.npz", 7, params)
