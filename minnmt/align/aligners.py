"""The statistical word aligners by name; a new one is added here. numpy is not imported: --help needs the names.

An aligner is a function train(bitext, iterations, report) -> Aligner (model1.py). Notebook 06.
"""

import importlib
from typing import NamedTuple


class Method(NamedTuple):
    text: str
    module: str  # of minnmt.align
    function: str
    iterates: bool = True


ALIGNERS = {
    "model1": Method("IBM Model 1", "model1", "train_model1"),
    "fastalign": Method("fast_align's model", "fastalign", "train_fastalign"),
    "cooc": Method("co-occurrence", "model1", "train_cooccurrence", iterates=False),
}
ITERATING = [name for name, method in ALIGNERS.items() if method.iterates]


def find_aligner(name):
    """ "model1" -> train_model1."""
    method = ALIGNERS[name]
    return getattr(importlib.import_module(f".{method.module}", __package__), method.function)
