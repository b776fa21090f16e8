"""Notebooks of the course as data: read, find the lesson of one, tell which cells the student writes and which check.

Needs nbformat (the extra `tutorials`).
"""

import ast
from pathlib import Path

from ..errors import UserError, quoted
from ..files import read_text

LESSONS = Path(__file__).resolve().parents[2] / "tutorials"


def read_notebook(path):
    """A notebook of format 4; anything else is refused with a sentence."""
    nbformat = load_nbformat()
    text = read_text(path)
    try:
        notebook = nbformat.reads(text, as_version=4)
        sound = all(isinstance(cell.source, str) and cell.cell_type for cell in notebook.cells)
    except Exception:  # JSON, missing fields, an old format: nbformat meets them with errors of every kind
        sound = False
    if not sound:
        raise UserError(f"{path} is not a notebook (Jupyter's format 4): save it again as .ipynb, and send that file")
    return notebook


def load_nbformat():
    try:
        import nbformat
    except ImportError:
        raise UserError('notebooks need nbformat, which is not installed: pip install "minnmt[tutorials]"') from None
    return nbformat


def find_lesson(name):
    """ "01", "01_backpropagation" or a path -> the path of the lesson."""
    if str(name).endswith(".ipynb"):
        return Path(name)
    found = sorted(LESSONS.glob(f"{name}*.ipynb")) if str(name).replace("_", "").isalnum() else []
    if len(found) != 1:
        known = ", ".join(path.stem for path in sorted(LESSONS.glob("*.ipynb"))) or f"there are none in {LESSONS}"
        raise UserError(f"no lesson is called {quoted(name)}; give the path of its notebook, or one of: {known}")
    return found[0]


def lesson_of(submission, path):
    """The lesson that a submitted notebook is of: as its student edition says, else by the name of the file."""
    name = submission.metadata.get("minnmt", {}).get("lesson") or Path(path).stem
    return find_lesson(str(name).removesuffix(".ipynb"))


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def identity(cell):
    """The lesson's cell that this one is: its id, also kept in the metadata, for some editors give new ids."""
    return course_of(cell).get("cell") or cell.get("id")


def course_of(cell):
    """What a cell's metadata say of the course: {"blank": {name: hint}}, {"exercise": name}, {"cell": id}."""
    found = cell.metadata.get("course", {})
    return found if isinstance(found, dict) else {}


def blanks_of(cell):
    return course_of(cell).get("blank", {})


def checks_of(cell):
    """The calls of check in a cell -> a list of their nodes."""
    nodes = ast.walk(parsed(cell.source))
    return [node for node in nodes if isinstance(node, ast.Call) and ast.unparse(node.func) == "check"]


def is_stub(cell):
    """Does a student write here: a lesson's cell with blanks, or of an exercise, and without checks?"""
    return bool(blanks_of(cell)) or "exercise" in course_of(cell) and not checks_of(cell)


def parsed(source):
    """A cell as Python sees it, lines for IPython alone left out; nothing if it is no Python."""
    lines = ["pass" if line.startswith(("%", "!")) else line for line in source.splitlines()]
    try:
        return ast.parse("\n".join(lines))
    except SyntaxError:
        return ast.parse("")
