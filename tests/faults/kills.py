"""kill -9 at any moment of a real training, again and again, until a run has come to its end."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from tests.conftest import run_cli, write_toy_text
from tests.faults.inject import leftovers
from tests.train.test_resume import final_state

ROOT = Path(__file__).parents[2]
OPTIONS = "--embedding 12 --hidden 16 --bpe 40 --batch-size 8 --learning-rate 0.01 --dropout 0.2 --threads 2".split()
EPOCHS = ["--epochs", "4", "--align-from-epoch", "1"]
SAVE = ["--save-every", "3"]


class Killing:
    """Runs that are killed at random moments, compared with one that was left alone."""

    def __init__(self, place, seed, n_train=640):
        self.place, self.rng = Path(place), np.random.default_rng(seed)
        self.text = write_toy_text(self.place, n_train=n_train, n_dev=20)
        self.untouched = self.place / "untouched"
        result = run_cli("train", *self.text, "-o", self.untouched, *OPTIONS, *EPOCHS, *SAVE)
        assert result.code == 0, result.err
        self.expected = final_state(self.untouched)
        self.moments, self.n_runs = Counter(), 0  # how far a run had come when it was killed

    @property
    def n_kills(self):
        return sum(self.moments.values())

    def one_run(self, most, cold=False):
        """Kill a run up to `most` times on its way, then let it end; its bits must be the expected ones."""
        run = self.place / f"run{self.n_runs}"
        for _ in range(most):
            if self.start_and_kill(run, cold) is None:
                break
        for _ in range(2):  # the first may have been the end of a run that was never begun
            result = run_cli("train", *self.arguments(run))
            assert result.code == 0, result.err
        found = final_state(run)
        different = [name for name in self.expected if found.get(name) != self.expected[name]]
        assert not different, f"{run} does not have the bits of the run that was left alone: {different}"
        assert not leftovers(run), leftovers(run)
        shutil.rmtree(run)
        self.n_runs += 1

    def arguments(self, run):
        begun = (run / "config.json").exists()
        return [*(["--resume"] if begun else [*self.text, *OPTIONS, *EPOCHS]), "-o", str(run), *SAVE]

    def start_and_kill(self, run, cold):
        """-> where it was killed, None if it had ended before."""
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, **({"NUMBA_CACHE_DIR": cache} if cold else {})}
            command = [sys.executable, "cli.py", "train", *self.arguments(run)]
            process = subprocess.Popen(command, cwd=ROOT, env=environment, stderr=subprocess.PIPE)
            before = written(run)
            self.wait(run, process)
            ended = process.poll() is not None
            process.kill()
            err = process.communicate()[1].decode()
        assert "Traceback" not in err and "error:" not in err, err
        if ended:
            return None
        self.moments[moment := where(run, before)] += 1
        return moment

    def wait(self, run, process):
        """Until the process has a checkpoint of its own, and a little longer; or only for some time from its start."""
        before = written(run)
        if self.rng.random() < 0.4:
            time.sleep(self.rng.uniform(0, 4))
            return
        while process.poll() is None and written(run) == before:
            time.sleep(0.001)
        time.sleep(self.rng.exponential(0.15))


def written(run):
    try:
        return os.stat(run / "checkpoint.npz").st_mtime_ns
    except FileNotFoundError:
        return 0


def where(run, before):
    """How far a process has come that found a run with a checkpoint of the time `before`, or with none."""
    if not (run / "config.json").exists():
        return "before or during set-up"
    if any(path.name.endswith(".tmp") for path in run.iterdir()):
        return "while a file was written"
    return "before its first checkpoint" if written(run) == before else "after a checkpoint"


def kill_many(place, seed, n_kills, tell=None):
    """-> a Killing with that many kills behind it, every tenth run with an empty cache of kernels."""
    killing = Killing(place, seed)
    while killing.n_kills < n_kills:
        most = min(int(killing.rng.integers(1, 6)), n_kills - killing.n_kills)
        killing.one_run(most, cold=killing.n_runs % 10 == 1)
        if tell:
            tell(f"{killing.n_kills} kills, {killing.n_runs} runs: {dict(killing.moments)}")
    return killing
