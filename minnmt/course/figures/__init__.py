"""The lessons' figures: arrays and words in, a matplotlib Figure out. Needs the extra `tutorials`."""

from itertools import cycle

import numpy as np

from ...lab.figures import STYLES, new_figure
from ...text.tokenizer import JOINER


def attention_heatmap(alpha, src_words, trg_words, gold=(), title=""):
    """alpha (T,S): a row for each target word, darker is more; gold: links (source, target) drawn as frames."""
    T, S = np.shape(alpha)
    figure, (axis,) = new_figure(1.5 + 0.42 * S, 1.2 + 0.36 * T)
    axis.spines[["top", "right"]].set_visible(True)
    image = axis.imshow(alpha, cmap="Greys", vmin=0, vmax=1, aspect="auto")
    for i, j in gold:
        axis.add_patch(frame(i, j, edgecolor="white", linewidth=3.2))  # so that it shows on dark cells, too
        axis.add_patch(frame(i, j, edgecolor="black", linewidth=1.6, linestyle="--"))
    axis.set_xticks(range(S), [shown(word) for word in src_words], rotation=60, ha="left", rotation_mode="anchor")
    axis.set_yticks(range(T), [shown(word) for word in trg_words])
    axis.xaxis.tick_top()
    axis.set_xlabel("source" + ("; frames: gold alignment" if len(gold) else ""))
    axis.set_ylabel("target")
    axis.set_title(title)
    figure.colorbar(image, ax=axis, label="attention weight", shrink=0.8)
    return figure


def frame(i, j, **style):
    """An open square around the cell in column i, row j."""
    from matplotlib.patches import Rectangle

    return Rectangle((i - 0.42, j - 0.42), 0.84, 0.84, fill=False, **style)


def shown(word):
    """A word as a label: matplotlib's font has no tokenizer's joiner, but a small square."""
    return word.replace(JOINER, "\N{BLACK SMALL SQUARE}")


def candidate_bars(words, probs, title=""):
    """A source word's candidates, the best at the top, with their probabilities."""
    figure, (axis,) = new_figure(5.5, 0.8 + 0.24 * len(words))
    places = np.arange(len(words))
    axis.barh(places, probs, color="0.6", edgecolor="black")
    axis.set_yticks(places, [shown(word) for word in words])
    axis.invert_yaxis()
    axis.set_xlabel("p(target | source)")
    axis.set_title(title)
    return figure


def beam_tree(nodes, title=""):
    """nodes: [(name, parent's name or None, word, score, state)], parents first; state: "kept", "cut" or "ended".

    Time runs to the right. Kept hypotheses have a solid frame, ended ones a filled box, cut ones a dotted frame.
    """
    depth, height = tree_places(nodes)
    n_steps, n_leaves = max(depth.values()) + 1, max(height.values()) + 1
    figure, (axis,) = new_figure(1.5 * n_steps + 0.6, 0.58 * n_leaves + 1.1)
    looks = {
        "kept": dict(color="black", bbox=dict(boxstyle="round", facecolor="white", edgecolor="black")),
        "cut": dict(color="0.3", bbox=dict(boxstyle="round", facecolor="white", edgecolor="0.3", linestyle=":")),
        "ended": dict(color="black", bbox=dict(boxstyle="round", facecolor="0.75", edgecolor="black", linewidth=2.5)),
    }
    for name, parent, word, score, state in nodes:
        x, y = depth[name], height[name]
        if parent is not None:
            style = dict(color="0.3", linestyle=":") if state == "cut" else dict(color="black")
            axis.plot([depth[parent], x], [height[parent], y], linewidth=1, zorder=0, **style)
        text = shown(word) if score is None else f"{shown(word)}\n{score:.2f}"
        axis.text(x, y, text, ha="center", va="center", fontsize=12, **looks[state])
    axis.set_xlim(-0.5, n_steps - 0.5)
    axis.set_ylim(n_leaves - 0.3, -0.7)  # so that the boxes at the edges are whole
    axis.set_axis_off()
    axis.set_title(title)
    return figure


def tree_places(nodes):
    """-> {name: depth}, {name: height}: leaves one below the other, a parent in the middle of its children."""
    depth, children = {}, {}
    for name, parent, *_ in nodes:
        depth[name] = 0 if parent is None else depth[parent] + 1
        children.setdefault(name, [])
        if parent is not None:
            children[parent].append(name)
    height, n_leaves = {}, 0

    def place(name):
        nonlocal n_leaves
        for child in children[name]:
            place(child)
        if children[name]:
            height[name] = float(np.mean([height[child] for child in children[name]]))
        else:
            height[name], n_leaves = float(n_leaves), n_leaves + 1

    for name, parent, *_ in nodes:
        if parent is None:
            place(name)
    return depth, height


def learning_curves(curves, xlabel, ylabel, title="", log=False):
    """curves: {label: (x values, y values)} -> a line each."""
    figure, (axis,) = new_figure(6, 3.6)
    for (label, (x, y)), style in zip(curves.items(), cycle(STYLES)):
        axis.plot(x, y, color="black", label=label, markersize=4 if len(x) < 30 else 0, **style)
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.set_title(title)
    if log:
        axis.set_yscale("log")
    if len(curves) > 1:
        axis.legend(frameon=False)
    return figure


def speedup_curve(curves, xlabel, ylabel="times as fast as all words", title=""):
    """curves: {label: (x values, list of repeats for each)} -> medians with quartile bars; 1 is a thin line."""
    figure, (axis,) = new_figure(6, 3.6)
    for (label, (x, repeats)), style in zip(curves.items(), cycle(STYLES)):
        low, middle, high = np.array([np.percentile(values, [25, 50, 75]) for values in repeats]).T
        bars = [middle - low, high - middle]
        axis.errorbar(x, middle, bars, color="black", capsize=3, label=label, markersize=5, **style)
    axis.axhline(1, color="0.6", linewidth=0.8)
    axis.set_ylim(bottom=0)
    axis.set_xlabel(xlabel)
    axis.set_ylabel(ylabel)
    axis.set_title(title)
    axis.legend(frameon=False)
    return figure
