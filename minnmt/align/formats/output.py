"""Writing a binary file, or to standard output for "-"."""

import sys

from ...files import atomic_file


def write_bytes(path, data):
    """The file is either complete or untouched."""
    if str(path) == "-":
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return
    with atomic_file(path) as file:
        file.write(data)
