"""Several ranks under mpiexec: the bits of one process, whatever their number; if one of them dies, all end."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from minnmt.ranks import Alone
from minnmt.train.slices import made_of
from minnmt.train.updates import Sum, add_share, total
from tests.conftest import run_cli, write_toy_text
from tests.train.test_resume import assert_same_bits

ROOT = Path(__file__).parents[1]
OPTIONS = (
    "--embedding 12 --hidden 16 --bpe 60 --batch-size 8 --learning-rate 0.01 --dropout 0.2 --threads 1 --shares 4 "
    "--epochs 2 --align-from-epoch 1 --dynamic-vocab 3 --save-every 3"
).split()
SAVE = OPTIONS[-2:]


def mpiexec(n, *arguments, **more):
    """Start n ranks of `cli.py ARGUMENTS`, or of a script that ends in .py."""
    pytest.importorskip("mpi4py", reason="the extra mpi is not installed")
    program = shutil.which("mpiexec", path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    script = [] if str(arguments[0]).endswith(".py") else [str(ROOT / "cli.py")]
    command = [program, "-n", str(n), sys.executable, "-m", "mpi4py", *script, *map(str, arguments)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **more)


def outcome(process):
    """-> (exit code, standard error)."""
    err = process.communicate(timeout=120)[1]
    return process.returncode, err


def done(n, *arguments):
    code, err = outcome(mpiexec(n, *arguments))
    assert code == 0, err
    return err


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_toy_text(tmp_path_factory.mktemp("text"), n_train=120, n_dev=12)


@pytest.fixture(scope="module")
def untouched(text, tmp_path_factory):
    """The directory of a run by one process; read it, do not change it."""
    run = tmp_path_factory.mktemp("untouched") / "run"
    result = run_cli("train", *text, "-o", run, *OPTIONS)
    assert result.code == 0, result.err
    return run


# The order of sums


@pytest.mark.parametrize("n", [1, 2, 3, 4, 5, 7, 8, 13, 16])
def test_ranks_add_up_shares_in_the_order_of_one_process(n):
    def write(a, b):  # what is added, with its brackets
        a[0] = f"({a[0]}+{b[0]})"

    def added(shares):
        sums = []
        for i in shares:
            add_share(sums, Sum(i, 1, [str(i)]), write)
        return sums

    expected = total(added(range(n)), write)[0]
    assert sorted(map(int, re.findall(r"\d+", expected))) == list(range(n))
    for size in range(1, 9):
        ranks = Alone()
        ranks.size = size
        parts = [added(ranks.part(n, r)) for r in range(size)]
        assert [[part[:2] for part in sums] for sums in parts] == [made_of(ranks.part(n, r)) for r in range(size)]
        assert total([part for sums in parts for part in sums], write)[0] == expected, size


UPDATES = """
import sys
import numpy as np
from minnmt import ranks, guard
from minnmt.model import parameters
from minnmt.model.parameters import named_arrays
from minnmt.train import slices
from minnmt.train.slices import Slice
from minnmt.train.updates import Updater
from tests.train.toy import toy_run
from tests.train.test_rows import Lists
from pathlib import Path

parameters.PIECE, slices.SMALL = 50, 80  # so that arrays are cut, and travel row by row
ranks.begin(["train"])
several = ranks.current()
kinds = set()
for adam in ("dense", "sparse"):
    for mode in (None, "batch", "pair"):
        updaters = []
        for many in (False, True):
            run = toy_run(Path("."), dropout=0.2, shares=5, adam=adam)
            owned = Slice(run.params, several) if many else None
            updater = Updater(run.params, run.src, run.trg, run.settings, owned=owned)
            updater.words = Lists(run, mode) if mode else None
            found = [updater.update(updater.shares(np.arange(i, 64, 7)), 0.01) for i in range(2)]
            updaters.append((updater, [(each.nll, each.n_words, each.norm) for each in found]))
        (one, expected), (many, found) = updaters
        assert found == expected, (adam, mode, found, expected)
        kinds |= {type(p).__name__ for p in many.owned.parcels(many.shares(np.arange(2)).rows)}
        many.owned.collect(many.adam)
        trees = [(u.params, u.adam.m, u.adam.v) for u in (one, many)]
        for a, b in zip(*trees) if several.is_first else [(one.params, many.params)]:
            for (name, x), (_, y) in zip(named_arrays(a), named_arrays(b)):
                assert np.array_equal(x, y), (adam, mode, name)
assert kinds == {"Parcel", "RowParcel", "SmallParcel"}, kinds
"""


def test_updates_with_arrays_that_are_cut_and_rows_that_travel_alone(tmp_path):
    (tmp_path / "updates.py").write_text(UPDATES)
    done(2, tmp_path / "updates.py")


# Training and counting


@pytest.mark.parametrize("n, lists", [(2, "batch"), (3, "epoch")])
def test_ranks_end_in_the_bits_of_one_process(text, untouched, tmp_path, n, lists):
    if lists == "epoch":
        untouched = tmp_path / "one"
        assert run_cli("train", *text, "-o", untouched, *OPTIONS, "--dynamic-lists", lists).code == 0
    err = done(n, "train", *text, "-o", tmp_path / "run", *OPTIONS, "--dynamic-lists", lists)
    assert_same_bits(tmp_path / "run", untouched)
    assert err.count(f"{n} ranks on 1 machine, 1 thread each; shares of a batch: 4") == 1
    assert err.count("epoch 2 done") == 1  # rank 0 speaks


def test_a_run_goes_on_with_another_number_of_ranks(text, untouched, tmp_path):
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *OPTIONS, "--max-updates", 4).code == 0
    err = done(2, "train", "-o", run, "--resume", "--max-updates", 20, *SAVE)
    assert "mpiexec -n 2 python -m mpi4py" in err and f"train -o {run} --resume" in err
    assert run_cli("train", "-o", run, "--resume", "--threads", 2, *SAVE).code == 0
    assert_same_bits(run, untouched)


def test_counts_of_a_frozen_model(untouched, tmp_path):
    for n, name in ((1, "one"), (2, "two")):
        arguments = ["align", "-m", untouched, "--frozen", "-o", tmp_path / name]
        assert run_cli(*arguments).code == 0 if n == 1 else done(n, *arguments)
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


# Translating


@pytest.fixture(scope="module")
def lines(tmp_path_factory):
    """A text of 2,000 lines, blank ones among them."""
    path = tmp_path_factory.mktemp("lines") / "in"
    words = "eins zwei drei vier blau rot Haus Hund".split()
    rng = np.random.default_rng(8)
    path.write_text("".join(" ".join(rng.choice(words, n)) + "\n" for n in rng.integers(0, 7, 2000)))
    return path


def test_ranks_translate_what_one_process_does(untouched, lines, tmp_path):
    decode = ["decode", "-m", untouched, "--topn", 5, "--batch-size", 8, "-i", lines, "-o"]
    assert run_cli(*decode, tmp_path / "one").code == 0
    err = done(2, *decode, tmp_path / "two")
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes() and err.count("lists:") == 1
    half = (tmp_path / "one").read_bytes()[:9000]
    (tmp_path / "again.partial").write_bytes(half)
    err = done(2, *decode, tmp_path / "again", "--resume")
    n_lines = half.count(b"\n")
    assert f"going on after line {n_lines:,} of" in err
    assert (tmp_path / "one").read_bytes() == (tmp_path / "again").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["again", "one", "two"]


# Failure


def rank_processes(process):
    """The process numbers of the ranks of an mpiexec: those who were started by a guard."""
    found = subprocess.run(["ps", "-ww", "-eo", "pid,ppid,args"], capture_output=True, text=True).stdout
    rows = [line.split(None, 2) for line in found.splitlines()[1:]]
    below = {process.pid}
    for _ in rows:  # a child may have a lower number than its parent
        below |= {int(pid) for pid, parent, _ in rows if int(parent) in below}
    guards = {int(pid) for pid, _, args in rows if int(pid) in below and "guard.py" in args}
    return sorted(int(pid) for pid, parent, _ in rows if int(parent) in guards)


def kill_one(process, rng):
    """kill -9 of one rank -> how long the others have lived, and what was said; None if all had ended."""
    while not (ranks := rank_processes(process)) and process.poll() is None:
        time.sleep(0.01)
    if process.poll() is not None:
        process.communicate()
        return None
    victim = int(rng.choice(ranks))
    os.kill(victim, 9)
    began = time.monotonic()
    code, err = outcome(process)
    seconds = time.monotonic() - began
    assert code == 1 and re.search(r"error: rank \d was killed by signal 9: all ranks end", err), (code, err)
    assert err.count("error:") == 1 and "Traceback" not in err, err
    while [pid for pid in ranks if is_alive(pid)]:
        assert time.monotonic() < began + 10, "a rank is left"
    return seconds, err


def is_alive(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_killed_rank_ends_all_and_the_run_goes_on_to_the_same_bits(text, untouched, tmp_path):
    found = None
    for n in range(10):  # a fast machine may have finished before the kill
        run = tmp_path / f"run{n}"
        process = mpiexec(2, "train", *text, "-o", run, *OPTIONS)
        while not (run / "checkpoint.npz").exists():
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        if found := kill_one(process, np.random.default_rng(1)):
            break
    _, err = found
    assert f"Go on with: mpiexec -n 2 python -m mpi4py {ROOT / 'cli.py'} train -o {run} --resume" in err
    done(2, "train", "-o", run, "--resume", *SAVE)
    assert_same_bits(run, untouched)


def test_an_error_of_one_rank_ends_all(tmp_path):
    script = "from minnmt import ranks\nranks.begin(['train'])\nr = ranks.current()\n"
    (tmp_path / "script.py").write_text(script + "if r.rank == 1:\n    raise ValueError('here')\nr.share(1)\nr.end()")
    code, err = outcome(mpiexec(2, tmp_path / "script.py"))
    assert code == 1 and "ValueError: here" in err


@pytest.mark.parametrize(
    "arguments, code, sentence",
    [
        (["train", "--resume", "-o", "nowhere"], 1, "error: nowhere holds no run to resume"),
        (["train", "--hiden", 3], 2, "No such option"),
        (["score", "a", "b"], 2, "error: train, align, decode make use of several ranks, score does not"),
        (["align", "--method", "model1", "-m", "x"], 2, "does not make use of several ranks"),
    ],
)
def test_a_mistake_is_named_once(tmp_path, arguments, code, sentence):
    found, err = outcome(mpiexec(2, *arguments, cwd=tmp_path))
    assert (found, err.count(sentence)) == (code, 1), err


def test_without_mpi4py_the_extra_is_named(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import sys\nsys.modules['mpi4py'] = None\n")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path), "PMI_SIZE": "2", "PMI_RANK": "0"}
    command = [sys.executable, str(ROOT / "cli.py"), "train"]
    result = subprocess.run(command, env=environment, capture_output=True, text=True)
    assert result.returncode == 1 and 'pip install -e ".[mpi]"' in result.stderr and "Traceback" not in result.stderr
