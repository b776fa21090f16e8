"""The course plans of tutorials/teaching: times add up, and no lesson comes before one that it needs."""

import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "tutorials" / "teaching" / "README.md").read_text(encoding="utf-8")
NOTES = (ROOT / "tutorials" / "teaching" / "notes.md").read_text(encoding="utf-8")
HALF_DAY, DAY, CLASS = 240, 390, 90  # minutes: all of the half day, a day of two, a class of the semester
TOLERANCE = 15  # minutes between what a lesson says of itself and the plan


def rows(heading):
    """The rows of the table below a heading, as lists of cells, without its head."""
    section = PAGE.split(f"## {heading}")[1].split("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


LESSONS = {row[0][:2]: row for row in rows("How long it takes")[:-1]}


def lesson_of(text):
    """The lesson that a row of a plan begins with, or None."""
    found = re.match(r"\d\d\b", text)
    return found and found[0]


def check_order(lessons):
    """Of the lessons of a plan, none comes before one that it needs."""
    for i, lesson in enumerate(lessons):
        for needed in re.findall(r"\d\d", LESSONS[lesson][1]):
            assert needed not in lessons or needed in lessons[:i], f"{lesson} needs {needed}"


def test_the_times_of_all_lessons_add_up():
    total = rows("How long it takes")[-1]
    for column in (2, 3):
        assert int(total[column]) == sum(int(row[column]) for row in LESSONS.values())
    hours = (int(total[2]) + int(total[3])) / 60
    assert f"That is {hours:.0f} hours in all" in PAGE
    assert list(LESSONS) == [f"{i:02}" for i in range(12)]


@pytest.mark.parametrize("lesson", LESSONS)
def test_notes_have_the_same_times(lesson):
    _, _, minutes, exercises = LESSONS[lesson]
    section = NOTES.split(f"\n## {lesson} ")[1]
    assert section.split("\n")[2].startswith(f"Lesson {minutes} minutes, exercises {exercises}.")


@pytest.mark.parametrize("path", sorted((ROOT / "tutorials").glob("*.ipynb")), ids=lambda path: path.stem)
def test_plans_allow_what_lessons_say(path):
    """Of the lessons that give their times: for reading, and for each exercise."""
    cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
    text = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
    _, _, minutes, exercises = LESSONS[path.stem[:2]]
    if reading := re.search(r"(\d+) minutes for reading", text):
        assert abs(int(reading[1]) - int(minutes)) <= TOLERANCE
    if given := re.findall(r"\((\d+) minutes", text.split("## Exercises")[1]):
        assert abs(sum(map(int, given)) - int(exercises)) <= TOLERANCE


def test_the_half_day_adds_up():
    clock = 0
    plan = rows("Half a day: the idea")
    for start, minutes, _ in plan:
        assert start == f"{clock // 60}:{clock % 60:02}"
        clock += int(minutes)
    assert clock == HALF_DAY
    check_order([lesson for row in plan if (lesson := lesson_of(row[2]))])


def test_the_two_days_add_up_and_keep_the_order():
    plan = rows("Two days: the network and the method")
    for day in "12":
        assert sum(int(minutes) for d, minutes, _ in plan if d == day) == DAY
    for _, minutes, text in plan:
        if lesson := lesson_of(text):
            left_out = re.search(r"without its last (\d+) minutes", text)
            assert int(minutes) == int(LESSONS[lesson][2]) - (int(left_out[1]) if left_out else 0), text
    lessons = [lesson for row in plan if (lesson := lesson_of(row[2]))]
    check_order(lessons)
    for lesson in lessons:  # everything that they need is there
        assert set(re.findall(r"\d\d", LESSONS[lesson][1])) <= set(lessons)


def test_the_semester_has_everything_in_order():
    plan = rows("A semester: everything")
    assert [int(week) for week, *_ in plan] == list(range(1, 15))
    lessons = [lesson for row in plan if (lesson := lesson_of(row[2]))]
    assert lessons == list(LESSONS)
    check_order(lessons)
    for _, minutes, text, homework in plan:
        assert int(minutes) <= CLASS
        if lesson := lesson_of(text):
            at_home = re.search(r"its last (\d+) minutes at home", text)
            moved = int(at_home[1]) if at_home else 0
            assert (int(minutes) + moved, int(homework) - moved) == tuple(map(int, LESSONS[lesson][2:])), text
