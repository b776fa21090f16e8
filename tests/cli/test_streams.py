"""Lines as they come: bad ones, slow ones, long ones, and files of which little is in memory."""

import gzip
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minnmt.streams import Copied, line_chunks
from tests.conftest import run_cli

ROOT = Path(__file__).parents[2]
GOOD, BAD = b"zwei rot.\n", b"sch\xf6n\n"


@pytest.mark.parametrize("from_file", [False, True])
def test_what_came_before_a_bad_line_is_written_first(tiny_run, tmp_path, from_file):
    text = GOOD * 300 + BAD + GOOD * 300
    (tmp_path / "text").write_bytes(text)
    options = ["-i", tmp_path / "text"] if from_file else []
    result = run_cli("decode", "-m", tiny_run, *options, stdin=text)
    assert result.code == 1 and result.out.count("\n") == 300
    assert "line 301: not UTF-8 text (byte 0xf6)" in result.err


@pytest.mark.parametrize("way, found", [("blank", ""), ("copy", b"sch\xf6n")])
def test_a_bad_line_can_be_passed_over(tiny_run, tmp_path, way, found):
    command = [sys.executable, "cli.py", "decode", "-m", str(tiny_run), "--on-bad-line", way]
    result = subprocess.run(command, cwd=ROOT, input=GOOD + BAD + GOOD, capture_output=True)
    lines = result.stdout.split(b"\n")
    assert result.returncode == 0 and len(lines) == 4 and lines[1] == (found or b"")
    assert lines[0] == lines[2] != b"" and b"line 2: not UTF-8" in result.stderr


def test_a_bad_line_and_a_file_that_is_not_written(tiny_run, tmp_path):
    result = run_cli("decode", "-m", tiny_run, "-o", tmp_path / "out", stdin=GOOD + BAD)
    assert result.code == 1 and os.listdir(tmp_path) == []


def test_an_answer_does_not_wait_for_other_lines(tiny_run):
    """One line into a pipe that stays open: its translation comes all the same."""
    command = [sys.executable, "cli.py", "decode", "-m", str(tiny_run)]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        for _ in range(2):
            process.stdin.write(GOOD)
            process.stdin.flush()
            assert process.stdout.readline().strip()
        process.stdin.close()
        assert process.wait() == 0


def test_chunks_of_a_file_and_of_a_packed_one(tmp_path):
    (tmp_path / "text").write_bytes(b"a\r\nb\n\nc")
    (tmp_path / "text.gz").write_bytes(gzip.compress(b"a\r\nb\n\nc"))
    for name in ("text", "text.gz"):
        assert list(line_chunks(str(tmp_path / name), 2)) == [["a", "b"], ["", "c"]]
    assert isinstance(next(line_chunks(str(write(tmp_path, BAD)), 1, "copy", lambda text: None))[0], Copied)


def write(directory, data):
    (directory / "bad").write_bytes(data)
    return directory / "bad"


def test_a_packed_bomb_is_read_line_by_line(tiny_run, tmp_path):
    """300 MB of lines in 300 KB: memory stays where it was."""
    line = b"Haus\tdog\t-1\n"
    with gzip.open(tmp_path / "bomb.gz", "wb", compresslevel=9) as file:
        for _ in range(250):
            file.write(line * 10_000)
    code = (
        "import sys, resource, cli; resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30)); "
        "sys.argv = ['cli.py', *sys.argv[1:]]; cli.main()"
    )
    command = [sys.executable, "-c", code, "candidates", "lint", str(tmp_path / "bomb.gz"), "-m", str(tiny_run)]
    result = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert result.returncode == 1 and "problem" in result.stderr


def test_a_line_without_an_end_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr("minnmt.streams.MOST_BYTES", 1000)
    with pytest.raises(Exception, match="line 2: it has more than"):
        list(line_chunks(str(write(tmp_path, b"a\n" + b"b" * 2000)), 10))


@pytest.mark.parametrize("engine", ["int8", "float32", "plain"])
def test_weights_that_overflow_are_one_sentence(tiny_run, tmp_path, engine):
    shutil.copytree(tiny_run, tmp_path / "run")
    with np.load(tmp_path / "run" / "model.npz") as file:
        arrays = {name: np.full_like(file[name], 3e38) for name in file.files}
    np.savez(tmp_path / "run" / "model.npz", **arrays)
    for command in (["decode", "--engine", engine], ["audit"]):
        result = run_cli(*command, "-m", tmp_path / "run", "-i", write(tmp_path, GOOD))
        assert result.code == 1 and "no finite number" in result.err, result.err


def test_the_installed_program_names_itself(tmp_path):
    code = "import sys, cli; sys.argv = ['/usr/bin/minnmt', *sys.argv[1:]]; cli.main()"
    command = [sys.executable, "-c", code, "decode", "-m", str(tmp_path / "none")]
    said = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, stdin=subprocess.DEVNULL).stderr
    assert "minnmt train -o" in said and "cli.py" not in said


def test_packed_output_is_the_same_every_time(tiny_run, tmp_path):
    for name in ("a.gz", "b.gz"):
        assert run_cli("decode", "-m", tiny_run, "-o", tmp_path / name, stdin=GOOD).code == 0
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_what_came_before_a_cut_is_written_first(tiny_run, tmp_path):
    data = gzip.compress(GOOD * 2000, compresslevel=0)
    (tmp_path / "cut.gz").write_bytes(data[: len(data) // 2])
    result = run_cli("decode", "-m", tiny_run, "-i", tmp_path / "cut.gz")
    assert result.code == 1 and result.out.count("\n") > 500 and "not a complete gzip file" in result.err


@pytest.mark.parametrize("scored", [True, False])
def test_standard_output_by_another_name_is_appended_to(tiny_run, tmp_path, scored):
    (tmp_path / "log").write_text("old\n")
    (tmp_path / "text").write_bytes(GOOD)
    names = ["-m", tiny_run, "-i", tmp_path / "text", *(["--reference", tmp_path / "text"] if scored else [])]
    with open(tmp_path / "log", "a") as log:
        command = [sys.executable, "cli.py", "decode", *map(str, names), "-o", "/dev/stdout"]
        subprocess.run(command, cwd=ROOT, stdout=log, check=True)
    lines = (tmp_path / "log").read_text().splitlines()
    assert lines[0] == "old" and len(lines) == 2


def test_more_units_than_any_sentence_has_are_left_out(tiny_run, monkeypatch):
    monkeypatch.setattr("minnmt.search.translate.LONGEST", 5)
    result = run_cli("decode", "-m", tiny_run, stdin=b"rot blau rot blau rot blau rot.\n")
    assert result.code == 0 and result.out.count("\n") == 1 and "the last 3 of its units are left out" in result.err


def test_a_very_long_line_shows_a_sign_of_life(tiny_run):
    result = run_cli("decode", "-m", tiny_run, "--max-length", 1, stdin=b"rot " * 1500 + b"\n")
    assert result.code == 0 and "line 1 has 6,000 characters" in result.err
