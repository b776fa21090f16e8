"""Hints for an array whose shape is not the expected one.

As in hints.py, each function looks for one mistake: y is the student's array, e the expected one, `same` compares.
"""

import numpy as np

from .word_hints import hint_for_words


def other_axes(y, e, same):
    if y.ndim == e.ndim and y.shape == e.shape[::-1]:
        return "yours is transposed: exchange the axes with .T, or the factors of the product"
    if same(np.squeeze(y), np.squeeze(e)):
        return "the numbers are right, but an axis of length 1 is missing or too many: keepdims, [:, None] or [0]"
    if y.size == e.size and same(y.ravel(), e.ravel()):
        return "the numbers are right, but the shape is not: use reshape"
    return ""


def added_up(y, e, same):
    """Summed over an axis that is to be kept, or not summed yet."""
    for one, other, what in ((y, e, "not yet {}"), (e, y, "{}, which is not meant")):
        for axis in (*range(one.ndim), None):
            where = "over all axes" if axis is None else f"over axis {axis}"
            for name, total in (("summed", one.sum(axis)), ("averaged", one.mean(axis))):
                if same(total, other) and not y.ndim:
                    return f"yours is one number, {name} over everything: leave it out, or give it an axis"
                if same(total, other):
                    return f"yours is {what.format(f'{name} {where}')}"
    return ""


def wrong_sum(y, e, same):
    """What only the shapes show."""
    if y.ndim == e.ndim == 1:
        return "another length: a sum, mean or maximum along the wrong axis?"
    if y.ndim < e.ndim:
        return f"yours has {axes(e.ndim - y.ndim)} too few: a sum or mean without axis=, or without keepdims=True?"
    if y.ndim > e.ndim:
        return f"yours has {axes(y.ndim - e.ndim)} too many: a sum, mean or index is missing?"
    return ""


def axes(n):
    return "one axis" if n == 1 else f"{n} axes"


def one_off(y, e, same):
    """One entry too many or too few, at an end of an axis."""
    for axis in range(e.ndim):
        if y.ndim != e.ndim or abs(y.shape[axis] - e.shape[axis]) != 1:
            continue
        (longer, shorter), what = ((y, e), "too many") if y.shape[axis] > e.shape[axis] else ((e, y), "missing")
        n = longer.shape[axis]
        if same(np.take(longer, np.arange(n - 1), axis), shorter):
            return f"the last entry of axis {axis} is {what}" + (": eos?" if e.ndim == 1 else "")
        if same(np.take(longer, np.arange(1, n), axis), shorter):
            return f"the first entry of axis {axis} is {what}"
    return ""


def only_half(y, e, same):
    for axis in range(e.ndim):
        if y.ndim == e.ndim and 2 * y.shape[axis] == e.shape[axis]:
            return f"axis {axis} is half as long as expected: are both parts joined (np.concatenate)?"
        if y.ndim == e.ndim and y.shape[axis] == 2 * e.shape[axis]:
            return f"axis {axis} is twice as long as expected: is only one of two parts meant (np.split)?"
    return ""


def ids(y, e, same):
    """Lists of whole numbers are treated as lists of words."""
    if y.ndim == e.ndim == 1 and all((a == np.round(a)).all() for a in (y, e)):
        return hint_for_words(*([int(i) for i in a] for a in (y, e)))
    return ""


OTHER_SHAPE = (other_axes, added_up, one_off, ids, only_half, wrong_sum)
