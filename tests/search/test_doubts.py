"""Doubts: which decisions are sure, where log-probabilities are estimates."""

import numpy as np
import pytest

from minnmt.search.batch_beam import Beams
from minnmt.search.beam import SearchSettings
from minnmt.search.doubts import Doubts, nth_of_row
from minnmt.text.vocab import EOS

WORDS = np.array([[5, 6, 7], [8, 9, 10]])


def two_rows(gap, variance, listed=True, first=(-0.1, -2.0, -9.0)):
    """A beam of two hypotheses: the first adds `first`, the best of the second is `gap` behind the last chosen one."""
    beams = Beams([[2]], SearchSettings(beam=2))
    beams.advance(beams.choose(np.array([[3, 4]]), np.array([[0.0, -1.0]])))
    doubts, more = Doubts(1), np.array([first, [first[1] - gap + 1.0, -20.0, -30.0]])
    rows, flags = np.arange(2), np.full((2, 3), listed)
    doubts.variance = np.zeros(2)
    doubts.advance(beams, beams.choose(WORDS, more, rows), [], rows, more, np.array(variance, float), flags)
    return doubts.unsure[0]


def test_what_is_far_ahead_is_sure():
    assert not two_rows(gap=1.0, variance=[1e-4, 1e-4])


@pytest.mark.parametrize("variance", [[1e-2, 0], [0, 1e-2]])
def test_a_gap_within_six_deviations_is_not(variance):
    assert two_rows(gap=0.55, variance=variance) and not two_rows(gap=0.65, variance=variance)


def test_nor_is_one_that_float32_may_round_otherwise():
    assert two_rows(gap=2e-5, variance=[0, 0]) and not two_rows(gap=1e-4, variance=[0, 0])


def test_every_row_is_a_rival():
    """The first that is left out is of the row of the last chosen one; a third hypothesis is just behind it."""
    first = (-0.1, -2.0, -2.00002)
    assert not two_rows(gap=0.5, variance=[1e-8, 1e-8], first=first)
    assert two_rows(gap=3e-5, variance=[1e-8, 1e-8], first=first)


def test_words_of_one_list_are_in_the_order_of_full_decoding():
    first = (-0.1, -2.0, -2.00001)
    assert not two_rows(gap=1.0, variance=[1e-2, 1e-4], first=first)
    assert two_rows(gap=1.0, variance=[1e-2, 1e-4], first=first, listed=False)


def test_numbers_that_cannot_be_trusted_are_never_sure():
    assert two_rows(gap=5.0, variance=[np.inf, 0]) and two_rows(gap=5.0, variance=[0, np.inf])


def ended(scores_and_paths, variances, n_best=1, penalty=1.0, beam=3):
    """Beams with these hypotheses that have ended: (score, nodes); the variance of each node."""
    beams = Beams([[2]], SearchSettings(beam=beam, n_best=n_best, length_penalty=penalty))
    history = beams.history
    history.words, history.notes = [EOS] * len(variances), [(v,) for v in variances]
    history.origins = [-1] * len(variances)
    for score, path in scores_and_paths:
        for before, node in zip(path, path[1:]):
            history.origins[node] = before
        beams.ended.found.append((0, -score, len(path), path[-1], score * len(path) ** penalty))
    return Doubts(1).at_the_end(beams)[0]


def test_the_best_must_be_clearly_ahead_of_all_others():
    close = [(-1.0, [0, 1]), (-1.0002, [0, 2]), (-1.0004, [3, 4])]
    assert not ended(close, [0] * 5)
    assert ended(close, [0, 0, 0, 1e-6, 0])  # of the third
    assert not ended([(-1.0, [0, 1]), (-1.5, [0, 2])], [1e-2, 0, 0])  # what they share cancels
    assert ended([(-1.0, [0, 1]), (-1.5, [0, 2])], [0, 1e-1, 0])


def test_what_is_shared_does_not_cancel_if_lengths_differ():
    short, long = [0, 1], [0, 2, 3, 4, 5, 6, 7, 8]
    assert ended([(-1.0, short), (-1.01, long)], [1e-4] + [0] * 8)
    assert not ended([(-1.0, short), (-1.01, long)], [1e-4] + [0] * 8, penalty=0.0)


def test_the_order_of_the_best_is_a_decision_too():
    close = [(-1.0, [0]), (-2.0, [1]), (-2.00001, [2])]
    assert ended(close, [0] * 3, n_best=2) and not ended(close, [0] * 3, n_best=1)


def test_nth_of_row():
    assert nth_of_row(np.array([1, 0, 1, 1, 0, 2])).tolist() == [0, 0, 1, 2, 1, 0]
