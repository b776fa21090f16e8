"""Lines as they come and go: text of any length, from a file, a packed file or a pipe, of which little is in memory."""

import contextlib
import gzip
import os
import select
import sys
import time
import zlib
from itertools import count

from .errors import UserError
from .files import atomic_file, decode_text, reason

MOST_BYTES = 1 << 23  # of a line; to cut one into words takes forty times its size
PATIENCE = 0.1  # seconds that a line of a pipe waits for others to be translated with
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


def line_chunks(path, size, on_bad_line="stop", warn=None, patience=PATIENCE):
    """Yields lists of up to `size` lines; those of a pipe wait no more than `patience` seconds for others.

    A line that is not UTF-8 stops the reading, after those before it, or becomes blank or a Copied one.
    """
    name, number = "standard input" if path == "-" else path, 0
    can_wait = path == "-" and os.name != "nt"  # there, only sockets can be waited for
    for chunk in piped_chunks(size, patience) if can_wait else file_chunks(path, size):
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


def file_chunks(path, size):
    """Lists of lines; those before a line that cannot be read come first."""
    chunk = []
    with open_bytes(path) as file:
        try:
            for line in byte_lines(file, "standard input" if path == "-" else path):
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
        return
    packed = str(path).endswith(".gz")
    with atomic_file(path) as file:
        with gzip.GzipFile("", "wb", fileobj=file, mtime=0) if packed else contextlib.nullcontext(file) as target:
            yield lambda lines: target.write(encoded(lines))


def write_to_stdout(lines):
    sys.stdout.flush()
    sys.stdout.buffer.write(encoded(lines))
    sys.stdout.buffer.flush()


def encoded(lines):
    return "".join(line + "\n" for line in lines).encode("utf-8", "surrogateescape")
