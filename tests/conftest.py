"""Shared by all tests: a small random network, a batch with a masked row, random generators."""

from pathlib import Path

import numpy as np
import pytest

from minnmt.model.parameters import init_parameters, map_arrays

DATA = Path(__file__).parent / "data"


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def golden():
    with np.load(DATA / "cgru_tiny.npz") as file:
        return {name: file[name] for name in file.files}


def random_parameters(rng, src_words=9, trg_words=8, embedding=3, hidden=4, dtype=np.float64):
    """A tiny network with random non-zero biases, all sizes different."""
    params = init_parameters(src_words, trg_words, embedding, hidden, rng)
    return map_arrays(lambda a: (a + 0.3 * rng.standard_normal(a.shape)).astype(dtype), params)
