"""Tables with a line for every two words and their probability: Marian, Sockeye's input, fast_align.

    marian      target source p(target | source)             amun and Marian, --shortlist
    sockeye     source <tab> target <tab> ln p               the input of sockeye-lexicon create
    fastalign   source <tab> target <tab> ln p               as fast_align -p writes it

Numbers have as many digits as it takes to read the same float32 again. Exported with --by target, the numbers are
p(source | target): the reader keeps the best of each source word, so they have to be in the order of the lists.
"""

import math
import re
from typing import NamedTuple

from ...errors import quoted
from ...files import write_lines
from ..counts import MOST_WEIGHT
from .scan import text_lines
from .words import keep_writable

ROUNDING = 1e-6  # a probability of 1 may have been written as 1.0000001


class Layout(NamedTuple):
    """What a line looks like."""

    example: str
    split: callable  # a line -> its columns
    src: int  # the column of the source word
    trg: int
    log: bool  # is the third column a logarithm?
    null: str  # the spelling of no word at all
    grouped: bool  # must a source word's lines stand together?

    def write(self, path, candidates, src, trg, **_):
        """Write a table -> how many candidates it cannot hold."""
        candidates, n_left_out = keep_writable(candidates, src, trg, self.null)
        cells = zip(candidates.rows.tolist(), candidates.ids.tolist(), candidates.probs.tolist())
        write_lines(path, (self._line(src.spelled[f], trg.spelled[e], p) for f, e, p in cells))
        return n_left_out

    def _line(self, src_word, trg_word, p):
        return f"{src_word}\t{trg_word}\t{math.log(p):.10g}" if self.log else f"{trg_word} {src_word} {p:.9g}"

    def scan(self, file, found):
        """Yields the cells of a table."""
        earlier, group = set(), None  # source words whose lines came before, and the one whose lines these are
        for number, line in text_lines(file, found.name):
            columns = self.split(line)
            if not columns:
                found.wrong(number, "the line is blank")
                continue
            if len(columns) != 3:
                found.bad(number, f"expected {self.example}, found {quoted(line)}")
                continue
            src_word, trg_word = columns[self.src], columns[self.trg]
            weight = self._weight(number, columns[2], found)
            if self.null in (src_word, trg_word):
                found.skipped[f"lines with {self.null}, which stands for no word"] += 1
                continue
            if self.grouped and src_word != group:
                if src_word in earlier:
                    text = f"the lines of {quoted(src_word)} do not stand together: Sockeye would mix up its list"
                    found.wrong(number, text)
                earlier.add(src_word)
                group = src_word
            src_id, trg_id = found.known(number, "source", src_word), found.known(number, "target", trg_word)
            if None not in (weight, src_id, trg_id):
                yield number, src_id, trg_id, weight

    def _weight(self, number, text, found):
        """A line's third column -> the probability, or None."""
        value = _number(text)
        weight = math.exp(min(value, 700)) if self.log and value is not None else value
        if weight is None or weight > MOST_WEIGHT:
            found.bad(number, f"{quoted(text)} is not a probability" + (" (as a logarithm)" if self.log else ""))
            return None
        if self.log and weight > 1 + ROUNDING:
            text = f"ln p = {quoted(text)} is above 0: the column holds natural logarithms of probabilities"
            found.wrong(number, text)
        elif not 0 < weight <= 1 + ROUNDING:
            found.wrong(number, f"the probability {quoted(text)} is outside (0, 1]")
        return max(weight, 0.0)


def _number(text):
    """A float, or None; Python reads a few spellings that C++ does not."""
    try:
        value = float(text)
    except ValueError:
        return None
    return None if math.isnan(value) or "_" in text or not text.isascii() else value


def _split_at_tabs(line):
    return line.split("\t") if line else []


_split_at_white_space = re.compile(r"[^ \t\v\f\r]+").findall  # str.split() would also cut at Unicode's spaces

MARIAN = Layout("target source probability", _split_at_white_space, 1, 0, False, "NULL", False)
SOCKEYE = Layout("source<tab>target<tab>ln p", _split_at_tabs, 0, 1, True, "<eps>", True)
FASTALIGN = Layout("source<tab>target<tab>ln p", _split_at_white_space, 0, 1, True, "<eps>", False)
