"""Which kernels are compared with their plain functions: every test that does so says it with this decorator.

COMPARED holds the names of counterparts ("counting.add_links"), and of kernels that are beside their twins.
"""

COMPARED = set()


def compares(*functions):
    """Mark a test as the comparison of these plain functions, or twins, with their kernels."""

    def register(test):
        COMPARED.update(getattr(function, "counterpart", function.__name__) for function in functions)
        return test

    return register
