"""Lines that no one would write, for decode: whatever they hold, a line comes out for every line that goes in."""

import tempfile
from pathlib import Path

import numpy as np

from tests.conftest import TOY_SRC
from tests.faults.forks import run_forked, verdict
from tests.faults.mutate import WORDS, pick

TEXT_WORDS = [word.decode() for word in WORDS if b"\n" not in word and len(word) < 1000 and word.isascii()]
TEXT_WORDS += ["\u2028", "\x85", "\u0301" * 50, "\U0001f3f4", "\uffed", "\uffec", "\ufeff", "\u202e", "\u00a0"]
TEXT_WORDS += ["x" * 200]
OPTIONS = (
    [], ["--topn", 3], ["--beam", 1, "--batch-size", 1], ["--replace-unk", "copy"], ["--engine", "float32"],
    ["--topn", 3, "--replace-unk", "table", "--batch-size", 7], ["--max-length", 5],
)  # fmt: skip


def odd_line(rng):
    """A line of toy words, odd words and any characters; sometimes blank, sometimes long."""
    n_words = int(rng.choice([0, 1, 3, 8, 30, 200], p=[0.05, 0.2, 0.3, 0.34, 0.1, 0.01]))
    return pick([" ", " ", " ", "", "\t"], rng).join(odd_word(rng) for _ in range(n_words))


def odd_word(rng):
    kind = rng.random()
    if kind < 0.5:
        return pick(TOY_SRC, rng)
    if kind < 0.75:
        return pick(TEXT_WORDS, rng)
    highest = int(rng.choice([0x80, 0x800, 0x3000, 0x11000, 0x110000]))
    points = rng.integers(1, highest, size=rng.integers(1, 12))
    return "".join(chr(p) for p in points if p != 10 and not 0xD800 <= p < 0xE000)


def run_lines(run, seed, number, n_lines=100):
    """Chunk `number` of a seed -> (verdict, Outcome); through a file or through standard input."""
    rng = np.random.default_rng([seed, 1, number])
    data = "".join(odd_line(rng) + "\n" for _ in range(n_lines)).encode()
    command = ["decode", "-m", run, "--threads", 1, *pick(OPTIONS, rng)]
    if rng.random() < 0.5:
        outcome = run_forked(*command, stdin=data)
    else:
        with tempfile.TemporaryDirectory() as place:
            Path(place, "text").write_bytes(data)
            outcome = run_forked(*command, "-i", Path(place, "text"))
    found = verdict(outcome)
    if found == "done" and outcome.out.count(b"\n") != n_lines:
        found = "LINES LOST"
    return ("REFUSED" if found == "refused" else found), outcome
