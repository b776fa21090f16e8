"""Figures: they can be drawn, show what they are given, and need matplotlib only when they are drawn."""

import subprocess
import sys

import numpy as np
import pytest

from minnmt.errors import UserError
from minnmt.lab.figures import epochs_curve
from tutorials import figures

pytest.importorskip("matplotlib")

NODES = [
    ("start", None, "<s>", None, "kept"), ("a", "start", "the", -0.1, "kept"), ("b", "start", "a", -2.0, "cut"),
    ("c", "a", "dog", -0.5, "ended"), ("d", "a", "cat", -0.9, "cut"),
]  # fmt: skip


def texts(axis):
    return {text.get_text() for text in axis.texts}


def test_heatmap_has_every_word_and_a_frame_for_each_gold_link():
    figure = figures.attention_heatmap(np.eye(2, 3), ["das", "Haus", "￭."], ["house", "."], gold=[(1, 0), (2, 1)])
    axis = figure.axes[0]
    assert [label.get_text() for label in axis.get_xticklabels()] == ["das", "Haus", "▪."]
    assert [label.get_text() for label in axis.get_yticklabels()] == ["house", "."]
    dashed = [patch for patch in axis.patches if patch.get_linestyle() == "--"]
    assert [np.round(patch.get_xy(), 2).tolist() for patch in dashed] == [[0.58, -0.42], [1.58, 0.58]]


def test_candidates_are_listed_from_the_top():
    axis = figures.candidate_bars(["house", "home"], [0.8, 0.1], "Haus").axes[0]
    assert [bar.get_width() for bar in axis.patches] == [0.8, 0.1] and axis.yaxis_inverted()


def test_a_parent_stands_in_the_middle_of_its_children():
    depth, height = figures.tree_places(NODES)
    assert depth == {"start": 0, "a": 1, "b": 1, "c": 2, "d": 2}
    assert (height["c"], height["d"], height["b"]) == (0, 1, 2) and height["a"] == 0.5 and height["start"] == 1.25
    assert texts(figures.beam_tree(NODES).axes[0]) == {"<s>", "the\n-0.10", "a\n-2.00", "dog\n-0.50", "cat\n-0.90"}


def test_curves_have_labels_and_no_colour():
    lines = {"train": ([1, 2, 3], [3, 2, 1]), "dev": ([1, 2, 3], [3, 2.5, 2.4])}
    speeds = {"top-n": ([20, 50], [[3, 3.1, 3.2], [2, 2.5, 3]])}
    for figure in (
        figures.learning_curves(lines, "epoch", "loss"), figures.speedup_curve(speeds, "n"),
        epochs_curve([1, 2], [20, 30], [40, 30], 31),
    ):  # fmt: skip
        for axis in figure.axes:
            assert axis.get_xlabel() and axis.get_ylabel()
            assert {line.get_color() for line in axis.lines} <= {"black", "0.6"}


def test_matplotlib_is_imported_only_when_a_figure_is_drawn():
    code = "import sys, tutorials.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_matplotlib_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match="pip install matplotlib"):
        figures.learning_curves({"a": ([1], [1])}, "x", "y")
