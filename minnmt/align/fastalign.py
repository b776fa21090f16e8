"""fast_align (Dyer, Chahuneau and Smith, 2013): Model 1 that prefers links near the diagonal.

With S source and T target words the position probabilities are

    p(i | j) = p0                                           for NULL
    p(i | j) = (1 - p0) * exp(tension * f(i, j)) / Z(j)     f(i, j) = -|i / S - j / T|,  i = 1 .. S,  j = 1 .. T

and the tension is learned, by a few gradient steps after each iteration but the first. Defaults, start and number of
updates are those of the C++ program with -d -o -v, and so are two slips in its gradient (see `found_mean` and
`model_mean`): without them the tension nearly doubles and some 4 % of the links change. Its option -r is this on the
swapped bitext; without -d it is model1.py. Notebook 06.
"""

import functools

import numpy as np

from ..errors import UsageError
from .model1 import UNSEEN, Em

TENSION_STEPS, TENSION_RATE = 8, 20.0
TENSION_RANGE = 0.1, 14.0


def feature(i, j, S, T):
    """How far a link is from the diagonal, 0 or less."""
    return -np.abs(i / S - j / T)


def feature_table(S, T, first=1):
    """f (S,T) of one sentence shape; j is counted from `first`."""
    return feature(np.arange(1, S + 1)[:, None], np.arange(first, first + T), S, T)


def diagonal_positions(shapes, tension, p0):
    """p(i | j), laid out as Shapes says."""
    positions = np.zeros(shapes.blocks[-1])
    for S, T, table in shapes.tables(positions):
        near = np.exp(tension * feature_table(S, T))
        table[0] = p0
        table[1:] = (1 - p0) * near / near.sum(axis=0)
    return positions


def geometric_sum(ratio, n):
    """1 + ratio + ratio^2 ..., n terms; all of them if n is negative."""
    return (1 - np.where(n < 0, 0.0, ratio ** np.maximum(n, 0))) / (1 - ratio)


def sides(j, S, T):
    """The source words on either side of the diagonal -> (how many, f of the nearest): f falls by 1 / S a word."""
    below = j * S // T
    return (below, feature(below, j, S, T)), (S - below, feature(below + 1, j, S, T))


def normaliser(j, S, T, tension):
    """Z(j) = sum over i of exp(tension * f(i, j)), without a loop over i."""
    ratio = np.exp(-tension / S)
    return sum(np.exp(tension * f) * geometric_sum(ratio, n) for n, f in sides(j, S, T))


def normaliser_slope(j, S, T, tension):
    """dZ(j) / dtension = sum over i of f(i, j) * exp(tension * f(i, j))."""
    ratio = np.exp(-tension / S)
    slope = 0.0
    for n, f in sides(j, S, T):
        ones = geometric_sum(ratio, n)
        steps = (ratio * ones - n * ratio**n) / (1 - ratio)  # ratio + 2 ratio^2 + 3 ratio^3 ..., up to n - 1
        slope = slope + np.exp(tension * f) * (f * ones - steps / S)
    return slope


def found_mean(shapes, mass):
    """The mean of f over the links expected now (mass); NULL counts as 0.

    As in the C++ program j is counted from 0 here: every target word seems one place further back than it is.
    """
    total = sum(np.vdot(feature_table(S, T, first=0), table[1:]) for S, T, table in shapes.tables(mass))
    return float(total) / max(shapes.n_tokens, 1)


def model_mean(shapes, tension):
    """The mean of f that the model itself expects, dlog Z / dtension.

    As in the C++ program S and T change places in Z here. A side of the diagonal may then have a negative number of
    words, which it takes for a huge one.
    """
    j, S, T, n_pairs = shapes.columns()
    mean = normaliser_slope(j, S, T, tension) / normaliser(j, T, S, tension)
    return float(n_pairs @ mean) / max(shapes.n_tokens, 1)


def improve_tension(tension, shapes, mass):
    """Gradient steps towards the tension at which both means are equal."""
    goal = found_mean(shapes, mass)
    for _ in range(TENSION_STEPS):
        tension += TENSION_RATE * (goal - model_mean(shapes, tension))
        tension = min(max(tension, TENSION_RANGE[0]), TENSION_RANGE[1])
    return tension


def train_fastalign(bitext, iterations=5, report=None, p0=0.08, tension=4.0, optimise_tension=True, alpha=0.01):
    """-> Aligner. report(iteration, bits, "tension 4.00") hears what each iteration starts with.

    As in the C++ program the last iteration only measures: there is one update less than there are iterations.
    alpha is the prior of variational Bayes; 0 switches it off.
    """
    if iterations < 2:
        raise UsageError("fast_align needs at least 2 iterations: the last one only measures")
    em = Em(bitext, start=UNSEEN)
    for iteration in range(1, iterations + 1):
        positions = diagonal_positions(em.shapes, tension, p0)
        bits = em.measure(positions)
        if report:
            report(iteration, bits, f"tension {tension:.2f}")
        if iteration < iterations:
            mass = em.update(positions, alpha)
            if optimise_tension and iteration > 1:
                tension = improve_tension(tension, em.shapes, mass)
    positions = functools.partial(diagonal_positions, tension=tension, p0=p0)
    return em.aligner(positions, method="fastalign", iterations=iterations, tension=tension)
