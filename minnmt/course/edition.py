"""The student edition of a lesson: answers become blanks, outputs are cleared, and nothing else changes.

A cell's metadata name its blanks: {"course": {"blank": {"gates": "shape (B, 2H), equation (1)"}}}. A function of that
name keeps its signature and its docstring, an assignment its left side; the rest is `...` and the hint. The answers
stay in the lesson, which is the one source; `filled_in` puts them back, those of exercises from the solutions.
"""

import ast
import copy
import re
from pathlib import Path

from ..errors import UserError
from .notebooks import blanks_of, checks_of, code_cells, course_of, is_stub, load_nbformat, parsed, read_notebook

WIDTH = 110  # characters; a longer line has its hint above it
INTRODUCTION = """\
**Student edition.** Replace every `...` and run the cell below it: `check` says whether it is right, and if not, where
it differs. Later cells use your results: an error about `ellipsis` or `NoneType`, or a name that is not defined, means
that a blank above is still empty, or that its cell stopped with an error. If you go back to an earlier cell, first
choose *Run All Above Selected Cell*. Write in these cells, or in new ones: when your notebook is graded, all others
are run as they were handed out."""
LINK_TO_SOLUTIONS = re.compile(r"\[[^\]]*\]\(solutions/[^)]*\)")


def student_edition(lesson, name):
    """A lesson's notebook -> a new one, for students; `name` is what grading calls the lesson."""
    nbformat = load_nbformat()
    edition = copy.deepcopy(lesson)
    for cell in code_cells(edition):
        if blanks_of(cell):
            cell.source = with_blanks(cell, name)
        marks = {"cell": cell.id} | {key: value for key, value in course_of(cell).items() if key != "blank"}
        cell.metadata = nbformat.from_dict({"course": marks})
        cell.outputs, cell.execution_count = [], None
    for cell in edition.cells:
        if cell.cell_type == "markdown":
            cell.source = LINK_TO_SOLUTIONS.sub("your teacher's edition", cell.source)
    edition.metadata["minnmt"] = {"lesson": name}
    edition.cells.insert(1, nbformat.v4.new_markdown_cell(INTRODUCTION, id="student-edition"))
    return edition


def with_blanks(cell, name):
    """The cell's source, its blanks emptied."""
    if checks_of(cell):
        raise UserError(f"{name}, cell {cell.id}: blanks and checks share a cell; put the checks into the next one")
    lines, tree = cell.source.splitlines(), parsed(cell.source)
    found = {}
    for blank, hint in blanks_of(cell).items():
        node = find_blank(tree, blank)
        if node is None:
            raise UserError(f"{name}, cell {cell.id}: no function and no assignment of one line is called {blank}")
        found[node] = hint
    for node in sorted(found, key=lambda node: -node.lineno):  # from the end, so that line numbers stay true
        first, last, new = emptied(node, found[node], lines)
        lines[first - 1 : last] = new
    return "\n".join(lines)


def find_blank(tree, name):
    """The function, or else the last assignment, of that name."""
    nodes = list(ast.walk(tree))
    functions = [n for n in nodes if isinstance(n, ast.FunctionDef) and n.name == name]
    assignments = [n for n in nodes if isinstance(n, (ast.Assign, ast.AugAssign)) and name in names_set(n)]
    return next(iter(functions or sorted(assignments, key=lambda node: -node.lineno)), None)


def names_set(node):
    """What an assignment sets: "gates", "g.W", and for "r, u" also each of the two."""
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    parts = [part for target in targets for part in getattr(target, "elts", [])]
    return {ast.unparse(target).strip("()") for target in [*targets, *parts]}


def emptied(node, hint, lines):
    """-> first and last line of what is replaced, and the lines that replace it."""
    if isinstance(node, ast.FunctionDef):
        body = node.body[1:] if ast.get_docstring(node) is not None else node.body
        first = node.body[0].end_lineno + 1 if body is not node.body else node.body[0].lineno
        return first, node.end_lineno, marked(" " * (node.col_offset + 4), "...", hint)
    target = node.targets[-1] if isinstance(node, ast.Assign) else node.target
    n_values = len(getattr(target, "elts", [None]))
    start = lines[node.lineno - 1].encode()[: node.value.col_offset].decode()
    if node.value.lineno != node.lineno:  # what is assigned begins on another line, in brackets
        start = lines[node.lineno - 1].rstrip("( ") + " "
    start = start.rstrip("( ") + " "
    return node.lineno, node.end_lineno, marked("", start + ", ".join(["..."] * n_values), hint)


def marked(indent, code, hint):
    """A line with its hint behind it, or above it if that would be too long."""
    comment = f"# your code: {hint}"
    line = f"{indent}{code}  {comment}"
    if len(line) <= WIDTH:
        return [line]
    indent = indent or code[: len(code) - len(code.lstrip())]
    return [*wrapped(comment, indent), f"{indent}{code.lstrip()}"]


def wrapped(comment, indent):
    import textwrap

    return textwrap.wrap(comment, WIDTH, initial_indent=indent, subsequent_indent=f"{indent}#   ")


# The way back


def filled_in(edition, lesson, solutions):
    """The student edition as the best of students hands it in: blanks from the lesson, exercises from the solutions."""
    answers = {cell.id: cell.source for cell in code_cells(lesson) if blanks_of(cell)}
    imports, solved = imports_of(solutions), {}
    for cell in code_cells(solutions):
        if is_stub(cell):
            solved.setdefault(course_of(cell)["exercise"], []).append(cell.source)
    full = copy.deepcopy(edition)
    for cell in code_cells(full):
        if cell.id in answers:
            cell.source = answers[cell.id]
        elif is_stub(cell):
            sources = solved.get(course_of(cell)["exercise"], [])
            if sources:  # what else the stub's cell holds stays
                cell.source = "\n\n\n".join([cell.source, imports, sources.pop(0)])
    return full


def imports_of(notebook):
    """All imports of a notebook: a student adds those that an exercise needs."""
    nodes = [node for cell in code_cells(notebook) for node in parsed(cell.source).body]
    return "\n".join(ast.unparse(node) for node in nodes if isinstance(node, (ast.Import, ast.ImportFrom)))


def write_edition(path, directory):
    """The student edition of the lesson at `path`, under the same name in another directory -> its path."""
    nbformat = load_nbformat()
    from ..files import make_directory, write_atomically

    path, target = Path(path), Path(directory) / Path(path).name
    if target.exists() and target.samefile(path):
        raise UserError(f"{target} is the lesson itself: name another directory with -o")
    edition = student_edition(read_notebook(path), path.stem)
    make_directory(directory)
    write_atomically(target, nbformat.writes(edition) + "\n")
    return target
