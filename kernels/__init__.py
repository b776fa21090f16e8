"""Compiled functions only, each the fast counterpart of a plain function in minnmt/, which names it.

A kernel has its plain function's arguments and results. It takes arrays, named tuples of arrays and scalars, and raises
nothing. This package imports nothing of minnmt; minnmt/compiled.py says when a kernel runs.
Notebook 08 teaches this folder.
"""

# Called once, with nothing, when a kernel has to be compiled for the first time on this machine; None: say nothing.
on_compile = None
