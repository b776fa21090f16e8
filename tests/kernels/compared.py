"""Which kernels there are, and which of them are compared with their plain functions."""

import ast
from pathlib import Path

import kernels
from minnmt.compiled import find_kernel

COMPARED = set()


def compares(*functions):
    """Mark a test as the comparison of these plain functions with their compiled counterparts."""

    def register(test):
        COMPARED.update(function.counterpart for function in functions)
        return test

    return register


def both(function):
    """A function that names its counterpart -> (the compiled one, the plain one)."""
    return find_kernel(function.counterpart), function.plain


def all_kernels():
    """ "gates.gated_state" and so on: every function in kernels/ below @kernel."""
    paths = sorted(Path(kernels.__file__).parent.glob("*.py"))
    return {f"{path.stem}.{name}" for path in paths for name in decorated(path, "kernel")}


def decorated(path, decorator):
    """The functions of a file below @decorator or @decorator(...) -> {name: the decorator's first argument or None}."""
    found = {}
    for node in ast.parse(path.read_text()).body:
        for d in getattr(node, "decorator_list", []):
            call = d.func if isinstance(d, ast.Call) else d
            if isinstance(call, ast.Name) and call.id == decorator:
                found[node.name] = d.args[0].value if isinstance(d, ast.Call) and d.args else None
    return found
