"""decode --resume: an output that was interrupted is completed to the very file that one run writes."""

import numpy as np
import pytest

from minnmt.errors import UserError
from minnmt.streams import resumable_writer
from tests.conftest import run_cli, toy_lines


@pytest.fixture(scope="module")
def whole(tiny_run, tmp_path_factory):
    """The beginning of a command, and what it writes."""
    directory = tmp_path_factory.mktemp("whole")
    lines = toy_lines(np.random.default_rng(2), 90)[0]
    lines[40] = ""
    (directory / "in").write_text("".join(line + "\n" for line in lines), encoding="utf-8")
    decode = ["decode", "-m", tiny_run, "--batch-size", 2, "-i", directory / "in"]
    assert run_cli(*decode, "-o", directory / "out").code == 0
    return decode, (directory / "out").read_bytes()


@pytest.mark.parametrize("name", ["out", "out.partial"])
@pytest.mark.parametrize("part", [0.0, 0.02, 0.5, 0.98, 1.0])
def test_it_goes_on_after_the_last_complete_line(whole, tmp_path, name, part):
    decode, expected = whole
    begun = expected[: int(part * len(expected))]
    (tmp_path / name).write_bytes(begun)
    result = run_cli(*decode, "-o", tmp_path / "out", "--resume")
    assert result.code == 0, result.err
    assert (tmp_path / "out").read_bytes() == expected
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
    n_lines = begun.count(b"\n")
    assert (f"going on after line {n_lines} of" in result.err) == (n_lines > 0)


def test_with_nothing_there_it_begins(whole, tmp_path):
    decode, expected = whole
    assert run_cli(*decode, "-o", tmp_path / "out", "--resume").code == 0
    assert (tmp_path / "out").read_bytes() == expected


def test_without_resume_it_begins_again(whole, tmp_path):
    decode, expected = whole
    (tmp_path / "out.partial").write_bytes(b"of another text\n")
    assert run_cli(*decode, "-o", tmp_path / "out").code == 0
    assert (tmp_path / "out").read_bytes() == expected


def test_an_output_of_a_longer_text_is_refused_and_kept(whole, tmp_path):
    decode, expected = whole
    (tmp_path / "out").write_bytes(expected + b"one more\n")
    result = run_cli(*decode, "-o", tmp_path / "out", "--resume")
    assert result.code == 1 and "fewer than 91 lines" in result.err
    assert (tmp_path / "out").read_bytes() == expected + b"one more\n"


@pytest.mark.parametrize(
    "more", [["-o", "-"], ["-o", "out.gz"], ["-o", "out", "--n-best", 2], ["-o", "out", "--alignments", "links"]]
)
def test_what_has_no_line_for_a_line_is_refused(whole, tmp_path, monkeypatch, more):
    monkeypatch.chdir(tmp_path)
    result = run_cli(*whole[0], *more, "--resume")
    assert result.code == 2 and "--resume" in result.err and not list(tmp_path.iterdir())


def write_some(path, error):
    with resumable_writer(path) as (write, n_lines):
        assert n_lines == 0
        write(["a", "b"])
        raise error


@pytest.mark.parametrize("error", [KeyboardInterrupt(), UserError("bad line")])
def test_an_interrupt_or_an_error_keeps_what_is_there(tmp_path, error):
    with pytest.raises(type(error)):
        write_some(tmp_path / "out", error)
    assert (tmp_path / "out.partial").read_bytes() == b"a\nb\n" and not (tmp_path / "out").exists()


def test_nothing_stays_of_an_output_without_lines(tmp_path):
    with pytest.raises(UserError), resumable_writer(tmp_path / "out"):
        raise UserError("bad first line")
    assert not list(tmp_path.iterdir())


def test_a_bad_line_keeps_those_before_it_and_says_how_to_go_on(whole, tmp_path):
    (*decode, text), expected = whole
    lines, damaged, out = text.read_bytes().splitlines(keepends=True), tmp_path / "in", tmp_path / "out"
    damaged.write_bytes(b"".join([*lines[:70], b"\xff\n", *lines[71:]]))
    result = run_cli(*decode, damaged, "-o", out)
    assert result.code == 1 and "70 lines are kept; go on with:" in result.err and "--resume" in result.err
    damaged.write_bytes(b"".join(lines))
    assert run_cli(*decode, damaged, "-o", out, "--resume").code == 0
    assert out.read_bytes() == expected


def test_two_writers_of_one_file_are_refused(tmp_path):
    with resumable_writer(tmp_path / "out") as (write, _):
        write(["a"])
        with pytest.raises(UserError, match="in use"), resumable_writer(tmp_path / "out"):
            pass
    assert (tmp_path / "out").read_bytes() == b"a\n"
