"""Every call that writes a run's files fails once: the old state is intact, and the run goes on to the same bits."""

import errno
import shutil
from pathlib import Path

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.errors import UserError
from minnmt.train.checkpoint import load_checkpoint
from tests.conftest import run_cli, write_toy_text
from tests.faults.inject import Call, Killed, failing_disk, leftovers
from tests.train.test_resume import assert_same_bits
from tests.train.toy import toy_run

OPTIONS = "--embedding 3 --hidden 4 --bpe 5 --batch-size 8 --threads 1 --align-from-epoch 1 --epochs 1".split()
SAVE = ["--save-every", "2"]
FULL, BROKEN = errno.ENOSPC, errno.EIO
FAULTS = FULL, BROKEN, Killed


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """The options that name a text of two updates."""
    return write_toy_text(tmp_path_factory.mktemp("text"), n_train=16, n_dev=3)


@pytest.fixture(scope="module")
def untouched(text, tmp_path_factory):
    """A run on a sound disk -> its directory, and the calls that wrote it."""
    run = tmp_path_factory.mktemp("untouched") / "run"
    with failing_disk(run) as disk:
        result = run_cli("train", *text, "-o", run, *OPTIONS, *SAVE)
    assert result.code == 0, result.err
    return run, disk.calls


def worth_trying(calls):
    """The numbers of the calls; of several writes to a file (or removals) one after the other, the middle one."""
    chosen, alike = [], []
    for number, call in enumerate(calls):
        if alike and call.operation != calls[alike[0]].operation:
            chosen, alike = [*chosen, alike[len(alike) // 2]], []
        alike.append(number)
    return [*chosen, alike[len(alike) // 2]]


def train(text, run):
    """Start a run, or go on with it."""
    begun = (run / "config.json").exists()
    return run_cli("train", *(["--resume"] if begun else [*text, *OPTIONS]), "-o", run, *SAVE)


def one_sentence(result):
    """The error of a command that failed as it should."""
    errors = [line for line in result.err.splitlines() if line.startswith("error: ")]
    assert result.code == 1 and len(errors) == 1 and "Traceback" not in result.err, result
    return errors[0]


def fail_and_go_on(text, untouched, run, number, fault):
    """A run whose disk fails at a call, then is sound."""
    with failing_disk(run, number, fault, lasting=fault == FULL) as disk:
        if fault is Killed:
            with pytest.raises(Killed):
                train(text, run)
        else:
            assert "cannot write" in one_sentence(train(text, run))
            assert not [name for name in leftovers(run) if name.endswith(".tmp")] or fault == FULL
    result = train(text, run)
    assert result.code == 0, f"after {disk.calls[number]}: {result.err}"
    assert leftovers(run) == [], f"after {disk.calls[number]}"
    assert_same_bits(run, untouched)
    shutil.rmtree(run)


def test_every_file_is_written_through_the_disk_that_fails(untouched):
    run, calls = untouched
    expected = {path.name for path in run.iterdir()}
    for operation in ("open", "write", "replace"):
        assert expected <= {call.name for call in calls if call.operation == operation}
    assert sum(call.operation == "fsync" for call in calls) >= 2 * len(expected)  # a file, and its directory


@pytest.mark.parametrize("turn", range(3))
def test_a_run_survives_a_fault_at_any_file(text, untouched, tmp_path, turn):
    """Every call fails in one of three ways, in turns; the slow test tries all three."""
    sound, calls = untouched
    for i, number in enumerate(worth_trying(calls)):
        if i % 3 == turn:
            fault = Killed if calls[number].operation == "unlink" else FAULTS[(i + i // 3) % 3]
            fail_and_go_on(text, sound, tmp_path / "run", number, fault)


@pytest.mark.slow
@pytest.mark.parametrize("fault", FAULTS)
def test_a_run_survives_a_fault_at_any_call(text, untouched, tmp_path, fault):
    sound, calls = untouched
    for number, call in enumerate(calls):
        if fault is Killed or call.operation != "unlink":  # what cannot be removed does no harm
            fail_and_go_on(text, sound, tmp_path / "run", number, fault)


def saved(run):
    """What a checkpoint holds -> bytes."""
    params, adam, progress, counts = load_checkpoint(run.directory, run.params.sizes())
    arrays = [params.softmax.W, adam.m.softmax.W, adam.v.softmax.W, *counts.arrays().values()]
    return [a.tobytes() for a in arrays], progress


def test_a_fault_at_any_call_leaves_the_checkpoint_before(tmp_path):
    run = toy_run(tmp_path, n_pairs=8, embedding=2, hidden=2)
    run.save()
    before, state = (tmp_path / "checkpoint.npz").read_bytes(), saved(run)
    run.progress.n_updates += 1
    with failing_disk(tmp_path) as disk:
        run.save()
    renamed = disk.calls.index(Call("replace", "checkpoint.npz"))
    for number in range(renamed + 1):
        fault = FAULTS[number % 3]
        (tmp_path / "checkpoint.npz").write_bytes(before)
        with failing_disk(tmp_path, number, fault, lasting=fault == FULL):
            with pytest.raises(Killed if fault is Killed else UserError):
                run.save()
        assert (tmp_path / "checkpoint.npz").read_bytes() == before
        for path in tmp_path.glob(".*.tmp"):
            assert fault != BROKEN, "a temporary file was left by a program that went on"
            path.unlink()
    assert saved(run) == state


def test_counts_are_whole_or_as_before(tmp_path):
    path = Path(tmp_path) / "alignments.npz"
    old, new = (Counts.from_cells([0, 1], [1, 0], [w, 1], 3, 3, {"method": "test"}) for w in (1, 2))
    old.save(path)
    before = path.read_bytes()
    with failing_disk(tmp_path) as disk:
        new.save(path)
    for number in range(disk.calls.index(Call("replace", "alignments.npz"))):
        path.write_bytes(before)
        with failing_disk(tmp_path, number, Killed), pytest.raises(Killed):
            new.save(path)
        assert np.array_equal(Counts.load(path).data, old.data)
