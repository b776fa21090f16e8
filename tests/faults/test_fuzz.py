"""Damaged files and hostile lines, for as long as MINNMT_FUZZ_SECONDS says: `pytest -m fuzz tests/faults`."""

import itertools
import os
import time

import numpy as np
import pytest

from tests.faults.forks import Outcome, is_fault, run_forked, verdict
from tests.faults.fuzz import describe, make_workshop, run_cases
from tests.faults.lines import odd_line, run_lines
from tests.faults.mutate import KINDS, mutate, write_members

SEED = int(os.environ.get("MINNMT_FUZZ_SEED", 1))
SECONDS = float(os.environ.get("MINNMT_FUZZ_SECONDS", 60))


@pytest.fixture(scope="module")
def workshop(tmp_path_factory):
    return make_workshop(tmp_path_factory.mktemp("workshop"))


@pytest.mark.fuzz
def test_damaged_files(workshop):
    tally = run_cases(workshop, SEED, itertools.count(), SECONDS)
    print(tally.n_cases, tally.by_verdict())
    assert not tally.faults, "\n".join(describe(SEED, case) for case in tally.faults)


@pytest.mark.fuzz
def test_a_line_out_for_every_odd_line_in(workshop):
    end, number = time.monotonic() + SECONDS / 4, 0
    while time.monotonic() < end:
        found, outcome = run_lines(workshop / "run", SEED, number)
        assert not is_fault(found), f"chunk {number} of seed {SEED}: {found}\n{outcome.err[-2000:]}"
        number += 1


# The instruments themselves


def outcome(code, err):
    return Outcome(code, b"", err, 0.1, 1)


@pytest.mark.parametrize("code, err, expected", [
    (0, "compiling\n", "done"), (1, "reading\nerror: it is damaged\n", "refused"),
    (2, "Usage:\n\nError: no\n", "usage"), (1, "", "NOT ONE SENTENCE"),
    (1, "error: a\nerror: b\n", "NOT ONE SENTENCE"), (1, "error: a\nb\n", "NOT ONE SENTENCE"),
    (1, "Traceback\n", "TRACEBACK"), (99, "", "TRACEBACK"), (-11, "", "CRASH SIGSEGV"), (-14, "", "HANG"),
    (3, "error: x\n", "EXIT CODE 3"), (0, "RuntimeWarning: overflow\n", "WARNING"),
    (1, "error: " + "x" * 3000 + "\n", "ENDLESS SENTENCE"), (1, "error: not enough memory: x\n", "no memory"),
])  # fmt: skip
def test_a_verdict_tells_faults_from_refusals(code, err, expected):
    assert verdict(outcome(code, err)) == expected
    assert is_fault(expected) == (expected not in ("done", "refused", "usage", "no memory"))


@pytest.mark.parametrize("kind", KINDS)
def test_damage_is_repeated_by_its_seed(kind):
    sound = {
        "npz": write_members([("a", np.arange(6, dtype=np.float32)), ("b", np.arange(3))]), "json": b'{"a": [1, 2]}',
        "npy": write_npy(), "gz": write_gz(), "text-gz": write_gz(), "marian-bin": bytes(range(96)),
    }.get(kind, b"a b\tc\nd e\tf\n")  # fmt: skip
    found = [[mutate(sound, kind, np.random.default_rng([3, i])) for i in range(40)] for _ in range(2)]
    assert found[0] == found[1]
    assert sum(data != sound for data, _ in found[0]) > 25
    assert len({name for _, name in found[0]}) > 5


def write_npy():
    from tests.faults.mutate import npy

    return npy(np.arange(12, dtype=np.int32).reshape(3, 4))


def write_gz():
    import gzip

    return gzip.compress(b"a b\tc\nd e\tf\n", mtime=0)


def test_odd_lines_are_lines():
    rng = np.random.default_rng(3)
    assert not any("\n" in line for line in (odd_line(rng) for _ in range(300)))
    "".join(odd_line(rng) for _ in range(300)).encode()


def test_a_crash_of_a_child_is_an_outcome(monkeypatch):
    import ctypes

    import cli

    monkeypatch.setattr(cli, "main", lambda: ctypes.string_at(0))
    assert verdict(run_forked()).startswith("CRASH")
    monkeypatch.setattr(cli, "main", lambda: 1 / 0)
    assert verdict(run_forked()) == "TRACEBACK"
    monkeypatch.setattr(cli, "main", lambda: bytearray(8 << 30))
    assert "MemoryError" in run_forked().err
