"""Where an update's time goes: every stage is booked, and never more time than the threads had."""

import time

import numpy as np
import pytest

from minnmt.profile import end_profile, start_profile
from minnmt.train.gradients import Workers
from minnmt.train.loop import gradient_step
from tests.train.toy import toy_run

STAGES = {"encoder", "GRU", "attention", "readout", "softmax", "bookkeeping", "Adam"}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_update_is_booked_by_stage(tmp_path, threads):
    run = toy_run(tmp_path, threads=threads)
    with Workers(run.params, threads) as workers:
        gradient_step(run, np.arange(8), workers)  # compiles
        start_profile()
        began = time.perf_counter()
        for _ in range(5):
            gradient_step(run, np.arange(8), workers)
        elapsed = time.perf_counter() - began
        seconds = end_profile()
    assert STAGES <= set(seconds) <= STAGES | {"selection"}
    assert 0.4 * elapsed < sum(seconds.values()) < (threads + 0.1) * elapsed
