"""Bad input: one clear sentence, exit code 2 for usage and 1 for the rest, no traceback, nothing half-written.

An exception that would be a traceback comes through `run_cli` and fails the test.
"""

import json
import os
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import TINY, run_cli, write_toy_text
from tests.train.toy import saved_state

CLI = Path(__file__).parents[2] / "cli.py"


@pytest.fixture
def text(tmp_path):
    """The options that name a toy text in tmp_path."""
    return write_toy_text(tmp_path, n_train=30, n_dev=4)


@pytest.fixture
def model(tiny_run, tmp_path):
    """A copy of the tiny model, to damage."""
    return Path(shutil.copytree(tiny_run, tmp_path / "model"))


def refused(code, *words, arguments, stdin=b"eins\n"):
    """Run a command that must fail with this code, naming all these words in one line on stderr."""
    result = run_cli(*arguments, stdin=stdin)
    assert result.code == code, result
    assert result.out == ""
    last = result.err.strip().split("\n")[-1]
    assert last.startswith(("error: ", "Error: ")), result.err
    for word in words:
        assert str(word) in last, f"{word!r} is not named: {last}"


def train_refused(code, *words, arguments, output):
    refused(code, *words, arguments=["train", *arguments, "-o", output, *TINY])
    if Path(output).is_dir():
        assert not list(Path(output).iterdir()), "something half-written was left"


# Text


def test_missing_text(tmp_path, text):
    text[1] = tmp_path / "nowhere.de"
    train_refused(1, "nowhere.de", "no such file", arguments=text, output=tmp_path / "run")


def test_unequal_line_counts(tmp_path, text):
    with open(tmp_path / "train.trg", "a") as file:
        file.write("one more.\n")
    train_refused(1, "train.src has 30", "train.trg has 31", arguments=text, output=tmp_path / "run")


def test_an_empty_corpus(tmp_path, text):
    for side in ("src", "trg"):
        (tmp_path / f"train.{side}").write_text("")
    train_refused(1, "train.src", "train.trg", "empty", arguments=text, output=tmp_path / "run")


def test_a_corpus_of_blank_lines(tmp_path, text):
    for side in ("src", "trg"):
        (tmp_path / f"train.{side}").write_text("\n" * 9)
    train_refused(1, "train.src", "blank", arguments=text, output=tmp_path / "run")


@pytest.mark.parametrize("name", ["train.src", "dev.trg", "test.src"])
def test_text_that_is_not_utf8(tmp_path, text, name):
    lines = (tmp_path / name).read_bytes().split(b"\n")
    lines[2] = b"f\xfcnf."
    (tmp_path / name).write_bytes(b"\n".join(lines))
    train_refused(1, f"{name}, line 3", "UTF-8", arguments=text, output=tmp_path / "run")


def test_decode_text_that_is_not_utf8(tiny_run, tmp_path):
    refused(1, "standard input, line 1", arguments=["decode", "-m", tiny_run], stdin=b"f\xfcnf\n")
    (tmp_path / "in").write_bytes(b"eins\nzwei\nf\xfcnf\n")
    arguments = ["decode", "-m", tiny_run, "-i", tmp_path / "in", "-o", tmp_path / "out"]
    refused(1, "in, line 3", arguments=arguments)
    assert not (tmp_path / "out").exists()


def test_a_damaged_gzip_file(tmp_path, text):
    (tmp_path / "train.src.gz").write_bytes(b"\x1f\x8b\x08 and then nothing")
    text[1] = tmp_path / "train.src.gz"
    train_refused(1, "train.src.gz", "gzip", arguments=text, output=tmp_path / "run")


def test_scores_of_missing_and_unequal_files(tmp_path):
    (tmp_path / "a").write_text("x\n")
    (tmp_path / "b").write_text("x\ny\n")
    refused(1, "a has 1 lines", "b has 2", arguments=["score", tmp_path / "a", tmp_path / "b"])
    refused(1, "nowhere", arguments=["score", tmp_path / "nowhere", tmp_path / "b"])


# Models


def test_no_model(tmp_path):
    refused(1, "nowhere", "train", arguments=["decode", "-m", tmp_path / "nowhere"])


def test_a_run_without_a_model_yet(model):
    (model / "model.npz").unlink()
    refused(1, "model.npz", "--resume", arguments=["decode", "-m", model])


def test_a_truncated_model(model):
    data = (model / "model.npz").read_bytes()
    (model / "model.npz").write_bytes(data[: len(data) // 2])
    refused(1, "model.npz", "damaged", arguments=["decode", "-m", model])


def test_a_flipped_bit_in_a_model(model):
    data = bytearray((model / "model.npz").read_bytes())
    data[len(data) // 2] ^= 4
    (model / "model.npz").write_bytes(data)
    refused(1, "model.npz", "damaged", arguments=["decode", "-m", model])


@pytest.mark.parametrize("side", ["src", "trg"])
def test_a_vocabulary_that_does_not_match(model, side):
    words = json.loads((model / f"vocab.{side}.json").read_text())
    (model / f"vocab.{side}.json").write_text(json.dumps({**words, "extra": len(words)}))
    refused(1, f"vocab.{side}.json", "model.npz", len(words), arguments=["decode", "-m", model])


def test_a_vocabulary_that_is_not_json_or_missing(model):
    (model / "vocab.src.json").write_text('{"eos": 0, "UNK": 1,')
    refused(1, "vocab.src.json, line 1", "JSON", arguments=["decode", "-m", model])
    (model / "vocab.src.json").unlink()
    refused(1, "vocab.src.json", "no such file", arguments=["decode", "-m", model])


@pytest.mark.parametrize("config", ["", "[]", "{}", '{"settings": 3}', '{"settings": null}'])
def test_a_damaged_config(model, config):
    (model / "config.json").write_text(config)
    for arguments in (["decode", "-m", model], ["train", "-o", model, "--resume"]):
        refused(1, "config.json", arguments=arguments)


def change_config(model, change):
    config = json.loads((model / "config.json").read_text())
    change(config)
    (model / "config.json").write_text(json.dumps(config))


def test_a_config_of_another_version(model):
    change_config(model, lambda config: config["settings"].update(attention_heads=8))
    refused(1, "config.json", arguments=["train", "-o", model, "--resume"])


def test_a_config_that_lacks_a_part(model):
    change_config(model, lambda config: config.pop("data"))
    refused(1, "config.json", arguments=["train", "-o", model, "--resume"])


def test_codes_that_are_gone(tmp_path, text):
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *TINY, "--bpe", 20, "--max-updates", 2).code == 0
    (run / "bpe.src.codes").unlink()
    refused(1, "bpe.src.codes", arguments=["decode", "-m", run])
    refused(1, "bpe.src.codes", arguments=["train", "-o", run, "--resume"])


def test_codes_that_were_misspelled(tiny_run, tmp_path):
    options = ["--vocab-src", tiny_run / "vocab.src.json", "--vocab-trg", tiny_run / "vocab.trg.json"]
    arguments = ["decode", "--npz", tiny_run / "model.npz", *options, "--bpe-src", tmp_path / "nowhere.codes"]
    refused(1, "nowhere.codes", arguments=arguments)


# Resuming


def test_nothing_to_resume(tmp_path):
    refused(1, "nowhere", "no run to resume", arguments=["train", "-o", tmp_path / "nowhere", "--resume"])
    assert not (tmp_path / "nowhere").exists()


def test_training_text_that_changed(tmp_path, text):
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *TINY, "--bpe", 0, "--max-updates", 2).code == 0
    for side in ("src", "trg"):
        with open(tmp_path / f"train.{side}", "a") as file:
            file.write("blau\n")
    refused(1, "training text", arguments=["train", "-o", run, "--resume"])


def test_a_damaged_checkpoint(model):
    data = (model / "checkpoint.npz").read_bytes()
    (model / "checkpoint.npz").write_bytes(data[:-100])
    refused(1, "checkpoint.npz", "damaged", arguments=["train", "-o", model, "--resume", "--epochs", 9])


def test_a_checkpoint_of_another_network(model, tmp_path, text):
    other = tmp_path / "other"
    assert run_cli("train", *text, "-o", other, *TINY, "--hidden", 7, "--bpe", 0, "--max-updates", 2).code == 0
    shutil.copy(other / "checkpoint.npz", model / "checkpoint.npz")
    refused(1, "checkpoint.npz", arguments=["train", "-o", model, "--resume", "--epochs", 9])


def test_a_run_is_not_overwritten_unasked(model, text):
    before = (model / "model.npz").read_bytes()
    refused(2, "already holds a run", "--resume", "--overwrite", arguments=["train", *text, "-o", model])
    assert (model / "model.npz").read_bytes() == before


# Output


@pytest.mark.parametrize("output", ["file/run", "/proc/minnmt"])
def test_an_unwritable_output_directory(tmp_path, text, output):
    (tmp_path / "file").touch()
    train_refused(1, output, arguments=text, output=tmp_path / output)


@pytest.mark.parametrize("option", ["-o", "--alignments"])
@pytest.mark.parametrize("output", ["file/out", "nowhere/out", "/proc/out"])
def test_an_unwritable_output_file(tiny_run, tmp_path, option, output):
    (tmp_path / "file").touch()
    result = run_cli("decode", "-m", tiny_run, option, tmp_path / output, stdin=b"eins\n")
    assert result.code == 1 and result.err.startswith("error: cannot write") and output in result.err


def test_an_unwritable_output_shows_before_the_work_is_done(tiny_run, tmp_path):
    result = run_cli("decode", "-m", tiny_run, "--alignments", tmp_path / "nowhere" / "out", stdin=b"eins\n")
    assert result.code == 1 and result.out == ""


def test_a_full_disk_while_checkpointing(tmp_path, text):
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *TINY, "--bpe", 0, "--max-updates", 2).code == 0
    before = {path.name: path.read_bytes() for path in run.iterdir()}
    limit = len(before["checkpoint.npz"]) // 2

    found = subprocess.run(
        [sys.executable, CLI, "train", "-o", run, "--resume", "--save-every", "1"],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
        capture_output=True, text=True, env={**os.environ, "MINNMT_KERNELS": "numpy"},
    )  # fmt: skip
    assert found.returncode == 1, found.stderr
    assert found.stderr.splitlines()[-1].startswith("error: cannot write") and "checkpoint.npz" in found.stderr
    assert "Traceback" not in found.stderr
    assert {path.name: path.read_bytes() for path in run.iterdir()} == before
    assert saved_state(run)[2].n_updates == 2


# Usage


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["decode", "--n-best", 6], ["--n-best 6", "--beam 6"]),
        (["decode", "--vocab-src", "v.json"], ["--vocab-src", "--npz"]),
        (["decode", "--pretokenized"], ["--pretokenized", "--npz"]),
        (["decode", "--npz", "m.npz"], ["--vocab-src", "--vocab-trg"]),
        (["decode", "--npz", "m.npz", "--vocab-src", "v.json"], ["--vocab-trg"]),
        (["decode", "-m", "x", "--npz", "m.npz", "--vocab-src", "v", "--vocab-trg", "v"], ["-m", "--npz"]),
        (["decode", "--alignment-format", "weights"], ["--alignments"]),
        (["decode", "--beam", 0], ["--beam"]),
        (["decode", "--max-length", -1], ["--max-length"]),
        (["decode", "--length-penalty", -1], ["--length-penalty"]),
        (["decode", "--length-penalty", "nan"], ["--length-penalty"]),
        (["decode", "--nonsense"], ["--nonsense"]),
        (["train", "--src", "a"], ["--src", "--trg"]),
        (["train", "--src", "a", "--trg", "b"], ["--dev-src"]),
        (["train", "--dev-src", "a", "--dev-trg", "b"], ["--src"]),
        (["train", "--src", "-", "--trg", "-", "--dev-src", "a", "--dev-trg", "b"], ["--src", "-"]),
        (["train", "--hidden", 0], ["--hidden"]),
        (["train", "--dropout", 1], ["--dropout"]),
        (["train", "--resume", "--overwrite"], ["--resume", "--overwrite"]),
        (["train", "--resume", "--hidden", 9], ["--hidden", "--resume"]),
        (["score", "-", "-"], ["-"]),
        (["score", "-", "a", "--baseline", "-"], ["-"]),
        (["score", "a"], ["REFERENCES"]),
        (["corpus"], ["--output"]),
        (["nonsense"], ["nonsense"]),
    ],
)
def test_wrong_usage(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(2, *words, arguments=arguments)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("option", ["--dropout", "--learning-rate", "--clip", "--max-minutes"])
def test_a_setting_that_is_not_a_number(tmp_path, text, option):
    refused(
        2, option, arguments=["train", *text, "-o", tmp_path / "run", *TINY, "--bpe", 0, "--epochs", 1, option, "nan"]
    )


def test_a_huge_length_penalty(tiny_run):
    result = run_cli("decode", "-m", tiny_run, "--length-penalty", 500, stdin=b"eins zwei drei vier.\n")
    assert result.code == 2 and "--length-penalty" in result.err
