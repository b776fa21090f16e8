"""Engines beside each other: what is counted and said; and what 8 bits cost a model that has learned something."""

import json

import pytest

from minnmt.report.engines import WIDTH, compare_engines, engines_record, format_engines
from minnmt.search.beam import Hypothesis
from minnmt.search.packed import instruction
from minnmt.search.translate import Translation
from minnmt.text.parallel import Split
from tests.conftest import run_cli

SPLIT = Split(["ein Haus", "", "zwei", "drei"], ["a house on the hill", "", "two", "three"], name="here")


def translations(*texts_and_scores):
    found = []
    for text, score in texts_and_scores:
        hypothesis = Hypothesis([2], score, score, None)
        found.append(Translation(["x"], [text], [hypothesis]) if text else Translation([], [], []))
    return found


def compared(split=SPLIT):
    ours = translations(("a house on the hill", -1.0), ("", 0), ("two", -0.5), ("free " * 30, -2.0))
    theirs = translations(("a house on the hill", -1.25), ("", 0), ("two", -0.5), ("three", -2.5))
    return compare_engines(split, ("int8 (X)", ours, 1.0), ("float32", theirs, 2.0))


def test_what_is_counted():
    found = compared()
    assert (found.lines, found.sentences, found.identical) == (4, 3, 2)
    assert found.score_apart == 0.25  # of those that are identical
    assert [(d["line"], d["against"]) for d in found.differing] == [(4, "three")]
    ours, theirs = found.scores["BLEU"]
    assert ours < theirs and found.bleu.value == pytest.approx(ours - theirs)


def test_what_is_said():
    text = format_engines(compared(), "all words")
    assert text.startswith("What int8 (X) changes, against float32: all words")
    pieces = "2 of 3 (66.67 %)", "1.00 s against 2.00 s", "0.2500 at most", "BLEU, difference", "differ (1 of 1)"
    assert [piece for piece in pieces if piece not in text] == []
    assert max(map(len, text.splitlines())) <= WIDTH
    assert json.loads(json.dumps(engines_record(compared()), allow_nan=False))["identical_share"] == 2 / 3


def test_without_references():
    found = compared(Split(SPLIT.src, None))
    assert found.scores is None and "BLEU" not in format_engines(found, "all words")
    assert "scores" not in engines_record(found)


@pytest.mark.slow
@pytest.mark.skipif(not instruction(), reason="decoding takes float32 here")
def test_8_bits_cost_a_trained_model_little(tmp_path):
    """BLEU moves by less than 0.2, and at least 95 % of the outputs are those of float32; with and without lists."""
    run = tmp_path / "run"
    done = run_cli("train", "-o", run, "--epochs", 3)
    assert done.code == 0, done.err
    for topn in (0, 100):
        done = run_cli("audit", "-m", run, "--against", "float32", "--topn", topn, "--json")
        assert done.code == 0, done.err
        found = json.loads(done.out)
        assert found["engine"].startswith("int8") and found["against"] == "float32"
        assert found["scores"]["BLEU"][1] > 40  # it has learned something
        assert abs(found["bleu"]["value"]) < 0.2 and found["identical_share"] >= 0.95, found["bleu"]
