"""Figures of lessons 06 to 11: they show what they are given, in grey, with numbers that can be read."""

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from minnmt.course.figures import charts  # noqa: E402
from minnmt.lab.figures import new_figure  # noqa: E402
from minnmt.search.cost import Cost  # noqa: E402


def test_logarithmic_axes_have_plain_numbers():
    _, (axis,) = new_figure(4, 3)
    axis.plot([1, 1000], [1, 2])
    charts.plain_log(axis, "x", (1, 10, 1000))
    assert axis.get_xscale() == "log"
    assert [label.get_text() for label in axis.get_xticklabels()] == ["1", "10", "1,000"]
    assert not axis.xaxis.get_minorticklocs().size


def test_compared_bars_stand_side_by_side_with_their_heights():
    (axis,) = charts.compared_bars(["a", "b"], {"all": [1, 2], "list": [3, 4]}, "y").axes
    assert [[bar.get_height() for bar in bars] for bars in axis.containers] == [[1, 2], [3, 4]]
    first, second = (bars[0] for bars in axis.containers)
    assert np.isclose(first.get_x() + first.get_width(), second.get_x())
    assert axis.get_legend_handles_labels()[1] == ["all", "list"]


def test_profile_bars_add_up_what_has_no_name_of_its_own():
    profiles = {"one": {"encoder": 0.001, "softmax": 0.002, "bookkeeping": 0.003, "lists": 0.004}}
    (axis,) = charts.profile_bars(profiles, "ms").axes
    widths = {bars.get_label(): bars[0].get_width() for bars in axis.containers}
    assert widths["softmax"] == pytest.approx(2) and widths["other"] == pytest.approx(7)
    assert sum(widths.values()) == pytest.approx(10)


def test_the_roofline_has_a_roof_for_each_peak_and_a_point_for_each_product():
    points = {"a": (Cost(20, 10), 1e-9), "b": (Cost(40, 10), 1e-9)}
    (axis,) = charts.roofline(points, {"float32": 100e9, "int8": 400e9}, 50e9, n_hollow=1).axes
    lines = {line.get_label(): line for line in axis.lines}
    assert lines["float32"].get_ydata().max() == 100 and lines["int8"].get_ydata().max() == 400
    assert (lines["a"].get_xdata()[0], lines["a"].get_ydata()[0]) == (2, 20)
    assert lines["a"].get_fillstyle() == "none" and lines["b"].get_fillstyle() == "full"


def test_the_ladder_has_points_not_bars_on_its_logarithmic_axis():
    (axis,) = charts.ladder({"plain": 16.0, "list": 0.2}, {"plain": 3.5, "list": 0.1}, "ms").axes
    assert axis.get_xscale() == "log" and not axis.containers
    assert [list(line.get_xdata()) for line in axis.lines] == [[16.0, 0.2], [3.5, 0.1]]
    assert {text.get_text() for text in axis.texts} == {"16 ms", "0.2 ms"}
