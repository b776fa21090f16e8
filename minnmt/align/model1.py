"""IBM Model 1 (Brown et al., 1993): word translation probabilities by expectation-maximisation.

Every target word comes from one source word of its sentence or from NULL, all equally likely:

    p(trg word t_j) = sum over i = 0 .. S of  1 / (S + 1) * p(t_j | s_i)        s_0 = NULL
    count(s_i, t_j) += p(t_j | s_i) / sum over k of p(t_j | s_k)                expected counts; then
    p(e | f) = count(f, e) / sum over e' of count(f, e')                        (23)

fastalign.py keeps all of this and only prefers some positions to others. Co-occurrence, the simplest aligner of all,
only counts in how many sentence pairs two words both occur; training starts from the cells of its table.

Memory while training: 8 bytes per cell (two words that occur in one sentence pair: int32 id, float32 probability),
nothing a token pair, 20 bytes a source token, 20 a target token, and 16 for each number in the position tables (see
Shapes). Notebook 06.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..compiled import compiled
from .bitext import find_occurrences, find_shapes
from .counts import Counts
from .sparse import SparseTable, offsets, rows_of

UNSEEN = 1e-9  # the probability of two words that never occur together in training
NEGLIGIBLE = 1e-7  # cells below it are left out of the table that others read
LEAST = 1e-37  # the least probability stored: below it float32 loses digits, and the processor slows down

# One iteration. A table of probabilities is CSR: probs, indices, indptr; `text` is Occurrences.


@compiled("model1.token_probabilities")
def token_probabilities(probs, indices, indptr, text, positions):
    """-> (target tokens) float64: sum over the source words of its sentence of p(trg | src) * p(position).

    All words that occur together have a cell.
    """
    row, _, token, entry = text.token_pairs()
    cell, _ = look_up(indices, indptr, row, text.trg_ids[token], text.n_trg)
    return np.bincount(token, probs[cell] * positions[entry], minlength=len(text.trg_ids))


@compiled("model1.expected_counts")
def expected_counts(probs, indices, indptr, text, positions, totals):
    """Share out every target token among the source words of its sentence, by their part of its total (target tokens).

    -> counts (cells), and mass, laid out as positions: the same shares summed up by position. probs is used up.
    """
    row, _, token, entry = text.token_pairs()
    cell, _ = look_up(indices, indptr, row, text.trg_ids[token], text.n_trg)
    share = probs[cell] * positions[entry] / totals[token]
    counts = np.bincount(cell, share, minlength=len(probs)).astype(probs.dtype)
    return counts, np.bincount(entry, share, minlength=len(positions))


@compiled("model1.normalise_rows")
def normalise_rows(counts, indptr, alpha):
    """counts (cells), used up -> probabilities: each row divided by its sum (23).

    With alpha > 0 variational Bayes, under a Dirichlet prior: exp(digamma(count + alpha) - digamma(row's sum)).
    """
    from scipy.special import digamma  # here, not above: it takes a quarter of a second to import

    row = rows_of(indptr)
    count = counts.astype(np.float64) + alpha
    total = np.bincount(row, count, minlength=len(indptr) - 1)[row]
    prob = np.exp(digamma(count) - digamma(total)) if alpha else count / np.where(total == 0, 1, total)
    return np.maximum(prob, LEAST).astype(counts.dtype)


@compiled("model1.best_links")
def best_links(probs, indices, indptr, text, positions, unseen):
    """-> (target tokens) int32: the place of the source word with the highest p(trg | src) * p(position).

    The first of equals wins; two words without a cell have the probability `unseen`.
    """
    row, occurrence, token, entry = text.token_pairs()
    cell, known = look_up(indices, indptr, row, text.trg_ids[token], text.n_trg)
    prob = np.full(len(cell), unseen)
    prob[known] = probs[cell[known]]
    place = text.place[occurrence]
    order = np.lexsort((place, -prob * positions[entry], token))
    best = order[np.flatnonzero(np.diff(token[order], prepend=-1))]
    links = np.zeros(len(text.trg_ids), np.int32)
    links[token[best]] = place[best]
    return links


def look_up(indices, indptr, row, trg, n_trg):
    """-> the cell of each (row, trg), and whether there is one."""
    keys = rows_of(indptr) * n_trg + indices
    wanted = row * n_trg + trg
    cell = np.searchsorted(keys, wanted)
    keys = np.append(keys, -1)  # a word beyond the last key is looked for there, and not found
    return cell, keys[cell] == wanted


# Training, and what it leaves behind


@dataclass
class Aligner:
    """Trained translation probabilities."""

    probs: SparseTable  # of all words that occur together, with NULL as the last row
    positions: Callable  # Shapes -> their position probabilities, flat float64
    info: dict
    counted: Counts | None = None  # counts that say more than the table, if there are any

    @cached_property
    def table(self):
        """p(trg | src) without NULL's row and without negligible cells."""
        return without_null(self.probs.select(self.probs.data >= NEGLIGIBLE), dict(self.info))

    @property
    def counts(self):
        """What a selector chooses candidates from."""
        return self.counted or self.table

    @cached_property
    def null(self):
        """(n_trg) p(trg | NULL)."""
        null = np.zeros(self.probs.n_trg, np.float32)
        ids, probs = self.probs.row(self.probs.n_src - 1)
        null[ids] = probs
        return null

    def links(self, bitext):
        """-> (target tokens) int32: the place of the likeliest source word in its sentence, from 0; -1 for NULL."""
        probs = self.probs
        if (bitext.n_src, bitext.n_trg) != (probs.n_src - 1, probs.n_trg):
            raise ValueError("the bitext has other vocabularies than the aligner's")
        shapes, of_pair = find_shapes(bitext)
        text = find_occurrences(bitext, shapes, of_pair)
        return best_links(probs.data, probs.indices, probs.indptr, text, self.positions(shapes), UNSEEN) - 1


def without_null(table, info):
    """A table whose last row is NULL's -> Counts of the other rows."""
    n = table.indptr[-2]
    return Counts(table.indptr[:-1], table.indices[:n], table.data[:n], table.n_trg, info)


def pharaoh_lines(bitext, links):
    """The links of each sentence pair as "0-0 2-1", source-target, ordered by target, NULL left out."""
    j = np.arange(len(links)) - bitext.trg_starts[rows_of(bitext.trg_starts)]
    linked = links >= 0
    width = bitext.trg_lengths.max(initial=0) + 1
    # the same few links come up again and again: spell each of them once
    keys, which = np.unique(links[linked] * width + j[linked], return_inverse=True)
    spelled = [f"{key // width}-{key % width}" for key in keys.tolist()]
    words = [spelled[k] for k in which.tolist()]
    ends = offsets(linked)[bitext.trg_starts].tolist()
    return [" ".join(words[start:end]) for start, end in zip(ends, ends[1:])]


class Em:
    """Expectation-maximisation on one bitext; pairs with a blank side take no part."""

    def __init__(self, bitext, start):
        bitext = bitext.without_blanks()
        self.n_pairs, self.n_tokens = len(bitext), len(bitext.trg_ids)
        self.shapes, of_pair = find_shapes(bitext)
        self.text = find_occurrences(bitext, self.shapes, of_pair)
        self.probs, self.indices, self.indptr = self.text.cooccurrences()
        self.probs[:] = start

    def measure(self, positions):
        """The probability of every target token, into totals -> cross entropy in bits a token."""
        self.totals = token_probabilities(self.probs, self.indices, self.indptr, self.text, positions)
        return 0.0 - float(np.log2(self.totals).sum()) / max(self.n_tokens, 1)

    def update(self, positions, alpha):
        """After measure: new probabilities -> mass, the expected number of links at each entry of positions."""
        counts, mass = expected_counts(self.probs, self.indices, self.indptr, self.text, positions, self.totals)
        self.probs = normalise_rows(counts, self.indptr, alpha)  # (23)
        return mass

    def aligner(self, positions, **info):
        probs = SparseTable(self.indptr, self.indices, self.probs, self.text.n_trg)
        return Aligner(probs, positions, info | {"pairs": self.n_pairs})


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


def train_cooccurrence(bitext, iterations=0, report=None):
    """-> Aligner with p(trg | src) = the pair's share of all co-occurrences of src. Nothing to iterate or report."""
    n_pairs, indices, indptr = find_occurrences(bitext, *find_shapes(bitext)).cooccurrences()
    info = {"method": "cooc", "pairs": len(bitext.without_blanks()), "iterations": 0}
    # the counts themselves, because p(source | target) cannot be had from a table of p(target | source)
    counts = without_null(SparseTable(indptr, indices, n_pairs, bitext.n_trg), info)
    probs = SparseTable(indptr, indices, normalise_rows(n_pairs.copy(), indptr, 0.0), bitext.n_trg)
    return Aligner(probs, uniform_positions, info, counts)
