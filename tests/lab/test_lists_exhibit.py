"""Lists of a given length."""

import numpy as np
import pytest

from minnmt.lab.reproduce.lists_exhibit import least_n, threshold_for
from minnmt.nn.selection import Selection
from minnmt.search.neural_selector import NeuralSelector
from minnmt.text.batches import pad
from tests.search.test_lists import sharp


@pytest.mark.parametrize(("size", "found"), [(0, 2.25), (3, 3), (11, 11), (29, 29), (30, 29.75)])
def test_a_threshold_gives_lists_of_a_size(rng, size, found):
    """The mean of four sentences; eos and UNK are always there, and one word at least is left out or taken."""
    params, V = sharp(rng, np.float32), 30
    (E,), C = params.trg_embedding.shape[1:], len(params.attention.v)
    layer = Selection(*(rng.standard_normal(shape).astype(np.float32) for shape in ((C, E), (E,), (V,))))
    batches = [[[2, 3, 4], [5]], [[6, 2, 3], [4, 4]]]
    selector = NeuralSelector(params, layer, threshold_for(size, NeuralSelector(params, layer), batches))
    lists = [ids for batch in batches for ids in selector.lists(*pad(batch))]
    assert np.mean([len(ids) for ids in lists]) == found


@pytest.mark.parametrize("least", [1, 2, 3, 7, 8, 63, 99, 100, 1000])
def test_the_least_n_is_found_without_trying_many_more(least):
    tried = []
    assert least_n(lambda n: tried.append(n) or n >= least, 100) == min(least, 100)
    assert max(tried) < 2 * least
