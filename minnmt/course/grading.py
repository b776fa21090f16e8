"""Grading: run a submitted notebook, and say which of the lesson's checks are right.

The lesson decides what is run: its own cells, with the student's in the place of those that students write, and new
cells where they stand. So a check cannot be changed, and a deleted one is missing. The random numbers are others than
in the lesson (MINNMT_SEED): results that were copied as numbers do not pass. What a blank should have been is put in
after it was checked, so that a mistake costs its own checks alone. Needs the extra `tutorials`.

The student's code runs with your rights: grade what you would run yourself, or do it in a container.
"""

import ast
import json
import os
import queue
import re
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from ..errors import UserError
from .first_cell import CELL_ID
from .notebooks import (
    blanks_of,
    checks_of,
    code_cells,
    course_of,
    identity,
    is_stub,
    lesson_of,
    parsed,
    read_notebook,
)

RIGHT, WRONG, MISSING = "right", "wrong", "missing"
TOO_LONG = "too long"
MERCY = 10  # seconds for an interrupted cell to end
PATIENCE = 300  # seconds for Jupyter to start
ROUND = 0.5  # seconds; a longer one, while the whole machine was stopped, counts as twice that at most


class Item(NamedTuple):
    """One check: its name, how it ended, and what was said."""

    name: str
    state: str
    message: str = ""


@dataclass
class Grade:
    """All checks of a lesson, in its order."""

    file: str
    lesson: str
    seed: int
    items: list = field(default_factory=list)
    errors: list = field(default_factory=list)  # of all cells, those without checks included

    @property
    def n_right(self):
        return sum(item.state == RIGHT for item in self.items)

    def text(self):
        """For people: a line per check, and what was wrong."""
        right = f"{self.n_right} of {len(self.items)} checks of {self.lesson} are right"
        lines = [f"{self.file}: {right} (seed {self.seed})"]
        for item in self.items:
            lines.append(f"  {item.state:8} {item.name}")
            lines += [f"           {line.strip()}" for line in item.message.splitlines()]
        lines += [f"  error    {error}" for error in self.errors]
        return "\n".join(lines)

    def record(self):
        """For programs."""
        items = [item._asdict() for item in self.items]
        record = {"file": self.file, "lesson": self.lesson, "seed": self.seed, "right": self.n_right}
        return {**record, "checks": items, "errors": self.errors}


def grade(path, seed=1, limit=120, fast=True, lesson_path=None):
    """A submitted notebook -> its Grade. No cell may take longer than `limit` seconds."""
    submission = read_notebook(path)
    lesson_path = lesson_path or lesson_of(submission, path)
    lesson = read_notebook(lesson_path)
    if not {identity(cell) for cell in code_cells(submission)} & {cell.id for cell in code_cells(lesson)} - {CELL_ID}:
        raise UserError(f"{path} has no cell of {lesson_path}: is it of this lesson?")
    found = Grade(str(path), Path(lesson_path).stem, seed)
    with tempfile.TemporaryDirectory() as directory:
        environment = {"MINNMT_SEED": str(seed), "MINNMT_GRADE": os.path.join(directory, "checks.jsonl")}
        environment |= {"MINNMT_RUNS": os.path.join(directory, "runs")} | ({"MINNMT_FAST": "1"} if fast else {})
        with Kernel(directory, {**os.environ, **environment}, limit) as kernel:
            found.items, found.errors = run_all(plan(lesson, submission), kernel)
    return found


# What is run


class Step(NamedTuple):
    """A cell to run. `answer` is what the lesson has in the place of a student's cell."""

    source: str
    checks: tuple = ()  # those that count: they look at what a student has written
    answer: str = ""
    deleted: bool = False
    written: bool = False  # by the student


def plan(lesson, submission):
    """The lesson's cells in their order, the student's in their places, new ones behind those that they follow."""
    theirs = {identity(cell): cell for cell in code_cells(submission)}
    followers = new_cells(submission, {cell.id for cell in code_cells(lesson)})
    counting = cells_that_count(lesson)
    steps = [Step(source) for source in followers.get(None, [])]
    for cell in code_cells(lesson):
        deleted = cell.id not in theirs
        if is_stub(cell):
            source, answer = "" if deleted else theirs[cell.id].source, cell.source if blanks_of(cell) else ""
            steps.append(Step(source, answer=answer, deleted=deleted, written=True))
        else:
            names = tuple(check_names(cell)) if cell.id in counting else ()
            steps.append(Step(cell.source, names, deleted=deleted and bool(names)))
        steps += [Step(source) for source in followers.get(cell.id, [])]
    return steps


def cells_that_count(lesson):
    """The ids of the check cells that look at a student's work: an exercise's, the first behind blanks, and those that
    use a blank's name for the first time. Other checks show that the package agrees with itself.
    """
    found, fresh, unused = set(), False, set()
    for cell in code_cells(lesson):
        if blanks_of(cell):
            fresh, unused = True, unused | {part.strip() for name in blanks_of(cell) for part in name.split(",")}
        elif checks_of(cell):
            used = {node.id for node in ast.walk(parsed(cell.source)) if isinstance(node, ast.Name)}
            if fresh or used & unused or "exercise" in course_of(cell):
                found.add(cell.id)
                fresh, unused = False, unused - used
    return found


def new_cells(submission, known):
    """{cell of the lesson or None: sources of the student's own cells behind it}."""
    found, last = {}, None
    for cell in code_cells(submission):
        if identity(cell) in known:
            last = identity(cell)
        else:
            found.setdefault(last, []).append(cell.source)
    return found


def check_names(cell):
    """The names of a cell's checks; those that are put together when it runs, from its stored output."""
    printed = "".join(output.get("text", "") for output in cell.get("outputs", []) if output.output_type == "stream")
    names = []
    for call in sorted(checks_of(cell), key=lambda call: (call.lineno, call.col_offset)):
        name = call.args[0] if call.args else next(k.value for k in call.keywords if k.arg == "name")
        if isinstance(name, ast.Constant):
            names.append(str(name.value))
        elif isinstance(name, ast.JoinedStr):
            parts = [re.escape(part.value) if isinstance(part, ast.Constant) else "(?:.+?)" for part in name.values]
            names += re.findall(rf"^({''.join(parts)}): (?:right|not yet done)", printed, re.M)
    return list(dict.fromkeys(names))


# Running it


def run_all(steps, kernel):
    """Run the steps in order -> Items, one for each check of the lesson, and the errors of all cells."""
    items, errors, to_repair, before = [], [], [], ""
    for step in steps:
        if step.deleted:
            items += [Item(name, MISSING, "its cell was deleted") for name in step.checks]
            problem = ""
        else:
            problem = kernel.run(step.source)
            errors += [f"{problem} (in the cell that begins with {step.source[:40]!r})"] if problem else []
        if step.written:
            before = before or problem
            to_repair.append(step.answer)
        if step.checks and not step.deleted:
            items += (new := checked(step.checks, kernel.records(), before or problem))
            if any(item.state != RIGHT for item in new):
                for answer in to_repair:
                    kernel.run(answer)
            to_repair, before = [], ""
        kernel.records()  # what a student's own cells check does not count
    return items, errors


def checked(names, records, problem):
    """What a cell's checks have written, and why others have not."""
    said = {record["name"]: record for record in records}
    items = []
    for name in names:
        if name not in said:
            items.append(Item(name, MISSING, problem or "it was not run"))
            continue
        if said[name]["right"]:
            items.append(Item(name, RIGHT))
        else:
            message = said[name]["message"].removeprefix(f"{name}: ")
            items.append(Item(name, WRONG, message + (f"\nerror: {problem}" if problem else "")))
    return items


class Kernel:
    """A Python of its own that runs cells one after the other, each for a limited time."""

    def __init__(self, directory, environment, limit):
        self.limit, self.stopped = limit, ""
        self.file, self.read = environment["MINNMT_GRADE"], 0
        self.manager = load_manager()(kernel_name="python3")
        self.options = {"env": environment, "cwd": directory, "stderr": subprocess.DEVNULL}

    def __enter__(self):
        self.manager.start_kernel(**self.options)
        self.client = self.manager.blocking_client()
        self.client.start_channels()
        try:
            self.client.wait_for_ready(timeout=PATIENCE)
        except RuntimeError as error:
            self.__exit__()
            raise UserError(f"Jupyter cannot start a Python to run the notebook in: {error}") from None
        return self

    def __exit__(self, *exception):
        self.client.stop_channels()
        self.manager.shutdown_kernel(now=True)

    def run(self, source):
        """Run a cell -> what went wrong, or ""."""
        if self.stopped or not source.strip():
            return self.stopped
        error = self.error_of(source, self.limit)
        if error is not TOO_LONG:
            return error
        self.manager.interrupt_kernel()
        if self.error_of("pass", MERCY) is TOO_LONG:
            self.stopped = f"an earlier cell could not be stopped after {self.limit} seconds"
        return f"its cell was stopped after {self.limit} seconds"

    def error_of(self, source, limit):
        """Run a cell -> the error it ends with, "", or TOO_LONG if it does not end."""
        number, error, spent, before = self.client.execute(source, store_history=False), "", 0.0, time.monotonic()
        while spent < limit:
            spent, before = spent + min(time.monotonic() - before, 2 * ROUND), time.monotonic()
            try:
                message = self.client.get_iopub_msg(timeout=ROUND)
            except queue.Empty:
                if not self.manager.is_alive():
                    self.stopped = "Python itself ended in this or an earlier cell"
                    return self.stopped
                continue
            if message["parent_header"].get("msg_id") != number:
                continue
            content = message["content"]
            if message["msg_type"] == "error":
                error = f"{content['ename']}: {first_line(content['evalue'])}"
            if content.get("execution_state") == "idle":
                return error
        return TOO_LONG

    def records(self):
        """What checks have written since this was last asked."""
        if not os.path.exists(self.file):
            return []
        with open(self.file, encoding="utf-8") as file:
            file.seek(self.read)
            lines = file.readlines()
            self.read = file.tell()
        return [json.loads(line) for line in lines]


def load_manager():
    try:
        from jupyter_client.manager import KernelManager
    except ImportError:
        raise UserError('grading needs Jupyter, which is not installed: pip install "minnmt[tutorials]"') from None
    return KernelManager


def first_line(text):
    return text.strip().partition("\n")[0][:200]
