"""The array program finds what the plain beam search finds, sentence by sentence."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.model.parameters import map_arrays
from minnmt.search.beam import SearchSettings
from minnmt.text.vocab import EOS
from tests.conftest import random_parameters
from tests.search.searches import fast_search, plain_search

V = 13


@st.composite
def ways(draw):
    """SearchSettings of every kind."""
    beam = draw(st.integers(1, 6))
    penalty, longest = draw(st.sampled_from([0.0, 0.6, 1.0, 2.0])), draw(st.none() | st.integers(0, 9))
    return SearchSettings(beam, penalty, longest, draw(st.integers(1, beam)), draw(st.booleans()))


def draw_network(rng, dtype, factor):
    """A random network whose preferences are clearer with a larger factor."""
    params = map_arrays(lambda a: a * dtype(factor), random_parameters(rng, trg_words=V, dtype=dtype))
    params.softmax.b[EOS] += rng.uniform(-2, 3)
    return params


def draw_list(rng):
    return np.unique([EOS, *rng.integers(1, V, rng.integers(0, V))])


def assert_same(found, expected, tolerance):
    for one, other in zip(found, expected, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        for ours, theirs in zip(one, other):
            np.testing.assert_allclose(ours[1:3], theirs[1:3], rtol=tolerance, atol=tolerance)
            assert (ours.alpha is None) == (theirs.alpha is None)
            if ours.alpha is not None:
                np.testing.assert_allclose(ours.alpha, theirs.alpha, atol=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-9), (np.float32, 3e-4)])
@settings(max_examples=60, deadline=None, derandomize=True)  # float32 may decide a near tie otherwise
@given(
    way=ways(), lengths=st.lists(st.integers(1, 9), min_size=1, max_size=12), factor=st.sampled_from([1.0, 2.0]),
    with_lists=st.booleans(), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_as_the_plain_search(dtype, tolerance, way, lengths, factor, with_lists, seed):
    rng = np.random.default_rng(seed)
    params = draw_network(rng, dtype, factor)
    sentences = [rng.integers(1, 9, length).tolist() for length in lengths]
    lists = [draw_list(rng) for _ in sentences] if with_lists else None
    expected = plain_search(sentences, params, way, lists)
    assert_same(fast_search(sentences, params, way, lists), expected, tolerance)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("beam", range(1, 7))
def test_ties_go_to_the_earlier_hypothesis_then_to_the_lower_word(rng, dtype, beam):
    params = random_parameters(rng, trg_words=V, dtype=dtype)
    params.softmax.W[:] = 0
    params.softmax.b[:] = 0  # all words are equally likely, always
    way = SearchSettings(beam, max_length=3, n_best=beam)
    found = plain_search([[2, 3]], params, way)
    assert_same(fast_search([[2, 3]], params, way), found, 1e-5)
    assert len(found[0]) == beam and found[0][0].ids == []
