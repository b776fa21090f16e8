"""The counters in a checkpoint are held to the limits of those that training writes."""

import json
import math
import shutil

import numpy as np
import pytest

from minnmt.arrays import ArrayFile, as_json_array, save_arrays
from minnmt.errors import UserError
from minnmt.train.checkpoint import LOG, Progress, read_progress
from tests.conftest import run_cli


def progress_in(path, **changes):
    """Write a file with nothing but a Progress, some of it changed; read it."""
    row = {name: 1 for name in LOG}
    record = {**vars(Progress(learning_rate=0.1, log=[row])), **changes}
    save_arrays(path / "progress.npz", {"progress": as_json_array(record)})
    with ArrayFile(path / "progress.npz") as file:
        return read_progress(file)


def test_what_training_writes_is_read(tmp_path):
    assert progress_in(tmp_path).best_perplexity == math.inf
    assert progress_in(tmp_path, log=[]).log == []


@pytest.mark.parametrize("name, value", [
    ("epoch", 0), ("epoch", 2**31), ("n_updates", 10**400), ("n_updates", -1), ("n_updates", True), ("position", 1.5),
    ("seconds", math.inf), ("seconds", 10**400), ("learning_rate", math.nan), ("learning_rate", math.inf),
    ("best_bleu", -2), ("best_perplexity", -math.inf), ("best_perplexity", "inf"), ("epoch_nll", 10**400),
    ("log", None), ("log", [3]), ("log", [{}]), ("log", [{name: 1 for name in [*LOG, "\ud800"]}]),
    ("log", [{**{name: 1 for name in LOG}, "seconds": 10**400}]), ("other", 1),
])  # fmt: skip
def test_numbers_that_no_run_can_have_are_refused(tmp_path, name, value):
    with pytest.raises(UserError, match="its progress is damaged"):
        progress_in(tmp_path, **{name: value})


def test_resuming_from_such_a_checkpoint_is_one_sentence(tiny_run, tmp_path):
    run = shutil.copytree(tiny_run, tmp_path / "run")
    with np.load(run / "checkpoint.npz") as file:
        arrays = {name: file[name] for name in file.files}
    record = json.loads(arrays["progress"].tobytes())
    arrays["progress"] = as_json_array({**record, "seconds": 10**400})
    save_arrays(run / "checkpoint.npz", arrays)
    result = run_cli("train", "-o", run, "--resume", "--epochs", 5)
    assert result.code == 1 and result.err.count("\n") == 1 and "checkpoint.npz" in result.err, result.err
