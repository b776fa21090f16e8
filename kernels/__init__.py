"""Numba kernels, each beside a numpy twin of the same name and signature ending in `_numpy`.

A kernel takes arrays, named tuples of arrays and scalars, writes into outputs it is given, may return a count, and
raises nothing. This package imports nothing of minnmt. MINNMT_KERNELS=numpy in the environment switches every kernel to
its twin.
"""

# Called once, with nothing, when a kernel has to be compiled for the first time on this machine; None: say nothing.
on_compile = None
