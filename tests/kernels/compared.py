"""Which kernels are compared with their twins: every test that does so says it with this decorator."""

COMPARED = set()


def compares(*kernels):
    """Mark a test as the comparison of these kernels with their numpy twins."""

    def register(test):
        COMPARED.update(kernel.__name__ for kernel in kernels)
        return test

    return register
