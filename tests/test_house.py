"""The plan of the house: where equations are computed, who may import whom, and where things are said to be."""

import ast
import re
from collections import defaultdict
from pathlib import Path

import pytest

import minnmt

ROOT = Path(minnmt.__file__).parent.parent
TEXTBOOK = ("nn", "align", "train", "search")  # folders of minnmt/ that compute equations


def package_files():
    return sorted([*(ROOT / "minnmt").rglob("*.py"), *(ROOT / "kernels").rglob("*.py")])


# Equations


def equations():
    """The numbers of the table in tutorials/README.md."""
    rows = (ROOT / "tutorials" / "README.md").read_text().splitlines()
    return [int(match[1]) for row in rows if (match := re.match(r"\| \((\d+)\) \|", row))]


def computes(function):
    """Does a function calculate anything itself: an operation, or a call of numpy or scipy?"""
    operations = (ast.BinOp, ast.AugAssign, ast.Compare)
    nodes = list(ast.walk(function))
    called = [ast.unparse(node.func) for node in nodes if isinstance(node, ast.Call)]
    return any(isinstance(n, operations) for n in nodes) or any(name.startswith(("np.", "sparse.")) for name in called)


def computing_functions():
    """Yields (file, name, docstring and comments) of every function of the textbook that calculates."""
    for folder in TEXTBOOK:
        for path in sorted((ROOT / "minnmt" / folder).rglob("*.py")):
            text = path.read_text()
            for node in ast.walk(ast.parse(text)):
                if isinstance(node, ast.FunctionDef) and computes(node):
                    lines = text.splitlines()[node.lineno - 1 : node.end_lineno]
                    comments = [line.partition("# ")[2] for line in lines]
                    yield path, node.name, "\n".join([ast.get_docstring(node) or "", *comments])


def test_the_table_of_equations_is_complete():
    assert equations() == list(range(1, 31))


@pytest.mark.parametrize("number", equations())
def test_every_equation_is_computed_in_plain_numpy_by_a_function_that_carries_its_number(number):
    carriers = [f"{path.name}:{name}" for path, name, text in computing_functions() if f"({number})" in text]
    assert carriers, f"no function in {', '.join(TEXTBOOK)} carries ({number})"


# Who may import whom

MAY_NOT_IMPORT = {
    "text": ("nn", "model", "train", "align", "search", "report", "tasks", "lab", "course", "commands"),
    "nn": ("text", "model", "train", "align", "search", "report", "tasks", "lab", "course", "commands"),
    "model": ("train", "align", "search", "report", "tasks", "lab", "course", "commands"),
    "align": ("nn", "model", "train", "search", "report", "tasks", "lab", "course", "commands"),
    "train": ("search", "report", "tasks", "lab", "course", "commands"),
    "search": ("train", "report", "tasks", "lab", "course", "commands"),
    "report": ("train", "tasks", "lab", "course", "commands"),
    "tasks": ("lab", "course", "commands"),
    "lab": ("course", "commands"),
    "course": ("commands",),
}


def imports_of(path):
    """The absolute names of the modules that a file imports, also inside functions."""
    package = path.relative_to(ROOT).with_suffix("").parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join([*base, *([node.module] if node.module else [])])
            yield module
            yield from (f"{module}.{alias.name}" for alias in node.names)  # it may be a module, too
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


@pytest.mark.parametrize("folder", MAY_NOT_IMPORT)
def test_data_flows_one_way(folder):
    for path in sorted((ROOT / "minnmt" / folder).rglob("*.py")):
        for module in imports_of(path):
            for other in MAY_NOT_IMPORT[folder]:
                assert not f"{module}.".startswith(f"minnmt.{other}."), f"{path.relative_to(ROOT)} imports {module}"


def test_only_commands_and_the_course_import_experiments():
    for path in sorted((ROOT / "minnmt").rglob("*.py")):
        if path.relative_to(ROOT).parts[1] not in ("lab", "course", "commands"):
            assert not [m for m in imports_of(path) if m.startswith("minnmt.lab")], path


def test_kernels_are_reached_through_compiled_alone():
    """Else reading mode would import Numba."""
    for path in sorted((ROOT / "minnmt").rglob("*.py")):
        heavy = [name for name in imports_of(path) if name.split(".")[0] in ("kernels", "numba")]
        assert not heavy or path.relative_to(ROOT).parts[1] == "lab", f"{path}: {heavy}"


# Names


def test_no_two_files_share_a_name_unless_one_is_the_compiled_counterpart():
    places = defaultdict(list)
    for path in package_files():
        if path.name != "__init__.py":
            places[path.name].append(path)
    for name, paths in places.items():
        if len(paths) > 1:
            plain, compiled = sorted(paths, key=lambda path: path.parent.name == "kernels")
            assert compiled.parent.name == "kernels", f"two files are called {name}"
            named = f'@compiled("{path_stem(name)}.'
            assert named in plain.read_text() or name == "functions.py", f"{plain} is not the plain {name}"


def path_stem(name):
    return name.removesuffix(".py")


# CONTRIBUTING.md


def table_rows():
    """The rows "to change X, open Y" -> [(file, name)]."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    return re.findall(r"^\| [^|]+ \| `([^`]+)`, `([^`]+)` \|", text, re.M)


def test_the_table_of_places_has_its_rows():
    assert len(table_rows()) >= 10


@pytest.mark.parametrize("file, name", table_rows())
def test_the_named_file_exists_and_holds_the_name(file, name):
    text = (ROOT / file).read_text()
    assert re.search(rf"\b{re.escape(name)}\b", text), f"{file} does not hold {name}"
