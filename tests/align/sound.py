"""Counts that hold together: what the gate for files asks for must be true of those that are made here."""

import tempfile
from pathlib import Path

from minnmt.align.counts import Counts


def assert_sound(counts):
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "counts.npz"
        counts.save(path)
        Counts.load(path, counts.n_src, counts.n_trg)
