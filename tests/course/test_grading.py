"""Grading: what a submitted notebook gets, whatever is in it."""

import json

import nbformat
import numpy as np
import pytest
from nbformat.v4 import new_code_cell

from minnmt.course.edition import filled_in, student_edition
from minnmt.course.grading import MISSING, RIGHT, WRONG, check_names, grade, plan
from minnmt.course.notebooks import code_cells
from tests.conftest import run_cli

NAMES = ["both gates", "r and u", "reset", "later on", "half of x", "half of 3"]


class Submission:
    """A student edition of the toy lesson, all right at first; change it, then grade it."""

    def __init__(self, lesson, solutions, directory):
        self.directory = directory
        nbformat.write(lesson, directory / "toy.ipynb")
        self.notebook = filled_in(student_edition(lesson, "toy"), lesson, solutions)

    def cell(self, name):
        return next(cell for cell in self.notebook.cells if cell.id == name)

    def delete(self, *names):
        self.notebook.cells = [cell for cell in self.notebook.cells if cell.id not in names]

    def add(self, source, behind):
        place = self.notebook.cells.index(self.cell(behind)) + 1
        self.notebook.cells.insert(place, new_code_cell(source))

    def grade(self, **options):
        nbformat.write(self.notebook, self.directory / "anna.ipynb")
        found = grade(self.directory / "anna.ipynb", lesson_path=self.directory / "toy.ipynb", **options)
        assert [item.name for item in found.items] == NAMES
        return {item.name: item for item in found.items}

    def states(self, **options):
        return [item.state for item in self.grade(**options).values()]


@pytest.fixture
def submission(lesson, solutions, tmp_path):
    return Submission(lesson, solutions, tmp_path)


def test_names_come_from_the_lesson_and_only_students_work_counts(lesson):
    found = [name for cell in code_cells(lesson) for name in check_names(cell)]
    assert [name for name in found if name != "the package agrees with itself"] == NAMES
    assert [name for step in plan(lesson, lesson) for name in step.checks] == NAMES


def test_a_cell_that_fails_is_told_with_its_checks(submission):
    submission.cell("later").source = "later = x[0]\nlater[7] = 1"
    assert "error: IndexError" in submission.grade()["later on"].message


def test_all_right(submission):
    assert submission.states() == [RIGHT] * 6


def test_a_mistake_is_wrong_and_its_hint_is_told(submission):
    """Also: it costs its own checks alone, and new cells are run where they stand."""
    submission.cell("gates").source = submission.cell("gates").source.replace("r, u =", "u, r =")
    submission.cell("later").source = "later = helped(x)"
    submission.add("def helped(x):\n    return (1 - u) * x", behind="check-gates")
    items = submission.grade()
    assert [item.state for item in items.values()] == [RIGHT, WRONG, WRONG, RIGHT, RIGHT, RIGHT]
    assert "halves" in items["r and u"].message or "swapped" in items["r and u"].message
    assert "hint: that is u" in items["reset"].message


def test_blanks_and_stubs_left_empty_are_wrong(submission, lesson):
    submission.notebook = student_edition(lesson, "toy")
    items = submission.grade()
    assert [item.state for item in items.values()] == [WRONG] * 6
    assert all("not yet done" in item.message for item in items.values())


def test_deleted_cells_are_missing(submission):
    submission.delete("stub", "check-later", "setup")  # the setup is the lesson's: it is run all the same
    items = submission.grade()
    assert [item.state for item in items.values()] == [RIGHT, RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert "deleted" in items["later on"].message and "NameError" in items["half of x"].message


def test_errors_of_all_cells_are_told(submission, tmp_path):
    submission.add("1 / 0", behind="setup")
    nbformat.write(submission.notebook, tmp_path / "anna.ipynb")
    found = grade(tmp_path / "anna.ipynb", lesson_path=tmp_path / "toy.ipynb")
    assert found.n_right == 6 and found.errors == [
        "ZeroDivisionError: division by zero (in the cell that begins with '1 / 0')"
    ]
    assert "error    ZeroDivisionError" in found.text()


def test_numbers_that_were_copied_do_not_pass(submission):
    """They are right with the lesson's own seed."""
    rng = np.random.default_rng(0)
    x, W = rng.standard_normal((3, 2)), rng.standard_normal((2, 4))
    later = x * (1 - 1 / (1 + np.exp(-x @ W[:, 2:])))
    submission.cell("later").source = f"later = np.array({later.tolist()})"
    assert submission.grade(seed=0)["later on"].state == RIGHT
    assert submission.grade(seed=1)["later on"].state == WRONG


def test_checks_cannot_be_changed(submission):
    submission.cell("later").source = "later = 0"
    submission.cell("check-later").source = 'check("later on", 1, 1)'
    submission.add('check("later on", 1, 1)', behind="check-later")
    assert submission.grade()["later on"].state == WRONG


def test_ids_may_be_lost(submission):
    """An editor that knows no ids keeps the metadata."""
    for number, cell in enumerate(submission.notebook.cells):
        cell.id = f"new-{number}"
    assert submission.states() == [RIGHT] * 6


def test_a_cell_that_never_ends_is_stopped(submission):
    submission.cell("stub").source = "def half(a):\n    while True:\n        pass"
    submission.add("after = 1", behind="check-half")
    items = submission.grade(limit=8)
    assert [item.state for item in items.values()] == [RIGHT, RIGHT, RIGHT, RIGHT, MISSING, MISSING]
    assert items["half of x"].message == "its cell was stopped after 8 seconds"


def test_a_python_that_ends_leaves_the_rest_missing(submission):
    submission.cell("later").source = "import os\nos._exit(1)"
    items = submission.grade()
    assert [item.state for item in items.values()] == [RIGHT, RIGHT, RIGHT, MISSING, MISSING, MISSING]
    assert "ended" in items["later on"].message


def test_what_a_notebook_writes_is_its_own(submission):
    look = "from minnmt.course import RUNS\nassert RUNS.parent.samefile('.') and not RUNS.exists()"
    submission.add(look, behind="setup")
    nbformat.write(submission.notebook, submission.directory / "anna.ipynb")
    assert not grade(submission.directory / "anna.ipynb", lesson_path=submission.directory / "toy.ipynb").errors


def test_new_cells_follow_the_cell_they_stand_behind(submission, lesson):
    submission.add("x = 1", behind="later")
    sources = [step.source for step in plan(lesson, submission.notebook)]
    assert sources[sources.index("x = 1") - 1] == "later = (1 - u) * x"


def test_the_command(submission, tmp_path):
    submission.cell("later").source = "later = -x"
    nbformat.write(submission.notebook, tmp_path / "anna.ipynb")
    arguments = ("course", "grade", tmp_path / "anna.ipynb", "--lesson", tmp_path / "toy.ipynb")
    result = run_cli(*arguments)
    assert result.code == 0, result.err
    assert f"{tmp_path / 'anna.ipynb'}: 5 of 6 checks of toy are right (seed 1)" in result.out
    assert "wrong    later on" in result.out and "[0, 0] is" in result.out
    record = json.loads(run_cli(*arguments, "--json").out)
    assert record["right"] == 5 and record["checks"][3]["state"] == WRONG


@pytest.mark.parametrize("content, words", [
    (b"", "not a notebook"), (b"\xff\xfe\x00", "not UTF-8"), (b"{}", "not a notebook"),
    (b'{"cells": 3}', "not a notebook"),
    (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}', "no lesson"),
    (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {"minnmt": {"lesson": "01"}}, "cells": []}', "no cell of"),
    (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {"minnmt": {"lesson": "../../x"}}, "cells": []}', "no lesson"),
    (b'{"nbformat": 3, "worksheets": []}', "not a notebook"), (b"[1, 2", "not a notebook"),
])  # fmt: skip
def test_a_broken_file_is_one_sentence(content, words, tmp_path):
    (tmp_path / "anna.ipynb").write_bytes(content)
    result = run_cli("course", "grade", tmp_path / "anna.ipynb")
    assert result.code == 1 and words in result.err and result.err.count("\n") == 1 and not result.out


def test_a_broken_file_does_not_keep_others_from_their_grade(submission, tmp_path):
    (tmp_path / "broken.ipynb").write_text("{")
    nbformat.write(submission.notebook, tmp_path / "anna.ipynb")
    result = run_cli(
        "course", "grade", tmp_path / "broken.ipynb", tmp_path / "anna.ipynb", "--lesson", tmp_path / "toy.ipynb"
    )
    assert result.code == 1 and "6 of 6" in result.out and "1 of 2 notebooks could not be graded" in result.err
