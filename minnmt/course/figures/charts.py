"""Figures of lessons 06 to 11: logarithmic axes with plain numbers, bars that are compared, profiles, the roofline.

Readable in grey and from the last row of a classroom. Like all figures: arrays and words in, a matplotlib Figure out.
"""

import numpy as np

from ...lab.figures import new_figure

HATCHES = {
    "encoder": "", "products": "--", "GRU": "//", "attention": "..", "readout": "\\\\", "softmax": "xx", "other": "",
}  # fmt: skip
GREYS = {"encoder": "0.55", "other": "black"}  # the other stages are white, with their hatches
MARKERS = "os^Dv*PX"


def plain_log(axis, which, ticks):
    """Make an axis ("x" or "y") logarithmic, with these ticks, written as plain numbers."""
    getattr(axis, f"set_{which}scale")("log")
    getattr(axis, f"set_{which}ticks")(ticks, [f"{tick:,g}" for tick in ticks])
    getattr(axis, f"{which}axis").minorticks_off()


def compared_bars(names, sides, ylabel, xlabel="", title=""):
    """sides: {label: a height for each name} -> bars side by side; at most three sides."""
    figure, (axis,) = new_figure(max(6, 0.95 * len(names)), 4)
    width, looks = 0.8 / len(sides), (("white", ""), ("0.6", "//"), ("0.25", ""))
    for k, ((label, heights), (grey, hatch)) in enumerate(zip(sides.items(), looks)):
        places = np.arange(len(names)) + width * (k - (len(sides) - 1) / 2)
        axis.bar(places, heights, width, color=grey, edgecolor="black", hatch=hatch, label=label)
    axis.set_xticks(range(len(names)), names)
    axis.set(xlabel=xlabel, ylabel=ylabel, title=title)
    axis.legend(frameon=False)
    return figure


def profile_bars(profiles, xlabel):
    """profiles: {name: {stage: seconds}} -> a bar of milliseconds for each, divided into stages."""
    figure, (axis,) = new_figure(10, 1.6 + 0.6 * len(profiles))
    drawn = {
        stage: hatch for stage, hatch in HATCHES.items()
        if stage == "other" or any(stage in seconds for seconds in profiles.values())
    }  # fmt: skip
    for place, seconds in enumerate(profiles.values()):
        rest, left = sum(s for stage, s in seconds.items() if stage not in drawn), 0.0
        for stage, hatch in drawn.items():
            width = 1e3 * (rest if stage == "other" else seconds.get(stage, 0.0))
            look = dict(color=GREYS.get(stage, "white"), edgecolor="black", hatch=hatch)
            axis.barh(place, width, left=left, label=stage if place == 0 else None, **look)
            left += width
    axis.set_yticks(range(len(profiles)), list(profiles))
    axis.invert_yaxis()
    axis.set_xlabel(xlabel)
    figure.legend(*axis.get_legend_handles_labels(), frameon=False, ncols=len(drawn), loc="outside upper center")
    return figure


def roofline(points, peaks, bandwidth, n_hollow=8):
    """points: {label: (Cost, seconds)}, filled from number n_hollow on; peaks: {label: operations per second}."""
    figure, (axis,) = new_figure(11, 5)
    across = np.logspace(-1, 2.5, 100)
    for (label, top), line in zip(peaks.items(), ("-", "--")):
        axis.plot(across, np.minimum(top, bandwidth * across) / 1e9, color="black", linestyle=line, label=label)
        axis.axvline(top / bandwidth, color="0.6", linestyle=":", label=f"its ridge: {top / bandwidth:.1f}")
    for i, (label, (cost, seconds)) in enumerate(points.items()):
        place, full = (cost.flops / cost.nbytes, cost.flops / seconds / 1e9), "none" if i < n_hollow else "full"
        axis.plot(*place, MARKERS[i % n_hollow], color="black", fillstyle=full, markersize=11, label=label)
    plain_log(axis, "x", (0.1, 1, 10, 100))
    plain_log(axis, "y", (10, 100, 1000))
    axis.set(xlabel="operations per byte of weights", ylabel="billion operations per second")
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def ladder(times, least_times, xlabel):
    """times, least_times: {name: ms} -> what was measured and the least possible, on a logarithmic axis."""
    figure, (axis,) = new_figure(10, 1.2 + 0.5 * len(times))
    places = np.arange(len(times))
    axis.plot(list(times.values()), places, "o", color="black", markersize=10, label="measured")
    least = dict(color="black", fillstyle="none", markersize=9, label="least (25)")
    axis.plot(list(least_times.values()), places, "D", **least)
    for place, t in zip(places, times.values()):
        axis.annotate(f"{t:.3g} ms", (t, place), xytext=(10, 0), textcoords="offset points", va="center")
    ends = [*times.values(), *least_times.values()]
    axis.hlines(places, 0.5 * min(ends), list(times.values()), color="0.85", zorder=0)
    axis.set_yticks(places, list(times))
    axis.invert_yaxis()
    plain_log(axis, "x", [t for t in (0.001, 0.01, 0.1, 1, 10, 100) if 0.3 * min(ends) < t < 3 * max(ends)])
    axis.set_xlim(0.5 * min(ends), 2.5 * max(ends))
    axis.set_xlabel(xlabel)
    axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1, 0.5))
    return figure
