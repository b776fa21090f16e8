"""The search hands the kernels contiguous arrays: anything else would compile, and run, a slow second version."""

import numpy as np
import pytest

from minnmt.compiled import find_kernel, reading_mode
from minnmt.search.beam import SearchSettings
from minnmt.search.packed import fill_tiles, product
from minnmt.search.stages import annotate, decoder_step
from tests.conftest import random_parameters
from tests.search.searches import fast_search


def arrays(kind):
    """The types in a signature, those in named tuples too."""
    return [one for each in kind.types for one in arrays(each)] if hasattr(kind, "types") else [kind]


@pytest.mark.skipif(reading_mode(), reason="nothing is compiled")
@pytest.mark.parametrize("with_lists", [False, True])
def test_sentences_that_leave_the_batch_do_not_slow_the_others(rng, with_lists):
    params = random_parameters(rng, dtype=np.float32)
    lists = [np.array([0, 1, 3]), np.arange(8)] if with_lists else None
    fast_search([[2, 3], [4, 5, 6, 7, 8, 2]], params, SearchSettings(beam=2), lists)
    for function in (annotate, decoder_step, product, fill_tiles):
        found = find_kernel(function.counterpart).signatures
        assert found, function.counterpart
        for argument in (argument for signature in found for argument in signature):
            assert all(getattr(array, "layout", "C") == "C" for array in arrays(argument))
