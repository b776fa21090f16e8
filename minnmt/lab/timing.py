"""Running things in turns, and what to say about their times."""

import random
import time
from typing import Any, NamedTuple

import numpy as np

SIDES_APART = 0.05  # seconds: threads of Numba and of PyTorch spin for a while after work, in the other's way


class Timed(NamedTuple):
    """What came of one case."""

    seconds: list  # of each repeat that counts
    output: Any  # of the last


def interleave(cases, repeats, pause=0.0, warm_up=True, before=0):
    """Run every case once in each repeat -> a Timed for each; with `warm_up`, a first repeat does not count.

    `before` is how often a case runs unwatched just before it counts, where in real use it follows its own kind.

    cases: {name: function without arguments}. What the machine does meanwhile hits all of them alike; each repeat has
    an order of its own, so that none always runs in the wake of the same other.
    """
    seconds, outputs, order = {name: [] for name in cases}, {}, list(cases)
    rng = random.Random(1)
    for _ in range(repeats + warm_up):
        for name in order:
            time.sleep(pause)
            for _ in range(before):
                cases[name]()
            began = time.perf_counter()
            outputs[name] = cases[name]()
            seconds[name].append(time.perf_counter() - began)
        rng.shuffle(order)
    return {name: Timed(seconds[name][-repeats:], outputs[name]) for name in cases}


def calls_for(seconds, function):
    """How many calls of a function last about so long; it is called twice, first to compile."""
    function()
    began = time.perf_counter()
    function()
    return max(1, round(seconds / max(time.perf_counter() - began, 1e-7)))


def many_calls(function, n):
    """A function that calls another n times."""

    def call():
        for _ in range(n):
            function()

    return call


def quartiles(values):
    """-> (first quartile, median, third quartile)."""
    return tuple(float(q) for q in np.percentile(values, [25, 50, 75]))


def median(values):
    return quartiles(values)[1]


def steady(seconds, apart=1.25):
    """{case: seconds of each repeat} -> were all of them left in peace: are their quartiles close together?"""
    low, _, high = np.array([quartiles(values) for values in seconds.values()]).T
    return bool((high < apart * low).all())


def spread(values):
    """Median and quartiles as text: "1.23 (1.2 to 1.31)"."""
    low, middle, high = (number(q) for q in quartiles(values))
    return f"{middle} ({low} to {high})"


def number(value):
    """Three digits at most, and all of those before the point: "0.0123", "1.5", "12,345"."""
    return f"{value:,.0f}" if abs(value) >= 99.95 else f"{value:.3g}"


def ratios(above, below):
    """Times of two cases, repeat by repeat -> above / below."""
    return np.array(above) / np.array(below)
