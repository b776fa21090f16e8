"""The growth of decoding as a figure. Needs matplotlib."""

import io

import numpy as np

from ...files import write_bytes
from ..figures import STYLES as LINES
from ..figures import load_figure
from ..timing import quartiles
from .growth import AXES

STYLES = {"full": LINES[0], "top": LINES[1]}


def plot_growth(tables, path):
    """Tables of the section growth -> a file, .svg or .png: a panel for each axis."""
    figure = load_figure()(figsize=(9, 6.5), layout="constrained")
    records = [record for table in tables if table.section == "growth" for record in table.records]
    for panel, (axis, label) in zip(figure.subplots(2, 2).flat, AXES.items()):
        draw_axis(panel, [record for record in records if record["axis"] == axis])
        panel.set_xlabel(label)
        panel.set_ylabel("ms per sentence")
        panel.set_xlim(left=0)
        panel.locator_params(axis="x", nbins=5, integer=True)
        panel.xaxis.set_major_formatter("{x:,.0f}")
        panel.spines[["top", "right"]].set_visible(False)
        panel.legend(frameon=False)
    data = io.BytesIO()
    figure.savefig(data, format=str(path).rpartition(".")[2].lower(), dpi=150)
    write_bytes(path, data.getvalue())


def draw_axis(panel, records):
    """One line for each kind of list; bars from the first to the third quartile."""
    highest = 0.0
    for name in dict.fromkeys(record["list"] for record in records):
        line = [record for record in records if record["list"] == name]
        low, middle, high = 1e3 * np.array([quartiles(record["seconds_per_sentence"]) for record in line]).T
        highest = max(highest, *high)
        style = STYLES["full" if name == "full" else "top"]
        if [record["value"] for record in line] == [None]:  # it does not depend on this axis
            panel.axhline(middle[0], color="black", linestyle=style["linestyle"], label=name)
            continue
        panel.errorbar(
            [record["value"] for record in line], middle, [middle - low, high - middle], color="black", capsize=3,
            label=name, **style,
        )  # fmt: skip
    panel.set_ylim(0, 1.1 * highest)
