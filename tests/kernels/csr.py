"""Random sparse matrices, and a plain function beside its kernel, to the last bit."""

import numpy as np

from minnmt.align.sparse import offsets
from minnmt.compiled import find_kernel


def draw_csr(rng, n_src, n_trg, share):
    """A random matrix -> data, indices, indptr."""
    cells = rng.random((n_src, n_trg)) < share
    indices = np.nonzero(cells)[1].astype(np.int32)
    return rng.random(len(indices)).astype(np.float32), indices, offsets(cells.sum(axis=1))


def both(function, *arguments):
    """A plain function's and its kernel's results on copies of the arguments; their dtypes must agree."""
    found = []
    for version in (function.plain, find_kernel(function.counterpart)):
        copies = (a.copy() if isinstance(a, np.ndarray) else a for a in arguments)
        found.append(version(*copies))
    assert [array.dtype for array in found[0]] == [array.dtype for array in found[1]]
    return found


def assert_same_bits(found):
    for i, (plain, fast) in enumerate(zip(*found)):
        assert plain.tobytes() == fast.tobytes(), f"result {i}: {plain} and {fast}"
