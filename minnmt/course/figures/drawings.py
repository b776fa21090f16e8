"""Drawings of lessons 01 to 05, legible from the back of a room and without colour. Needs the extra `tutorials`.

They show what a network is made of; curves, bars and trees of measured numbers are drawn by the package itself.
"""

import numpy as np

BOX = dict(boxstyle="round,pad=0.45", facecolor="white", edgecolor="black", linewidth=1.4)
GATE = dict(boxstyle="round,pad=0.45", facecolor="0.85", edgecolor="black", linewidth=1.4)
OPERATION = dict(boxstyle="circle,pad=0.25", facecolor="white", edgecolor="black", linewidth=1.4)


def projector():
    """Letters and lines of all figures from here on are large enough for a projector."""
    import matplotlib

    matplotlib.rcParams.update({
        "font.size": 13, "axes.titlesize": 14, "axes.labelsize": 13, "legend.fontsize": 12, "xtick.labelsize": 12,
        "ytick.labelsize": 12, "lines.linewidth": 1.8, "lines.markersize": 7, "figure.dpi": 80,
    })  # fmt: skip


def sheet(width, height, xlim, ylim, title=""):
    """An empty figure without axes -> figure, axis."""
    from ...lab.figures import new_figure

    figure, (axis,) = new_figure(width, height)
    axis.set(xlim=xlim, ylim=ylim)
    axis.set_axis_off()
    axis.set_title(title)
    return figure, axis


def put(axis, place, text, box=None, size=14, **more):
    """A text, in a box if one is given."""
    return axis.text(*place, text, ha="center", va="center", fontsize=size, bbox=box, **more)


def arrow(axis, start, end, text="", lift=0.1, line="-", width=1.4, bend=0.0, shrink=0):
    """From start to end, with a text beside its middle."""
    look = dict(
        arrowstyle="-|>", color="black", linestyle=line, linewidth=width, shrinkA=shrink, shrinkB=shrink,
        connectionstyle=f"arc3,rad={bend}", mutation_scale=14,
    )  # fmt: skip
    axis.annotate("", end, start, arrowprops=look)
    if text:
        axis.text((start[0] + end[0]) / 2, (start[1] + end[1]) / 2 + lift, text, ha="center", va="bottom", fontsize=12)


def neuron_graph(values, grads):
    """Lesson 01: x, w, b -> a -> y -> L; each with its value above and its gradient below, both with their signs."""
    figure, axis = sheet(9.5, 5.4, (-0.5, 4.5), (-0.7, 3.5), "values above, gradients below")
    places = {"x": (0, 2.8), "w": (0, 1.4), "b": (0, 0), "a": (1.5, 1.4), "y": (2.7, 1.4), "L": (4.1, 1.4)}
    for name, (px, py) in places.items():
        put(axis, (px, py), name, BOX, 15)
        put(axis, (px, py + 0.38), signed(values[name]), size=13)
        put(axis, (px, py - 0.4), signed(grads[name]), size=13, style="italic", weight="bold")
    steps = [("x", ""), ("w", "x w + b"), ("b", ""), ("a", "tanh"), ("y", "½ (y - 1)²")]
    for name, text in steps:
        end = places["a"] if name in "xwb" else places["y" if name == "a" else "L"]
        arrow(axis, places[name], end, text, shrink=22)
    return figure


def signed(number):
    """With a sign that cannot be overlooked."""
    return f"{number:+.3f}".replace("-", "\N{MINUS SIGN}")


def gru_cell():
    """Lesson 02: the cell with its two gates; the way of the old state runs along the top."""
    figure, axis = sheet(11, 5.6, (-0.6, 10.4), (-0.9, 4.6))
    top, middle, low = 3.9, 2.3, 0.9
    # the old state: along the top, through u, to the new one
    put(axis, (0, top), "$h$", BOX, 18)
    put(axis, (6.2, top), r"$\times$", OPERATION, 16)
    put(axis, (8.3, top), "$+$", OPERATION, 16)
    put(axis, (9.9, top), "$h'$", BOX, 18)
    arrow(axis, (0.4, top), (5.75, top))
    arrow(axis, (6.65, top), (7.85, top), "kept")
    arrow(axis, (8.75, top), (9.45, top))
    # the gates
    for place, name, meaning in ((2.2, "$r$", "reset (1)"), (6.2, "$u$", "update (1)")):
        put(axis, (place, low), name, GATE, 18)
        axis.text(place, low - 0.62, meaning, ha="center", va="center", fontsize=13)
    arrow(axis, (6.2, low + 0.35), (6.2, top - 0.38))
    # the candidate
    put(axis, (2.2, middle), r"$\times$", OPERATION, 16)
    put(axis, (4.2, middle), r"tanh $\rightarrow \tilde h$", BOX, 16)
    axis.text(4.2, middle - 0.62, "candidate (2)", ha="center", va="center", fontsize=13)
    put(axis, (8.3, middle), r"$\times$", OPERATION, 16)
    arrow(axis, (2.2, low + 0.35), (2.2, middle - 0.38))
    arrow(axis, (2.2, top), (2.2, middle + 0.38), line="-")
    axis.text(2.3, (top + middle) / 2, "$h\\,U_x$", fontsize=14, va="center")
    arrow(axis, (2.6, middle), (3.2, middle))
    arrow(axis, (5.25, middle), (7.85, middle))
    arrow(axis, (8.3, middle + 0.38), (8.3, top - 0.38))
    arrow(axis, (6.55, low), (8.15, middle - 0.36))
    axis.text(7.65, low + 0.35, "$1 - u$", fontsize=14, va="center")
    axis.text(8.6, (top + middle) / 2, "new", fontsize=12, va="center")
    # the word
    put(axis, (0, low), "$x$", BOX, 18)
    axis.plot([0, 0, 7.0], [low - 0.35, -0.5, -0.5], color="black", linewidth=1.4)
    for place in (2.2, 4.2, 6.2):
        arrow(axis, (place, -0.5), (place, 0.02 if place != 4.2 else middle - 0.85))
    axis.text(7.1, -0.45, "to both gates and the candidate\n(the gates read $h$, too)", fontsize=12, va="center")
    return figure


def decoder_step(weights):
    """Lesson 03: one step of the decoder; weights: {source word: attention weight}."""
    figure, axis = sheet(11, 5.6, (-0.7, 6.0), (0.1, 4.1), 'One step of the decoder, about to write "looks for"')
    for i, (word, weight) in enumerate(weights.items()):
        put(axis, (i, 0.35), word, size=14)
        put(axis, (i, 1), f"$h_{i + 1}$", BOX, 16)
        axis.plot([i, 2], [1.24, 2.52], color="black", linewidth=0.5 + 7 * weight)
        if i + 1 < len(weights):
            arrow(axis, (i + 0.2, 1.08), (i + 0.8, 1.08), width=1.1)
            arrow(axis, (i + 0.8, 0.92), (i + 0.2, 0.92), line="--", width=1.1)
    axis.text(-0.65, 1.9, r"weights $\alpha_i$: (5), (6)", fontsize=12)
    chain = [(0, "$s_{t-1}$"), (1, "$s'$"), (2, "$c$"), (3.4, "$s_t$"), (4.8, "$o$")]
    for x, text in chain:
        put(axis, (x, 2.75), text, BOX, 16)
    for start, end, text in ((0.28, 0.8, "(1)-(3)"), (1.2, 1.8, "asks"), (2.2, 3.15, "(8)-(10)"), (3.65, 4.6, "(11)")):
        arrow(axis, (start, 2.75), (end, 2.75), text, 0.05)
    axis.text(2.12, 2.42, "context (7)", fontsize=12)
    arrow(axis, (1.1, 2.52), (3.3, 2.52), line=":", bend=0.45)  # s' is the old state of the second cell
    put(axis, (2.8, 3.8), "previous word $y_{t-1}$", size=14)
    arrow(axis, (1.9, 3.7), (1.08, 2.98))
    arrow(axis, (3.7, 3.7), (4.68, 2.98))
    arrow(axis, (2.1, 2.98), (4.6, 2.9), bend=-0.25)  # the context, once more
    arrow(axis, (5.0, 2.75), (5.45, 2.75))
    put(axis, (5.75, 2.75), "word", size=14)
    return figure


def paths_in_a_valley(paths, height, xlim=(-3.4, 1.4), ylim=(-1, 1)):
    """Lesson 04: {name: points (2,N)} over the contours of height(x, y); a star is the minimum at (0, 0)."""
    from ...lab.figures import new_figure

    figure, axes = new_figure(4.2 * len(paths), 3.6, len(paths))
    grid = np.meshgrid(np.linspace(*xlim, 80), np.linspace(*ylim, 60))
    for axis, (name, path) in zip(axes, paths.items()):
        axis.contour(*grid, height(*grid), levels=[0.1, 0.5, 1.5, 3, 6, 10], colors="0.7", linewidths=1)
        axis.plot(*path, "o-", color="black", markersize=3, linewidth=1)
        axis.plot(0, 0, "*", color="black", markersize=18, markerfacecolor="white")
        axis.plot(*path[:, -1], "s", color="black", markersize=9, markerfacecolor="none", markeredgewidth=2)
        axis.set(xlim=xlim, ylim=ylim, title=name, xlabel="x", ylabel="y")
    return figure
