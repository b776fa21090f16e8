"""The exhibits: each takes a Lab, has it measure what is missing, and returns a Table.

Table 1 of the paper is deen-table, its Figure 1 epochs-figure, Table 2 threshold-table, Table 3 iten-table. Two more:
dynamic-table, which the paper proposes, and lists-table, which compares lists of other origins. Notebook 09.
"""

from ...model.directory import load_model
from ...report.scores import Difference, bleu_difference
from ...search.packed import fastest_precision
from ...search.unknown import Replacer
from ..tables import Table
from ..timing import ratios, spread
from .lists_exhibit import lists_table
from .measure import BATCH, UPDATES, decoding_seconds, quality, update_words_per_second
from .paper import BPE, ROWS, THRESHOLDS, TOPN, TOPNS, WORDS, paper_cells

SOURCES = {"scratch": "training", "continued": "one more epoch", "fastalign": "fast_align"}
AGAINST_FULL = "Against full: what the lists change in BLEU, with the interval of 95 % of a paired bootstrap."
DYNAMIC = {"off": "none: all words", "batch": "one for each batch", "epoch": "one for each pair"}


def translated(lab, name, source=None, topn=TOPN, which="test", replacer=None):
    """The quality of a model with lists from a source of counts, or with all words; measured once.

    With lists, "against_full" has what they change in BLEU; the translations themselves are kept beside the numbers.
    """
    ending = ", UNK replaced" if replacer else ""
    full, label = (f"{name}, {which}, {lists}{ending}" for lists in ("full", f"{source} {topn}" if source else "full"))

    def measure():
        split, selector = lab.split(name, which), lab.selector(name, source, topn) if source else None
        found = quality(lab.model(name), split, selector, lab.settings.threads, replacer)
        lines = lab.keep_translations(label, found.pop("lines"))
        if source:
            found["against_full"] = bleu_difference(lines, lab.translations(full), split.trg)
        return found

    if source:
        translated(lab, name, which=which, replacer=replacer)  # what the lists are compared with
    return lab.once(label, measure)


def lists_exhibit(lab, section, title, models, with_paper=True):
    """Lists of 20 to 200 candidates, learned in three ways, against all words. models: {name: BPE or WORDS}."""
    n_sentences = len(speed_lines(lab, next(iter(models))))
    table = Table(
        section, title,
        ("units", "lists from", "n", "speedup", "in batches", "candidates", "% of words", "BLEU", "against full", "TER",
         "paper: speedup", "paper: candidates"),
        (
            f"Speedup: time of full decoding / time with lists, one sentence at a time and up to {BATCH} at a time; "
            f"{n_sentences} test sentences, beam 5, {lab.settings.threads} threads, products in {fastest_precision()}, "
            f"medians of {lab.repeats} runs in turns, with quartiles. Scores are of float32. Candidates: words of "
            "a list / source units, the mean of the sentences.",
            AGAINST_FULL,
        ),
    )  # fmt: skip
    if with_paper:
        sizes = " and ".join(f"{row.vocabulary:,} {units}" for units, row in ROWS.items())
        table.notes += (f"The paper's figures are for {sizes}.",)
    if lab.settings.dynamic_vocab:
        table.notes += (
            "After its first epoch the model was trained with a softmax over lists: it learned nothing more about the "
            "other words, which full decoding has to rule out all the same.",
        )
    for name, units in models.items():
        add_list_rows(table, lab, name, units, with_paper)
    return table


def add_list_rows(table, lab, name, units, with_paper):
    """The rows of one model."""
    model = lab.model(name)
    V = len(model.trg.vocab)
    keys = [(source, n) for source in SOURCES for n in TOPNS]
    replacer = Replacer(model, lab.counts(name, "scratch")) if units == WORDS else None
    if replacer:
        table.notes += (
            "Unknown words that the model of words writes are replaced by the best candidate of the source word they "
            "attend to, from the counts of training in all rows.",
        )
    label = f"{name}: speed of decoding, {lab.n_speed} sentences, {lab.repeats} runs"
    seconds = lab.once(label, measure_speed, lab, name, keys, replacer)
    full = translated(lab, name, replacer=replacer)
    label = f"{name}, {V:,}"
    table.add(
        {"model": name, "units": units, "lists": "full", "vocabulary": V, "seconds": seconds["full"], **full},
        label, "none: all words", "-", "1", "1", "-", "100", f"{full['bleu']:.2f}", "-", f"{full['ter']:.2f}",
        "1" if with_paper else "-", "-",
    )  # fmt: skip
    for source, n in keys:
        q, times = translated(lab, name, source, n, replacer=replacer), seconds[f"{source} {n}"]
        gains = {how: ratios(seconds["full"][how], times[how]) for how in times}
        record = {"model": name, "units": units, "lists": source, "n": n, "seconds": times, **q}
        table.add(
            {**record, "speedup": {how: gain.tolist() for how, gain in gains.items()}},
            label, SOURCES[source], n, spread(gains["alone"]), spread(gains["batches"]), f"{q['candidates']:.1f}",
            f"{100 * q['list'] / V:.2f}", f"{q['bleu']:.2f}", against_full(q), f"{q['ter']:.2f}",
            *(paper_cells(units, source, n) if with_paper else ("-", "-")),
        )  # fmt: skip


def against_full(found):
    return str(Difference(*found["against_full"]))


def measure_speed(lab, name, keys, replacer):
    """Full decoding and decoding with all the lists, in turns."""
    selectors = {"full": None, **{f"{source} {n}": lab.selector(name, source, n) for source, n in keys}}
    lines = speed_lines(lab, name)
    return decoding_seconds(lab.model(name), lines, selectors, lab.repeats, lab.settings.threads, replacer)


def speed_lines(lab, name):
    """The lines whose decoding is timed."""
    return [line for line in lab.split(name, "test").src if line.strip()][: lab.n_speed]


def deen_table(lab):
    """Table 1."""
    models = {name: name for name in lab.units}
    return lists_exhibit(lab, "deen-table", "Decoding with lists and with all words", models)


def iten_table(lab):
    """Table 3: another language pair; without a text of its own, the embedded corpus from English to German."""
    title, model = "Decoding with lists: another language pair", "bpe"
    if not lab.settings.src:
        title, model = "Decoding with lists: the embedded corpus, English to German", "reversed"
    return lists_exhibit(lab, "iten-table", title, {model: BPE}, with_paper=False)


def epochs_figure(lab, name="bpe"):
    """Figure 1: the model stays, the counts are those of one epoch of its training."""
    full = translated(lab, name)
    table = Table(
        "epochs-figure", f"Lists of {TOPN} from the attention of a single epoch, the model fixed",
        ("epoch", "candidates", "BLEU", "against full"),
        (f"BLEU with all words: {full['bleu']:.2f}. {AGAINST_FULL}",),
    )  # fmt: skip
    for epoch in lab.counted_epochs(name):
        q = translated(lab, name, f"epoch{epoch}")
        record = {"epoch": epoch, "full_bleu": full["bleu"], **q}
        table.add(record, epoch, f"{q['candidates']:.1f}", f"{q['bleu']:.2f}", against_full(q))
    return table


def threshold_table(lab, name="bpe"):
    """Table 2: which attention weights are counted."""
    table = Table(
        "threshold-table", f"The threshold of counting, lists of {TOPN}",
        ("threshold", "candidates", "dev BLEU", "dev TER", "test BLEU", "test TER", "cells", "density, %", "MB"),
        (
            "Counted in a pass over the training text with the finished model (align --frozen). Candidates: on the "
            "test text. MB: the matrix in memory, 8 bytes a cell and 8 a source word.",
        ),
    )  # fmt: skip
    full = {which: translated(lab, name, which=which) for which in ("dev", "test")}
    table.add({"threshold": None, **full}, "none: all words", "-", *both_scores(full), "-", "-", "-")
    for threshold in THRESHOLDS:
        counts = lab.counts(name, f"frozen {threshold}")
        found = {which: translated(lab, name, f"frozen {threshold}", which=which) for which in ("dev", "test")}
        density, nbytes = counts.n_cells / (counts.n_src * counts.n_trg), 8 * (counts.n_cells + counts.n_src + 1)
        record = {"threshold": threshold, **found, "cells": counts.n_cells, "density": density, "bytes": nbytes}
        table.add(
            record, threshold, f"{found['test']['candidates']:.1f}", *both_scores(found), f"{counts.n_cells:,}",
            f"{100 * density:.3f}", f"{nbytes / 1e6:.2f}",
        )  # fmt: skip
    return table


def both_scores(found):
    """{"dev", "test": quality} -> BLEU and TER of each, as texts."""
    return [f"{q[score]:.2f}" for q in found.values() for score in ("bleu", "ter")]


def dynamic_table(lab):
    """Dynamic vocabulary selection in training, which the paper proposes and does not measure."""
    table = Table(
        "dynamic-table", f"Training with a softmax over lists of {TOPN} candidates a source word",
        ("lists", "words/s", "x full", "best epoch", "dev perplexity", "dev BLEU", "test BLEU", "test BLEU, lists"),
        (
            f"Words/s: target words of the same {UPDATES} updates in turns, choosing their words included, medians and "
            "quartiles. The first epoch of every model has all words. Perplexity is that of the full softmax. BLEU is "
            f"of greedy search on dev, as in training, and of beam 5 on test: all words, and lists of {TOPN}.",
        ),
    )  # fmt: skip
    speeds = lab.once(f"speed of updates, {lab.repeats} runs", measure_updates, lab)
    for how, text in DYNAMIC.items():
        name = "bpe" if how == "off" and not lab.settings.dynamic_vocab else how  # the same model
        lab.model(name)
        best = max(lab.found[f"training of {name}"], key=lambda row: (row["dev_bleu"], -row["dev_perplexity"]))
        full, listed = translated(lab, name), translated(lab, name, "scratch")
        record = {"lists": how, "words_per_second": speeds[how], "best": best, "full": full, "listed": listed}
        table.add(
            record, text, spread(speeds[how]), spread(ratios(speeds[how], speeds["off"])), best["epoch"],
            f"{best['dev_perplexity']:.2f}", f"{best['dev_bleu']:.2f}", f"{full['bleu']:.2f}", f"{listed['bleu']:.2f}",
        )  # fmt: skip
    return table


def measure_updates(lab):
    """Words a second of the three kinds of updates, with the lists of the trained model."""
    selector = lab.selector("bpe", "scratch", TOPN)
    model = load_model(lab.model_directory("bpe"))  # a copy of its own: it changes
    return update_words_per_second(model, lab.variant("bpe"), lab.split("bpe", "train"), selector, lab.repeats)


EXHIBITS = {
    "deen-table": deen_table,
    "epochs-figure": epochs_figure,
    "threshold-table": threshold_table,
    "iten-table": iten_table,
    "dynamic-table": dynamic_table,
    "lists-table": lists_table,
}
