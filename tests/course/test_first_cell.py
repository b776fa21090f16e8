"""The cell that finds or fetches the package; that every notebook begins with it is in tests/test_tutorials.py."""

import sys

import nbformat
import pytest

from minnmt.course.first_cell import CELL_ID, FIRST_CELL, SOURCE, write_first_cell
from minnmt.course.notebooks import read_notebook


class Shell:
    """What IPython offers to a cell."""

    def __init__(self):
        self.lines = []

    def run_line_magic(self, name, line):
        self.lines.append(f"%{name} {line}")


@pytest.fixture
def shell():
    return Shell()


def run(shell):
    exec(compile(FIRST_CELL, "cell", "exec"), {"get_ipython": lambda: shell})


def test_nothing_is_fetched_where_the_package_is(shell):
    run(shell)
    assert shell.lines == []


@pytest.mark.parametrize("source", [None, "git+https://example.org/minnmt.git"])
def test_elsewhere_it_is_installed_from_one_place(source, shell, monkeypatch):
    monkeypatch.setitem(sys.modules, "minnmt", None)
    monkeypatch.delenv("MINNMT_SOURCE", raising=False)
    if source:
        monkeypatch.setenv("MINNMT_SOURCE", source)
    run(shell)
    assert shell.lines == [f"%pip install -q matplotlib {source or SOURCE}"]


def test_it_is_written_once_before_all_other_code(lesson, tmp_path):
    path = tmp_path / "toy.ipynb"
    lesson.cells = [cell for cell in lesson.cells if cell.id != CELL_ID]
    for number, cell in enumerate(lesson.cells[1:], start=1):
        cell.execution_count = number
    nbformat.write(lesson, path)
    for _ in range(2):
        write_first_cell(path)
        first, *others = [cell for cell in read_notebook(path).cells if cell.cell_type == "code"]
        assert (first.id, first.source, first.execution_count) == (CELL_ID, FIRST_CELL, 1)
        assert [cell.execution_count for cell in others] == list(range(2, len(others) + 2))
        assert [cell.id for cell in others] == [cell.id for cell in lesson.cells[1:]]
