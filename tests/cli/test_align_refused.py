"""What align refuses: a sentence, the right code, nothing written, and no file lost."""

import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.cli.test_align import CLI, contents, done, npz_options, sides
from tests.cli.test_bad_input import refused
from tests.conftest import TINY, run_cli, write_toy_text


@pytest.mark.parametrize(
    "options, words",
    [
        (["--src", "a"], ["--src", "--trg"]),
        (["--trg", "a", "--method", "model1"], ["--src", "--trg"]),
        (["--src", "-", "--trg", "-"], ["standard input"]),
        (["--frozen", "--save-model", "m.npz"], ["--save-model", "--frozen"]),
        (["--frozen", "--learning-rate", 0.1], ["--learning-rate", "--frozen"]),
        (["--method", "model1", "--frozen"], ["--frozen", "--method attention"]),
        (["--method", "cooc", "--threshold", 0.2], ["--threshold", "--method attention"]),
        (["--method", "cooc", "--save-model", "m.npz"], ["--save-model", "--method attention"]),
        (["--method", "giza"], ["--method", "fastalign"]),
        (["--threshold", 1], ["--threshold"]),
        (["--threshold", "nan"], ["--threshold"]),
        (["--learning-rate", 0], ["--learning-rate"]),
        (["--iterations", 0], ["--iterations"]),
        (["--threads", 0], ["--threads"]),
        (["-o", ""], ["-o"]),
        (["--npz", "m.npz", "--vocab-src", "a", "--vocab-trg", "b"], ["--npz", "-o"]),
        (["--npz", "m.npz"], ["--vocab-src"]),
        (["-m", "x", "--npz", "m.npz", "--vocab-src", "a", "--vocab-trg", "b"], ["-m", "--npz"]),
        (["--method", "model1", "--src", "a", "--trg", "b", "--pharaoh", "l"], ["--pharaoh", "-o"]),
        (["-m", "x", "--table", "t"], ["--table"]),
    ],
)
def test_wrong_usage(options, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(2, *words, arguments=["align", *options])
    assert not list(tmp_path.iterdir())


def test_a_single_npz_without_text(model, tmp_path):
    refused(2, "--src", "--trg", arguments=["align", *npz_options(model), "-o", tmp_path / "counts.npz"])
    assert not (tmp_path / "counts.npz").exists()


def test_too_few_iterations_for_fast_align(text, tmp_path):
    arguments = ["align", "--method", "fastalign", *sides(text), "--iterations", 1, "-o", tmp_path / "links"]
    refused(2, "at least 2 iterations", arguments=arguments)
    assert not (tmp_path / "links").exists()


@pytest.fixture
def bad_text(tmp_path):
    """Wrong pairs of files -> {name: (source, target, words of the sentence)}."""
    files = {
        "short": b"eins\n", "long": b"one\ntwo\n", "empty": b"", "blank": b"\n\n", "latin": b"f\xfcnf\n", "one": b"x\n",
        "packed.gz": b"\x1f\x8b\x08 and no more",
    }  # fmt: skip
    for name, data in files.items():
        (tmp_path / name).write_bytes(data)
    cases = {
        "unequal": ("short", "long", ["short has 1 lines", "long has 2"]),
        "missing source": ("nowhere", "long", ["nowhere", "no such file"]),
        "missing target": ("long", "nowhere", ["nowhere", "no such file"]),
        "empty": ("empty", "empty", ["empty and", "are empty"]),
        "latin": ("latin", "one", ["latin, line 1", "UTF-8"]),
        "packed": ("packed.gz", "one", ["packed.gz", "gzip"]),
    }
    return {name: (tmp_path / src, tmp_path / trg, words) for name, (src, trg, words) in cases.items()}


@pytest.mark.parametrize("case", ["unequal", "missing source", "missing target", "empty", "latin", "packed"])
@pytest.mark.parametrize("way", ["alone", "frozen", "continued", "model1"])
def test_bad_text(model, tmp_path, bad_text, case, way):
    src, trg, words = bad_text[case]
    ways = {"alone": ["--method", "model1"], "frozen": ["-m", model, "--frozen"], "continued": ["-m", model]}
    options = ways.get(way, ["-m", model, "--method", "model1"])
    before = contents(model), sorted(tmp_path.iterdir())
    refused(1, *words, arguments=["align", *options, "--src", src, "--trg", trg, "-o", tmp_path / "out"])
    assert (contents(model), sorted(tmp_path.iterdir())) == before


@pytest.mark.parametrize("options", [["--frozen"], []])
def test_text_of_blank_lines_teaches_a_model_nothing(model, tmp_path, options):
    (tmp_path / "blank").write_text("\n\n")
    blank = sides((tmp_path / "blank", tmp_path / "blank"))
    refused(1, "blank", "no usable", arguments=["align", "-m", model, *options, *blank, "-o", tmp_path / "out"])
    assert not (tmp_path / "out").exists()


def test_the_training_text_has_moved(tmp_path):
    text = write_toy_text(tmp_path, n_train=20, n_dev=3)
    done("train", *text, "-o", tmp_path / "run", *TINY, "--bpe", 0, "--max-updates", 1)
    (tmp_path / "train.src").unlink()
    refused(1, "train.src", arguments=["align", "-m", tmp_path / "run"])
    assert not (tmp_path / "run" / "alignments.npz").exists()


@pytest.mark.parametrize("output", ["file/out", "nowhere/out", "directory"])
@pytest.mark.parametrize("option", ["-o", "--table", "--pharaoh", "--save-model"])
def test_an_unwritable_output(model, text, tmp_path, option, output):
    (tmp_path / "file").touch()
    (tmp_path / "directory").mkdir()
    where = [option, tmp_path / output]
    alone = option in ("-o", "--table")
    start = ["--method", "model1"] if alone else ["-m", model, "-o", tmp_path / "counts.npz"]
    before = contents(model), sorted(tmp_path.iterdir())
    refused(1, "cannot write", output, arguments=["align", *start, *sides(text), *where])
    assert (contents(model), sorted(tmp_path.iterdir())) == before
    if option == "-o":
        refused(1, "cannot write", output, arguments=["align", "-m", model, "--frozen", *where])


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_steps_that_are_too_large(model, text, tmp_path):
    options = [*sides(text), "-o", tmp_path / "counts.npz", "--save-model", tmp_path / "later.npz"]
    refused(1, "--learning-rate", arguments=["align", "-m", model, *options, "--learning-rate", 1e39])
    assert not (tmp_path / "counts.npz").exists() and not (tmp_path / "later.npz").exists()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_last_step_that_is_too_large(model, tmp_path):
    (tmp_path / "a").write_text("eins zwei.\n")
    (tmp_path / "b").write_text("one two.\n")
    options = ["--learning-rate", 1e39, "-o", tmp_path / "counts.npz", "--save-model", tmp_path / "later.npz"]
    run_cli("align", "-m", model, *sides((tmp_path / "a", tmp_path / "b")), *options)
    if (tmp_path / "later.npz").exists():
        with np.load(tmp_path / "later.npz") as later:
            assert all(np.isfinite(later[name]).all() for name in later.files)


@pytest.mark.parametrize("options", [[], ["--frozen"], ["--method", "model1"]])
def test_no_model(tmp_path, monkeypatch, options):
    monkeypatch.chdir(tmp_path)
    refused(1, "nowhere", "not a model directory", arguments=["align", "-m", tmp_path / "nowhere", *options])
    refused(1, "runs/default", "not a model directory", arguments=["align", *options])


@pytest.mark.parametrize("log", ["", "epoch\tlearning_rate\n", "epoch\tlearning_rate\n1\tx\n"])
@pytest.mark.parametrize("options", [["--frozen"], []])
def test_a_damaged_log(model, text, tmp_path, log, options):
    (model / "log.tsv").write_text(log)
    result = run_cli("align", "-m", model, *options, *sides(text), "-o", tmp_path / "counts.npz")
    assert result.code == 0 or (result.code == 1 and "log.tsv" in result.err)


# Files that must not be lost


@pytest.mark.parametrize("option", ["-o", "--table"])
@pytest.mark.parametrize("side", [0, 1])
def test_the_input_is_not_written_over(text, tmp_path, option, side):
    copies = [shutil.copy(path, tmp_path) for path in text]
    before = contents(tmp_path)
    result = run_cli("align", "--method", "cooc", *sides(copies), option, copies[side])
    assert contents(tmp_path) == before and result.code == 2


def test_the_model_is_not_written_over(model, text):
    before = contents(model)
    result = run_cli("align", "-m", model, "--frozen", *sides(text), "-o", model / "model.npz")
    assert contents(model) == before and result.code == 2


@pytest.mark.parametrize("option", ["--table", "--pharaoh", "--save-model"])
def test_outputs_do_not_swallow_each_other(model, text, tmp_path, option):
    start = ["--method", "cooc"] if option == "--table" else ["-m", model]
    result = run_cli("align", *start, *sides(text), "-o", tmp_path / "x", option, tmp_path / "x")
    assert result.code == 2 and not (tmp_path / "x").exists()


def test_counts_do_not_go_to_stdout(model, text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    result = run_cli("align", "-m", model, "--frozen", *sides(text), "-o", "-")
    assert result.code == 2 and not (tmp_path / "-").exists()


def test_a_table_does_not_mix_with_the_links(text):
    result = run_cli("align", "--method", "cooc", *sides(text), "--table", "-")
    assert result.code == 2 and result.out == ""


def test_a_closed_stdout(text):
    command = f'"{sys.executable}" "{CLI}" align --method cooc --src "{text[0]}" --trg "{text[1]}" >&-'
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert found.returncode == 1 and found.stderr.splitlines()[-1].startswith("error: standard output is closed")
