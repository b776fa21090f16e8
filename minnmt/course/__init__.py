"""The course: what the lessons in tutorials/ share, and nothing that the rest of minnmt needs.

checks.py compares a student's result with the expected one, hints.py recognises usual mistakes, lesson.py has the
lessons' model and how long a lesson may take, figures draws. A notebook alone needs no other file: its first cell
(first_cell.py) finds or fetches this package.
"""

from .checks import CheckFailed, check, part
from .lesson import FAST, RUNS, choose, lesson_model, lesson_settings, seeded, step_through

__all__ = [
    "CheckFailed", "FAST", "RUNS", "check", "choose", "lesson_model", "lesson_settings", "part", "seeded",
    "step_through",
]  # fmt: skip
