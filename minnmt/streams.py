"""Lines as they come and go: text of any length, from a file, a packed file or a pipe, of which little is in memory."""

import contextlib
import gzip
import os
import select
import shutil
import sys
import time
import zlib
from itertools import count, islice
from pathlib import Path

from .errors import UserError
from .files import atomic_file, decode_text, is_stdout, lock, reason, sync_directory

MOST_BYTES = 1 << 23  # of a line; to cut one into words takes forty times its size
PATIENCE = 0.1  # seconds that a line of a pipe waits for others to be translated with
PARTIAL = ".partial"  # behind the name of a file that is being written
BAD_LINES = ("stop", "blank", "copy")


class Copied(str):
    """A line that cannot be read and is passed on as it is; bytes that are no text are surrogates in it."""


@contextlib.contextmanager
def open_bytes(path):
    """A binary file to read from, unpacked on the way if its name ends in .gz; "-" is standard input."""
    if str(path) == "-":
        if sys.stdin is None:
            raise UserError("standard input is closed: there is nothing to read")
        yield sys.stdin.buffer
        return
    try:
        with open(path, "rb") as file, gzip.open(file) if str(path).endswith(".gz") else file as unpacked:
            yield unpacked
    except (gzip.BadGzipFile, EOFError, zlib.error):
        raise UserError(f"{path} is not a complete gzip file: it is damaged or was not copied to its end") from None
    except OSError as error:
        raise UserError(f"cannot read {path}: {reason(error)}") from None


def byte_lines(file, name):
    """Yields the lines of an open file, as bytes with their ends."""
    for number in count(1):
        line = file.readline(MOST_BYTES)
        if not line:
            return
        if len(line) == MOST_BYTES:
            raise UserError(f"{name}, line {number}: it has more than {MOST_BYTES >> 20} MB, which is no text")
        yield line


def line_chunks(path, size, on_bad_line="stop", warn=None, patience=PATIENCE, skip=0):
    """Yields lists of up to `size` lines; those of a pipe wait no more than `patience` seconds for others.

    A line that is not UTF-8 stops the reading, after those before it, or becomes blank or a Copied one. The first
    `skip` lines of a file are left out.
    """
    name, number = "standard input" if path == "-" else path, skip
    can_wait = path == "-" and os.name != "nt"  # there, only sockets can be waited for
    for chunk in piped_chunks(size, patience) if can_wait else file_chunks(path, size, skip):
        lines = []
        for data in chunk:
            number += 1
            try:
                lines.append(decode_text(data, name, number).rstrip("\r\n"))
            except UserError as error:
                if on_bad_line == "stop":
                    yield lines
                    raise
                warn(f"warning: {error}; the line is {'left blank' if on_bad_line == 'blank' else 'copied'}")
                raw = Copied(data.decode("utf-8", "surrogateescape").rstrip("\r\n"))
                lines.append(raw if on_bad_line == "copy" else "")
        yield lines


def file_chunks(path, size, skip=0):
    """Lists of lines; those before a line that cannot be read come first."""
    chunk = []
    with open_bytes(path) as file:
        lines = byte_lines(file, "standard input" if path == "-" else path)
        if sum(1 for _ in islice(lines, skip)) < skip:
            raise UserError(f"{path} has fewer than {skip} lines, which are translated already: it is another text")
        try:
            for line in lines:
                chunk.append(line)
                if len(chunk) == size:
                    yield chunk
                    chunk = []
        except Exception:
            yield chunk
            raise
    if chunk:
        yield chunk


def piped_chunks(size, patience):
    """Standard input as it arrives: lists of lines that are full, or as old as `patience` allows."""
    number, chunk, parts, first = sys.stdin.fileno(), [], [], 0.0
    while True:
        wait = max(0.0, first + patience - time.monotonic()) if chunk else None
        try:
            data = os.read(number, 1 << 16) if select.select([number], [], [], wait)[0] else None
        except OSError as error:
            raise UserError(f"cannot read standard input: {reason(error)}") from None
        if data is None:
            yield chunk
            chunk = []
            continue
        if not data:
            break
        *ends, rest = data.split(b"\n")
        if ends and not chunk:
            first = time.monotonic()
        for end in ends:
            chunk.append(b"".join([*parts, end, b"\n"]))
            parts = []
            if len(chunk) == size:
                yield chunk
                chunk = []
        parts.append(rest)
        if sum(map(len, parts)) > MOST_BYTES:
            yield chunk
            raise UserError(f"standard input has a line of more than {MOST_BYTES >> 20} MB, which is no text")
    last = b"".join(parts)
    yield chunk + ([last] if last else [])


@contextlib.contextmanager
def line_writer(path):
    """Yields a function that writes lines: to standard output at once, or to a file that appears when all is done."""
    if path == "-":
        yield write_to_stdout
    elif str(path).endswith(".gz"):
        with atomic_file(path) as file, gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
            yield lambda lines: packed.write(encoded(lines))
    else:
        with atomic_file(path) as file:
            yield lambda lines: file.write(encoded(lines))


def can_go_on(path):
    """Can a file that was interrupted be completed later? Not a pipe, not standard output, and not a packed one."""
    if is_stdout(path):
        return False
    there = os.path.exists(path)
    return path != "-" and not str(path).endswith(".gz") and (os.path.isfile(path) or not there)


@contextlib.contextmanager
def resumable_writer(path, resume=False):
    """Yields a function that writes lines, and how many are there already; the file appears when all is done.

    Until then they are in FILE.partial, which stays, if it has any, when the program ends before: with `resume` it goes
    on behind the last complete line, or that of an incomplete file itself.
    """
    target = Path(os.path.realpath(path))
    partial = target.with_name(target.name + PARTIAL)
    begun = partial.exists()
    with as_user_error(path, partial), lock(partial, partial):
        try:
            with open(partial, "r+b") as file:
                if resume and not begun and target.exists():
                    with open(target, "rb") as old:
                        shutil.copyfileobj(old, file)
                n_lines = cut_to_lines(file) if resume else file.truncate(0)
                yield lambda lines: write_through(file, lines), n_lines
                os.fsync(file.fileno())
        except BaseException:
            if not partial.stat().st_size:
                partial.unlink()
            raise
        if target.exists():
            shutil.copymode(target, partial)
        os.replace(partial, target)
        sync_directory(target.parent)


@contextlib.contextmanager
def as_user_error(path, partial):
    """What the system has against writing, in a sentence."""
    try:
        yield
    except OSError as error:
        kept = f"; what was translated is in {partial}" if partial.exists() else ""
        raise UserError(f"cannot write {path}: {reason(error)}{kept}") from None


def write_through(file, lines):
    """Write lines so that a kill of this process does not lose them."""
    file.write(encoded(lines))
    file.flush()


def cut_to_lines(file):
    """Cut an open file behind its last complete line, and go there -> how many lines it has."""
    n_lines, end, start = 0, 0, 0
    file.seek(0)
    while part := file.read(1 << 20):
        n_lines += part.count(b"\n")
        if b"\n" in part:
            end = start + part.rindex(b"\n") + 1
        start += len(part)
    file.seek(end)
    file.truncate()
    return n_lines


def write_to_stdout(lines):
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(lines))
    sys.stdout.buffer.flush()


def encoded(lines):
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
