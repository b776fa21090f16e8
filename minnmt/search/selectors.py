"""All selectors, by name: what chooses the target words that a sentence may use. Several are combined by union.

A selector has one method, lists(src_ids, src_mask) -> an ascending array of target ids for each sentence; only the
screen chooses by the step, and cannot be combined. SELECTORS is where a new one is added; commands/options.py names it
and report/selector_text.py looks into it. What they are made from lies beside the model and is made by `align`: counts,
phrases.npz, selection.npz, screen.npz. Notebook 11 compares them.
"""

from dataclasses import dataclass
from functools import reduce
from pathlib import Path

import numpy as np

from ..align.candidates import best_candidates
from ..align.copying import CopySelector
from ..align.phrases import PhraseCounts, PhraseSelector
from ..align.sources import load_counts, make_selector
from ..errors import UsageError, UserError, call
from ..model.directory import Model
from .neural_selector import FILE as NEURAL_FILE
from .neural_selector import THRESHOLD, NeuralSelector, load_selection
from .screen import FILE as SCREEN_FILE
from .screen import load_screen

PHRASES_FILE = "phrases.npz"


@dataclass
class Choice:
    """What the user asked for."""

    model: Model
    directory: str | None  # None: a single .npz
    topn: int = 100
    counts: tuple = ()  # names of counts
    by: str = "source"
    min_prob: float = 0.0
    frequent: int = 0
    threshold: float = THRESHOLD  # of the neural selector

    @property
    def sizes(self):
        return len(self.model.src.vocab), len(self.model.trg.vocab)

    def file(self, name, method):
        """A file beside the model."""
        path = Path(self.directory or ".") / name
        if not path.exists():
            where = f"-m {self.directory}" if self.directory else "..."
            raise UserError(f"{path} does not exist: make it with {call(f'align {where} --method {method}')}")
        return path


def counts_selector(choice):
    ranked = choice.by, choice.min_prob, choice.frequent
    return make_selector(choice.counts, choice.directory, choice.topn, *choice.sizes, *ranked)


def copy_selector(choice):
    return CopySelector(choice.model.src, choice.model.trg)


def phrase_counts(choice):
    return PhraseCounts.load(choice.file(PHRASES_FILE, "phrases"), *choice.sizes)


def phrase_selector(choice):
    counts = load_counts(choice.counts, choice.directory, *choice.sizes)
    return PhraseSelector(phrase_counts(choice), best_candidates(counts, choice.topn, choice.by, choice.min_prob))


def neural_selector(choice):
    layer = load_selection(choice.file(NEURAL_FILE, "neural"), choice.model.params)
    return NeuralSelector(choice.model.params, layer, choice.threshold)


def screen_selector(choice):
    return load_screen(choice.file(SCREEN_FILE, "screen"), choice.topn, choice.model.params)


SELECTORS = {
    "counts": counts_selector, "copy": copy_selector, "phrases": phrase_selector, "neural": neural_selector,
    "screen": screen_selector,
}  # fmt: skip


class Union:
    """Every word that one of several selectors has."""

    def __init__(self, selectors):
        self.selectors = selectors

    def lists(self, src_ids, src_mask):
        """src_ids, src_mask (S,B) -> B arrays of target ids, ascending, each once."""
        each = (selector.lists(src_ids, src_mask) for selector in self.selectors)
        return [reduce(np.union1d, lists).astype(np.int64) for lists in zip(*each)]


def selector_by_names(names, choice):
    """Names of SELECTORS -> a selector."""
    if "screen" in names and set(names) != {"screen"}:
        raise UsageError("--select screen chooses words at every step, the others for a sentence: give it alone")
    selectors = [SELECTORS[name](choice) for name in dict.fromkeys(names)]
    return selectors[0] if len(selectors) == 1 else Union(selectors)
