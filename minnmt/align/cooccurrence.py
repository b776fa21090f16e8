"""Co-occurrence: in how many sentence pairs does a source word meet a target word? The simplest table of all."""

from kernels.aligners import normalise_rows

from .bitext import find_cells, find_meetings, find_shapes
from .model1 import Aligner, as_counts, uniform_positions


def cooccurrence_counts(bitext):
    """-> Counts of the sentence pairs in which both words occur, once or more often."""
    cells, n_pairs = find_cells(find_meetings(bitext, *find_shapes(bitext)))
    return as_counts(cells, n_pairs, bitext.n_trg, _info(bitext))


def train_cooccurrence(bitext, iterations=0, report=None):
    """-> Aligner with p(trg | src) = the pair's part of all that src meets. There is nothing to iterate or report."""
    cells, probs = find_cells(find_meetings(bitext, *find_shapes(bitext)))
    normalise_rows(probs, cells.indptr, 0.0)
    return Aligner(cells, probs, uniform_positions, bitext.n_trg, _info(bitext))


def _info(bitext):
    return {"method": "cooc", "pairs": len(bitext.without_blanks()), "iterations": 0}
