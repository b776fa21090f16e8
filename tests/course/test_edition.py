"""The student edition: blanks where the metadata say so, everything else as it was."""

import ast

import nbformat
import pytest

from minnmt.course.edition import INTRODUCTION, filled_in, student_edition, with_blanks
from minnmt.course.notebooks import code_cells, identity, read_notebook
from minnmt.errors import UserError
from tests.conftest import run_cli
from tests.test_tutorials import LESSONS, SOLUTIONS


def source_of(notebook, name):
    return next(cell.source for cell in notebook.cells if cell.id == name)


def test_blanks_keep_the_left_side_the_signature_and_the_docstring(lesson):
    edition = student_edition(lesson, "toy")
    assert source_of(edition, "gates") == '''\
both = ...  # your code: shape (3, 4)
r, u = ..., ...  # your code: shapes (3, 2): np.split


def reset(h):
    """h (3,2) -> (3,2)."""
    ...  # your code: shape (3, 2)'''


def test_nothing_else_changes_but_outputs(lesson):
    edition = student_edition(lesson, "toy")
    for before, after in zip(code_cells(lesson), code_cells(edition)):
        assert after.outputs == [] and after.execution_count is None and identity(after) == before.id
        assert after.source == before.source or before.id in ("gates", "later")
    assert edition.cells[1].source == INTRODUCTION and edition.metadata["minnmt"] == {"lesson": "toy"}
    assert "blank" not in str([cell.metadata for cell in edition.cells])
    nbformat.validate(edition)


def test_a_long_hint_stands_above_its_line():
    hint = "shape (B, 2H): " + "many words " * 12
    cell = nbformat.v4.new_code_cell("if True:\n    a = 3", metadata={"course": {"blank": {"a": hint}}})
    *comments, code = with_blanks(cell, "toy").splitlines()[1:]
    assert code == "    a = ..." and len(comments) > 1
    assert all(line.startswith("    # ") and len(line) <= 110 for line in comments)


@pytest.mark.parametrize("source, blank", [
    ("a = 1", "b"), ("a = 1\ncheck('a', a, 1)", "a"), ("def f():\n    return 1", "g"), ("a[0] = 1", "a"),
])  # fmt: skip
def test_a_blank_that_is_not_there_is_refused(source, blank):
    cell = nbformat.v4.new_code_cell(source, metadata={"course": {"blank": {blank: "hint"}}}, id="abc")
    with pytest.raises(UserError, match="toy, cell abc"):
        with_blanks(cell, "toy")


@pytest.mark.parametrize("source, blank, expected", [
    ("g.W += x.T @ dA", "g.W", "g.W += ..."), ("a = b = 3", "b", "a = b = ..."),
    ("total = 0\nfor i in x:\n    total = total + i", "total", "total = 0\nfor i in x:\n    total = ..."),
    ("größe = 'ä' + (3 *\n  4)", "größe", "größe = ..."), ("(a, b) = 1, 2", "a", "(a, b) = ..., ..."),
])  # fmt: skip
def test_what_can_be_blank(source, blank, expected):
    cell = nbformat.v4.new_code_cell(source, metadata={"course": {"blank": {blank: "?"}}})
    assert with_blanks(cell, "toy") == f"{expected}  # your code: ?"


def test_filled_in_it_is_the_lesson_with_solutions(lesson, solutions):
    full = filled_in(student_edition(lesson, "toy"), lesson, solutions)
    for before, after in zip(code_cells(lesson), code_cells(full)):
        assert after.source.startswith(before.source)
        assert after.source.endswith("def half(a):\n    return a / 2") == (before.id == "stub")


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_lesson_has_a_student_edition_in_which_no_answer_is_left(path):
    lesson = read_notebook(path)
    edition = student_edition(lesson, path.stem)
    for before, after in zip(code_cells(lesson), code_cells(edition)):
        lines = [line for line in after.source.splitlines() if not line.startswith(("%", "!"))]
        ast.parse("\n".join(lines))
        blanks = before.metadata.get("course", {}).get("blank", {})
        assert after.source.count("# your code: ") == len(blanks), before.id


def test_the_commands(tmp_path, lesson):
    nbformat.write(lesson, tmp_path / "toy.ipynb")
    result = run_cli("course", "student", tmp_path / "toy.ipynb", "01", "-o", tmp_path / "out")
    assert result.code == 0, result.err
    assert result.out.split() == [str(tmp_path / "out" / name) for name in ("toy.ipynb", LESSONS[1].name)]
    assert "your code" in (tmp_path / "out" / "toy.ipynb").read_text()


def test_what_the_command_refuses(tmp_path, lesson):
    nbformat.write(lesson, tmp_path / "toy.ipynb")
    before = (tmp_path / "toy.ipynb").read_bytes()
    for arguments, words in (
        ([tmp_path / "toy.ipynb", "-o", tmp_path], "the lesson itself"), (["99", "-o", tmp_path], "no lesson"),
        (["../x", "-o", tmp_path], "no lesson"), ([tmp_path / "no.ipynb", "-o", tmp_path], "cannot read"),
    ):  # fmt: skip
        result = run_cli("course", "student", *arguments)
        assert result.code == 1 and words in result.err and not result.out
    assert (tmp_path / "toy.ipynb").read_bytes() == before and len(SOLUTIONS) == len(LESSONS)
