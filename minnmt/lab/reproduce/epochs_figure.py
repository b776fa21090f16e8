"""Figure 1: BLEU and candidates by the epoch whose attention was counted, for every n: one model, the dev text."""

import numpy as np

from ..tables import Table
from .comparing import AGAINST_FULL, against_full, score, translated
from .paper import TOPNS

MOST = 8  # epochs that are shown: of a long training some, from the first to the last


def epochs_figure(lab, name="bpe"):
    """A row for each epoch and n."""
    full, counted = translated(lab, name, which="dev"), lab.counted_epochs(name)
    table = Table(
        "epochs-figure", "Lists from the attention of a single epoch, the model fixed, dev text",
        ("epoch", "n", "candidates", "BLEU", "against full"),
        (f"BLEU with all words: {score(full['bleu'])}. {AGAINST_FULL}", *lab.epoch_notes(name)),
    )  # fmt: skip
    for epoch in some(counted):
        for n in TOPNS:
            q = translated(lab, name, f"epoch{epoch}", n, which="dev")
            record = {"epoch": epoch, "n": n, "full_bleu": full["bleu"], **q}
            table.add(record, epoch, n, f"{q['candidates']:.1f}", score(q["bleu"]), against_full(q))
    return table


def some(epochs, most=MOST):
    """At most so many of the epochs, evenly apart, the first and the last among them."""
    chosen = np.linspace(0, len(epochs) - 1, min(most, len(epochs))).round().astype(int)
    return [epochs[i] for i in chosen]
