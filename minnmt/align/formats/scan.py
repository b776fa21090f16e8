"""What is found in an exchange file: cells, problems, and what was passed over.

The same scanning function serves `import` and `lint`. To an import, what cannot be understood is an error that ends
it, and what is merely wrong (an unknown word, say) is left out and counted, as the programs that use these files do.
To a lint, both are problems to list.
"""

import io
from array import array
from collections import Counter
from typing import NamedTuple

import numpy as np

from ...errors import UserError
from ...files import decode_text
from ..counts import Counts


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
        self._cells = array("d")  # of every cell its line, source id, target id and weight

    # What a scanning function calls

    def cell(self, line, src_id, trg_id, weight):
        self._cells.extend((line, src_id, trg_id, weight))

    def cells(self, src_ids, trg_ids, weights):
        """Many cells at once, of a file that has no lines."""
        self._cells.frombytes(np.stack([np.zeros(len(src_ids)), src_ids, trg_ids, weights], axis=1).tobytes())

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
            self.unknown[side][word] += 1
            self.wrong(line, f"the {side} word {word!r} is not in the {side} vocabulary")
        return word_id

    def _add(self, line, text):
        self.n_problems += 1
        if len(self.problems) < self.limit:
            self.problems.append(Problem(line, text))

    # What is made of it

    def counts(self, info):
        """The cells as Counts; of several for the same two words the last holds, as where these files are used."""
        _, src_ids, trg_ids, keys = self._columns()
        weights = np.array(self._cells[3::4], np.float32)
        last = len(keys) - 1 - np.unique(keys[::-1], return_index=True)[1]
        self.skipped["earlier entries for the same two words"] += len(keys) - len(last)
        kept = last[weights[last] > 0]
        self.skipped["entries with a probability of zero"] += len(last) - len(kept)
        return Counts.from_cells(src_ids[kept], trg_ids[kept], weights[kept], len(self.src), len(self.trg), info)

    def finish_lint(self):
        """Add what only the whole file shows: entries that are there twice, or none at all; sort the problems."""
        lines, src_ids, trg_ids, keys = self._columns()
        repeats = np.delete(np.arange(len(keys)), np.unique(keys, return_index=True)[1])
        self.n_problems += len(repeats)
        for i in repeats[: self.limit]:
            words = f"{self.src.spelled[src_ids[i]]} and {self.trg.spelled[trg_ids[i]]}"
            self.problems.append(Problem(int(lines[i]), f"{words} are together a second time"))
        if not len(keys) and not self.n_problems:
            self._add(0, "it holds no candidates")
        self.problems = sorted(self.problems, key=lambda problem: problem.line)[: self.limit]

    def _columns(self):
        """-> of every cell its line, its source id, its target id, and a number that the two words alone have."""
        lines, src_ids, trg_ids = (np.array(self._cells[i::4], np.int64) for i in range(3))
        return lines, src_ids, trg_ids, src_ids * len(self.trg) + trg_ids

    @property
    def n_cells(self):
        return len(self._cells) // 4

    @property
    def n_rows(self):
        return len(set(self._cells[1::4]))

    def left_out(self):
        """Sentences about what an import left out, for stderr."""
        sentences = [f"left out: {what} ({n:,})" for what, n in self.skipped.items() if n]
        for side, words in self.unknown.items():
            if words:
                some = ", ".join(list(words)[:5]) + (", ..." if len(words) > 5 else "")
                sentences.append(f"left out: words that are not in the {side} vocabulary ({len(words):,}): {some}")
        return sentences + self.notes


def where(name, line):
    return f"{name}, line {line}" if line else str(name)


def text_lines(data, name):
    """bytes -> (number, line) from 1 on; anything but UTF-8 is refused with its line."""
    for number, line in enumerate(io.BytesIO(data), start=1):
        yield number, decode_text(line, name, number).rstrip("\r\n")


def rank_weight(place):
    """The weight of a list's entry number `place` (from 0) where the file holds an order but no probabilities."""
    return 1 / (1 + place)
