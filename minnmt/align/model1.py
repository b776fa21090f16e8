"""IBM Model 1 (Brown et al., 1993): word translation probabilities by expectation-maximisation.

Every target word comes from one source word of its sentence or from NULL, all equally likely:

    p(trg word t_j) = sum over i = 0 .. S of  1 / (S + 1) * p(t_j | s_i)        s_0 = NULL
    count(s_i, t_j) += p(t_j | s_i) / sum over k of p(t_j | s_k)                expected counts; then
    p(e | f) = count(f, e) / sum over e' of count(f, e')                        (23)

fastalign.py keeps all of this and only prefers some positions to others.

Memory while training: 8 bytes a cell (two words that meet: int32 id, float32 probability), nothing a token pair,
20 bytes a source token, 20 a target token, and 16 for each number in the position tables (see Shapes).
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from kernels.aligners import Cells, add_scores, best_links, normalise_rows, share_counts

from .bitext import find_cells, find_meetings, find_shapes
from .counts import Counts

UNSEEN = 1e-9  # the probability of two words that never met in training
NEGLIGIBLE = 1e-7  # cells below it are left out of the table that others read


@dataclass
class Aligner:
    """Trained translation probabilities of all words that met, with NULL as the last row."""

    cells: Cells
    probs: np.ndarray  # (cells) float32
    positions: Callable  # Shapes -> their position probabilities, flat float64
    n_trg: int
    info: dict

    @cached_property
    def table(self):
        """p(trg | src) without NULL's row and without negligible cells."""
        return as_counts(self.cells, self.probs, self.n_trg, dict(self.info), NEGLIGIBLE)

    @cached_property
    def null(self):
        """(n_trg) p(trg | NULL)."""
        row = slice(*self.cells.indptr[-2:])
        null = np.zeros(self.n_trg, np.float32)
        null[self.cells.indices[row]] = self.probs[row]
        return null

    def links(self, bitext):
        """-> (target tokens) int32: the place of the likeliest source word in its sentence, from 0; -1 for NULL."""
        if (bitext.n_src, bitext.n_trg) != (len(self.cells.indptr) - 2, self.n_trg):
            raise ValueError("the bitext has other vocabularies than the aligner's")
        shapes, of_pair = find_shapes(bitext)
        meetings = find_meetings(bitext, shapes, of_pair)
        scores, places = np.zeros(len(bitext.trg_ids)), np.zeros(len(bitext.trg_ids), np.int32)
        best_links(self.probs, self.cells, meetings, self.positions(shapes), UNSEEN, scores, places)
        return places - 1


def as_counts(cells, data, n_trg, info, least=0.0):
    """The cells that reach `least`, without NULL's row, as Counts."""
    indptr = cells.indptr[:-1]
    kept = np.flatnonzero(data[: indptr[-1]] >= least)
    rows = np.repeat(np.arange(len(indptr) - 1, dtype=np.int32), np.diff(indptr))[kept]
    return Counts.from_cells(rows, cells.indices[kept], data[kept], len(indptr) - 1, n_trg, info)


def pharaoh_lines(bitext, links):
    """The links of each sentence pair as "0-0 2-1", source-target, ordered by target, NULL left out."""
    j = np.arange(len(links)) - np.repeat(bitext.trg_starts[:-1], bitext.trg_lengths)
    linked = links >= 0
    width = bitext.trg_lengths.max(initial=0) + 1
    # the same few links come up again and again: spell each of them once
    keys, which = np.unique(links[linked] * width + j[linked], return_inverse=True)
    spelled = [f"{key // width}-{key % width}" for key in keys.tolist()]
    words = [spelled[k] for k in which.tolist()]
    ends = np.concatenate([[0], np.cumsum(linked)])[bitext.trg_starts].tolist()
    return [" ".join(words[start:end]) for start, end in zip(ends, ends[1:])]


class Em:
    """Expectation-maximisation on one bitext; pairs with a blank side take no part."""

    def __init__(self, bitext, start):
        bitext = bitext.without_blanks()
        self.n_pairs, self.n_trg = len(bitext), bitext.n_trg
        self.shapes, of_pair = find_shapes(bitext)
        self.meetings = find_meetings(bitext, self.shapes, of_pair)
        self.cells, self.probs = find_cells(self.meetings)
        self.probs[:] = start
        self.totals = np.zeros(len(bitext.trg_ids))

    @property
    def n_tokens(self):
        return len(self.totals)

    def measure(self, positions):
        """The probability of every target token, into totals -> cross entropy in bits a token."""
        self.totals[:] = 0
        add_scores(self.probs, self.cells, self.meetings, positions, self.totals)
        return 0.0 - float(np.log2(self.totals).sum()) / max(self.n_tokens, 1)

    def update(self, positions, alpha):
        """After measure: new probabilities -> mass, the expected number of links at each entry of positions."""
        mass = np.zeros(len(positions))
        share_counts(self.probs, self.cells, self.meetings, positions, self.totals, mass)
        normalise_rows(self.probs, self.cells.indptr, alpha)
        return mass

    def aligner(self, positions, **info):
        return Aligner(self.cells, self.probs, positions, self.n_trg, info | {"pairs": self.n_pairs})


def uniform_positions(shapes):
    """1 / (S + 1) everywhere."""
    return np.repeat(1 / (shapes.S + 1), np.diff(shapes.blocks))


def train_model1(bitext, iterations=5, report=None, alpha=0.0):
    """-> Aligner. report(iteration, bits, "") hears the cross entropy before each update.

    alpha > 0: variational Bayes with that prior, which takes probability from rare words.
    """
    em = Em(bitext, start=1 / max(bitext.n_trg, 1))
    positions = uniform_positions(em.shapes)
    for iteration in range(1, iterations + 1):
        bits = em.measure(positions)
        em.update(positions, alpha)
        if report:
            report(iteration, bits, "")
    return em.aligner(uniform_positions, method="model1", iterations=iterations)
