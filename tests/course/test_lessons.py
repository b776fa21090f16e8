"""What the course asks of lessons and solutions, so that editions and grades can be made of them."""

from collections import Counter

import pytest

from minnmt.course.grading import check_names
from minnmt.course.notebooks import checks_of, code_cells, course_of, is_stub, read_notebook
from tests.test_tutorials import LESSONS


def exercises(notebook, stub):
    """The exercises that have a cell to write in, or one to check it."""
    cells = [cell for cell in code_cells(notebook) if "exercise" in course_of(cell)]
    return {course_of(cell)["exercise"] for cell in cells if is_stub(cell) == stub}


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_a_check_has_a_name_of_its_own(path):
    """It is the key of the grade."""
    names = Counter(name for cell in code_cells(read_notebook(path)) for name in check_names(cell))
    assert not [name for name, n in names.items() if n > 1]


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_the_names_of_all_checks_are_known_before_they_run(path):
    for cell in code_cells(read_notebook(path)):
        assert len(check_names(cell)) >= bool(checks_of(cell)), cell.source


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_every_exercise_is_solved_and_checked(path):
    lesson, solutions = read_notebook(path), read_notebook(path.parent / "solutions" / path.name)
    asked = exercises(lesson, stub=True)
    assert exercises(solutions, stub=True) == asked and exercises(lesson, stub=False) <= asked
    assert exercises(lesson, stub=False) <= exercises(solutions, stub=False)
