"""Training with a softmax over lists, which the paper proposes and does not measure."""

from ...model.directory import load_model
from ..tables import Table
from ..timing import number, ratios, spread
from .comparing import score, translated
from .measure import UPDATES, update_words_per_second
from .paper import TOPN

DYNAMIC = {"off": "none: all words", "batch": "one for each batch", "epoch": "one for each pair"}


def dynamic_table(lab):
    """Three kinds of training: their speed, what they reach after the same epochs and the same time, their best."""
    names = {how: lab.main if how == "off" and not lab.settings.dynamic_vocab else how for how in DYNAMIC}
    for name in names.values():
        lab.model(name)  # trained now, if it is not there yet
    logs = {how: lab.found[f"training of {name}"] for how, name in names.items()}
    epochs, seconds = (min(log[-1][key] for log in logs.values()) for key in ("epoch", "seconds"))
    after_epochs, after_time = f"after {epochs:.0f} epochs", f"after {number(seconds / 60)} min"
    table = Table(
        "dynamic-table", f"Training with a softmax over lists of {TOPN} candidates per source word",
        ("lists", "words/s", "x full",
         *(f"{after_epochs}: {column}" for column in ("min", "perplexity", "BLEU")),
         *(f"{after_time}: {column}" for column in ("epochs", "perplexity", "BLEU")),
         "best epoch", "dev perplexity", "dev BLEU", "test BLEU", "test BLEU, lists"),
        (
            f"Words/s: target words of the same {UPDATES} updates in turns, choosing their words included, medians and "
            f"quartiles of {lab.repeats} runs. The first epoch of every model has all words. Perplexity is that of the "
            "full softmax, on dev, and BLEU that of greedy search on dev, as in training: after the same epochs, after "
            "the same time of training and validation (the last epoch that was complete by then), and of the best "
            f"epoch. Test BLEU is of beam 5, with all words and with lists of {TOPN}.",
            *lab.epoch_notes(lab.main),
        ),
    )  # fmt: skip
    speeds = lab.once(f"speed of updates, {lab.repeats} runs", measure_updates, lab)
    for how, name in names.items():
        best = max(logs[how], key=lambda row: (row["dev_bleu"], -row["dev_perplexity"]))
        then = {
            "epochs": next(row for row in logs[how] if row["epoch"] == epochs),
            "time": next((row for row in reversed(logs[how]) if row["seconds"] <= seconds), None),
        }
        full, listed = translated(lab, name), translated(lab, name, "scratch")
        record = {"lists": how, "words_per_second": speeds[how], "best": best, "full": full, "listed": listed}
        table.add(
            {**record, "after": then}, DYNAMIC[how], spread(speeds[how]), spread(ratios(speeds[how], speeds["off"])),
            number(then["epochs"]["seconds"] / 60), *reached(then["epochs"]),
            f"{then['time']['epoch']:.0f}" if then["time"] else "0", *reached(then["time"]),
            f"{best['epoch']:.0f}", *reached(best), score(full["bleu"]), score(listed["bleu"]),
        )  # fmt: skip
    return table


def reached(row):
    """Perplexity and BLEU of a row of the log, as texts."""
    return (f"{row['dev_perplexity']:.2f}", score(row["dev_bleu"])) if row else ("-", "-")


def measure_updates(lab):
    """Words a second of the three kinds of updates, with the lists of the trained model."""
    selector = lab.selector(lab.main, "scratch", TOPN)
    model = load_model(lab.model_directory(lab.main))  # a copy of its own: it changes
    split = lab.part_to_count(lab.main)
    return update_words_per_second(model, lab.variant(lab.main), split, selector, lab.repeats)
