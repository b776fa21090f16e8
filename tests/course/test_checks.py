"""check: what it compares, what it says, and what it leaves behind for a grade."""

import json
from collections import Counter
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from scipy import sparse

from minnmt.course import CheckFailed, check, part

EYE = np.eye(2, 3)


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray


class Pair(NamedTuple):
    a: int
    b: list


@pytest.fixture(autouse=True)
def no_grade(monkeypatch):
    monkeypatch.delenv("MINNMT_GRADE", raising=False)


@pytest.mark.parametrize("value", [
    3, 2.5, True, "das Haus", EYE, EYE.tolist(), [1, 2], (EYE, [1]), {"das": EYE, "Haus": 1}, {1, 2}, [], [[1], [2, 3]],
    Layer(EYE, EYE[0]), Pair(1, [2]), ["a", "b"], np.array(["a", "b"]), sparse.csr_matrix(EYE), Counter("abba"), None,
    np.float32(0.1), np.zeros((0, 3)), frozenset("ab"),
], ids=str)  # fmt: skip
def test_a_value_is_right_for_itself(value, capsys):
    check("it", value, value)
    assert capsys.readouterr().out.startswith("it: right")


@pytest.mark.parametrize("yours, expected", [
    (1.0, 1), ([1, 2], np.array([1, 2])), ((1, 2), [1, 2]), (range(3), [0, 1, 2]), (iter("ab"), ["a", "b"]),
    ({"a": 1}.keys(), ["a"]), (Counter("a"), {"a": 1}), (np.float32(0.1), 0.1), (sparse.csr_matrix(EYE), EYE),
    (np.nan, np.nan), (-np.inf, -np.inf), (1 + 5e-7, 1), (np.bool_(True), True),
], ids=str)  # fmt: skip
def test_the_same_in_other_clothes_is_right(yours, expected):
    check("it", yours, expected)


@pytest.mark.parametrize("yours, expected, said", [
    (EYE.T, EYE, ["shape (3, 2) instead of (2, 3)"]),
    (EYE + np.eye(2, 3, 2), EYE, ["[0, 2] is 1 instead of 0", "the only one that differs of 6"]),
    (2 * EYE, EYE, ["[0, 0] is 2 instead of 1", "the first of 2 that differ of 6"]),
    (Layer(EYE, EYE[1]), Layer(EYE, EYE[0]), ["['b'][0] is 0 instead of 1"]),
    ({"a": [1, 2]}, {"a": [1, 3]}, ["['a'][1] is 2 instead of 3"]), ({"a": 1}, {"b": 1}, ["'b' is missing"]),
    ({"a": 1, "b": 2}, {"a": 1}, ["'b' does not belong there"]), ((EYE, "x"), (EYE, "y"), ["[1]: 'x' instead of 'y'"]),
    ({1, 2}, {1, 3}, ["[3] missing, [2] too many"]), ("3", 3, ["a text instead of the number 3"]),
    (len, 3, ["a function instead of", "call it"]), ([1, 2], "ab", ["a list instead of a text"]),
    (3, EYE, ["shape () instead of (2, 3)", "2 axes too few"]), (EYE[0], EYE + 1, ["one axis too few"]),
    (["a"], ["a", "b"], ["1 item instead of 2"]), ([[1], [2, 3]], [[1], [2, 4]], ["[1][1] is 3 instead of 4"]),
    (False, True, ["False instead of True"]), (1, None, ["instead of None"]),
], ids=str)  # fmt: skip
def test_what_is_said_of_a_difference(yours, expected, said):
    with pytest.raises(CheckFailed) as failure:
        check("it", yours, expected)
    text = str(failure.value)
    assert text.startswith("it: not right yet\n") and all(part in text for part in said), text


def test_a_notebook_shows_the_sentence_and_no_traceback():
    error = CheckFailed("it: not right yet")
    assert isinstance(error, AssertionError) and error._render_traceback_() == ["it: not right yet"]


def test_the_tolerance():
    check("it", 1.001, 1, tolerance=0.01)
    with pytest.raises(CheckFailed):
        check("it", 1.001, 1)


def test_a_usual_mistake_comes_before_a_general_one_and_may_be_impossible_to_compute():
    usual = {"impossible": lambda: 1 / 0, "another": 7, "no minus here": lambda: -EYE}
    with pytest.raises(CheckFailed, match="hint: no minus here"):
        check("it", -EYE, EYE, usual=usual)
    with pytest.raises(CheckFailed, match="hint: every number is 0.3 times"):
        check("it", 0.3 * EYE, EYE, usual=usual)


@pytest.mark.parametrize("yours, expected", [(False, True), (1, 0), (17, 4.5), (1.0, np.inf), ([1.1, 1, 1], [1, 1, 1])])
def test_no_hint_is_better_than_a_wrong_one(yours, expected):
    with pytest.raises(CheckFailed) as failure:
        check("it", yours, expected)
    assert not [word for word in ("minus", "factor", "one step") if word in str(failure.value)]


@pytest.mark.parametrize("yours", [None, ..., (EYE, ...), [None, 1], {"a": ...}], ids=str)
def test_what_is_not_yet_done_is_said_and_stops_nothing(yours, capsys):
    check("it", yours, EYE)
    assert "it: not yet done" in capsys.readouterr().out


@pytest.mark.parametrize("result", [None, ...])
def test_a_part_of_nothing_is_nothing(result, capsys):
    check("it", part(result, 0, 2), EYE)
    assert "it: not yet done" in capsys.readouterr().out


@pytest.mark.parametrize("result, places", [((EYE, 1), [0]), (np.array([EYE, EYE]), [1]), ([[1, EYE]], [0, -1])])
def test_a_part_of_a_result(result, places):
    check("it", part(result, *places), EYE)


@pytest.mark.parametrize("result", [(EYE,), 3, np.zeros((1, 2)), {"a": 1}], ids=str)
def test_a_part_that_is_missing_is_a_mistake(result):
    with pytest.raises(CheckFailed, match=r"it: not right yet\n  there is no \[1\] in (a |an |the )"):
        check("it", part(result, 1), EYE)


def test_a_grade_is_written_and_no_check_stops_the_next(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("MINNMT_GRADE", str(tmp_path / "grade"))
    for yours in (EYE, -EYE, None):
        check("it", yours, EYE)
    records = [json.loads(line) for line in (tmp_path / "grade").read_text().splitlines()]
    assert [record["right"] for record in records] == [True, False, False]
    assert "the sign is wrong" in records[1]["message"] and "not yet done" in records[2]["message"]
