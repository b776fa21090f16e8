"""MINNMT_KILLS times (20 if it is not set) kill -9 of a random rank: all end, and the run ends in the same bits."""

import os
import time

import numpy as np
import pytest

from tests.conftest import run_cli
from tests.test_ranks import OPTIONS, SAVE, kill_one, mpiexec, outcome, text, untouched  # noqa: F401
from tests.train.test_resume import assert_same_bits

SEED = int(os.environ.get("MINNMT_FUZZ_SEED", 1))


@pytest.mark.slow
def test_any_rank_is_killed_at_any_moment(text, untouched, tmp_path):  # noqa: F811
    rng, seconds = np.random.default_rng(SEED), []
    for number in range(int(os.environ.get("MINNMT_KILLS", 20))):
        run = tmp_path / f"run{number}"
        arguments = ["train", *text, "-o", run, *OPTIONS, "--overwrite"]
        found = None
        while not found:  # it may have ended before
            process = mpiexec(int(rng.integers(2, 5)), *arguments)
            late = rng.random() < 0.8
            while late and process.poll() is None and not (run / "checkpoint.npz").exists():
                time.sleep(0.01)
            time.sleep(rng.uniform(0, 0.5))
            found = kill_one(process, rng)
        seconds.append(found[0])
        print(f"kill {number + 1}: {found[0]:.2f} s; {found[1].splitlines()[-1][:80]}", flush=True)
        more = ["-o", run, "--resume", *SAVE] if (run / "config.json").exists() else arguments[1:]
        if number % 2:
            result = run_cli("train", *more)
            assert result.code == 0, result.err
        else:
            code, err = outcome(mpiexec(2, "train", *more))
            assert code == 0, err
        assert_same_bits(run, untouched)
    assert max(seconds) < 10
