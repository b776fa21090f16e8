"""A translation depends on its sentence alone: not on its neighbours, the batches, the threads or the engine."""

import pytest

from tests.faults.shuffles import compare


def test_shuffled_sentences(tiny_run):
    ways, different = compare(tiny_run, 40, seed=3, n_ways=3)
    assert ways == 6 and not different, different[:3]


@pytest.mark.slow
def test_a_thousand_shuffled_sentences(tiny_run):
    ways, different = compare(tiny_run, 1000, seed=4, n_ways=9)
    assert ways == 18 and not different, different[:3]
