"""Damaged files for the commands that read them. Case N of a seed is always the same:

python -m tests.faults.fuzz SEED N [N ...]     repeats cases and says what became of them
"""

import gzip
import math
import shutil
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

from minnmt.align.formats import FORMATS
from tests.conftest import run_cli, write_toy_text
from tests.faults.forks import Outcome, is_fault, run_forked, verdict
from tests.faults.mutate import mutate, pick

SIZES = "--embedding 6 --hidden 5 --batch-size 8 --dropout 0.1 --threads 1 --bpe 20 --align-from-epoch 1".split()
PAUSE, RESUME_TO = 15, 20  # updates; six are an epoch
THREADS = ["--threads", 1]


class Subject(NamedTuple):
    """A file to damage: its path in a workshop, its kind, and the commands that read it."""

    path: str
    kind: str
    commands: tuple


def decode(*options):
    return lambda d: ["decode", "-m", d / "run", "-i", d / "text", *THREADS, *options]


def npz(*options):
    def command(d):
        files = ["--npz", d / "run/model.npz"]
        for side in ("src", "trg"):
            files += [f"--vocab-{side}", d / f"run/vocab.{side}.json", f"--bpe-{side}", d / f"run/bpe.{side}.codes"]
        return ["decode", *files, "-i", d / "text", *THREADS, *options]

    return command


def resume(d):
    return ["train", "-o", d / "run", "--resume", "--max-updates", RESUME_TO]


def align(*options):
    return lambda d: ["align", "-m", d / "run", "-o", d / "out.npz", *options]


def audit(*options):
    return lambda d: ["audit", "-m", d / "run", "-i", d / "text", "-r", d / "text", "--topn", 3, *THREADS, *options]


def candidates(command, *arguments):
    return lambda d: ["candidates", command, *arguments, "-m", d / "run"]


def export(name):
    return lambda d: ["candidates", "export", "-m", d / "run", "--format", name, "-o", d / "out"]


def exchange(command, name, file):
    """import or lint, with the format's name or without."""

    def arguments(d):
        output = ["-o", d / "out.npz"] if command == "import" else []
        return ["candidates", command, d / file, *output, "-m", d / "run", *(["--format", name] if name else [])]

    return arguments


LOOK = (candidates("inspect", "Haus"), candidates("why", "Haus rot blau.", "house"), candidates("stats"))
COUNTS = (
    decode("--topn", 3), decode("--topn", 3, "--by", "target", "--min-prob", 0.1),
    decode("--topn", 3, "--replace-unk", "table"), audit(), audit("--json"), *LOOK, *map(export, FORMATS),
)  # fmt: skip
BOTH = ("--counts", "epoch1", "--counts", "epoch2")
BOTH_EPOCHS = decode("--topn", 3, *BOTH), candidates("stats", *BOTH), candidates("inspect", "Haus", *BOTH)
FILES = {name: f"lists.{name}" for name in FORMATS}


def subjects():
    """All files that are damaged."""
    heavy = 3  # the files with most in them are damaged so many times as often
    model = decode("--topn", 3), decode("--engine", "float32"), decode("--beam", 2, "--n-best", 2), npz(), audit()
    side = decode("--topn", 3), npz(), resume, *LOOK, export("ct2")
    found = heavy * [
        Subject("run/model.npz", "npz", (*model, align("--frozen"), align("--learning-rate", 0.01))),
        Subject("run/checkpoint.npz", "npz", (resume,)),
        Subject("run/alignments.npz", "npz", COUNTS),
        Subject("run/alignments.epoch2.npz", "npz", (resume, *BOTH_EPOCHS)),
        Subject("run/config.json", "json", (resume, decode(), audit(), align("--frozen"), LOOK[2])),
    ]
    found += [
        Subject("run/log.tsv", "text", (resume,)),
        Subject("text", "text", (decode(), decode("--replace-unk", "copy", "--topn", 3))),
        Subject("text.gz", "text-gz", (lambda d: ["decode", "-m", d / "run", "-i", d / "text.gz", *THREADS],)),
    ]
    for name in ("src", "trg"):
        found.append(Subject(f"run/vocab.{name}.json", "json", side))
        found.append(Subject(f"run/bpe.{name}.codes", "text", side))
    for name, file in FILES.items():
        plain = {"marian-bin": "marian-bin", "sockeye-npy": "npy"}.get(name, "text")
        for path, kind in ((file, plain), (f"{file}.gz", "gz")):
            commands = [exchange(what, given, path) for what in ("import", "lint") for given in (name, None)]
            found.append(Subject(path, kind, tuple(commands)))
    return found


def make_workshop(directory):
    """A paused run, its lists in all formats, some text; every command has run once, so that kernels are ready."""
    text = write_toy_text(directory, n_train=48, n_dev=3)
    run = directory / "run"
    _must("train", *text, "-o", run, *SIZES, "--epochs", 4, "--max-updates", PAUSE)
    (directory / "text").write_text("eins zwei drei.\n\nHaus rot Garten, blau\nvier\n", encoding="utf-8")
    for name, file in FILES.items():
        _must("candidates", "export", "-m", run, "--format", name, "-o", directory / file)
    for file in ["text", *FILES.values()]:
        (directory / f"{file}.gz").write_bytes(gzip.compress((directory / file).read_bytes(), mtime=0))
    with tempfile.TemporaryDirectory() as place:
        for command in dict.fromkeys(command for subject in subjects() for command in subject.commands):
            copy = Path(shutil.copytree(directory, Path(place) / "copy"))
            _must(*command(copy))
            shutil.rmtree(copy)
    return directory


def _must(*arguments):
    result = run_cli(*arguments)
    assert result.code in (0, 1) and "rror: " not in result.err.replace("problem", ""), (arguments, result.err)


class Case(NamedTuple):
    """What one damaged file did."""

    number: int
    path: str
    operator: str
    command: list
    outcome: Outcome
    verdict: str


def run_case(workshop, seed, number, keep=None):
    """Damage a file, run a command that reads it -> Case; what an import made of it is then decoded with."""
    rng = np.random.default_rng([seed, number])
    chosen = pick(subjects(), rng)
    with tempfile.TemporaryDirectory() as place:
        copy = Path(shutil.copytree(workshop, keep or Path(place) / "copy"))
        data, operator = mutate((copy / chosen.path).read_bytes(), chosen.kind, rng)
        (copy / chosen.path).write_bytes(data)
        command = pick(chosen.commands, rng)(copy)
        outcome = run_forked(*command)
        if outcome.code == 0 and command[:2] == ["candidates", "import"]:
            command = ["decode", "-m", copy / "run", "-i", copy / "text", "--counts", copy / "out.npz", "--topn", 3]
            outcome = run_forked(*command, *THREADS)
        found = verdict(outcome)
        if found == "done" and command[0] == "decode" and "--n-best" not in command:
            found = same_lines(copy / command[command.index("-i") + 1], outcome)
    return Case(number, chosen.path, operator, list(map(str, command)), outcome, found)


def same_lines(path, outcome):
    """Is there a line out for every line in?"""
    data = path.read_bytes()
    if path.suffix == ".gz":
        data = gzip.decompress(data)
    expected = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    return "done" if outcome.out.count(b"\n") == expected else "LINES LOST"


@dataclass
class Tally:
    """What many cases did."""

    verdicts: Counter = field(default_factory=Counter)  # (path, verdict): how often
    faults: list = field(default_factory=list)
    slowest: float = 0.0
    slowest_case: int = -1
    peak: int = 0

    def add(self, case):
        self.verdicts[case.path, case.verdict] += 1
        if is_fault(case.verdict):
            self.faults.append(case)
        if case.outcome.seconds > self.slowest:
            self.slowest, self.slowest_case = case.outcome.seconds, case.number
        self.peak = max(self.peak, case.outcome.peak)

    @property
    def n_cases(self):
        return sum(self.verdicts.values())

    def by_verdict(self):
        sums = Counter()
        for (_, name), n in self.verdicts.items():
            sums[name] += n
        return dict(sums)


def run_cases(workshop, seed, numbers, seconds=math.inf, tell=print):
    """Cases of a seed, as many as fit into a time -> Tally."""
    tally, end = Tally(), time.monotonic() + seconds
    for number in numbers:
        if time.monotonic() > end:
            break
        case = run_case(workshop, seed, number)
        tally.add(case)
        if is_fault(case.verdict):
            tell(describe(seed, case))
    return tally


def describe(seed, case):
    """A fault, and how to repeat it."""
    return (
        f"{case.verdict}: {case.path} damaged by {case.operator}, exit code {case.outcome.code}, "
        f"{case.outcome.seconds:.1f} s, {case.outcome.peak >> 20} MB\n{' '.join(case.command)}\n"
        f"{case.outcome.err[-1500:]}\nrepeat: python -m tests.faults.fuzz {seed} {case.number}\n"
    )


def main(seed, *numbers):
    with tempfile.TemporaryDirectory() as place:
        workshop = make_workshop(Path(place))
        for number in map(int, numbers):
            print(describe(int(seed), run_case(workshop, int(seed), number)))


if __name__ == "__main__":
    main(*sys.argv[1:])
