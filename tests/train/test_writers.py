"""A run directory has one writer, and a set-up that was killed is simply started again."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from minnmt.errors import UserError
from minnmt.files import only_writer
from minnmt.train import run as run_module
from tests.conftest import TINY, run_cli, write_toy_text

ROOT = Path(__file__).parent.parent.parent


def test_a_second_writer_is_refused_and_the_first_goes_on(tmp_path):
    with only_writer(tmp_path / "run"):
        with pytest.raises(UserError, match="in use"), only_writer(tmp_path / "run"):
            pass
        (tmp_path / "run" / "file").touch()
    assert sorted(path.name for path in (tmp_path / "run").iterdir()) == ["file"]
    with only_writer(tmp_path / "run"):
        pass


def test_a_directory_in_which_nothing_was_written_disappears(tmp_path):
    with pytest.raises(ZeroDivisionError), only_writer(tmp_path / "run"):
        raise ZeroDivisionError
    assert not (tmp_path / "run").exists()
    (tmp_path / "mine").mkdir()
    with only_writer(tmp_path / "mine"):
        pass
    assert (tmp_path / "mine").exists()


def wait_for(path, process):
    for _ in range(3000):
        if path.exists():
            return
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.02)
    raise AssertionError(f"{path} did not come")


def test_commands_beside_a_running_training_are_refused(tmp_path):
    text, run = write_toy_text(tmp_path, n_train=600), tmp_path / "run"
    options = ["train", *text, "-o", str(run), *TINY, "--bpe", "0"]
    first = subprocess.Popen(
        [sys.executable, "cli.py", *options, "--epochs", "1000", "--patience", "1000", "--save-every", "5"],
        cwd=ROOT, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        wait_for(run / "model.npz", first)
        others = [
            ["train", *text, "-o", run, *TINY, "--overwrite"], ["train", "-o", run, "--resume"],
            ["align", "-m", run, "--frozen", "--overwrite"],
        ]  # fmt: skip
        for command in others:
            result = run_cli(*command)
            assert result.code == 1 and "in use" in result.err and result.err.count("\n") == 1, result.err
        assert first.poll() is None
        first.kill()
        first.wait()
        result = run_cli("train", "-o", run, "--resume", "--epochs", 1)  # death has released the lock
        assert result.code == 0, result.err
    finally:
        first.kill()
        first.wait()


@pytest.mark.parametrize("dies_in", ["make_directory", "remove_leftovers", "save_config"])
def test_a_set_up_that_was_killed_is_started_again(tmp_path, monkeypatch, dies_in):
    text, run = write_toy_text(tmp_path), tmp_path / "run"
    command = ["train", *text, "-o", run, *TINY, "--bpe", 0, "--epochs", 1]

    class Killed(BaseException):
        pass

    def die(*arguments):
        raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(run_module, dies_in, die)
        run_cli(*command)
    result = run_cli("train", "-o", run, "--resume")
    assert result.code == 1 and "without --resume" in result.err
    result = run_cli(*command)
    assert result.code == 0, result.err
    assert not (run / run_module.MAKING).exists()


def test_a_polite_kill_ends_with_130_wherever_it_comes(tmp_path):
    corpus = tmp_path / "text"
    corpus.write_text("ein Haus\n" * 200_000, encoding="utf-8")
    command = ["align", "--method", "model1", "--src", str(corpus), "--trg", str(corpus), "--iterations", "100000"]
    process = subprocess.Popen(
        [sys.executable, "cli.py", *command], cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
    )
    for line in process.stderr:
        if "iteration 2" in line:
            break
    process.send_signal(signal.SIGTERM)
    said = process.stderr.read()
    assert process.wait(timeout=30) == 130 and "interrupted" in said and "Traceback" not in said, said
    assert os.listdir(tmp_path) == ["text"]
