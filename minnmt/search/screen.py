"""Words by the step: readouts are grouped, and each group has the words that readouts like these choose.

A list of a sentence is made before its first word, and serves every step. A screen looks at the readout o of each step
instead: it takes the nearest of G centres, and the softmax runs over the words of that group alone. `align --method
screen` finds the centres and counts, for each group, how often a word is among the best ones of its readouts (tasks/
selecting.py). Chen et al., 2019, "Learning to Screen for Fast Softmax Inference on Large Vocabulary Neural Networks",
learn the groups as well; here they are those of k-means. Notebook 11.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..align.counts import Counts
from ..arrays import ArrayFile, as_json_array, save_arrays
from ..errors import UserError
from ..text.vocab import EOS, UNK
from .batch_beam import hypotheses, search
from .desks import ALONE
from .fast import FastSteps
from .stages import best_words, word_logits

FILE = "screen.npz"
REMEDY = "make it again with align --method screen"


@dataclass(frozen=True)
class Screen:
    """Groups of readouts, and how often each word was among the best of a group's; `n` words per step on average."""

    centres: np.ndarray  # (G,E)
    counts: Counts  # (G,V)
    n_readouts: np.ndarray  # (G) of each group
    n: int = 100

    @cached_property
    def lists(self):
        """The words of each group, ascending, eos and UNK in all of them.

        Chosen are those that a step of the group needs most often, as many as make n words per step: a word of a group
        that many steps fall into costs more.
        """
        groups = np.repeat(np.arange(len(self.centres)), np.diff(self.counts.indptr))
        needed = self.counts.data / np.maximum(self.n_readouts[groups], 1)  # at a share of the group's steps
        order = np.argsort(-needed, kind="stable")
        cost = np.cumsum(self.n_readouts[groups[order]]) / max(1, self.n_readouts.sum())
        chosen = np.zeros(len(order), bool)
        chosen[order[cost <= self.n]] = True
        always, indptr, ids = np.array([EOS, UNK]), self.counts.indptr, self.counts.indices
        own = (slice(*indptr[g : g + 2]) for g in range(len(self.centres)))
        return [np.union1d(always, ids[part][chosen[part]]) for part in own]

    def groups(self, o):
        """o (N,E) -> (N), the nearest centre of each."""
        return nearest(o, self.centres)

    def save(self, path, info):
        record = {**info, "n_trg": self.counts.n_trg}
        arrays = {"centres": self.centres, "n_readouts": self.n_readouts, "info": as_json_array(record)}
        save_arrays(path, {**arrays, **self.counts.arrays("counts_")})


def nearest(o, centres):
    """o (N,E), centres (G,E) -> (N): |o - c|^2 is least where o c - |c|^2 / 2 is largest."""
    return np.argmax(o @ centres.T - 0.5 * (centres * centres).sum(axis=1), axis=1)


def load_screen(path, n, params):
    """-> Screen; one of another model is refused."""
    V, E = params.softmax.W.shape
    with ArrayFile(path, REMEDY) as file:
        shape, n_trg = file.member("centres").shape, file.read_json("info").get("n_trg")
        if shape[1:] != (E,) or n_trg != V or not shape[0]:
            raise UserError(f"{path}: its centres {shape} and {n_trg} words are of another model: {REMEDY}")
        G, n_cells = shape[0], sum(file.member("counts_data").shape)
        counts = Counts(
            file.read("counts_indptr", np.int64, (G + 1,)), file.read("counts_indices", np.int32, (n_cells,)),
            file.read("counts_data", np.float32, (n_cells,)), V,
        )  # fmt: skip
        centres, n_readouts = file.read("centres", np.float32, (G, E)), file.read("n_readouts", np.int64, (G,))
    outside = (counts.indices < 0) | (counts.indices >= V)
    if counts.indptr[0] or counts.indptr[-1] != n_cells or (np.diff(counts.indptr) < 0).any() or outside.any():
        raise UserError(f"{path} is damaged: {REMEDY}")
    return Screen(centres, counts, n_readouts, n)


class ScreenedSteps(FastSteps):
    """FastSteps that choose the words of each row anew at every step."""

    def __init__(self, engine, sentences, screen, beam, team=ALONE):
        super().__init__(engine, sentences, [np.array([EOS])] * len(sentences), beam, team)  # its own words: one
        self.screen, self.words = screen, engine.listed_once(screen)
        self.n_words, self.n_steps = np.zeros((2, len(sentences)), int)

    def step(self, sentence, parents, words, ending):
        _, _, alpha = super().step(sentence, parents, words, ending)
        output, ids = self.words
        group = self.screen.groups(self.o)
        np.add.at(self.n_words, sentence, output.sizes[group])
        np.add.at(self.n_steps, sentence, 1)
        order = np.argsort(group, kind="stable")  # rows of one group share its words, as those of a sentence do
        logits = word_logits(self.o[order], group[order], output)
        places, logps = best_words(logits, output.sizes[group[order]], ending[order], self.n)
        back = np.argsort(order)
        return ids[group[order][:, None], places][back], logps[back], alpha


def screened_batch_search(sentences, engine, settings, screen, team=ALONE):
    """As batch_beam_search -> B lists of Hypothesis, words per step (B)."""
    steps = ScreenedSteps(engine, sentences, screen, settings.beam, team)
    return hypotheses(search(steps, sentences, settings), sentences), steps.n_words / np.maximum(steps.n_steps, 1)
