"""A disk that fails: every call by which minnmt changes a directory can be made to fail, or to be the last one.

Left out: what the kernel does below these calls. A write that fails has written half of its bytes.
"""

import contextlib
import io
import os
from pathlib import Path
from typing import NamedTuple

import pytest

from minnmt import files


class Killed(BaseException):
    """The process ends here: nothing that follows reaches the disk."""


class Call(NamedTuple):
    operation: str  # open, write, fsync, replace, create or unlink
    name: str  # of the file, without the random part of a temporary name


class Disk:
    """Counts the calls below a directory; number `at` fails: with an errno, from then on if `lasting`, or by a kill."""

    def __init__(self, directory, at=None, fault=None, lasting=False):
        self.directory, self.at, self.fault, self.lasting = str(directory), at, fault, lasting
        self.calls, self.dead = [], False

    def due(self, operation, path):
        """Note a call; is it one that fails?"""
        self.calls.append(Call(operation, plain_name(path)))
        number = len(self.calls) - 1
        return self.at is not None and (number == self.at or (self.lasting and number > self.at))

    def strike(self, path):
        if self.fault is Killed:
            self.dead = True
            raise Killed
        raise OSError(self.fault, os.strerror(self.fault), str(path))

    def instead(self, operation, real, result=None):
        """A stand-in for a function of `os` whose first argument is a path or the number of an open file."""

        def call(path, *arguments, **options):
            name = os.readlink(f"/proc/self/fd/{path}") if isinstance(path, int) else os.fspath(path)
            if not str(name).startswith(self.directory):
                return real(path, *arguments, **options)
            if self.dead:
                return result
            if self.due(operation, name):
                self.strike(name)
            return result if operation == "fsync" else real(path, *arguments, **options)  # nothing is lost here

        return call

    def open(self, path, mode="r", **options):
        """A stand-in for `open` in minnmt.files; files that are written have a raw side that may fail."""
        if mode != "wb" or not str(path).startswith(self.directory):
            return open(path, mode, **options)
        if not self.dead and self.due("open", path):
            self.strike(path)
        return io.BufferedWriter(Raw(self, os.devnull if self.dead else path))


class Raw(io.FileIO):
    """The unbuffered side of a file: what the system is asked to write."""

    def __init__(self, disk, path):
        super().__init__(path, "w")
        self.disk = disk

    def write(self, data):
        if self.disk.dead:
            return len(data)
        if self.disk.due("write", self.name):
            super().write(bytes(data)[: len(data) // 2])
            self.disk.strike(self.name)
        return super().write(data)


def plain_name(path):
    """.model.npz.0123456789abcdef.tmp -> model.npz."""
    name = Path(path).name
    return name[1:].rsplit(".", 2)[0] if name.endswith((".tmp", ".probe")) else name


@contextlib.contextmanager
def failing_disk(directory, at=None, fault=None, lasting=False):
    """Within it, minnmt writes below a directory through a Disk."""
    disk = Disk(os.path.realpath(directory), at, fault, lasting)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(files, "open", disk.open, raising=False)
        patch.setattr(os, "fsync", disk.instead("fsync", os.fsync))
        patch.setattr(os, "replace", disk.instead("replace", os.replace))
        patch.setattr(os, "unlink", disk.instead("unlink", os.unlink))
        yield disk


def leftovers(directory):
    """What should not be there once a command has ended, but for the empty file of a probe that was killed."""
    hidden = (path.name for path in Path(directory).iterdir() if path.name.startswith("."))
    return [name for name in hidden if not name.startswith(".write-test-")]
