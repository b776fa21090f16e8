"""Reading mode: the plain functions, in the main thread, without Numba; a debugger stops wherever it is asked to."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import write_toy_text

ROOT = Path(__file__).parent.parent.parent
SMALL = "--bpe 0 --embedding 12 --hidden 16 --batch-size 8 --epochs 2 --max-updates 30".split()

ONE_UPDATE = """
import sys, threading
import numpy as np
from minnmt.model.parameters import init_parameters
from minnmt.train.settings import Settings
from minnmt.train.updates import Updater

src = trg = [[2, 3, 4], [5, 6], [4, 4, 7, 2], [3]]
params = init_parameters(9, 9, 6, 7, np.random.default_rng(1))
updater = Updater(params, src, trg, Settings(threads=1))
shares = updater.shares(range(4))
seen, threads = set(), set()

def note(frame, event, argument):
    path = frame.f_code.co_filename.replace("\\\\", "/")
    if "/minnmt/" in path or "/kernels/" in path:
        seen.add(path.split("/minnmt/")[-1])
        threads.add(threading.current_thread())

sys.setprofile(note)
threading.setprofile(note)
updater.update(shares, 0.01)
sys.setprofile(None)
assert threads == {threading.main_thread()}, threads
assert "numba" not in sys.modules
print(" ".join(sorted(seen)))
"""

CLI = """
import sys, atexit, cli
atexit.register(lambda: print("numba" in sys.modules, file=sys.stderr))
sys.argv = sys.argv[1:]
cli.main()
"""


def python(*arguments, reading=True, text=None, **options):
    environment = {**os.environ, "MINNMT_KERNELS": "numpy" if reading else ""}
    return subprocess.run(
        [sys.executable, *map(str, arguments)], cwd=ROOT, env=environment, input=text, capture_output=True, text=True,
        **options,
    )  # fmt: skip


def test_an_update_passes_through_few_files_and_no_thread_but_the_main_one():
    result = python("-c", ONE_UPDATE)
    assert result.returncode == 0, result.stderr
    files = result.stdout.split()
    assert "nn/gru.py" in files and "train/adam.py" in files
    assert len(files) <= 14, files


@pytest.mark.parametrize("reading, place", [
    (True, "minnmt.nn.gru.gru_step_backward"), (True, "minnmt.nn.gru.gru_gates_backward"),
    (True, "minnmt.nn.attention.attention_backward"), (False, "minnmt.nn.gru.gru_sequence_backward"),
    (False, "minnmt.model.decoder.decoder_steps_backward"),
])
def test_the_debugger_stops_in_a_backward(tmp_path, reading, place):
    """Also with kernels, for with one thread there is no pool; the steps of a sequence are one call then."""
    train = ["cli.py", "train", *write_toy_text(tmp_path), *SMALL, "--threads", 1, "-o", tmp_path / "run"]
    commands = f"import {place.rpartition('.')[0]}\nb {place}\nc\nw\nq\n"
    result = python("-m", "pdb", *train, reading=reading, text=commands)
    function = place.rpartition(".")[2]
    assert f"{function}(" in result.stdout and "loop.py" in result.stdout, result.stdout[-2000:] + result.stderr[-2000:]


def test_a_run_from_text_to_translations_without_numba(tmp_path):
    """Train, count, decode and audit; the losses are those of the compiled run."""
    text, losses, outputs = write_toy_text(tmp_path), [], []
    for reading in (True, False):
        run = tmp_path / f"run-{reading}"
        options = ["cli.py", "train", *text, "--bpe", 0, "--embedding", 12, "--hidden", 16, "--batch-size", 8]
        result = python("-c", CLI, *options, "--threads", 1, "--epochs", 3, "-o", run, reading=reading)
        assert result.returncode == 0, result.stderr
        assert result.stderr.splitlines()[-1] == str(not reading)
        rows = [line.split("\t") for line in (run / "log.tsv").read_text().splitlines()]
        losses.append([float(row[rows[0].index("train_loss")]) for row in rows[1:]])
        decode = ["cli.py", "decode", "-m", run, "--topn", 5]
        result = python("-c", CLI, *decode, reading=reading, text="zwei rot Hund.\n\neins")
        assert result.returncode == 0 and result.stderr.splitlines()[-1] == str(not reading), result.stderr
        outputs.append(result.stdout)
    assert losses[0] == pytest.approx(losses[1], rel=1e-3)
    assert outputs[0] == outputs[1] and outputs[0].count("\n") == 3
