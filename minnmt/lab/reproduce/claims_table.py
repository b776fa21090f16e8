"""What the paper says, what we find, and why: a row for every claim of its text, filled from the other exhibits.

A claim holds if the measurement cannot tell it from true: intervals are of 95 %, and "apart" are 0.2 BLEU.
"""

from typing import NamedTuple

import numpy as np

from ...report.scores import Difference, bleu_difference
from ...search.cost import Shape, computed_rest, gain, rest_in_words
from ...search.packed import fastest_precision
from ...text.batches import pad
from ..tables import Table
from ..timing import median, number, ratios, spread
from .comparing import score, translated
from .epochs_figure import some
from .list_tables import deen_table, speed_lines
from .paper import BPE, EMBEDDING, HIDDEN, THRESHOLDS, TOPN, TOPNS, WORDS, decoding_rows, threshold_rows, vocabulary

APART = 0.2  # BLEU
USUAL = 0.1  # the threshold that the others are compared with
NAMES = {BPE: "BPE", WORDS: "words"}


class Claim(NamedTuple):
    says: str
    paper: str  # its numbers
    find: str
    holds: bool | None  # None: it was not measured
    why: str
    record: dict


def claims_table(lab):
    """A row for each claim."""
    table = Table(
        "claims-table", "The paper says, we find",
        ("the paper says", "its numbers", "we find", "holds", "why"),
        (
            "Differences are in BLEU on the test text (early epochs: dev), with the 95 % interval of a paired "
            f"bootstrap; one of at most {APART}, or whose interval contains 0, counts as none, and 'as good' "
            f"may mean better. Speed: medians with quartiles of {lab.repeats} runs; the claim holds if one engine "
            "reaches the paper's gain. Share of lists: words in both / words in either, mean of the test sentences.",
        ),
    )  # fmt: skip
    rows = {(row["units"], row["lists"], row["n"]): row for row in deen_table(lab).records}
    claims = [speed_claim(lab, rows, units) for units in lab.units]
    claims += [make(lab, rows) for make in (enough_claim, epoch_claim)]
    claims += [threshold_claim(lab)]
    claims += [make(lab, rows) for make in (aligner_claim, candidates_claim)]
    claims += [early_claim(lab)]
    for claim in claims:
        holds = "-" if claim.holds is None else "yes" if claim.holds else "no"
        table.add(claim._asdict(), claim.says, claim.paper, claim.find, holds, claim.why)
    return table


# Speed


def speed_claim(lab, rows, units):
    """3.1 and 7 times as fast: ours, and what our measurement makes of the paper's network."""
    row, full, paper = rows[units, "scratch", TOPN], rows[units, "full", None], decoding_rows("deen")
    theirs, V = paper[units, "scratch", TOPN], vocabulary(units)
    shape = Shape(*network_sizes(lab, row["model"]), mean_length(lab, row["model"]), 5, 0)
    scale = computed_rest(shape._replace(embedding=EMBEDDING, hidden=HIDDEN)) / computed_rest(shape)
    listed = theirs.candidates * shape.length
    found = {"r_of_paper": rest_in_words(theirs.speedup, V, listed), "scale": scale}
    for how in ("alone", "float32"):
        r = rest_in_words(median(ratios(full["seconds"][how], row["seconds"][how])), row["vocabulary"], row["list"])
        found[how] = {"r": r, "calculated": gain(r * scale, V, listed)}
    find = [
        f"{spread(row['speedup'][how])} in {name}, calculated for the paper's network "
        f"{number(found[how]['calculated'])}"
        for how, name in (("alone", fastest_precision()), ("float32", "float32"))
    ]
    why = (
        "A list saves a part of the softmax and nothing else: if the rest of the network costs as much as R words, the "
        f"gain is (R + V) / (R + K). Here K = {row['list']:.0f} and R = {words(found['alone']['r'])} in "
        f"{fastest_precision()}, {words(found['float32']['r'])} in float32. By operations, R of the paper's network is "
        f"{number(scale)} times as large; its own gain means R = {words(found['r_of_paper'])}."
    )
    return Claim(
        f"lists of {TOPN} make decoding {3.1 if units == BPE else 7} times as fast, {V:,} {NAMES[units]}",
        f"{theirs.speedup} from training, {paper[units, 'continued', TOPN].speedup} one more epoch",
        f"{row['vocabulary']:,} {NAMES[units]}: " + "; ".join(find),
        bool(max(median(row["speedup"][how]) for how in ("alone", "float32")) >= theirs.speedup), why, found,
    )  # fmt: skip


def network_sizes(lab, name):
    params = lab.model(name).params
    return params.trg_embedding.shape[1], len(params.start.b)


def mean_length(lab, name):
    """Source units of the sentences whose decoding was timed."""
    pipeline = lab.model(name).src
    return round(np.mean([len(pipeline.ids(line)) for line in speed_lines(lab, name)]))


def words(r):
    """To two digits."""
    return f"{float(f'{r:.2g}'):,.0f}"


# Quality: two lists, or a list and all words


def enough_claim(lab, rows):
    """100 candidates suffice."""
    found = {units: rows[units, "scratch", TOPN] for units in lab.units}
    differences = {units: Difference(*row["against_full"]) for units, row in found.items()}
    same = {units: identical(lab, units, ("scratch", TOPN), None) for units in lab.units}
    return Claim(
        f"{TOPN} candidates per source word are enough: no loss against all words",
        paper_differences(lab, ("scratch", TOPN), ("full", None)), each(differences),
        all(map(no_worse, differences.values())),
        "Translations that are the same as with all words: " + each({u: f"{100 * s:.0f} %" for u, s in same.items()}),
        {"differences": differences, "identical": same},
    )  # fmt: skip


def epoch_claim(lab, rows):
    """One more epoch is as good as the whole training."""
    says = "after training without lists, one more epoch is enough to learn them"
    return lists_claim(lab, says, ("continued", TOPN), ("scratch", TOPN), "of one more epoch and of training")


def aligner_claim(lab, rows):
    """Attention is as good as fast_align."""
    says = f"lists of attention are as good as fast_align's, n = {TOPN}"
    return lists_claim(lab, says, ("scratch", TOPN), ("fastalign", TOPN), "of attention and of fast_align")


def lists_claim(lab, says, ours, theirs, text):
    """Our kind of lists does as much for BLEU as theirs, or more."""
    differences = {units: difference(lab, units, ours, theirs) for units in lab.units}
    shared = {units: share_of_lists(lab, units, ours, theirs) for units in lab.units}
    return Claim(
        says, paper_differences(lab, ours, theirs), each(differences), all(map(no_worse, differences.values())),
        f"Share of the lists {text} that is the same: " + each({u: f"{100 * s:.0f} %" for u, s in shared.items()}),
        {"differences": differences, "shared": shared},
    )  # fmt: skip


def candidates_claim(lab, rows):
    """Lists of attention are shorter than fast_align's."""
    kinds, paper = ("scratch", "continued", "fastalign"), decoding_rows("deen")
    ours = {units: [rows[units, source, TOPN]["candidates"] for source in kinds] for units in lab.units}
    theirs = {units: [paper[units, source, TOPN].candidates for source in kinds] for units in lab.units}
    more = {u: f"{100 * (c / a - 1):+.0f} % and {100 * (c / b - 1):+.0f} %" for u, (a, b, c) in ours.items()}
    own, numbers = (each({u: ", ".join(map("{:.1f}".format, n)) for u, n in side.items()}) for side in (ours, theirs))
    return Claim(
        "lists of attention have fewer candidates than fast_align's, which have 10 % (BPE) and 30 % (words) more",
        f"training, one more epoch, fast_align: {numbers}", own,
        all(aligner > continued for _, continued, aligner in ours.values()),
        "The paper's 10 % and 30 % are against one more epoch; of training, its own lists for BPE are the longer ones. "
        f"Here fast_align's are longer than those of training and of one more epoch by {each(more)}.",
        {"candidates": ours},
    )  # fmt: skip


# The main model alone: thresholds and epochs


def threshold_claim(lab):
    """Thresholds up to 0.25 do alike."""
    name, rows = lab.main, threshold_rows()
    found = {t: translated(lab, name, f"frozen {t}") for t in THRESHOLDS}
    others = [t for t in THRESHOLDS if t != USUAL]
    against = {t: difference(lab, name, (f"frozen {t}", TOPN), (f"frozen {USUAL}", TOPN)) for t in others}
    cells = {t: lab.counts(name, f"frozen {t}").n_cells for t in THRESHOLDS}
    shared = [share_of_lists(lab, name, ("frozen 0.25", n), ("frozen 0.05", n)) for n in (TOPN, TOPNS[0])]
    return Claim(
        "thresholds up to 0.25 do equally well, with shorter lists and a smaller matrix",
        "; ".join(f"{t}: {score(row.test_bleu)}, {row.candidates:.1f} candidates" for t, row in rows.items()),
        "; ".join(f"{t}: {score(q['bleu'])}, {q['candidates']:.1f} candidates" for t, q in found.items())
        + f"; against {USUAL}, " + "; ".join(f"{t}: {d}" for t, d in against.items()),
        all(map(alike, against.values())),
        f"The lists of 0.25 and 0.05 share {100 * shared[0]:.0f} %, and those of {TOPNS[0]} candidates, the strongest "
        f"links, {100 * shared[1]:.0f} %; the matrix of 0.25 has {100 * cells[0.25] / cells[0.05]:.0f} % of the cells.",
        {"against": {str(t): d for t, d in against.items()}, "cells": list(cells.values()), "shared": shared},
    )  # fmt: skip


def early_claim(lab):
    """The counts of early epochs hurt short lists."""
    name, epochs = lab.main, some(lab.counted_epochs(lab.main))
    says = "counts of early epochs hurt lists of 20 (by 1 BLEU), but hardly longer ones (0.2)"
    if len(epochs) < 2:
        return Claim(says, "figure: 1 and 0.2", "one epoch alone was counted", None, "-", {})
    first, last = f"epoch{epochs[0]}", f"epoch{epochs[-1]}"
    gains = {n: difference(lab, name, (last, n), (first, n), "dev") for n in TOPNS}
    shared = {n: share_of_lists(lab, name, (last, n), (first, n)) for n in (TOPNS[0], TOPN)}
    return Claim(
        says, "figure: 1 and 0.2",
        f"from epoch {epochs[0]} to {epochs[-1]}: " + "; ".join(f"n = {n}: {d}" for n, d in gains.items()),
        gains[TOPNS[0]].low > 0 and all(abs(gains[n].value) < gains[TOPNS[0]].value for n in TOPNS[1:]),
        "Share of the lists that is the same in both epochs: "
        + ", ".join(f"n = {n}: {100 * s:.0f} %" for n, s in shared.items()),
        {"gains": {str(n): d for n, d in gains.items()}, "shared": {str(n): s for n, s in shared.items()}},
    )  # fmt: skip


# What they share


def each(texts):
    """{"bpe": text} -> "BPE text; words text"; with one model, its text alone."""
    return "; ".join(f"{NAMES[units]} {text}" for units, text in texts.items())


def alike(found):
    """Is a Difference as good as none?"""
    return abs(found.value) <= APART or found.low <= 0 <= found.high


def no_worse(found):
    """Is a Difference as good as none, or in favour of the first?"""
    return alike(found) or found.value > 0


def lines_of(lab, name, lists, which):
    """The translations with (source, n), or with all words; made now if they are not there."""
    replacer = lab.replacer(name) if not lab.variant(name).bpe and which == "test" and is_row(lists) else None
    source, n = lists or (None, TOPN)
    translated(lab, name, source, n, which, replacer)
    ending = ", UNK replaced" if replacer else ""
    return lab.translations(f"{name}, {which}, {f'{source} {n}' if source else 'full'}{ending}")


def is_row(lists):
    """Is it a row of Table 1, where unknown words are replaced?"""
    return lists is None or lists[0] in ("scratch", "continued", "fastalign")


def difference(lab, name, ours, theirs, which="test"):
    """BLEU with some lists minus BLEU with others; measured once."""
    label = f"{name}, {which}: {ours[0]} {ours[1]} against {theirs[0]} {theirs[1]}"

    def measure():
        lines = [lines_of(lab, name, lists, which) for lists in (ours, theirs)]
        return list(bleu_difference(*lines, lab.split(name, which).trg))

    return Difference(*lab.once(label, measure))


def identical(lab, name, ours, theirs):
    """The share of translations that are the same."""
    a, b = (lines_of(lab, name, lists, "test") for lists in (ours, theirs))
    return sum(x == y for x, y in zip(a, b, strict=True)) / len(a)


def share_of_lists(lab, name, ours, theirs):
    """Words in both lists of a sentence / words in either, the mean of the test sentences; measured once."""
    label = f"{name}: share of the lists {ours[0]} {ours[1]} and {theirs[0]} {theirs[1]}"

    def measure():
        selectors = [lab.selector(name, *lists) for lists in (ours, theirs)]
        src = [ids for ids in map(lab.model(name).src.ids, lab.split(name, "test").src) if ids]
        pairs = [[set(selector.lists(*pad([ids]))[0].tolist()) for selector in selectors] for ids in src]
        return float(np.mean([len(a & b) / len(a | b) for a, b in pairs]))

    return lab.once(label, measure)


def paper_differences(lab, ours, theirs):
    """The same difference between two rows of the paper's Table 1."""
    rows = decoding_rows("deen")
    return each({u: f"{rows[(u, *ours)].bleu - rows[(u, *theirs)].bleu:+.2f}" for u in lab.units})
