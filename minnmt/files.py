"""Reading and writing text: plain or .gz, "-" for a pipe, errors that name file and line, nothing half-written."""

import contextlib
import gzip
import os
import secrets
import shutil
import sys
import zlib
from pathlib import Path

from .errors import UserError


def read_bytes(path):
    """The whole of a file (unpacked if its name ends in .gz) or, for "-", of standard input."""
    if str(path) == "-":
        if sys.stdin is None:
            raise UserError("standard input is closed: there is nothing to read")
        return sys.stdin.buffer.read()
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise UserError(f"cannot read {path}: {reason(error)}") from None
    if not str(path).endswith(".gz"):
        return data
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        raise UserError(f"{path} is not a complete gzip file: it is damaged or was not copied to its end") from None


def read_text(path):
    """The file's text; anything but UTF-8 is refused with its line."""
    return decode_text(read_bytes(path), path)


def decode_text(data, path, first_line=1):
    """bytes -> text; `path` and `first_line` say where they come from. A byte-order mark at the start is dropped."""
    try:
        return data.decode("utf-8-sig" if first_line == 1 else "utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + first_line
        remedy = "convert it first, for instance with iconv -f latin1 -t utf-8"
        if data.startswith(b"\x1f\x8b"):
            remedy = "it is packed: unpack it with zcat, or give it a name that ends in .gz"
        elif data.startswith((b"\xff\xfe", b"\xfe\xff")):
            remedy = "convert it first with iconv -f utf-16 -t utf-8"
        raise UserError(f"{path}, line {line}: not UTF-8 text (byte 0x{data[error.start]:02x}); {remedy}") from None


def nothing_to_read():
    """Is standard input a terminal, the null device, or closed?"""
    if sys.stdin is None or sys.stdin.closed or sys.stdin.isatty():
        return True
    here, null = os.fstat(sys.stdin.fileno()), os.stat(os.devnull)
    return (here.st_dev, here.st_ino) == (null.st_dev, null.st_ino) or here.st_rdev == null.st_rdev != 0


def read_lines(path):
    """The file's lines, split at newlines only (not at the other separators that Unicode knows)."""
    text = read_text(path)
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.rstrip("\r") for line in lines]


def read_parallel(src_path, trg_path):
    """Two files of equal length, not empty -> (source lines, target lines)."""
    src, trg = read_lines(src_path), read_lines(trg_path)
    if len(src) != len(trg):
        raise UserError(
            f"{src_path} has {len(src)} lines but {trg_path} has {len(trg)}: "
            "parallel files must match line by line"
        )
    if not src:
        raise UserError(f"{src_path} and {trg_path} are empty")
    return src, trg


def make_directory(path):
    """Create a directory for output, and make sure that it can be written to."""
    try:
        Path(path).mkdir(parents=True, exist_ok=True)
        probe = Path(path) / f".write-test-{secrets.token_hex(8)}"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise UserError(f"cannot write into the directory {path}: {reason(error)}") from None


@contextlib.contextmanager
def only_writer(directory):
    """Make a directory ours to write into: a second process that asks for it is refused. Death releases it.

    A directory that was made for this and in which nothing was written disappears again.
    """
    missing = [path for path in (Path(directory), *Path(directory).parents) if not path.exists()]
    make_directory(directory)
    path = Path(directory) / ".lock"
    try:
        with lock(path, directory):
            try:
                yield
            finally:
                _remove(path)
    finally:
        with contextlib.suppress(OSError):
            for made in missing:
                made.rmdir()  # only if it is empty


@contextlib.contextmanager
def lock(path, directory):
    """Hold an flock on a file; the system lets go of it when the process ends, however that happens."""
    try:
        import fcntl
    except ImportError:  # Windows
        yield
        return
    while True:
        file = open(path, "a+")
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.close()
            raise UserError(
                f"{directory} is in use: another process writes into it; wait for its end, or choose another directory"
            ) from None
        except OSError:  # a file system without locks
            break
        if path.exists() and os.path.samestat(os.stat(path), os.fstat(file.fileno())):
            break  # else its last owner has just removed it
        file.close()
    try:
        yield
    finally:
        file.close()


@contextlib.contextmanager
def atomic_file(path):
    """A binary file to write into; it appears under its name only when complete, flushed to the disk.

    Whatever goes wrong before that leaves an older file of that name as it was.
    """
    target = Path(os.path.realpath(path))  # a link stays a link
    # by chance, not by the process's number: two machines may share a directory
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(8)}.tmp")
    try:
        if target.exists() and not target.is_file():  # a pipe or a device: there is nothing to replace
            with open(target, "wb") as file:
                yield file
            return
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if target.exists():
            shutil.copymode(target, temporary)
        os.replace(temporary, target)
        sync_directory(target.parent)
    except OSError as error:
        _remove(temporary)
        if isinstance(error, BrokenPipeError):
            raise
        raise UserError(f"cannot write {path}: {reason(error)}; the file is as it was before") from None
    except BaseException:
        _remove(temporary)
        raise


def sync_directory(directory):
    """A new name is on the disk only when its directory is."""
    if not hasattr(os, "O_DIRECTORY"):  # Windows
        return
    number = os.open(directory, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(number)
    except OSError as error:
        raise UserError(f"cannot write {directory} to the disk: {reason(error)}; its last file may be lost") from None
    finally:
        os.close(number)


def _remove(path):
    with contextlib.suppress(OSError):
        path.unlink()


def remove_leftovers(directory, names):
    """Delete the temporary files that a killed program left when it was writing one of `names`."""
    for name in names:
        for path in Path(directory).glob(f".{name}.*.tmp"):
            _remove(path)


def is_stdout(path):
    """Is this standard output, by whatever name ("-", /dev/stdout, the file it was redirected to)?"""
    if str(path) == "-":
        return True
    try:
        return sys.stdout is not None and os.path.samestat(os.stat(path), os.fstat(sys.stdout.fileno()))
    except (OSError, ValueError):  # no such file yet, or a standard output without a number
        return False


def check_writable(path):
    """Make sure, before any work, that a file can be written."""
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise UserError(f"cannot write {path}: it is a directory")
    if target.exists() and not target.is_file():
        return
    probe = target.with_name(f".{target.name}.{secrets.token_hex(8)}.probe")
    try:
        probe.touch()
    except OSError as error:
        raise UserError(f"cannot write {path}: {reason(error)}") from None
    _remove(probe)


def write_atomically(path, text):
    """Write text (packed if the name ends in .gz) so that the file is either complete or untouched."""
    write_bytes(path, text.encode("utf-8"))


def write_bytes(path, data):
    """The same for bytes; "-", or any other name of standard output, is that."""
    if is_stdout(path):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    if str(path).endswith(".gz"):
        data = gzip.compress(data, mtime=0)
    with atomic_file(path) as file:
        file.write(data)


def write_lines(path, lines):
    """Write lines to a file, or to standard output for "-"."""
    text = "".join(line + "\n" for line in lines)
    if str(path) == "-" and sys.stdout is None:
        raise UserError("standard output is closed: name a file to write to")
    if is_stdout(path):
        sys.stdout.write(text)
        sys.stdout.flush()
    else:
        write_atomically(path, text)


def reason(error):
    """What the operating system says, in lower case: "no space left on device"."""
    text = error.strerror or str(error)
    return text[:1].lower() + text[1:]
