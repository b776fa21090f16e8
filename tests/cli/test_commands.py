"""The other commands: help, version, score, and what training says and leaves behind."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import cli
from tests.conftest import TINY, run_cli, write_toy_text

CLI = Path(__file__).parents[2] / "cli.py"


COMMANDS = ["", "train", "decode", "score", "corpus", "align", "audit", "bench", "explore"]
COMMANDS += ["course", "course student", "course grade", "course model", "course pack"]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command):
    result = run_cli(*command.split(), "--help")
    assert result.code == 0 and "python cli.py" in result.out


def test_help_imports_nothing_heavy():
    code = (
        "import sys, cli; cli.cli.main(['--help'], standalone_mode=False); print(sorted(sys.modules), file=sys.stderr)"
    )
    found = subprocess.run([sys.executable, "-c", code], cwd=CLI.parent, capture_output=True, text=True, check=True)
    assert "'numpy'" not in found.stderr and "'numba'" not in found.stderr


def test_version():
    from minnmt import __version__

    assert __version__ in run_cli("--version").out


def test_score_text_json_and_a_pipe(tmp_path):
    (tmp_path / "ref").write_text("the cat sleeps on the mat\nyes\n")
    same = b"the cat sleeps on the mat\nyes\n"
    text, as_json = (run_cli("score", "-", tmp_path / "ref", *more, stdin=same) for more in ([], ["--json"]))
    assert text.code == as_json.code == 0 and text.err == as_json.err == ""
    record = json.loads(as_json.out)
    assert list(record) == ["BLEU", "TER", "chrF2"] and "version" in record["BLEU"]["signature"]
    assert round(record["BLEU"]["score"], 4) == 100 and record["TER"]["score"] == 0
    assert [line.split()[0] for line in text.out.splitlines()] == list(record)


def test_score_against_a_baseline(tmp_path):
    for name, first in (("ref", "the cat sleeps on the mat"), ("other", "a cat sleeps on the floor"), ("short", "yes")):
        (tmp_path / name).write_text(f"{first}\n" + "yes it is so\n" * (name != "short"))
    command = ["score", tmp_path / "ref", tmp_path / "ref", "--baseline"]
    text, as_json = (run_cli(*command, tmp_path / "other", *more) for more in ([], ["--json"]))
    found = json.loads(as_json.out)["BLEU difference"]
    assert 0 <= found["low"] < found["value"] < found["high"]
    numbers = "{value:+.2f} ({low:+.2f} to {high:+.2f})".format(**found)
    assert text.out.splitlines()[-1] == f"BLEU against the baseline: {numbers}"
    result = run_cli(*command, tmp_path / "short")
    assert result.code == 1 and "short has 1 lines but" in result.err and result.out == ""


def test_a_run_leaves_exactly_the_files_of_a_model_directory(tiny_run):
    names = {path.name for path in tiny_run.iterdir()}
    counts = {"alignments.npz", "alignments.epoch2.npz", "alignments.epoch3.npz", "alignments.epoch4.npz"}
    model = {"config.json", "model.npz", "vocab.src.json", "vocab.trg.json", "checkpoint.npz", "log.tsv"}
    assert names == model | counts
    config = json.loads((tiny_run / "config.json").read_text())
    assert config["settings"]["seed"] == 1 and config["minnmt"]


def test_training_reports_on_stderr_and_scores_at_the_end(tmp_path):
    text = write_toy_text(tmp_path, n_train=24, n_dev=3)
    result = run_cli("train", *text, "-o", tmp_path / "run", *TINY, "--bpe", 20, "--epochs", 1)
    assert (result.code, result.out) == (0, "")
    assert "epoch 1" in result.err and "BLEU" in result.err and f"decode -m {tmp_path / 'run'}" in result.err
    assert {"bpe.src.codes", "bpe.trg.codes"} < {path.name for path in (tmp_path / "run").iterdir()}


@pytest.mark.parametrize(
    "options", [["--bpe", 20, "--shared"], ["--bpe", 0, "--pretokenized"], ["--bpe", 0, "--vocab-size", 5]]
)
def test_ways_to_cut_text(tmp_path, options):
    text = write_toy_text(tmp_path, n_train=24, n_dev=3)
    assert run_cli("train", *text, "-o", tmp_path / "run", *TINY, *options, "--max-updates", 2).code == 0
    result = run_cli("decode", "-m", tmp_path / "run", stdin=b"eins zwei.\n\n")
    assert result.code == 0 and result.out.count("\n") == 2


def test_overwriting_a_run_leaves_nothing_of_the_old_one(tmp_path):
    text = write_toy_text(tmp_path, n_train=24, n_dev=3)
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *TINY, "--bpe", 20, "--max-updates", 2).code == 0
    assert run_cli("train", *text, "-o", run, *TINY, "--bpe", 0, "--max-updates", 1, "--overwrite").code == 0
    assert not (run / "bpe.src.codes").exists()
    assert run_cli("decode", "-m", run, stdin=b"eins\n").code == 0


def test_a_time_limit_that_has_passed_already_is_a_pause_not_an_error(tmp_path):
    text = write_toy_text(tmp_path, n_train=24, n_dev=3)
    result = run_cli("train", *text, "-o", tmp_path / "run", *TINY, "--bpe", 0, "--max-minutes", 1e-9)
    assert result.code == 0 and "--resume" in result.err


def test_an_interruption_that_became_another_error_is_still_one(monkeypatch, capsys):
    def swallow(**_):
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            raise SystemError("returned a result with an exception set")  # noqa: B904 as Numba has it

    monkeypatch.setattr(cli.cli, "main", swallow)
    monkeypatch.setattr(sys, "argv", ["cli.py"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 130 and "interrupted" in capsys.readouterr().err
