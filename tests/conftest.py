"""Shared by all tests: a small random network, a toy language, the command line in this process, a tiny model."""

import contextlib
import io
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import cli  # isort: skip  (before numpy, so that BLAS has one thread as in a real run)

import numpy as np
import pytest

from minnmt.model.parameters import init_parameters, map_arrays

DATA = Path(__file__).parent / "data"


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.fixture
def golden():
    with np.load(DATA / "cgru_tiny.npz") as file:
        return {name: file[name] for name in file.files}


def random_parameters(rng, src_words=9, trg_words=8, embedding=3, hidden=4, dtype=np.float64):
    """A tiny network with random non-zero biases, all sizes different."""
    params = init_parameters(src_words, trg_words, embedding, hidden, rng)
    return map_arrays(lambda a: (a + 0.3 * rng.standard_normal(a.shape)).astype(dtype), params)


TOY_SRC = "eins zwei drei vier blau rot Haus Hund".split()
TOY_TRG = "one two three four blue red house dog".split()


def toy_lines(rng, n_lines, longest=6):
    """Random sentences and their word-by-word translations -> (source lines, target lines)."""
    sentences = [rng.integers(len(TOY_SRC), size=rng.integers(1, longest + 1)) for _ in range(n_lines)]
    return tuple([" ".join(words[i] for i in s) + "." for s in sentences] for words in (TOY_SRC, TOY_TRG))


def write_toy_text(directory, n_train=160, n_dev=12, seed=3):
    """Write train, dev and test text -> the options of `train` that name them."""
    rng = np.random.default_rng(seed)
    options = []
    for name, n_lines, prefix in (("train", n_train, ""), ("dev", n_dev, "dev-"), ("test", n_dev, "test-")):
        for side, lines in zip(("src", "trg"), toy_lines(rng, n_lines)):
            path = Path(directory) / f"{name}.{side}"
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
            options += [f"--{prefix}{side}", str(path)]
    return options


class Result(NamedTuple):
    code: int
    out: str
    err: str


def run_cli(*arguments, stdin=b""):
    """`python cli.py ARGUMENTS` in this process; an exception that would be a traceback comes through as it is."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    with tempfile.TemporaryFile() as file, pytest.MonkeyPatch.context() as patch:
        file.write(stdin)
        file.seek(0)
        patch.setattr(sys, "argv", ["cli.py", *map(str, arguments)])
        patch.setattr(sys, "stdin", io.TextIOWrapper(file))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                cli.main()
                code = 0
            except SystemExit as end:
                code = end.code or 0
    for stream in (out, err):
        stream.flush()
    return Result(code, out.buffer.getvalue().decode(), err.buffer.getvalue().decode())


TINY = "--embedding 12 --hidden 16 --batch-size 8 --dropout 0.1 --threads 1 --learning-rate 0.01".split()


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory):
    """The directory of a word-level run, trained for a second on the toy language; read it, do not change it."""
    directory = tmp_path_factory.mktemp("tiny")
    text = write_toy_text(directory)
    uneven = "--init", "glorot"  # after four epochs its attention is; with unigram it is still flat
    result = run_cli("train", *text, "-o", directory / "run", *TINY, *uneven, "--bpe", 0, "--epochs", 4)
    assert result.code == 0, result.err
    return directory / "run"
