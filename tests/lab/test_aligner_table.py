"""Attention beside an aligner: kinds of words, and what one list has alone, on a vocabulary made by hand."""

import numpy as np
import pytest

from minnmt.align.candidates import Candidates
from minnmt.lab.reproduce.aligner_table import Comparison
from minnmt.lab.reproduce.word_parts import WordParts
from minnmt.model.directory import Model
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import Vocab

TRG = "eos UNK the ￭. house houses Houses London will Will party part un@@ 1990 housing ￭'s".split()
SRC = "eos UNK das Haus London".split()
DAS, HAUS, LONDON = 2, 3, 4


@pytest.mark.parametrize(
    "word, part",
    [
        ("the", "function words"), ("￭'s", "function words"), ("will", "function words"), ("Will", "function words"),
        ("￭.", "marks and numbers"), ("1990", "marks and numbers"), ("house", "other words"),
        ("houses", "inflections"), ("housing", "inflections"), ("London", "names"), ("un@@", "pieces of words"),
        ("Houses", "inflections"), ("party", "other words"), ("part", "inflections"),
    ],
)  # fmt: skip
def test_parts(word, part):
    assert WordParts(Vocab(TRG)).part(TRG.index(word)) == part


def table(rows):
    """{source id: target words, best first} -> Candidates."""
    lists = [[TRG.index(word) for word in rows.get(f, "").split()] for f in range(len(SRC))]
    indptr = np.concatenate([[0], np.cumsum([len(ids) for ids in lists])])
    ids = np.array([i for ids in lists for i in ids], np.int32)
    return Candidates(indptr, ids, np.linspace(1, 0.1, len(ids)).astype(np.float32), len(TRG))


@pytest.fixture
def comparison():
    model = Model(None, Pipeline(Vocab(SRC)), Pipeline(Vocab(TRG)), {})
    attention = table({DAS: "the house", HAUS: "house houses", LONDON: "London"})
    aligner = table({DAS: "the ￭.", HAUS: "house", LONDON: "London"})
    return Comparison(model, {"scratch": attention, "fastalign": aligner})


def test_lists_and_references(comparison):
    """das Haus, the houses. London"""
    comparison.add([DAS, HAUS], [TRG.index(w) for w in "the houses ￭. London".split()] + [1])
    comparison.add([], [2])  # a blank line takes no part
    found = comparison.record()
    assert found["sentences"] == 1
    assert found["rows"]["all"]["lists"] == {"both": 4, "scratch": 1, "fastalign": 1}  # with eos and UNK in both
    assert found["list"] == {"both": 4, "scratch": 5, "fastalign": 5}
    assert found["candidates"] == {"scratch": 2.5, "fastalign": 2.5}
    assert found["rows"]["all"]["references"] == {"both": 1, "scratch": 1, "fastalign": 1, "neither": 1}
    assert found["rows"]["inflections"]["references"]["scratch"] == 1
    assert found["rows"]["names"]["references"]["neither"] == 1
    assert found["of_word"] == {"both": 1.0, "scratch": 2.0, "fastalign": 1.5}
    assert found["brought"]["inflections"]["scratch"] == ["Haus → houses"]
    assert found["brought"]["marks and numbers"]["fastalign"] == ["das → ."]


def test_parts_and_frequencies_add_up(comparison):
    comparison.add([DAS, HAUS, LONDON], list(range(2, len(TRG))))
    rows = comparison.record()["rows"]
    for what in ("lists", "references"):
        for kinds in (list(rows)[1:7], list(rows)[7:]):
            for who, total in rows["all"][what].items():
                assert sum(rows[kind][what][who] for kind in kinds) == total


def test_examples(comparison):
    comparison.add([DAS, HAUS, HAUS], [2])
    examples = {example["word"]: example for example in comparison.examples()}
    assert examples["Haus"] == {"word": "Haus", "both": 1, "alone": {"scratch": ["houses"], "fastalign": []}}
    assert examples["das"]["alone"] == {"scratch": ["house"], "fastalign": ["."]}
