"""The candidates of attention and of fast_align, compared: what the paper leaves to future work.

Both have n = 100. A list is that of a test sentence; "alone" are the words that it has and the other lacks.
"""

import copy
from collections import Counter

import numpy as np

from ...align.candidates import best_candidates
from ...align.selector import Selector
from ...report.coverage import BAND_NAMES, frequency_band
from ...text.batches import pad
from ...text.bpe import SEPARATOR
from ...text.tokenizer import JOINER
from ...text.vocab import EOS, UNK
from ..tables import Table
from .paper import BPE, TOPN, WORDS, decoding_rows
from .word_parts import PARTS, WordParts

SIDES = {"scratch": "attention", "fastalign": "fast_align"}
WHO = ("both", *SIDES)
N_EXAMPLES, N_WORDS = 12, 8  # source words that are shown, candidates of each


def aligner_table(lab, name="bpe"):
    """The lists by size and overlap, by part and by frequency, with examples: one page."""
    found = lab.once(f"{name}: attention beside fast_align", compare, lab, name)
    criteria = "; ".join(f"{part}: {text}" for part, text in PARTS.items())
    table = Table(
        "aligner-table", f"Candidates of attention (from training) and of fast_align, n = {TOPN}",
        ("words", *(f"{text}, per list" for text in ("both", "attention alone", "fast_align alone")),
         *(f"references: {text}, %" for text in ("in both", "attention alone", "fast_align alone", "in neither"))),
        (
            f"{found['sentences']:,} test sentences; means. {sizes(found)}",
            paper_note(BPE if lab.variant(name).bpe else WORDS),
            "Per list: words that both lists of a sentence have, or one of them alone. References: the share of the "
            "references' units that both lists can write, one alone, or neither; unknown units apart.",
            f"Parts, the first that fits: {criteria}. Ranks are those of the target vocabulary, by frequency.",
        ),
    )  # fmt: skip
    for label, row in found["rows"].items():
        lists = [f"{row['lists'][who] / found['sentences']:.1f}" for who in WHO]
        total = sum(row["references"].values())
        shares = [f"{100 * row['references'][who] / total:.2f}" if total else "-" for who in (*WHO, "neither")]
        table.add({"words": label, **row}, label, *lists, *shares)
    table.more = (candidates_examples(found), references_examples(found))
    return table


def sizes(found):
    """The lists and the rows of both, in a sentence each."""
    words, per_unit, of_word = found["list"], found["candidates"], found["of_word"]
    return (
        f"A list of attention has {words['scratch']:.0f} words ({per_unit['scratch']:.1f} per source unit), one of "
        f"fast_align {words['fastalign']:.0f} ({per_unit['fastalign']:.1f}); {words['both']:.0f} are in both. A source "
        f"unit of the test text has {of_word['scratch']:.0f} candidates by attention and {of_word['fastalign']:.0f} by "
        f"fast_align, {of_word['both']:.0f} of them the same."
    )


def paper_note(units):
    """What the paper's Table 1 says of the two."""
    rows = decoding_rows("deen")
    sizes = [f"{rows[units, source, TOPN].candidates:.1f}" for source in ("scratch", "continued", "fastalign")]
    return (
        "The paper, candidates per source word: {} of training, {} of one more epoch, {} of fast_align.".format(*sizes)
    )  # fmt: skip


def candidates_examples(found):
    """Source words of the test text with what only one side links to them."""
    table = Table(
        "candidates", "Examples: candidates that one side has alone, its best first",
        ("source word", "in both", "attention alone", "fast_align alone"),
    )  # fmt: skip
    for example in found["examples"]:
        alone = [" ".join(example["alone"][side]) or "-" for side in SIDES]
        table.add(example, example["word"], example["both"], *alone)
    return table


def references_examples(found):
    """Words of the references that only one list has."""
    table = Table(
        "references", "Examples: words of the references that one list has alone, and the source word that brings them",
        ("words", "attention alone", "fast_align alone"),
    )  # fmt: skip
    for part, brought in found["brought"].items():
        table.add({"part": part, **brought}, part, *("; ".join(brought[side]) or "-" for side in SIDES))
    return table


def compare(lab, name):
    """All numbers of the exhibit, for JSON."""
    model, split = lab.model(name), lab.split(name, "test")
    found = Comparison(model, {side: best_candidates(lab.counts(name, side), TOPN) for side in SIDES})
    for src, trg in zip(split.src, split.trg):
        found.add(model.src.ids(src), model.trg.ids(trg))
    return {**found.record(), "examples": found.examples()}


class Comparison:
    """Two tables of candidates, sentence by sentence."""

    def __init__(self, model, candidates):
        self.model, self.candidates = model, candidates
        self.selectors = {side: Selector(table) for side, table in candidates.items()}
        self.parts = WordParts(model.trg.vocab)
        empty = {"lists": dict.fromkeys(WHO, 0), "references": dict.fromkeys((*WHO, "neither"), 0)}
        self.rows = {label: copy.deepcopy(empty) for label in ("all", *PARTS, *BAND_NAMES)}
        self.brought = {part: {side: [] for side in SIDES} for part in PARTS}
        self.seen = Counter()  # source units of the test text
        self.per_unit = {side: [] for side in SIDES}  # words of a list / source units, of each sentence

    def add(self, src, trg):
        """A sentence's source ids, and those of its reference."""
        if not src:
            return
        self.seen.update(src)
        a, b = (set(self.selectors[side].lists(*pad([src]))[0].tolist()) for side in SIDES)
        for side, ids in zip(SIDES, (a, b)):
            self.per_unit[side].append(len(ids) / len(src))
        groups = dict(zip(WHO, (a & b, a - b, b - a)))
        for who, ids in groups.items():
            for i in ids:
                self.count("lists", who, i)
        for i in trg:
            if i != UNK:
                who = next((who for who, ids in groups.items() if i in ids), "neither")
                self.count("references", who, i)
                if who in SIDES:
                    self.keep_brought(who, i, src)

    def count(self, what, who, i):
        for label in ("all", self.parts.part(i), frequency_band(i)):
            self.rows[label][what][who] += 1

    def keep_brought(self, side, i, src):
        """Remember some words of references that only this side has, each once, with the source word it comes from."""
        kept, table = self.brought[self.parts.part(i)][side], self.candidates[side]
        linked = [f for f in (*src, EOS) if i in table.row(f)[0]]
        best = max(linked, key=lambda f: table.row(f)[1][table.row(f)[0] == i][0])
        text = f"{self.spelled('src', best)} → {self.spelled('trg', i)}"
        if len(kept) < N_WORDS and text not in kept:
            kept.append(text)

    def spelled(self, side, i):
        return getattr(self.model, side).vocab.words[i].strip(JOINER)

    def record(self):
        """For JSON."""
        n, total = len(self.per_unit["scratch"]), self.rows["all"]["lists"]
        shared = [len(self.shared(f)) for f in self.seen]
        return {
            "sentences": n, "rows": self.rows, "brought": self.brought,
            "list": {"both": total["both"] / n, **{side: (total["both"] + total[side]) / n for side in SIDES}},
            "candidates": {side: float(np.mean(found)) for side, found in self.per_unit.items()},
            "of_word": {
                "both": float(np.mean(shared)),
                **{side: float(np.mean([len(t.row(f)[0]) for f in self.seen])) for side, t in self.candidates.items()},
            },
        }  # fmt: skip

    def shared(self, f):
        """The candidates that both tables have of a source word."""
        a, b = (table.row(f)[0].tolist() for table in self.candidates.values())
        return set(a) & set(b)

    def examples(self):
        """Source words of the test text, from frequent to rare: the candidates that one side has alone."""
        whole = [f for f, _ in self.seen.most_common() if self.is_plain_word(f)]
        places = np.unique(np.geomspace(1, max(len(whole), 1), N_EXAMPLES).astype(int) - 1) if whole else []
        found = []
        for f in (whole[place] for place in places):
            both = self.shared(f)
            alone = {
                side: [self.spelled("trg", i) for i in table.row(f)[0].tolist() if i not in both][:N_WORDS]
                for side, table in self.candidates.items()
            }
            found.append({"word": self.spelled("src", f), "both": len(both), "alone": alone})
        return found

    def is_plain_word(self, f):
        word = self.spelled("src", f)
        return f > UNK and word.isalpha() and not word.endswith(SEPARATOR)
