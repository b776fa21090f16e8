"""The lessons' drawings can be read from the back of a room, and show what they are said to show."""

import re
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("matplotlib")

from minnmt.course.figures import drawings  # noqa: E402 (after the question whether it can be drawn at all)

ROOT = Path(__file__).parent.parent.parent
VALUES, GRADS = dict(x=2, w=0.5, b=-0.6, a=0.4, y=0.38, L=0.19), dict(x=-0.3, w=-1.1, b=-0.5, a=-0.5, y=-0.6, L=1)
WEIGHTS = {"Marie": 0.1, "sucht": 0.7, "eine": 0.2}
PICTURES = {
    "neuron": lambda: drawings.neuron_graph(VALUES, GRADS), "gru": drawings.gru_cell,
    "decoder": lambda: drawings.decoder_step(WEIGHTS),
}  # fmt: skip


def texts(figure):
    return [text for text in figure.axes[0].texts if text.get_text()]


@pytest.mark.parametrize("name", PICTURES)
def test_letters_are_large_and_nothing_has_a_colour(name):
    figure = PICTURES[name]()
    assert min(text.get_fontsize() for text in texts(figure)) >= 12
    assert {line.get_color() for line in figure.axes[0].lines} <= {"black"}


def test_gradients_have_their_signs():
    shown = {text.get_text() for text in texts(PICTURES["neuron"]())}
    assert {"+2.000", "\N{MINUS SIGN}0.600", "\N{MINUS SIGN}1.100", "+1.000"} <= shown


def test_a_step_of_the_decoder_names_its_equations_and_gives_weights_their_thickness():
    figure = PICTURES["decoder"]()
    words = " ".join(text.get_text() for text in texts(figure))
    assert all(number in words for number in ("(1)-(3)", "(5)", "(6)", "(7)", "(8)-(10)", "(11)"))
    widths = [line.get_linewidth() for line in figure.axes[0].lines]
    assert np.argsort(widths).tolist() == np.argsort(list(WEIGHTS.values())).tolist()


def test_a_path_ends_in_a_square():
    paths = {"first": np.array([[-3.0, -1.0], [0.8, 0.1]]), "second": np.array([[-3.0, 0.5], [0.8, 0.2]])}
    figure = drawings.paths_in_a_valley(paths, lambda x, y: x * x + y * y)
    assert [axis.get_title() for axis in figure.axes] == ["first", "second"]
    ends = [axis.lines[-1].get_xydata()[0].tolist() for axis in figure.axes]
    assert ends == [[-1.0, 0.1], [0.5, 0.2]]


def test_letters_of_all_figures_suit_a_projector():
    import matplotlib

    with matplotlib.rc_context():
        drawings.projector()
        sizes = [value for key, value in matplotlib.rcParams.items() if key.endswith(("labelsize", "fontsize"))]
        assert matplotlib.rcParams["font.size"] >= 12 and min(s for s in sizes if isinstance(s, (int, float))) >= 12


def test_no_letter_has_two_meanings():
    """Of the two tables of symbols in tutorials/README.md."""
    text = (ROOT / "tutorials" / "README.md").read_text(encoding="utf-8")
    tables = text[text.index("## Symbols") : text.index("The equations have the same numbers")]
    rows = [row.split("|")[1].strip() for row in tables.splitlines() if re.match(r"\| [^-s]|\| s[',]", row)]
    symbols = [symbol for row in rows for symbol in re.split(r", ", row) if row not in ("size", "symbol")]
    assert len(symbols) > 20 and len(symbols) == len(set(symbols))
