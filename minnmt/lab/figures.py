"""Figures of experiments, and what all figures share. Needs matplotlib, which is imported when one is drawn.

Everything is readable in black and white: shades of grey, line styles and markers, never colour alone. A Figure shows
itself at the end of a notebook cell and has savefig. The lessons' own figures are in minnmt/course/figures.
"""

from ..errors import UserError

STYLES = (
    dict(linestyle="-", marker="o"),
    dict(linestyle="--", marker="s", markerfacecolor="white"),
    dict(linestyle=":", marker="^"),
    dict(linestyle="-.", marker="D", markerfacecolor="white"),
)


def load_figure():
    """matplotlib's Figure; only now, for minnmt does not need it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise UserError("a figure needs matplotlib, which is not installed: pip install matplotlib") from None
    return Figure


def new_figure(width, height, n_columns=1):
    """A Figure and its axes, without the upper and right border."""
    figure = load_figure()(figsize=(width, height), layout="constrained")
    axes = figure.subplots(1, n_columns, squeeze=False)[0]
    for axis in axes:
        axis.spines[["top", "right"]].set_visible(False)
    return figure, axes


def epochs_curves(records):
    """The paper's Figure 1: BLEU, and candidates per source word, by the epoch in which the alignments were learned.

    records: dictionaries with "epoch", "n", "bleu", "candidates" and "full_bleu", BLEU with all words.
    """
    figure, (left, right) = new_figure(11, 4.2, 2)
    full, all_bleu = records[0]["full_bleu"], [record["bleu"] for record in records]
    for n, style in zip(sorted({record["n"] for record in records}), STYLES):
        own = [record for record in records if record["n"] == n]
        epochs = [record["epoch"] for record in own]
        for axis, key in ((left, "bleu"), (right, "candidates")):
            axis.plot(epochs, [record[key] for record in own], color="black", label=f"n = {n}", **style)
    left.axhline(full, color="0.6", linewidth=0.9, label="all words")
    left.set_ylabel("BLEU, dev text")
    left.set_ylim(min(*all_bleu, full) - 0.7, max(*all_bleu, full) + 0.3)  # a tenth of a point should look small
    left.legend(frameon=False, loc="lower right", ncols=2)
    right.set_ylabel("candidates per source word")
    right.set_ylim(0, 1.1 * max(record["candidates"] for record in records))
    for axis in (left, right):
        axis.set_xlabel("epoch of the alignments")
        axis.locator_params(axis="x", integer=True)
    return figure
