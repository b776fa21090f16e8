"""Reading and writing text: packed files, line ends, errors that name file and line, nothing half-written."""

import gzip
import os
import threading

import pytest

from minnmt.errors import UserError
from minnmt.files import (
    atomic_file,
    make_directory,
    read_lines,
    read_parallel,
    write_atomically,
    write_lines,
)


@pytest.mark.parametrize(
    "data, lines",
    [
        (b"", []),
        (b"\n", [""]),
        (b"a\nb\n", ["a", "b"]),
        (b"a\nb", ["a", "b"]),
        (b"a\n\n b \n", ["a", "", " b "]),
        (b"a\r\nb\r\n", ["a", "b"]),
        ("\ufeffa\nb\n".encode(), ["a", "b"]),
        ("a\u2028b\u0085c\x0cd\ne\n".encode(), ["a\u2028b\u0085c\x0cd", "e"]),
    ],
)
def test_lines_end_at_newlines_only(tmp_path, data, lines):
    (tmp_path / "text").write_bytes(data)
    assert read_lines(tmp_path / "text") == lines
    (tmp_path / "text.gz").write_bytes(gzip.compress(data))
    assert read_lines(tmp_path / "text.gz") == lines


@pytest.mark.parametrize("name", ["text", "text.gz"])
def test_what_is_written_is_read_back(tmp_path, name):
    lines = ["Grüße", "", "日本語", "tab\there"]
    write_lines(tmp_path / name, lines)
    assert read_lines(tmp_path / name) == lines
    assert ((tmp_path / name).read_bytes()[:2] == b"\x1f\x8b") == name.endswith(".gz")


def test_text_that_is_not_utf8_is_refused_with_its_line(tmp_path):
    (tmp_path / "latin.de").write_bytes("eins\nzwei\nf\u00fcnf\n".encode("latin-1"))
    with pytest.raises(UserError, match=r"latin.de, line 3: not UTF-8.*0xfc"):
        read_lines(tmp_path / "latin.de")


@pytest.mark.parametrize(
    "damage", [lambda d: d[:-9], lambda d: d[:20] + b"xx" + d[22:], lambda d: b"plain text", lambda d: d[:5]]
)
def test_a_damaged_gzip_file_is_refused(tmp_path, damage):
    whole = gzip.compress("".join(f"line {i}\n" for i in range(50)).encode())
    (tmp_path / "text.gz").write_bytes(damage(whole))
    with pytest.raises(UserError, match="text.gz is not a complete gzip file"):
        read_lines(tmp_path / "text.gz")


def test_a_missing_file_and_a_directory(tmp_path):
    with pytest.raises(UserError, match="cannot read .*missing: no such file"):
        read_lines(tmp_path / "missing")
    with pytest.raises(UserError, match="cannot read .*is a directory"):
        read_lines(tmp_path)


def test_parallel_files_must_have_equally_many_lines(tmp_path):
    write_lines(tmp_path / "a.de", ["x"] * 3)
    write_lines(tmp_path / "a.en", ["x"] * 2)
    with pytest.raises(UserError, match=r"a.de has 3 lines but .*a.en has 2"):
        read_parallel(tmp_path / "a.de", tmp_path / "a.en")


def test_empty_parallel_files_are_refused(tmp_path):
    for name in ("a.de", "a.en"):
        write_lines(tmp_path / name, [])
    with pytest.raises(UserError, match=r"a.de and .*a.en are empty"):
        read_parallel(tmp_path / "a.de", tmp_path / "a.en")


@pytest.mark.parametrize("failure", [ValueError, KeyboardInterrupt, OSError])
def test_a_write_that_fails_leaves_the_old_file_and_no_other(tmp_path, failure):
    write_atomically(tmp_path / "file", "old")
    with pytest.raises((failure, UserError)), atomic_file(tmp_path / "file") as file:
        file.write(b"half of the ne")
        raise failure
    assert [p.name for p in tmp_path.iterdir()] == ["file"]
    assert (tmp_path / "file").read_text() == "old"


def test_the_new_file_appears_only_when_complete(tmp_path):
    with atomic_file(tmp_path / "file") as file:
        file.write(b"new")
        assert not (tmp_path / "file").exists()
    assert (tmp_path / "file").read_text() == "new"


def test_a_directory_below_a_file_cannot_be_made(tmp_path):
    (tmp_path / "file").touch()
    with pytest.raises(UserError, match="cannot write into the directory .*file/run"):
        make_directory(tmp_path / "file" / "run")
    with pytest.raises(UserError, match="cannot write .*file/text"):
        write_lines(tmp_path / "file" / "text", ["a"])


def test_making_a_directory_leaves_nothing_in_it(tmp_path):
    make_directory(tmp_path / "a" / "b")
    assert not list((tmp_path / "a" / "b").iterdir())


def test_a_link_is_written_through(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real" / "file")
    write_atomically(tmp_path / "link", "text")
    assert (tmp_path / "link").is_symlink() and (tmp_path / "real" / "file").read_text() == "text"


def test_a_pipe_stays_a_pipe(tmp_path):
    """As in `-o >(gzip > file)` or `-o /dev/null`: what is not a regular file must not be replaced by one."""
    os.mkfifo(tmp_path / "pipe")
    received = []
    reader = threading.Thread(target=lambda: received.append((tmp_path / "pipe").read_text()), daemon=True)
    reader.start()
    write_lines(tmp_path / "pipe", ["text"])
    reader.join(0.5)
    assert (tmp_path / "pipe").is_fifo() and received == ["text\n"]
