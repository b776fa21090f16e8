"""Every lesson's student edition, with its answers filled in, passes all checks, with other random numbers, too."""

import nbformat
import pytest

from minnmt.course.edition import filled_in, student_edition
from minnmt.course.grading import RIGHT, grade
from minnmt.course.notebooks import read_notebook
from tests.test_tutorials import LESSONS

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_all_checks_are_right(path, tmp_path):
    lesson, solutions = read_notebook(path), read_notebook(path.parent / "solutions" / path.name)
    full = filled_in(student_edition(lesson, path.stem), lesson, solutions)
    nbformat.write(full, tmp_path / path.name)
    found = grade(tmp_path / path.name, seed=1, limit=600)
    assert not [item for item in found.items if item.state != RIGHT], found.text()
    assert not found.errors, found.text()
