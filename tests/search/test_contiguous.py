"""The search hands the kernels contiguous arrays: anything else would compile, and run, a slow second version."""

import numpy as np
import pytest

from kernels.attention import attention_energy
from kernels.decoding import attend, best_words, gru_cell, read_sentences, readout
from kernels.jit import USE_NUMPY
from kernels.products import few_rows
from minnmt.search.beam import SearchSettings, beam_search
from tests.conftest import random_parameters


@pytest.mark.skipif(USE_NUMPY, reason="MINNMT_KERNELS=numpy: nothing is compiled")
def test_sentences_that_leave_the_batch_do_not_slow_the_others(rng, engine):
    params = random_parameters(rng, dtype=np.float32)
    beam_search([[2, 3], [4, 5, 6, 7, 8, 2]], engine(params), SearchSettings(beam=2))
    kernels = [attention_energy, attend, best_words, few_rows, gru_cell, read_sentences, readout]
    for signature in {signature for kernel in kernels for signature in kernel.compiled.signatures}:
        for argument in signature:
            assert all(getattr(array, "layout", "C") == "C" for array in getattr(argument, "types", (argument,)))
