"""A lesson of a few cells, with its solutions."""

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from minnmt.course.first_cell import CELL_ID, FIRST_CELL

LESSON = [
    (CELL_ID, None, FIRST_CELL),
    ("setup", None, """\
import numpy as np

from minnmt.course import check, seeded

rng = np.random.default_rng(seeded(0))
x, W = rng.standard_normal((3, 2)), rng.standard_normal((2, 4))"""),
    ("gates", {"blank": {"both": "shape (3, 4)", "r, u": "shapes (3, 2): np.split", "reset": "shape (3, 2)"}}, """\
both = 1 / (1 + np.exp(
    -x @ W  # (1)
))
r, u = np.split(both, 2, axis=1)


def reset(h):
    \"\"\"h (3,2) -> (3,2).\"\"\"
    # the gate comes after the product
    return r * h"""),
    ("check-gates", None, """\
def sigmoid(a):
    return np.tanh(a / 2) / 2 + 0.5


check("both gates", both, sigmoid(x @ W))
check("r and u", (r, u), (sigmoid(x @ W)[:, :2], sigmoid(x @ W)[:, 2:]))
check("reset", reset(x), sigmoid(x @ W)[:, :2] * x, usual={"that is u": lambda: sigmoid(x @ W)[:, 2:] * x})"""),
    ("check-library", None, 'check("the package agrees with itself", np.tanh(0), 0.0)'),
    ("later", {"blank": {"later": "shape (3, 2)"}}, "later = (1 - u) * x"),
    ("check-later", None, 'for name in ("later",):\n    check(f"{name} on", later, x - u * x)'),
    ("stub", {"exercise": "half"}, 'def half(a):\n    """a -> a / 2."""\n    ...  # your code here'),
    ("check-half", {"exercise": "half"}, 'check("half of x", half(x), x / 2)\ncheck("half of 3", half(3), 1.5)'),
]
OUTPUTS = {"check-later": "later on: right, shape (3, 2)\n"}
SOLUTIONS = [(CELL_ID, None, FIRST_CELL), ("s-stub", {"exercise": "half"}, "def half(a):\n    return a / 2")]


def notebook(rows):
    cells = [new_markdown_cell("# A lesson", id="title")]
    for number, (name, course, source) in enumerate(rows, start=1):
        outputs = [nbformat.v4.new_output("stream", text=OUTPUTS[name])] if name in OUTPUTS else []
        metadata = {"course": course} if course else {}
        cells.append(new_code_cell(source, id=name, metadata=metadata, execution_count=number, outputs=outputs))
    return new_notebook(cells=cells)


@pytest.fixture
def lesson():
    return notebook(LESSON)


@pytest.fixture
def solutions():
    return notebook(SOLUTIONS)
