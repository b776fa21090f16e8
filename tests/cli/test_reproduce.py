"""The command reproduce: every exhibit on a toy language, finished work not done again, and what it refuses."""

import json

import pytest

from minnmt.report.reproduce import exhibits, lab
from tests.conftest import run_cli, write_toy_text

SMALL = (
    "--bpe 12 --embedding 12 --hidden 16 --batch-size 8 --threads 1 --learning-rate 0.01 --epochs 2 "
    "--speed-sentences 3 --repeats 2"
).split()
FILES = {
    name: (".md", ".tsv", ".json", *((".png",) if name == "epochs-figure" else ())) for name in exhibits.EXHIBITS
}  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_toy_text(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def done(text, tmp_path_factory):
    """All exhibits of the toy language: the directory, and what the command said."""
    pytest.importorskip("matplotlib")
    directory = tmp_path_factory.mktemp("lab")
    result = run_cli("reproduce", "all", *text, *SMALL, "-o", directory)
    assert result.code == 0, result.err
    return directory, result


def record(directory, name):
    return json.loads((directory / f"{name}.json").read_text())


def test_every_exhibit_is_written(done):
    directory, result = done
    for name, endings in FILES.items():
        for ending in endings:
            assert (directory / (name + ending)).exists() == (name != "iten-table"), name + ending
    assert result.out.count("== ") == len(FILES) - 1
    assert (directory / "epochs-figure.png").read_bytes().startswith(b"\x89PNG")


def test_tables_hold_together(done):
    directory, _ = done
    for name in FILES.keys() - {"iten-table"}:
        found = record(directory, name)
        lines = (directory / f"{name}.tsv").read_text().splitlines()
        assert len(lines) == len(found["rows"]) + 1 and len({line.count("\t") for line in lines}) == 1
        text = (directory / f"{name}.md").read_text()
        assert sum(line.startswith("| ") for line in text.splitlines()) == len(lines) + 1
        assert "python cli.py" in text and found["machine"]["numpy"] and found["settings"]["hidden"] == 16
        assert "/" not in found["settings"]["src"]  # names of texts, not places on a machine


def test_table_1(done):
    rows = record(done[0], "deen-table")["rows"]
    assert [row["model"] for row in rows] == ["bpe"] * 13 + ["words"] * 13
    assert [(row["lists"], row.get("n")) for row in rows[:3]] == [("full", None), ("scratch", 20), ("scratch", 50)]
    for row in rows:
        assert len(row["seconds"]["alone"]) == len(row["seconds"]["batches"]) == 2
        assert row["list"] is None or 2 <= row["list"] <= 40
    cells = [line.split("\t") for line in (done[0] / "deen-table.tsv").read_text().splitlines()]
    assert [row[-2:] for row in cells if row[2] == "100"] == 3 * [["3.1", "43"]] + 3 * [["7.0", "32"]]


def test_the_other_exhibits(done):
    directory, _ = done
    assert [row["epoch"] for row in record(directory, "epochs-figure")["rows"]] == [1, 2]
    thresholds = record(directory, "threshold-table")["rows"]
    cells = [row["cells"] for row in thresholds]
    assert cells == sorted(cells, reverse=True) and cells[0] > cells[-1]
    assert [row["lists"] for row in record(directory, "dynamic-table")["rows"]] == ["off", "batch", "epoch"]
    origins = {row["origin"]: row for row in record(directory, "lists-table")["rows"]}
    assert list(origins) == list(exhibits.ORIGINS)
    assert origins["scratch"]["mass_output"]["mean"] > 0.5
    config = json.loads((directory / "models" / "batch" / "config.json").read_text())["settings"]
    assert (config["dynamic_vocab"], config["dynamic_lists"], config["align_from_epoch"]) == (100, "batch", 1)


def test_finished_work_is_not_done_again(done, text, monkeypatch):
    def never(*arguments):
        raise AssertionError("measured again")

    for module, names in ((lab, ("train", "learn_attention")), (exhibits, ("quality", "decoding_seconds", "audited"))):
        for name in names:
            monkeypatch.setattr(module, name, never)
    result = run_cli("reproduce", "deen-table", "lists-table", *text, *SMALL, "-o", done[0])
    assert result.code == 0, result.err
    assert result.out.count("== ") == 2


def test_an_interrupted_training_goes_on(text, tmp_path, monkeypatch):
    """Ctrl-C in the second epoch: exit code 130, and the same command ends with the same table as without it."""
    command = ["reproduce", "threshold-table", *text, *SMALL]
    real, calls = lab.validate, []

    def interrupt(*arguments, **options):
        calls.append(1)
        if len(calls) == 1:
            import signal

            signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    monkeypatch.setattr(lab, "validate", interrupt)
    assert run_cli(*command, "-o", tmp_path / "broken").code == 130
    assert not (tmp_path / "broken" / "threshold-table.md").exists()
    for name in ("broken", "whole"):
        result = run_cli(*command, "-o", tmp_path / name)
        assert result.code == 0, result.err
    rows = [record(tmp_path / name, "threshold-table")["rows"] for name in ("broken", "whole")]
    assert rows[0] == rows[1]


def test_other_settings_need_another_directory(done, text):
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "--hidden", 20, "-o", done[0])
    assert result.code == 2 and "hidden" in result.err and "-o" in result.err


def test_damaged_measurements(text, tmp_path):
    (tmp_path / "measurements.json").write_text("{")
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path)
    assert result.code == 1 and "measurements.json is damaged" in result.err and "Traceback" not in result.err


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "EXHIBIT"),
        (["table-9"], "table-9"),
        (["all", "lists-table"], "all stands alone"),
        (["all", "--src", "-", "--trg", "x", "--dev-src", "x", "--dev-trg", "x"], "standard input"),
        (["all", "--src", "x"], "--trg"),
    ],
)
def test_refused(arguments, message, tmp_path):
    result = run_cli("reproduce", *arguments, "-o", tmp_path / "lab")
    assert result.code == 2 and message in result.err
    assert not (tmp_path / "lab").exists()
