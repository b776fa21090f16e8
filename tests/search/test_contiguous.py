"""The search hands the kernels contiguous arrays: anything else would compile, and run, a slow second version."""

import numpy as np
import pytest

from minnmt.compiled import find_kernel, reading_mode
from minnmt.nn.list_softmax import list_logits
from minnmt.search.beam import SearchSettings
from minnmt.search.packed import few_rows
from minnmt.search.stages import attend, best_words, gru_cell, read_sentences, readout
from tests.conftest import random_parameters
from tests.search.searches import fast_search


def signatures(kernel):
    """Of all versions that were compiled, for one thread or for several."""
    versions = [kernel.compiled, kernel.shared] if hasattr(kernel, "shared") else [kernel]
    return [signature for version in versions for signature in version.signatures]


@pytest.mark.skipif(reading_mode(), reason="nothing is compiled")
@pytest.mark.parametrize("with_lists", [False, True])
def test_sentences_that_leave_the_batch_do_not_slow_the_others(rng, with_lists):
    params = random_parameters(rng, dtype=np.float32)
    lists = [np.array([0, 1, 3]), np.arange(8)] if with_lists else None
    fast_search([[2, 3], [4, 5, 6, 7, 8, 2]], params, SearchSettings(beam=2), lists)
    functions = [attend, best_words, few_rows, gru_cell, read_sentences, readout] + with_lists * [list_logits]
    for function in functions:
        found = signatures(find_kernel(function.counterpart))
        assert found, function.counterpart
        for argument in (argument for signature in found for argument in signature):
            assert all(getattr(array, "layout", "C") == "C" for array in getattr(argument, "types", (argument,)))
