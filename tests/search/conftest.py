"""A model of a few letters, for the tests that go from lines to lines."""

import numpy as np
import pytest

from minnmt.model.directory import Model
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import Vocab
from tests.conftest import random_parameters
from tests.search.searches import fast_search, plain_search

WORDS = ["eos", "UNK", *"abcdefg"]


@pytest.fixture
def model(rng):
    params = random_parameters(rng, len(WORDS), len(WORDS), embedding=6, hidden=8, dtype=np.float32)
    params.softmax.W *= 4
    side = Pipeline(Vocab(WORDS))
    return Model(params, side, side, {})


@pytest.fixture(params=[plain_search, fast_search])
def search(request):
    """Both searches, for the tests that hold for either."""
    return request.param
