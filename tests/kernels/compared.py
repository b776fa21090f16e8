"""Which kernels are compared with their plain functions: every test that does so says it with this decorator."""

from minnmt.compiled import find_kernel

COMPARED = set()


def compares(*functions):
    """Mark a test as the comparison of these plain functions with their compiled counterparts."""

    def register(test):
        COMPARED.update(getattr(function, "counterpart", function.__name__) for function in functions)
        return test

    return register


def both(function):
    """A function that names its counterpart -> (the compiled one, the plain one)."""
    return find_kernel(function.counterpart), function.plain
