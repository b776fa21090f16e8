"""Co-occurrence: in how many sentence pairs do a source and a target word both occur? The simplest table of all.

The counting itself is in bitext.py, for Model 1 begins with it. Notebook 06.
"""

from .bitext import find_occurrences, find_shapes
from .model1 import Aligner, normalise_rows, uniform_positions, without_null
from .sparse import SparseTable


def train_cooccurrence(bitext, iterations=0, report=None):
    """-> Aligner with p(trg | src) = the pair's share of all co-occurrences of src. Nothing to iterate or report."""
    n_pairs, indices, indptr = find_occurrences(bitext, *find_shapes(bitext)).cooccurrences()
    info = {"method": "cooc", "pairs": len(bitext.without_blanks()), "iterations": 0}
    # the counts themselves, because p(source | target) cannot be had from a table of p(target | source)
    counts = without_null(SparseTable(indptr, indices, n_pairs, bitext.n_trg), info)
    probs = SparseTable(indptr, indices, normalise_rows(n_pairs.copy(), indptr, 0.0), bitext.n_trg)
    return Aligner(probs, uniform_positions, info, counts)


def cooccurrence_counts(bitext):
    """-> Counts of the sentence pairs in which both words occur, once or more often."""
    return train_cooccurrence(bitext).counts
