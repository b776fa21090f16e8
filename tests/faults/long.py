"""The long versions, with a table of what came of them: python -m tests.faults.long [--seed N] [--only PART] ..."""

import argparse
import math
import shutil
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from tests.conftest import TINY, run_cli, write_toy_text
from tests.faults.forks import is_fault
from tests.faults.fuzz import make_workshop, run_cases
from tests.faults.kills import kill_many
from tests.faults.lines import run_lines
from tests.faults.shuffles import compare


def tell(text):
    print(text, file=sys.stderr, flush=True)


def files(place, seed, first, n, seconds):
    """Damaged files."""
    tally = run_cases(make_workshop(place), seed, range(first, first + n), seconds, tell)
    rows = [f"{name:<10} {n:>6}" for name, n in sorted(tally.by_verdict().items())]
    rows += ["", f"{'file':<28} {'cases':>6} {'done':>6} {'refused':>8} {'faults':>7}"]
    for path in sorted({path for path, _ in tally.verdicts}):
        found = Counter({name: n for (p, name), n in tally.verdicts.items() if p == path})
        faults = sum(n for name, n in found.items() if is_fault(name))
        done = found["done"]
        rows.append(f"{path:<28} {found.total():>6} {done:>6} {found.total() - done - faults:>8} {faults:>7}")
    rows += ["", f"slowest case {tally.slowest:.1f} s (number {tally.slowest_case}), peak {tally.peak >> 20} MB"]
    return f"{tally.n_cases:,} damaged files, {len(tally.faults)} faults", rows


def lines(place, seed, first, n, seconds):
    """Odd lines, a hundred at a time."""
    workshop, verdicts, slowest, peak = make_workshop(place), Counter(), 0.0, 0
    end = time.monotonic() + seconds
    for number in range(first, first + n // 100):
        if time.monotonic() > end:
            break
        found, outcome = run_lines(workshop / "run", seed, number)
        verdicts[found] += 1
        slowest, peak = max(slowest, outcome.seconds), max(peak, outcome.peak)
        if is_fault(found):
            tell(f"{found}: chunk {number} of seed {seed}: {outcome.err[-1000:]}")
    rows = [f"chunks of 100 lines: {dict(verdicts)}", f"slowest chunk {slowest:.1f} s, peak {peak >> 20} MB"]
    return f"{100 * verdicts.total():,} odd lines, {sum(map(is_fault, verdicts))} faults", rows


def kills(place, seed, first, n, seconds):
    """kill -9."""
    killing = kill_many(place, seed, n, tell)
    return f"{killing.n_kills} kills in {killing.n_runs} runs, all to the same bits", [str(dict(killing.moments))]


def shuffles(place, seed, first, n, seconds):
    """The same translations in any order, batch, thread and engine."""
    text = write_toy_text(place)
    run_cli("train", *text, "-o", place / "run", *TINY, "--bpe", 0, "--epochs", 4)
    ways, different = compare(place / "run", n, seed, n_ways=9)
    rows = [f"{row}" for row in different[:10]]
    return f"{n:,} sentences in {ways} ways, {len(different)} translations differ", rows


PARTS = {"files": (files, 10_000), "lines": (lines, 10_000), "kills": (kills, 200), "shuffles": (shuffles, 1000)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=2)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--n", type=int, help="cases, kills or sentences [default: the full number]")
    parser.add_argument("--minutes", type=float, default=math.inf, help="for damaged files and odd lines, at most")
    parser.add_argument("--only", choices=PARTS, action="append")
    options = parser.parse_args()
    for name in options.only or PARTS:
        function, n = PARTS[name]
        place, began = Path(tempfile.mkdtemp()), time.monotonic()
        try:
            title, rows = function(place, options.seed, options.first, options.n or n, 60 * options.minutes)
        finally:
            shutil.rmtree(place)
        print(f"{name}: {title}; seed {options.seed}, {time.monotonic() - began:.0f} s")
        print("".join(f"    {row}\n" for row in rows), flush=True)


if __name__ == "__main__":
    main()
