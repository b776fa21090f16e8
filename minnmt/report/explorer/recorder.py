"""The recorder: what the plain search computes for one sentence, written down from outside.

While a search is watched, functions of the network and of search/beam.py are replaced by ones that do the same and
note what they see; neither knows of it. Every step is computed once, with the softmax over all words, and known by the
words before it. A search with a list then finds its steps computed but for the softmax over its list (21), so that
hundreds of searches of one sentence, each with another list, take little longer than one.

Left out: what is made of it (trace.py). Lesson 05 shows the searches, lesson 07 the lists.
"""

import contextlib
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from ...compiled import reading
from ...errors import OVERFLOW, UserError
from ...nn.attention import attention_forward, masked_softmax
from ...nn.conditional_gru import context_cell_forward
from ...nn.gru import gru_step_forward
from ...nn.list_softmax import list_log_softmax
from ...nn.readout import readout_forward
from ...nn.softmax import log_softmax
from ...profile import swap
from ...search import beam

N_PRUNED = 3  # extensions that just missed the beam, of every step

# What is kept of a layer: from its arguments and results, {name of a Step's field: array}
NOTES = {
    gru_step_forward: lambda given, found: {"gates1": found[1].gates, "cand1": found[1].h_tilde, "s1": found[0]},
    masked_softmax: lambda given, found: {"energy": given[0], "alpha": found},
    attention_forward: lambda given, found: {"c": found[0]},
    context_cell_forward: lambda given, found: {"gates2": found[1].gates, "cand2": found[1].s_tilde, "s": found[0]},
    readout_forward: lambda given, found: {"y": given[1], "o": found[0]},
    log_softmax: lambda given, found: {"logps": found},
}


@dataclass
class Step:
    """One step of the decoder, for one hypothesis, in the order in which it is computed."""

    y: np.ndarray  # (1,E) embedding of the word before
    gates1: np.ndarray  # (1,2H) of the first cell, r and u
    cand1: np.ndarray  # (1,H) its candidate
    s1: np.ndarray  # (1,H) its state, s'
    energy: np.ndarray  # (S,1)
    alpha: np.ndarray  # (S,1)
    c: np.ndarray  # (1,C) context
    gates2: np.ndarray  # (1,2H) of the second cell
    cand2: np.ndarray  # (1,H)
    s: np.ndarray  # (1,H)
    o: np.ndarray  # (1,E) readout
    logps: np.ndarray  # (1,V) of all words


class Round(NamedTuple):
    """One step of a search: hypotheses as tuples of ids, best first."""

    kept: list
    pruned: list  # the first of those that found no place in the beam


@dataclass
class Search:
    best: beam.Hypothesis
    rounds: list = field(default_factory=list)

    @property
    def winner(self):
        """The words of the best translation, eos included."""
        return (*self.best.ids, beam.EOS)

    def same_way(self, other):
        """Did both keep and drop the same hypotheses, and end with the same one?"""
        return self.winner == other.winner and self.rounds == other.rounds


class Recorder:
    """Searches one sentence, again and again if need be, and keeps every step that was taken."""

    def __init__(self, src, params, settings, forced=()):
        """src: ids without eos; forced: the first words of every translation, whatever their probability."""
        self.src, self.params, self.settings, self.forced = src, params, settings, forced
        self.steps = {}  # words before, a tuple of ids -> Step
        self.most = np.zeros(len(params.softmax.b))  # (V) the highest probability of each word in any step
        self.start = None  # s0 (1,H), Memory

    def search(self, ids=None):
        """Beam search over all words, or over the list `ids` -> Search; within `watching`."""
        self.rounds = []
        found = beam.beam_search(self.src, self.params, self.settings, ids)
        if not found:
            raise UserError(OVERFLOW)
        return Search(found[0], self.rounds)

    @contextlib.contextmanager
    def watching(self):
        """Within it, the methods below are in the place of functions of search/beam.py, and NOTES are taken."""
        self.plain = {name: getattr(beam, name) for name in ("encode", "extend", "take_step", "next_word")}
        new = {old: self.noting(old, note) for old, note in NOTES.items()}
        new |= {old: getattr(self, name) for name, old in self.plain.items()}
        with reading(), np.errstate(all="ignore"), contextlib.ExitStack() as stack:
            for old, watched in new.items():
                swap(beam, old, watched)
                stack.callback(swap, beam, watched, old)
            yield

    def noting(self, function, note):
        def call(*given):
            found = function(*given)
            self.notes |= note(given, found)
            return found

        return call

    def encode(self, *sentence):
        if not self.start:
            self.notes = {}  # the encoder's cells are not the decoder's
            self.start = self.plain["encode"](*sentence)
        return self.start

    def extend(self, live, memory, params, words, longest, n_free):
        best = self.plain["extend"](live, memory, params, words, longest, n_free + N_PRUNED)
        names = [tuple(h.ids) for h in best]
        self.rounds.append(Round(names[:n_free], names[n_free:]))
        return best[:n_free]

    def take_step(self, h, memory, params, words, longest):
        self.before = tuple(h.ids)
        s, logps, alpha = self.plain["take_step"](h, memory, params, words, longest)
        if len(self.before) < len(self.forced):
            word = self.forced[len(self.before)]
            column = word if words is None else np.searchsorted(words.ids[0], word)
            logps[np.arange(len(logps)) != column] = -np.inf
        return s, logps, alpha

    def next_word(self, y, s, memory, params, words=None):
        if self.before not in self.steps:
            self.notes = {}
            self.plain["next_word"](y, s, memory, params)
            step = self.steps[self.before] = Step(**self.notes)
            self.most = np.maximum(self.most, np.exp(step.logps[0]))
        step = self.steps[self.before]
        logps = step.logps.copy() if words is None else list_log_softmax(step.o, words)
        return step.s, logps, step.alpha
