"""What is found in an exchange file: cells, problems, and what was passed over.

The same scanning function serves `import` and `lint`: it yields cells, and tells a Scan of the rest. To an import,
what cannot be understood is an error that ends it, and what is merely wrong (an unknown word, say) is left out and
counted, as the programs that use these files do. To a lint, both are problems to list.
"""

import contextlib
from collections import Counter
from typing import NamedTuple

import numpy as np

from ...errors import UserError, quoted
from ...files import decode_text
from ...streams import byte_lines
from ..counts import Counts

MOST_UNKNOWN = 100_000  # words that are told apart
CELL = np.dtype([("line", np.int64), ("src", np.int64), ("trg", np.int64), ("weight", np.float64)])  # line 0: no lines


class Problem(NamedTuple):
    line: int  # 0: the file has no lines, or the problem is not of one line
    text: str


class Unreadable(Exception):
    """Ends a lint early; its problems say why."""


class Scan:
    """Collects what a scanning function finds; `limit` problems are kept and all are counted."""

    def __init__(self, name, src, trg, lint=False, limit=20):
        self.name, self.src, self.trg = name, src, trg  # the file's name, and the Words of both sides
        self.lint, self.limit = lint, limit
        self.problems, self.n_problems = [], 0
        self.skipped = Counter()  # what was passed over: how often
        self.unknown = {"source": Counter(), "target": Counter()}
        self.notes = []
        self.cells = np.zeros(0, CELL)

    def read(self, scan, file):
        """Let a scanning function loose on an open file."""
        with contextlib.suppress(Unreadable):
            self.cells = np.fromiter(scan(file, self), CELL)

    # What a scanning function calls

    def bad(self, line, text, remedy="correct it, or export the file again"):
        """Something that cannot be understood."""
        if not self.lint:
            raise UserError(f"{where(self.name, line)}: {text}; {remedy}")
        self._add(line, text)

    def refuse(self, text, remedy):
        """Something without which the rest of the file cannot be understood either."""
        self.bad(0, text, remedy)
        raise Unreadable

    def wrong(self, line, text, skipped=None):
        """Something that is understood but not right; an import counts it as `skipped`."""
        if self.lint:
            self._add(line, text)
        elif skipped:
            self.skipped[skipped] += 1

    def known(self, line, side, word):
        """The id of a "source" or "target" word, or None."""
        word_id = (self.src if side == "source" else self.trg).ids.get(word)
        if word_id is None:
            if len(self.unknown[side]) < MOST_UNKNOWN:
                self.unknown[side][word] += 1
            self.wrong(line, f"the {side} word {quoted(word)} is not in the {side} vocabulary")
        return word_id

    def _add(self, line, text):
        self.n_problems += 1
        if len(self.problems) < self.limit:
            self.problems.append(Problem(line, text))

    # What is made of it

    def counts(self, info):
        """The cells as Counts; of several for the same two words the last holds, as where these files are used."""
        backwards = self.cells[::-1]
        last = backwards[first_of_each(backwards, len(self.trg))]
        self.skipped["earlier entries for the same two words"] += len(self.cells) - len(last)
        kept = last[last["weight"].astype(np.float32) > 0]
        self.skipped["entries with a probability of zero"] += len(last) - len(kept)
        return Counts.from_cells(kept["src"], kept["trg"], kept["weight"], len(self.src), len(self.trg), info)

    def finish_lint(self):
        """Add what only the whole file shows: entries that are there twice, or none at all; sort the problems."""
        repeats = np.delete(self.cells, first_of_each(self.cells, len(self.trg)))
        self.n_problems += len(repeats)
        for line, src_id, trg_id, _ in repeats[: self.limit].tolist():
            words = f"{self.src.spelled[src_id]} and {self.trg.spelled[trg_id]}"
            self.problems.append(Problem(line, f"{words} are together a second time"))
        if not len(self.cells) and not self.n_problems:
            self._add(0, "it holds no candidates")
        self.problems = sorted(self.problems, key=lambda problem: problem.line)[: self.limit]

    def left_out(self):
        """Sentences about what an import left out, for stderr."""
        sentences = [f"left out: {what} ({n:,})" for what, n in self.skipped.items() if n]
        for side, words in self.unknown.items():
            if words:
                some = ", ".join(word[:60] for word in list(words)[:5]) + (", ..." if len(words) > 5 else "")
                sentences.append(f"left out: words that are not in the {side} vocabulary ({len(words):,}): {some}")
        return sentences + self.notes


def first_of_each(cells, n_trg):
    """Where the first cell of every two words is."""
    return np.unique(cells["src"] * n_trg + cells["trg"], return_index=True)[1]


def where(name, line):
    return f"{name}, line {line}" if line else str(name)


def text_lines(file, name):
    """An open file -> (number, line) from 1 on; anything but UTF-8 is refused with its line."""
    for number, line in enumerate(byte_lines(file, name), start=1):
        yield number, decode_text(line, name, number).rstrip("\r\n")


def rank_weight(place):
    """The weight of a list's entry number `place` (from 0) where the file holds an order but no probabilities."""
    return 1 / (1 + place)
