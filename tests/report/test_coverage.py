"""Reference coverage: units and whole words, frequency bands, numbers, capitals, negations, unknown words."""

import numpy as np
import pytest

from minnmt.errors import UserError
from minnmt.report.coverage import (
    ALL,
    BAND_NAMES,
    KINDS,
    NEGATIONS,
    frequency_band,
    negation_words,
    reference_coverage,
    word_kinds,
)
from minnmt.text.bpe import BPE
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import EOS, UNK, Vocab

NUMBERS, FIRST, ELSEWHERE, NEGATED = KINDS
VOCAB = Vocab(["eos", "UNK", "the", "not", "Dog", "7,5", "“￭", "￭'t", "barks", "Rex"])


def listed(*words):
    return np.array([EOS, UNK, *sorted(VOCAB.encode(words))])


def counted(lines, lists, pipeline=None, negations=frozenset({"not", "'t"})):
    """name -> (units, covered, words, covered) for the rows that have any, and the Coverage."""
    pipeline = pipeline or Pipeline(VOCAB, pretokenized=True)
    found = reference_coverage([pipeline.units(line) for line in lines], lists, pipeline, negations)
    rows = {r.name: (r.units, r.units_covered, r.words, r.words_covered) for r in found.rows if r.units}
    return rows, found


def test_each_sentence_has_its_own_list():
    rows, _ = counted(["the barks", "the barks"], [listed("the"), listed("barks", "Dog")])
    assert rows == {ALL: (4, 2, 4, 2), BAND_NAMES[0]: (4, 2, 4, 2)}


def test_kinds_of_words():
    rows, _ = counted(["“￭ Dog Rex 7,5 not", "Rex ￭'t"], [listed("Dog", "not"), listed("￭'t")])
    assert rows[FIRST] == (2, 1, 2, 1)  # Dog, behind a quotation mark, and the second line's Rex
    assert rows[ELSEWHERE] == (1, 0, 1, 0)
    assert rows[NUMBERS] == (1, 0, 1, 0)
    assert rows[NEGATED] == (2, 2, 2, 2)
    assert rows[ALL] == (7, 3, 7, 3)


def test_unknown_words_are_in_no_row():
    rows, found = counted(["the zebra Okapi barks"], [listed("the")])
    assert (found.unknown_units, found.unknown_words) == (2, 2)
    assert rows == {ALL: (2, 1, 2, 1), BAND_NAMES[0]: (2, 1, 2, 1)}


def test_a_word_of_several_units_needs_all_of_them():
    vocab = Vocab(["eos", "UNK", "a@@", "b@@", "c", "N@@", "o"])
    pipeline = Pipeline(vocab, BPE([]), pretokenized=True)  # no merges: every character is a unit
    everything, lacks_b = np.arange(7), np.array([0, 1, 2, 4, 5, 6])
    rows, found = counted(["abc No axc", "abc"], [everything, lacks_b], pipeline, {"no"})
    assert rows[ALL] == (10, 9, 3, 2)  # the known units of axc count, the word does not
    assert (found.unknown_units, found.unknown_words) == (1, 1)
    assert rows[NEGATED] == rows[ELSEWHERE] == (2, 2, 1, 1)  # No: its units have the kinds of their word


def test_a_words_band_is_that_of_its_rarest_unit():
    words = [f"{n}@@" if n < 500 else str(n) for n in range(2, 1500)]
    pipeline = Pipeline(Vocab(["eos", "UNK", *words]), BPE([]))
    found = reference_coverage([["5@@", "1200", "7@@", "600"]], [np.arange(1000)], pipeline, frozenset())
    rows = {r.name: (r.units, r.units_covered, r.words, r.words_covered) for r in found.rows}
    assert rows[BAND_NAMES[0]] == (2, 2, 0, 0)
    assert rows[BAND_NAMES[1]] == (1, 1, 1, 1)
    assert rows[BAND_NAMES[2]] == (1, 0, 1, 0)
    assert rows[BAND_NAMES[3]] == (0, 0, 0, 0)


@pytest.mark.parametrize("rank, band", [(1, 0), (100, 0), (101, 1), (1000, 1), (1001, 2), (5000, 2), (5001, 3)])
def test_where_bands_begin_and_end(rank, band):
    assert frequency_band(UNK + rank) == BAND_NAMES[band]


@pytest.mark.parametrize(
    "spelling, kinds",
    [
        ("dog", []), ("Dog", [ELSEWHERE]), ("￭Éclair", [ELSEWHERE]), ("iPhone", []), ("B52", [NUMBERS, ELSEWHERE]),
        ("￭.", []), ("1990s", [NUMBERS]), ("No", [ELSEWHERE, NEGATED]), ("￭’t", [NEGATED]), ("cannot", [NEGATED]),
        ("nothing", [NEGATED]), ("know", []),
    ],
)  # fmt: skip
def test_the_kinds_of_a_word(spelling, kinds):
    assert word_kinds(spelling, False, negation_words("en")) == kinds


def test_negations_of_a_language_of_all_or_of_a_file(tmp_path):
    assert "nicht" in negation_words("de") and "not" not in negation_words("de")
    assert set().union(*map(negation_words, NEGATIONS)) == negation_words()
    (tmp_path / "words").write_text("Ikke\n\n ingen \n")
    assert negation_words(tmp_path / "words") == {"ikke", "ingen"}
    with pytest.raises(UserError, match="nowhere"):
        negation_words(tmp_path / "nowhere")


def test_no_references():
    rows, found = counted([], [])
    assert rows == {} and found.unknown_units == 0 and len(found.rows) == 1 + len(BAND_NAMES) + len(KINDS)
