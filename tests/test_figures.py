"""Figures: they can be drawn, show what they are given, and need matplotlib only when they are drawn."""

import subprocess
import sys

import numpy as np
import pytest

from minnmt.course import figures
from minnmt.errors import UserError
from minnmt.lab.figures import epochs_curves

pytest.importorskip("matplotlib")

NODES = [
    ("start", None, "<s>", None, "kept"), ("a", "start", "the", -0.1, "kept"), ("b", "start", "a", -2.0, "cut"),
    ("c", "a", "dog", -0.5, "ended"), ("d", "a", "cat", -0.9, "cut"),
]  # fmt: skip

EPOCHS = [
    {"epoch": epoch, "n": n, "bleu": 20 + epoch, "candidates": n / epoch, "full_bleu": 31}
    for epoch in (1, 2) for n in (20, 50, 100, 200)
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
        epochs_curves(EPOCHS),
    ):  # fmt: skip
        for axis in figure.axes:
            assert axis.get_xlabel() and axis.get_ylabel()
            assert {line.get_color() for line in axis.lines} <= {"black", "0.6"}


def test_the_papers_figure_has_a_line_for_each_n_and_one_for_all_words():
    left, right = epochs_curves(EPOCHS).axes
    assert [line.get_label() for line in left.lines] == ["n = 20", "n = 50", "n = 100", "n = 200", "all words"]
    assert [line.get_ydata().tolist() for line in left.lines[:4]] == [[21, 22]] * 4
    assert [line.get_ydata().tolist() for line in right.lines] == [[20, 10], [50, 25], [100, 50], [200, 100]]


def test_matplotlib_is_imported_only_when_a_figure_is_drawn():
    code = "import sys, minnmt.course.figures; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0


def test_without_matplotlib_one_sentence_says_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(UserError, match="pip install matplotlib"):
        figures.learning_curves({"a": ([1], [1])}, "x", "y")
