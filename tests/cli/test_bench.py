"""The command bench: what it prints, what it writes, and what it refuses."""

import json
import sys

import pytest

from tests.conftest import run_cli, write_toy_text
from tests.lab.test_bench import shrink


@pytest.fixture
def tiny(monkeypatch):
    shrink(monkeypatch)


def test_tables_and_json(tiny, tmp_path):
    path = tmp_path / "bench.json"
    result = run_cli("bench", "decode", "count", "--size", "small", "--repeats", 2, "--threads", 1, "--json", path)
    assert result.code == 0, result.err
    headlines = [line for line in result.out.splitlines() if line.startswith("== ")]
    assert [line.split(":")[0] for line in headlines] == ["== machine", "== decode", "== decode", "== count"]
    assert "top-100" in result.out and " to " in result.out
    record = json.loads(path.read_text())
    assert [table["section"] for table in record["tables"]] == ["machine", "decode", "decode", "count"]
    assert record["settings"]["threads"] == 1 and record["machine"]["numba"] and "torch" not in record["machine"]
    assert all(len(row["seconds_per_sentence"]) == 2 for row in record["tables"][1]["rows"])


def test_json_on_stdout_leaves_the_tables_to_stderr(tiny):
    result = run_cli("bench", "machine", "--size", "small", "--repeats", 1, "--json", "-")
    assert result.code == 0 and json.loads(result.out)["tables"][0]["section"] == "machine"
    assert "sgemm" in result.err


def test_the_aligner_reads_files(tiny, tmp_path):
    write_toy_text(tmp_path, n_train=20)
    sides = ["--src", tmp_path / "train.src", "--trg", tmp_path / "train.trg"]
    result = run_cli("bench", "count", "--size", "small", "--repeats", 1, "--threads", 1, *sides)
    assert result.code == 0 and "fastalign, 20 pairs" in result.out


@pytest.mark.parametrize("ending", ["svg", "png"])
def test_the_plot(tiny, tmp_path, ending):
    pytest.importorskip("matplotlib")
    path = tmp_path / f"growth.{ending}"
    result = run_cli("bench", "growth", "--size", "small", "--repeats", 1, "--threads", 1, "--plot", path)
    assert result.code == 0, result.err
    data = path.read_bytes()
    assert b"<svg" in data if ending == "svg" else data.startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "options, message",
    [
        (["speed"], "'speed'"),
        (["--repeats", 0], "--repeats"),
        (["--peer", "jax"], "--peer"),
        (["--src", "a"], "go together"),
        (["decode", "--src", "a", "--trg", "b"], "count"),
        (["count", "--peer", "torch"], "decode or train"),
        (["--plot", "growth.svg"], "growth"),
        (["growth", "--plot", "growth.gif"], ".svg or .png"),
    ],
)
def test_what_does_not_go_together_is_refused(options, message):
    result = run_cli("bench", *options)
    assert result.code == 2 and message in result.err and result.out == ""


@pytest.mark.parametrize(
    "options, package", [(["decode", "--peer", "torch"], "torch"), (["growth", "--plot", "x.svg"], "matplotlib")]
)
def test_what_is_not_installed_is_said_before_any_work(monkeypatch, options, package):
    monkeypatch.setitem(sys.modules, package, None)  # as if it were not there
    monkeypatch.setitem(sys.modules, f"{package}.figure", None)
    result = run_cli("bench", *options)
    assert result.code == 1 and f"pip install {package}" in result.err and result.out == ""


def test_outputs_are_checked_before_any_work(tmp_path):
    result = run_cli("bench", "--json", tmp_path / "none" / "bench.json")
    assert result.code == 1 and "cannot write" in result.err and result.out == ""
    (tmp_path / "a").write_text("x\n")
    sides = ["--src", tmp_path / "a", "--trg", tmp_path / "b"]
    assert run_cli("bench", *sides, "--json", tmp_path / "a").code == 2
