"""check: compare a student's result with the expected one, and say what differs, where, and what may be the cause.

Numbers, arrays, texts, and lists, tuples, dictionaries, sets and dataclasses of them can be compared. While a notebook
is graded (grading.py), every result is also written to the file that MINNMT_GRADE names.
"""

import dataclasses
import json
import os
from collections.abc import Iterator, Mapping, Set
from typing import NamedTuple

import numpy as np

from .hints import hint_for_numbers
from .word_hints import hint_for_texts, hint_for_words


class CheckFailed(AssertionError):
    """A result is not the expected one; a notebook shows the message alone."""

    def _render_traceback_(self):  # IPython asks for this
        return [str(self)]


class Difference(NamedTuple):
    """Where two values differ: a sentence, and the parts that differ."""

    what: str
    yours: object
    expected: object
    hint: str = ""


def check(name, yours, expected, tolerance=1e-6, usual=None, mask=None):
    """Print "NAME: right", or raise CheckFailed, which says what differs and names the cause if it is a usual one.

    usual: {"r and u are swapped": what that mistake gives (or a function that computes it), ...}.
    mask: 1 where a word is, 0 where padding is; of the expected shape, or of its first axes.
    A blank that is still empty (None or ...) is "not yet done", which is no error, but counts as wrong in a grade.
    """
    if unfinished(yours) and expected is not None:
        return not_yet(name, yours)
    difference = yours if isinstance(yours, Difference) else compare(yours, expected, tolerance)
    if difference is None:
        record(name, True)
        print(f"{name}: right{described(expected)}")
        return
    hint = usual_hint(yours, usual or {}, tolerance) or difference.hint or general_hint(difference, mask, tolerance)
    message = f"{name}: not right yet\n  {difference.what}" + (f"\n  hint: {hint}" if hint else "")
    fail(name, message)


def part(result, *places):
    """result[place][place]...: a part of what a student's function returned, for `check`; None while that is None."""
    for place in places:
        if result is None or result is ...:
            return result
        try:
            result = result[place]
        except (IndexError, KeyError, TypeError):
            what = f"there is no [{place}] in {kind_of(result)}: {result!r:.60}"
            return Difference(what, "", "", "what does the docstring say that is returned, and in which order?")
    return result


def fail(name, message):
    """Stop here, unless a grade is made: then the next check has its chance, too."""
    if not record(name, False, message):
        raise CheckFailed(message)
    print(message)


def unfinished(yours):
    """Is this None, or a blank (...), or does it hold one?"""
    parts = yours.values() if isinstance(yours, Mapping) else yours if isinstance(yours, (tuple, list)) else ()
    if any(part is ... or part is None for part in parts):
        return True
    return yours is None or yours is ...


def not_yet(name, yours):
    why = "the result is None: does your function return it?" if yours is None else "fill in the blank (...)"
    message = f"{name}: not yet done; {why}"
    record(name, False, message)
    print(message)


def record(name, right, message=""):
    """For grading.py, a line of JSON per check -> is a grade made?"""
    path = os.environ.get("MINNMT_GRADE")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps({"name": name, "right": right, "message": message}) + "\n")
    return bool(path)


def described(expected):
    """The shape, if it has one worth telling."""
    shape = getattr(expected, "shape", ())
    return f", shape {tuple(map(int, shape))}" if len(shape) else ""


def usual_hint(yours, usual, tolerance):
    """The text of the mistake that gives exactly this."""
    for text, value in usual.items():
        try:
            wrong = value() if callable(value) else value
            if compare(yours, wrong, tolerance) is None:
                return text
        except Exception:  # what a mistake gives may not even be computable here
            continue
    return ""


def general_hint(difference, mask, tolerance):
    yours, expected = difference.yours, difference.expected
    if isinstance(expected, np.ndarray):
        return hint_for_numbers(yours, expected, mask, tolerance)
    if isinstance(expected, str) and isinstance(yours, str):
        return hint_for_texts(yours, expected)
    if isinstance(expected, (list, tuple)) and isinstance(yours, (list, tuple)):
        return hint_for_words(list(yours), list(expected))
    return ""


# Comparing


def compare(yours, expected, tolerance, place=""):
    """-> the first Difference, or None. `place` is where we are: "", "[2]", "['das']"."""
    yours, expected = plain(yours), plain(expected)
    numbers, wanted = as_numbers(yours), as_numbers(expected)
    if wanted is not None and numbers is not None:
        return compare_numbers(numbers, wanted, tolerance, place)
    for kind, compare_kind in ((str, compare_texts), (Mapping, compare_mappings), (Set, compare_sets)):
        if isinstance(expected, kind) and isinstance(yours, kind):
            return compare_kind(yours, expected, tolerance, place)
    if isinstance(expected, (list, tuple)) and isinstance(yours, (list, tuple)):
        return compare_sequences(yours, expected, tolerance, place)
    if type(yours) is type(expected) and wanted is None and not isinstance(yours, (str, Mapping, Set)):
        what = f"{at(place)}{yours!r:.60} instead of {expected!r:.60}"
        return None if yours == expected else Difference(what, yours, expected)
    return wrong_kind(yours, expected, place)


def plain(value):
    """Tables, dataclasses, arrays of words and what has to be walked through, as arrays, dictionaries and lists."""
    if hasattr(value, "toarray"):
        return value.toarray()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    if isinstance(value, np.ndarray) and value.dtype.kind not in "biufc":
        return value.tolist()
    if isinstance(value, (range, Iterator)) or type(value).__name__ in ("dict_keys", "dict_values", "dict_items"):
        return list(value)
    return value


def as_numbers(value):
    """An array, if the value is made of numbers alone and has a shape; else None."""
    if isinstance(value, (str, bytes, Mapping, Set)) or value is None or callable(value):
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # lists of different lengths
        return None
    return array if array.dtype.kind in "biufc" else None


def wrong_kind(yours, expected, place):
    what = f"{at(place)}{kind_of(yours)} instead of {kind_of(expected)}"
    hint = ""
    if callable(yours):
        hint = "this is the function itself: call it, with brackets"
    elif yours is None:
        hint = "None: does your function return its result?"
    elif yours is ...:
        hint = "fill in the blank (...)"
    return Difference(what, yours, expected, hint)


def kind_of(value):
    if isinstance(value, np.ndarray) or np.isscalar(value) and not isinstance(value, str):
        shape = np.shape(value)
        return f"an array of shape {shape}" if shape else f"the number {shown(value)}"
    names = {str: "a text", list: "a list", tuple: "a tuple", dict: "a dictionary", set: "a set"}
    return "a function" if callable(value) else names.get(type(value), f"{value!r:.60}")


def compare_numbers(yours, expected, tolerance, place):
    if yours.shape != expected.shape:
        what = f"shape {yours.shape} instead of {expected.shape}"
        if yours.ndim == expected.ndim == 1:
            what = f"{len(yours)} numbers instead of {len(expected)}: {some(yours)} instead of {some(expected)}"
        return Difference(at(place) + what, yours, expected)
    wrong = ~near(yours, expected, tolerance)
    if not wrong.any():
        return None
    first = tuple(int(i) for i in np.argwhere(wrong)[0])
    what = f"{shown(yours[first])} instead of {shown(expected[first])}"
    if first:
        n = int(wrong.sum())
        rest = "the only one that differs" if n == 1 else f"the first of {n} that differ"
        what = f"{place}{list(first)} is {what}, {rest} of {wrong.size}"
        return Difference(what, yours, expected)
    return Difference(f"{at(place)}{what}", yours, expected)


def near(yours, expected, tolerance):
    return np.isclose(yours, expected, rtol=tolerance, atol=tolerance, equal_nan=True)


def compare_texts(yours, expected, tolerance, place):
    if yours == expected:
        return None
    i = next((i for i, (a, b) in enumerate(zip(yours, expected)) if a != b), min(len(yours), len(expected)))
    where = f"they differ from character {i} on" if i else "they differ from the first character on"
    return Difference(f"{at(place)}{yours!r:.80} instead of {expected!r:.80}; {where}", yours, expected)


def compare_mappings(yours, expected, tolerance, place):
    for key in expected:
        if key not in yours:
            return Difference(f"{at(place)}{key!r} is missing", sorted_list(yours), sorted_list(expected))
    for key in yours:
        if key not in expected:
            return Difference(f"{at(place)}{key!r} does not belong there", sorted_list(yours), sorted_list(expected))
    found = (compare(yours[key], expected[key], tolerance, f"{place}[{key!r}]") for key in expected)
    return next((difference for difference in found if difference), None)


def compare_sets(yours, expected, tolerance, place):
    if yours == expected:
        return None
    missing, extra = sorted_list(expected - yours), sorted_list(yours - expected)
    parts = [f"{some(missing)} missing"] * bool(missing) + [f"{some(extra)} too many"] * bool(extra)
    return Difference(at(place) + ", ".join(parts), sorted_list(yours), sorted_list(expected))


def compare_sequences(yours, expected, tolerance, place):
    if len(yours) != len(expected):
        n = f"{len(yours)} item{'' if len(yours) == 1 else 's'} instead of {len(expected)}"
        what = f"{at(place)}{n}: {some(yours)} instead of {some(expected)}"
        return Difference(what, list(yours), list(expected))
    for i, (one, other) in enumerate(zip(yours, expected)):
        difference = compare(one, other, tolerance, f"{place}[{i}]")
        if difference and isinstance(other, str):  # a list of words: its hint sees all of it
            return Difference(difference.what, list(yours), list(expected))
        if difference:
            return difference
    return None


def at(place):
    return f"{place}: " if place else ""


def sorted_list(values):
    return sorted(values, key=str)


def some(values, most=6):
    """The first values of a list, for a sentence."""
    shown_values = [shown(value) for value in list(values)[:most]]
    return "[" + ", ".join(shown_values) + (", ..." if len(values) > most else "") + "]"


def shown(value):
    """A value for a sentence: numbers with six digits, the rest as Python writes it."""
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if isinstance(value, (float, np.floating)):
        return f"{value:.6g}"
    return f"{value.item() if isinstance(value, np.generic) else value!r:.60}"
