"""Real kills: a run that was killed, interrupted or paused ends in the same bits as one that was left alone."""

import json
import os
import random
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.conftest import run_cli, write_toy_text

CLI = Path(__file__).parents[2] / "cli.py"
OPTIONS = (
    "--embedding 12 --hidden 16 --bpe 60 --batch-size 8 --learning-rate 0.01 --dropout 0.2 --threads 2 --epochs 3 "
    "--precision float32"
).split()
SAVE = ["--save-every", "3"]


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The options that name a text of 40 updates an epoch."""
    return write_toy_text(tmp_path_factory.mktemp("text"), n_train=320, n_dev=10)


@pytest.fixture(scope="module")
def untouched(text, tmp_path_factory):
    """The directory of a run without any break; read it, do not change it."""
    run = tmp_path_factory.mktemp("untouched") / "run"
    result = run_cli("train", *text, "-o", run, *OPTIONS, *SAVE)
    assert result.code == 0, result.err
    return run


def final_state(run):
    """Every bit that a run leaves behind, without the seconds that it took."""
    state = {}
    for name in ("checkpoint.npz", "model.npz"):
        with np.load(run / name) as file:
            state.update({f"{name}:{key}": file[key].tobytes() for key in file.files if key != "progress"})
            if "progress" in file.files:
                progress = json.loads(file["progress"].tobytes())
    for row in [progress, *progress["log"]]:
        row.pop("seconds")
    state["progress"] = progress
    state["log.tsv"] = [line.rsplit("\t", 1)[0] for line in (run / "log.tsv").read_text().splitlines()]
    for path in run.glob("alignments*.npz"):
        with np.load(path) as file:
            state.update({f"{path.name}:{key}": file[key].tobytes() for key in file.files})
    for name in ("vocab.src.json", "vocab.trg.json", "bpe.src.codes", "bpe.trg.codes"):
        state[name] = (run / name).read_bytes()
    return state


def assert_same_bits(run, untouched):
    found, expected = final_state(run), final_state(untouched)
    different = [name for name in expected if found.get(name) != expected[name]]
    assert not different, f"not the bits of the run without a break: {different}"


def start(*arguments):
    return subprocess.Popen(
        [sys.executable, str(CLI), "train", *map(str, arguments), *SAVE], stderr=subprocess.PIPE, text=True
    )


def wait_until(condition, process):
    """Poll quickly; False when the process ended first."""
    while not condition():
        if process.poll() is not None:
            return False
        time.sleep(0.0002)
    return True


def checkpoint_time(run):
    try:
        return os.stat(run / "checkpoint.npz").st_mtime_ns
    except FileNotFoundError:
        return 0


def being_written(run):
    """Is the temporary file of a checkpoint there, not yet renamed?"""
    return any(name.startswith(".checkpoint.npz") for name in os.listdir(run))


def kill_at(moment, run, process, rng):
    """kill -9: while files are first written, while a checkpoint is, or some time after the next one."""
    if moment == "writing":
        reached = wait_until(lambda: checkpoint_time(run) and being_written(run), process)
    elif moment == "starting":
        reached = wait_until((run / "vocab.src.json").exists, process)
    else:
        before = checkpoint_time(run)
        reached = wait_until(lambda: checkpoint_time(run) > before, process)
        time.sleep(rng.uniform(0, 0.08))
    process.kill()
    process.communicate()
    return reached


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_again_and_again(text, untouched, tmp_path, seed):
    run, rng = tmp_path / "run", random.Random(seed)
    moments = ["starting", "writing", "training", "writing", "training"]
    rng.shuffle(moments)
    kills = 0
    for moment in moments:
        begun = (run / "config.json").exists()
        process = start("-o", run, "--resume") if begun else start(*text, "-o", run, *OPTIONS, "--overwrite")
        kills += kill_at(moment, run, process, rng)
    assert kills >= 3
    result = run_cli("train", "-o", run, "--resume", *SAVE)
    assert result.code == 0, result.err
    assert_same_bits(run, untouched)


def test_a_kill_while_writing_leaves_no_rubbish_for_ever(text, tmp_path):
    run = tmp_path / "run"
    process = start(*text, "-o", run, *OPTIONS)
    for _ in range(3):  # the kill may come just after the renaming
        assert kill_at("writing", run, process, random.Random(1))
        if being_written(run):
            break
        process = start("-o", run, "--resume")
    assert run_cli("train", "-o", run, "--resume", *SAVE).code == 0
    assert not [path.name for path in run.iterdir() if path.name.endswith(".tmp")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted(text, untouched, tmp_path, number):
    run = tmp_path / "run"
    process = start(*text, "-o", run, *OPTIONS)
    assert wait_until(lambda: checkpoint_time(run), process)
    process.send_signal(number)
    _, err = process.communicate()
    assert process.returncode == 130
    assert f"train -o {run} --resume" in err and "Traceback" not in err
    assert run_cli("train", "-o", run, "--resume", *SAVE).code == 0
    assert_same_bits(run, untouched)


def test_interrupted_before_training_began(text, tmp_path):
    process = start(*text, "-o", tmp_path / "run", *OPTIONS)
    process.stderr.readline()  # reading the parallel text
    process.send_signal(signal.SIGINT)
    _, err = process.communicate()
    assert process.returncode == 130 and "Traceback" not in err


def test_paused_by_a_number_of_updates(text, untouched, tmp_path):
    run = tmp_path / "run"
    for limit in (7, 40, 41, 95):  # in the middle of an epoch, at its end, just after it, in the last one
        more = ["-o", run, "--resume"] if limit > 7 else [*text, "-o", run, *OPTIONS]
        result = run_cli("train", *more, "--max-updates", limit, *SAVE)
        assert result.code == 0 and f"train -o {run} --resume" in result.err
    assert run_cli("train", "-o", run, "--resume", *SAVE).code == 0
    assert_same_bits(run, untouched)


def test_resuming_a_finished_run_changes_nothing(untouched, tmp_path):
    run = Path(shutil.copytree(untouched, tmp_path / "run"))
    assert run_cli("train", "-o", run, "--resume", *SAVE).code == 0
    assert_same_bits(run, untouched)


def test_more_epochs_on_request(text, untouched, tmp_path):
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *OPTIONS, "--epochs", 1, *SAVE).code == 0
    assert run_cli("train", "-o", run, "--resume", "--epochs", 3, *SAVE).code == 0
    assert_same_bits(run, untouched)


def test_in_bfloat16_a_run_ends_in_the_same_bits_and_others_than_in_float32(text, untouched, tmp_path):
    """Its losses are close to those of float32; --resume takes the precision from the run."""
    runs = [tmp_path / name for name in ("whole", "paused")]
    bf16 = [*OPTIONS, "--precision", "bf16"]
    assert run_cli("train", *text, "-o", runs[0], *bf16, *SAVE).code == 0
    assert run_cli("train", *text, "-o", runs[1], *bf16, "--max-updates", 50, *SAVE).code == 0
    assert run_cli("train", "-o", runs[1], "--resume", *SAVE).code == 0
    assert_same_bits(runs[1], runs[0])
    losses = []
    for run in (runs[0], untouched):
        names, *rows = (line.split("\t") for line in (run / "log.tsv").read_text().splitlines())
        losses.append([float(row[names.index("train_loss")]) for row in rows])
    assert len(losses[0]) == 3 and losses[0] != losses[1]
    np.testing.assert_allclose(*losses, rtol=0.02)
