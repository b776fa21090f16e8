"""The lessons keep their form; that they run is tested by `pytest --nbmake tutorials`."""

import ast
import json
import re
from pathlib import Path

import pytest

from minnmt.course.first_cell import FIRST_CELL

ROOT = Path(__file__).parent.parent
LESSONS = sorted((ROOT / "tutorials").glob("*.ipynb"))
SOLUTIONS = sorted((ROOT / "tutorials" / "solutions").glob("*.ipynb"))
EQUATIONS = range(1, 29)
MOST_BYTES, MOST_CELL_LINES, MOST_FUNCTION_LINES = 500_000, 25, 15


def cells(path, kind):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == kind]


def parsed(source):
    """A cell as Python sees it, without lines for IPython alone."""
    return ast.parse("\n".join("pass" if line.startswith(("%", "!")) else line for line in source.splitlines()))


def names(paths):
    return [path.stem for path in paths]


def test_twelve_lessons_and_a_solution_for_each():
    assert [name[:2] for name in names(LESSONS)] == [f"{i:02}" for i in range(12)]
    assert names(SOLUTIONS) == names(LESSONS)


@pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_small_cells_small_functions_small_files(path):
    assert path.stat().st_size < MOST_BYTES
    for number, source in enumerate(cells(path, "code"), start=1):
        assert len(source.splitlines()) <= MOST_CELL_LINES, f"code cell {number}"
        for node in ast.walk(parsed(source)):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
                n_lines = node.end_lineno - node.lineno + 1
                assert n_lines <= MOST_FUNCTION_LINES, f"code cell {number}: {node.name} has {n_lines} lines"


@pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_committed_as_run_from_top_to_bottom(path):
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code" and cell["source"]]
    assert [cell["execution_count"] for cell in code] == list(range(1, len(code) + 1))
    assert not [output for cell in code for output in cell["outputs"] if output["output_type"] == "error"]
    assert not re.search(r"/(root|home|work|tmp)/", path.read_text(encoding="utf-8")), "a path of some machine"


@pytest.mark.parametrize("path", LESSONS + SOLUTIONS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_the_first_cell_finds_or_fetches_the_package(path):
    assert cells(path, "code")[0] == FIRST_CELL


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_what_every_lesson_has(path):
    text = "\n".join(cells(path, "markdown")).lower()
    for part in ("you will do", "learn", "need", "running time", "exercise", "left out", "further reading"):
        assert part in text, part
    assert f"solutions/{path.name}" in text
    code = cells(path, "code")
    assert sum("check(" in source or "assert " in source for source in code) >= 10
    assert 3 <= sum("your code here" in source for source in code) <= 5
    notebook = json.loads(path.read_text(encoding="utf-8"))
    pictures = [
        i for i, cell in enumerate(notebook["cells"])
        if any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))
    ]  # fmt: skip
    assert pictures and pictures[0] <= len(notebook["cells"]) / 3, "a picture early"


def test_equations_have_the_same_numbers_in_lessons_and_docstrings():
    lessons = "\n".join(text for path in LESSONS for text in cells(path, "markdown"))
    package = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "minnmt").rglob("*.py"))
    readme = (ROOT / "tutorials" / "README.md").read_text(encoding="utf-8")
    for number in EQUATIONS:
        assert f"\\tag{{{number}}}" in lessons, f"({number}) is in no lesson"
        assert f"({number})" in package, f"({number}) is in no docstring"
        assert f"| ({number}) |" in readme
