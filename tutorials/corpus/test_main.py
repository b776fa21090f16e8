"""The command that makes the packed file: writing, comparing, text files. It runs here with a smaller corpus."""

import pytest
from click.testing import CliRunner

from minnmt.text.embedded import read_packed

from . import __main__ as command
from . import generate


@pytest.fixture
def run(monkeypatch):
    monkeypatch.setattr(command, "generate", lambda seed: generate(seed, n_train=30, n_dev=10, n_test=10))
    return lambda *arguments: CliRunner().invoke(command.main, list(map(str, arguments)))


def test_what_is_written_is_read_again_and_compares_equal(run, tmp_path):
    assert run("-o", tmp_path / "packed").exit_code == 0
    assert read_packed(tmp_path / "packed") == generate(1, n_train=30, n_dev=10, n_test=10)
    assert run("-o", tmp_path / "packed", "--check").exit_code == 0


def test_a_difference_of_one_byte_is_found_and_left_as_it_is(run, tmp_path):
    run("-o", tmp_path / "packed")
    changed = (tmp_path / "packed").read_bytes() + b"\n"
    (tmp_path / "packed").write_bytes(changed)
    result = run("-o", tmp_path / "packed", "--check")
    assert result.exit_code == 1 and "is not what the generator makes" in result.output
    assert (tmp_path / "packed").read_bytes() == changed


def test_other_sentences_as_text_files(run, tmp_path):
    assert run("--text", tmp_path, "--seed", 2).exit_code == 0
    assert (tmp_path / "dev.de").read_text(encoding="utf-8").splitlines() == generate(2, 30, 10, 10).dev.src
    assert run("--text", tmp_path).exit_code == 1
    assert run("--text", tmp_path, "--overwrite").exit_code == 0


def test_the_packed_corpus_has_one_seed(run, tmp_path):
    assert run("-o", tmp_path / "packed", "--seed", 2).exit_code == 2 and not list(tmp_path.iterdir())
