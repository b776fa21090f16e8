"""Which kernels there are, and which of them are compared with their plain functions."""

import ast
from pathlib import Path

import kernels

COMPARED = set()


def compares(*functions):
    """Mark a test as the comparison of these functions with their counterparts."""

    def register(test):
        COMPARED.update(map(kernel_name, functions))
        return test

    return register


def kernel_name(function):
    """ "file.function" in kernels/, of a plain function or of the kernel itself."""
    return getattr(function, "counterpart", f"{function.__module__.split('.')[-1]}.{function.__name__}")


def all_kernels():
    """The names of all functions in kernels/ that are decorated with @kernel."""
    found = set()
    for path in Path(kernels.__file__).parent.glob("*.py"):
        for node in ast.parse(path.read_text()).body:
            decorators = [getattr(d, "func", d) for d in getattr(node, "decorator_list", [])]
            if any(getattr(d, "id", "") == "kernel" for d in decorators):
                found.add(f"{path.stem}.{node.name}")
    return found
