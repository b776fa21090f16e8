"""decode --workers: the same output, what does not go with it, and no process left behind, however it ends."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.conftest import run_cli
from tests.search.test_workers import needs_proc

CLI = Path(__file__).parents[2] / "cli.py"
TEXT = b"eins zwei.\n\nHund Haus rot.\n   \nvier unbekannt drei!\n" * 7


@pytest.fixture(scope="module")
def expected(tiny_run):
    return run_cli("decode", "-m", tiny_run, stdin=TEXT).out


def test_the_same_lines_from_a_real_command_line(tiny_run, expected):
    """Every worker imports cli.py anew: nothing of it must run there."""
    command = [sys.executable, CLI, "decode", "-m", tiny_run, "--workers", "2", "--batch-size", "3"]
    found = subprocess.run(command, input=TEXT, capture_output=True, check=True)
    assert found.stdout.decode() == expected and found.stderr == b""


def test_the_same_n_best_lists_links_and_words_for_unk(tiny_run, tmp_path):
    found = []
    for more in ([], ["--workers", 1]):
        links = tmp_path / f"links{len(found)}"
        options = ["--n-best", 3, "--alignments", links, "--topn", 5, "--replace-unk", "table", "--batch-size", 4]
        found.append((run_cli("decode", "-m", tiny_run, *options, *more, stdin=TEXT), links.read_text()))
    assert found[0] == found[1] and found[0][0].code == 0


@pytest.mark.parametrize("options", [["--threads", "2"], ["--reference", "text"], ["--workers", "-1"]], ids=str)
def test_what_does_not_go_with_workers(tiny_run, options):
    result = run_cli("decode", "-m", tiny_run, "--workers", 2, *options, stdin=TEXT)
    assert (result.code, result.out) == (2, "") and "--workers" in result.err and options[0] in result.err


def test_no_workers_are_none(tiny_run, expected):
    result = run_cli("decode", "-m", tiny_run, "--workers", 0, stdin=TEXT)
    assert (result.code, result.out) == (0, expected)


# However it ends


class Running:
    """`decode --workers 2` line by line: a process of its own, with its workers and its place for temporary files."""

    def __init__(self, model, directory):
        self.directory = directory
        self.process = subprocess.Popen(
            [sys.executable, CLI, "decode", "-m", model, "--workers", "2", "--batch-size", "1"],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env={**os.environ, "TMPDIR": str(directory)}, start_new_session=True,
        )  # fmt: skip
        self.translate()  # now the workers are there
        self.workers = [pid for pid in children(self.process.pid) if b"spawn_main" in command_line(pid)]
        assert len(self.workers) == 2

    def translate(self):
        self.process.stdin.write(b"eins zwei.\n")
        self.process.stdin.flush()
        return self.process.stdout.readline()

    def end(self, stdin=b""):
        """Its exit code and what it said, once no worker is there and no file is left."""
        _, err = self.process.communicate(stdin, timeout=20)
        deadline = time.monotonic() + 20
        while left := [pid for pid in self.workers if command_line(pid)]:
            assert time.monotonic() < deadline, f"workers {left} are still there"
            time.sleep(0.02)
        assert list(self.directory.iterdir()) == []
        return self.process.returncode, err.decode()


def children(pid):
    """The processes that a process has started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [int(child) for task in tasks for child in (task / "children").read_text().split()]


def command_line(pid):
    """b"" for a process that has ended."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


@pytest.fixture
def running(tiny_run, tmp_path):
    running = Running(tiny_run, tmp_path)
    yield running
    running.process.kill()
    running.process.wait()


@needs_proc
def test_ctrl_c_ends_in_one_word(running):
    os.killpg(running.process.pid, signal.SIGINT)  # as a terminal does: to all of them
    code, err = running.end()
    assert (code, err.strip()) == (130, "error: interrupted")


@needs_proc
def test_workers_do_not_outlive_a_killed_parent(running):
    running.process.kill()
    assert running.end() == (-signal.SIGKILL, "")


@needs_proc
def test_without_a_worker_the_others_go_on_and_without_any_it_says_so(running):
    first = running.translate()
    os.kill(running.workers[0], signal.SIGKILL)
    assert running.translate() == first != b""
    os.kill(running.workers[1], signal.SIGKILL)
    code, err = running.end(b"zwei drei.\n")
    assert code == 1
    warning, error, end = err.split("\n")
    assert warning.startswith(f"warning: worker 1 (process {running.workers[0]}) died ") and "SIGKILL" in warning
    assert error.startswith("error: all 2 workers died") and end == ""
