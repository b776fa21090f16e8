"""Training with a softmax over lists, which the paper proposes and does not measure."""

import numpy as np

from ...errors import UsageError
from ...model.directory import load_model
from ...report.scores import Difference, bleu_difference
from ..tables import Table
from ..timing import number, ratios, spread
from .comparing import against_full, score, translated
from .measure import UPDATES, update_words_per_second
from .paper import TOPN

DYNAMIC = {"off": "none: all words", "batch": "one per batch", "epoch": "one per pair"}
BEST = (
    "best epoch", "dev perplexity", "dev BLEU", "test BLEU", "against none", "test BLEU, lists", "against full",
)  # fmt: skip


def dynamic_table(lab):
    """Three kinds of training: their speed, what they reach after the same epochs and the same time, their best."""
    if lab.found.setdefault("model beside which others train", lab.main) != lab.main:
        raise UsageError(f"{lab.directory} has this table of another model: choose another directory with -o")
    names = {how: lab.main if how == "off" and not lab.settings.dynamic_vocab else how for how in DYNAMIC}
    for name in names.values():
        lab.model(name)  # trained now, if it is not there yet
    speeds = lab.once(f"speed and words of updates, {lab.repeats} runs", measure_updates, lab)
    logs = {how: with_minutes(lab.found[f"training of {name}"], speeds, how) for how, name in names.items()}
    epochs, minutes = (min(log[-1][key] for log in logs.values()) for key in ("epoch", "minutes"))
    after_epochs = [f"after {epochs:.0f} epochs: {column}" for column in ("min", "perplexity", "BLEU")]
    after_time = [f"after {number(minutes)} min: {column}" for column in ("epochs", "perplexity", "BLEU")]
    table = Table(
        "dynamic-table", f"Training with a softmax over lists of {TOPN} candidates per source word",
        ("lists", "words/s", "x full", *after_epochs, *after_time, *BEST), notes(lab),
    )  # fmt: skip
    for how, name in names.items():
        then = {
            "epochs": next(row for row in logs[how] if row["epoch"] == epochs),
            "time": next((row for row in reversed(logs[how]) if row["minutes"] <= minutes), None),
        }
        found = {"lists": how, "words_per_second": speeds[how], "after": then}
        found["best"] = max(logs[how], key=lambda row: (row["dev_bleu"], -row["dev_perplexity"]))
        found |= {"full": translated(lab, name), "listed": translated(lab, name, "scratch"), "against_none": None}
        if how != "off":
            found["against_none"] = lab.once(f"{name} against {names['off']}", against, lab, name, names["off"])
        speed = spread(speeds[how]), spread(ratios(speeds[how], speeds["off"]))
        table.add(found, DYNAMIC[how], *speed, *after_cells(then), *best_cells(found))
    return table


def with_minutes(log, speeds, how):
    """Rows of a log -> the same with "minutes": of the updates so far, in the first epoch with all words."""
    words = speeds["words per update"]
    seconds = {kind: words / float(np.median(speeds[kind])) for kind in ("off", how)}  # per update
    first = log[0]["updates"]
    return [
        row | {"minutes": (first * seconds["off"] + (row["updates"] - first) * seconds[how]) / 60} for row in log
    ]


def notes(lab):
    return (
        f"Words/s: target words of the same {UPDATES} updates in turns, choosing their words included, medians and "
        f"quartiles of {lab.repeats} runs. The first epoch of every model has all words. Perplexity is that of the "
        "full softmax, on dev, and BLEU that of greedy search on dev, as in training: after the same epochs, after the "
        "same time (the last epoch that was complete by then), and of the best epoch. Minutes are those of the updates "
        "alone, calculated from words/s: what else a machine does while it trains does not count.",
        f"Test BLEU is of beam 5, with all words and with lists of {TOPN}. Against none: what training with lists "
        "changes in it, decoding with all words; against full: what lists in decoding change; both with the 95 % "
        "interval of a paired bootstrap.",
        *lab.epoch_notes(lab.main),
    )


def after_cells(then):
    """The same epochs, the same time: rows of the log -> texts."""
    n_epochs = f"{then['time']['epoch']:.0f}" if then["time"] else "0"
    return number(then["epochs"]["minutes"]), *reached(then["epochs"]), n_epochs, *reached(then["time"])


def best_cells(found):
    """The best model's texts, in the order of BEST."""
    change, listed = found["against_none"], found["listed"]
    return (
        f"{found['best']['epoch']:.0f}", *reached(found["best"]), score(found["full"]["bleu"]),
        str(Difference(*change)) if change else "-", score(listed["bleu"]), against_full(listed),
    )  # fmt: skip


def reached(row):
    """Perplexity and BLEU of a row of the log, as texts."""
    return (f"{row['dev_perplexity']:.2f}", score(row["dev_bleu"])) if row else ("-", "-")


def against(lab, name, other):
    """BLEU of one model minus BLEU of another, test text, all words."""
    lines = [lab.translations(f"{model}, test, full") for model in (name, other)]
    return list(bleu_difference(*lines, lab.split(name, "test").trg))


def measure_updates(lab):
    """Words a second of the three kinds of updates, with the lists of the trained model."""
    selector = lab.selector(lab.main, "scratch", TOPN)
    model = load_model(lab.model_directory(lab.main))  # a copy of its own: it changes
    split = lab.part_to_count(lab.main)
    return update_words_per_second(model, lab.variant(lab.main), split, selector, lab.repeats)
