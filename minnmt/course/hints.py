"""Hints: which usual mistake makes one array out of another?

Each function looks for one mistake and returns a sentence that names it, or "": y is the student's array, e the
expected one, `same` compares. The first that applies wins: mistakes that explain every number come before those that
explain some. Arrays of another shape are in shape_hints.py, lists and texts in word_hints.py.
"""

import numpy as np

from .shape_hints import OTHER_SHAPE


def hint_for_numbers(yours, expected, mask, tolerance):
    """Both are arrays and differ."""
    if expected.dtype.kind == "b":
        return turned(yours, expected)
    with np.errstate(all="ignore"):
        if yours.size == 0 or expected.size == 0:
            return "yours is empty: nothing was added to it" if yours.size == 0 and expected.size else ""
        if yours.dtype.kind == "f" and not np.isfinite(yours).all() and np.isfinite(expected).all():
            return "yours holds nan or inf: a division by 0, the log of 0, or an exp without the maximum subtracted"
        yours, expected = (a if a.dtype.kind == "c" else a.astype(float) for a in (yours, expected))
        same = Alike(tolerance)
        looks = SAME_SHAPE if yours.shape == expected.shape else OTHER_SHAPE
        if yours.shape == expected.shape and mask is not None:
            looks = (lambda y, e, same: only_padding(y, e, same, mask), *looks)
        found = (look(yours, expected, same) for look in looks)
        return next((text for text in found if text), "")


def turned(yours, expected):
    """Of true and false, only one mistake can be told."""
    found = expected.ndim and np.array_equal(yours, ~expected)
    return "True and False have changed places: < instead of >, or a mask turned around" if found else ""


class Alike:
    """Are two arrays the same, up to a tolerance?"""

    def __init__(self, tolerance):
        self.tolerance = tolerance

    def __call__(self, a, b):
        return np.shape(a) == np.shape(b) and np.size(a) > 0 and bool(self.places(a, b).all())

    def places(self, a, b):
        return np.isclose(a, b, rtol=self.tolerance, atol=self.tolerance)


# Of the same shape


def only_padding(y, e, same, mask):
    mask = np.asarray(mask, bool)
    if mask.shape != e.shape[: mask.ndim]:
        return ""
    wrong = ~same.places(y, e)
    if wrong[mask].any():
        return ""
    return "only padding differs: the mask is missing (where it is 0, there is no word)"


def all_zero(y, e, same):
    return "yours is all zeros: nothing was added, or it was added to a copy" if not y.any() else ""


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


SLIPS = {  # what is wrong: what it makes of the expected result
    "the sign is wrong": lambda e: -e,
    "yours is 1 minus the expected: the two parts (u and 1 - u, p and 1 - p) have changed places": lambda e: 1 - e,
    "the log is missing: yours is the exp of what is expected": np.exp,
    "yours is the log of what is expected: an exp is missing, or a log too many": np.log,
    "a tanh is missing": np.arctanh,
    "one tanh too many": np.tanh,
    "a sigmoid is missing": lambda e: np.log(e / (1 - e)),
    "one sigmoid too many": sigmoid,
    "the square root is missing": np.square,
    "a square is missing": lambda e: np.sqrt(np.abs(e)),
    "the division is upside down: yours is 1 divided by the expected": lambda e: 1 / e,
    "the log has base 2: np.log is the natural one": lambda e: e / np.log(2),
    "the log has base 10: np.log is the natural one": lambda e: e / np.log(10),
    "negative numbers have become 0": lambda e: np.maximum(e, 0),
    "yours is rounded to whole numbers: // instead of /, or a conversion to int": np.round,
    "yours is rounded down to whole numbers: // instead of /, or a conversion to int": np.floor,
}


def slip(y, e, same):
    """One function too many or too few; a single whole number may be wrong for any reason."""
    single = e.size == 1 and all((a == np.round(a)).all() for a in (y, e))
    for text, mistake in list(SLIPS.items())[: 1 if single else None]:
        if same(y, mistake(e)):
            return text
    return ""


def factor(y, e, same):
    """Every number is the same multiple of the expected one."""
    used = np.abs(e) > same.tolerance
    if not used.any() or not same(y[~used], e[~used]) and not used.all():
        return ""
    ratio = float(np.median((y[used] / e[used]).real))
    if not same(y, ratio * e) or np.isclose(ratio, 0):
        return ""
    for n, what in [(e.size, "numbers"), *((n, f"entries of axis {axis}") for axis, n in enumerate(e.shape))]:
        if n > 1 and np.isclose(ratio, n):
            return f"every number is {n} times too large, and there are {n} {what}: a sum instead of a mean"
        if n > 1 and np.isclose(ratio, 1 / n):
            return f"every number is {n} times too small, and there are {n} {what}: a mean instead of a sum"
    if np.isclose(ratio, round(ratio)) and 1 < abs(ratio) < 1000:
        what = "twice" if round(ratio) == 2 else f"{round(ratio)} times"
        return f"yours is {what} the expected: a factor too many, or a sum instead of a mean"
    if np.isclose(1 / ratio, round(1 / ratio)) and 1 < abs(1 / ratio) < 1000:
        what = "half" if round(1 / ratio) == 2 else f"1/{round(1 / ratio)} of"
        return f"yours is {what} the expected: a factor is missing, or it is a mean instead of a sum"
    return f"every number is {ratio:.4g} times the expected: a factor is missing or too many" if e.size > 1 else ""


def offset(y, e, same):
    """Every number is too large, or too small, by the same amount."""
    gap = float((y - e).real.flat[0])
    if not same(y, e + gap):
        return ""
    if abs(gap) == 1 and (e == np.round(e)).all():
        return f"off by one: yours is 1 too {'large' if gap > 0 else 'small'}" + (" everywhere" if e.size > 1 else "")
    if e.size == 1:
        return ""
    return f"every number is {abs(gap):.4g} too {'large' if gap > 0 else 'small'}: a constant is missing or too many"


def halves(y, e, same):
    """The two halves of an axis have changed places: the gates r and u, forward and backward states."""
    for axis in reversed(range(e.ndim)):
        if e.shape[axis] % 2 == 0 and same(y, np.roll(e, e.shape[axis] // 2, axis)):
            what = "two entries" if e.shape[axis] == 2 else "two halves"
            return f"the {what} of axis {axis} are swapped: the first is meant to come first (gates: r, then u)"
    return ""


def transposed(y, e, same):
    if e.ndim >= 2 and same(y, np.swapaxes(e, -1, -2)):
        return "yours is transposed: exchange the axes with .T, or the factors of the product"
    return ""


def shifted(y, e, same):
    """One step late or early, along some axis."""
    for axis in range(e.ndim):
        n = e.shape[axis]
        first, last = np.arange(n - 1), np.arange(1, n)
        if n < 3 or same(np.take(e, last, axis), np.take(e, first, axis)):  # the same at every step
            continue
        if same(np.take(y, last, axis), np.take(e, first, axis)):
            return f"yours is one step late along axis {axis}: entry t holds what belongs to t - 1"
        if same(np.take(y, first, axis), np.take(e, last, axis)):
            return f"yours is one step early along axis {axis}: entry t holds what belongs to t + 1"
    return ""


def backwards(y, e, same):
    for axis in range(e.ndim):
        if e.shape[axis] > 1 and same(y, np.flip(e, axis)):
            return f"yours runs backwards along axis {axis}: the last comes first"
    return ""


def running_sums(y, e, same):
    for axis in range(e.ndim):
        if e.shape[axis] > 1 and same(y, np.cumsum(e, axis)):
            return f"yours adds up along axis {axis}: something is not set back to 0 in the loop"
    return ""


def normalised(y, e, same):
    """The expected numbers sum to 1 along an axis: do yours, and along which?"""
    axes = [axis for axis in range(e.ndim) if e.shape[axis] > 1 and same(e.sum(axis), np.ones_like(e.sum(axis)))]
    if not axes or (e < 0).any() or (e == np.round(e)).all():
        return ""
    axis = axes[-1]
    if same(y.sum(axis), np.ones_like(y.sum(axis))):
        return ""
    for other in range(e.ndim):
        if other != axis and e.shape[other] > 1 and same(y.sum(other), np.ones_like(y.sum(other))):
            return f"yours sums to 1 along axis {other}, the wrong axis: it is meant to along axis {axis}"
    if e.ndim > 1 and same(y.sum(), np.ones(())):
        return f"yours sums to 1 over all numbers: divide by the sum along axis {axis}, with keepdims=True"
    return f"yours does not sum to 1 along axis {axis}: divide by the sum along that axis"


def by_rows(y, e, same):
    """A factor or an offset of its own for each row; or the same row added everywhere."""
    if e.ndim < 2 or min(e.shape[0], e.shape[-1]) < 2:
        return ""
    gap = y - e
    if same(gap, np.broadcast_to(gap[..., :1], e.shape)):
        return "each row is off by a number of its own: what is added per row is missing (a maximum, a log of a sum)"
    if same(gap, np.broadcast_to(gap[:1], e.shape)):
        return "every row is off by the same vector: a bias is missing or added twice"
    ratio = y / e
    if np.isfinite(ratio).all() and same(ratio, np.broadcast_to(ratio[..., :1], e.shape)):
        return "each row has a factor of its own: divided by the wrong number per row, or not divided at all"
    return ""


def cells(y, e, same):
    """Numbers where zeros are expected, or the other way round, and the rest is right."""
    wrong = ~same.places(y, e)
    extra, missing = wrong & (e == 0), wrong & (y == 0)
    if (e == 0).any() and same(wrong, extra):
        return f"{number(extra)} where 0 is expected: is something counted that should not be (threshold, padding)?"
    if (e != 0).sum() > 1 and same(wrong, missing):
        return f"{number(missing, 'a 0', '0 in {} places')} where a number is expected: is something left out?"
    return ""


def number(places, one="one number", many="numbers in {} places"):
    n = int(places.sum())
    return one if n == 1 else many.format(n)


def only_an_end(y, e, same):
    """Only the first or the last entry of an axis differs."""
    wrong = ~same.places(y, e)
    for axis in range(e.ndim):
        places = np.flatnonzero(wrong.any(axis=tuple(i for i in range(e.ndim) if i != axis)))
        if e.shape[axis] > 2 and len(places) == 1 and places[0] in (0, e.shape[axis] - 1):
            end, why = ("first", "how it starts") if places[0] == 0 else ("last", "how it ends (eos?)")
            return f"only the {end} entry of axis {axis} differs: look at {why}"
    return ""


def signs(y, e, same):
    return "the amounts are right, but some signs are wrong" if same(np.abs(y), np.abs(e)) else ""


def whole(y, e, same):
    if e.dtype.kind != "c" and (e == np.round(e)).all() and (y != np.round(y)).any():
        return "whole numbers are expected: yours holds fractions"
    return ""


def reordered(y, e, same):
    if e.size > 1 and same(np.sort(y, None), np.sort(e, None)):
        return "the numbers are right, but in another order"
    return ""


def nearly(y, e, same):
    if np.isclose(y, e, rtol=2e-3, atol=1e-6).all():
        return "nearly: a small constant (epsilon, smoothing) is missing or another, or numbers were rounded on the way"
    return ""


SAME_SHAPE = (
    slip, transposed, running_sums, all_zero, normalised, factor, offset, halves, shifted, backwards, by_rows, signs,
    reordered, whole, nearly, cells, only_an_end,
)  # fmt: skip
