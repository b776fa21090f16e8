"""Reading mode: the plain program, in the main thread, translates as the fast one does, and Numba stays away."""

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from minnmt.compiled import reading, reading_mode
from minnmt.threads import threads
from tests.conftest import run_cli

ROOT = Path(__file__).parents[2]
TEXT = b"eins zwei.\n\nHund Haus rot.\nvier unbekannt drei!\n"
RUNNER = """
import sys, threading, cli
sys.argv = ["cli.py", *sys.argv[1:]]
cli.main()
print("numba" in sys.modules, threading.active_count(), file=sys.stderr)
"""


def decode(*options, **environment):
    """`decode` in a process of its own -> its translations, and the last line it says."""
    found = subprocess.run(
        [sys.executable, "-c", RUNNER, "decode", *map(str, options)], input=TEXT, cwd=ROOT, capture_output=True,
        env={**os.environ, "MINNMT_KERNELS": "", **environment}, check=True,
    )  # fmt: skip
    return found.stdout.decode(), found.stderr.decode().splitlines()[-1]


@pytest.mark.parametrize("topn", [0, 3])
@pytest.mark.parametrize("way", ["--engine plain", "MINNMT_KERNELS=numpy"])
def test_the_plain_program_translates_as_the_fast_one_without_numba(tiny_run, way, topn):
    options = ["-m", tiny_run, "--topn", topn, "--threads", 2, "--batch-size", 2]
    expected, _ = decode(*options, "--engine", "float32")
    if way == "--engine plain":
        found, said = decode(*options, "--engine", "plain")
    else:
        found, said = decode(*options, MINNMT_KERNELS="numpy")
    assert found == expected and found.count("\n") == 4
    assert said == "False 1"


def test_the_plain_engine_is_left_with_the_command(tiny_run):
    before = reading_mode()
    fast, plain = (run_cli("decode", "-m", tiny_run, "--engine", engine, stdin=TEXT) for engine in ("float32", "plain"))
    assert fast.out == plain.out and fast.code == plain.code == 0
    assert reading_mode() == before


def test_reading_mode_has_one_thread():
    with reading():
        assert reading_mode()
        with threads(3) as each:
            assert set(each(lambda _: threading.get_ident(), range(5))) == {threading.get_ident()}


def test_one_thread_is_this_one():
    with threads(1) as each:
        assert each(lambda a, b: (a + b, threading.get_ident()), [1, 2], [3, 4]) == [
            (4, threading.get_ident()), (6, threading.get_ident())
        ]  # fmt: skip
