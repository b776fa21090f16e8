"""Raw lines to raw lines: order, blank and very long lines, unknown words, threads, the lines that are printed."""

import numpy as np
import pytest

from minnmt.model.directory import Model
from minnmt.search.beam import SearchSettings
from minnmt.search.translate import pharaoh_line, translate, weights_record
from minnmt.text.bpe import BPE
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import Vocab
from tests.conftest import random_parameters
from tests.search.conftest import WORDS


def best(translations):
    return [t.best for t in translations]


def test_answers_come_in_the_order_of_the_questions(model):
    lines = ["a b c d e f g", "a", "c d", "g f e", "b", "a b", "d d d d"]
    assert best(translate(lines, model, batch_size=3)) == [best(translate([line], model))[0] for line in lines]
    assert len(set(best(translate(lines, model)))) > 2  # or the order could not be seen


@pytest.mark.parametrize("blank", ["", "   ", "\t", " \u3000 "])
def test_a_blank_line_gives_a_blank_line(model, blank):
    assert best(translate(["a b", blank, "c"], model))[1] == ""
    assert best(translate([blank], model)) == [""]


def test_no_lines(model):
    assert translate([], model) == []


def test_unknown_words_are_all_the_same_unknown_word(model):
    known, other = translate(["a Xylophon b", "a Zug b"], model)
    assert known.best == other.best and known.src_units != other.src_units


def test_words_spelled_like_the_specials_are_unknown_words(model):
    special, unknown = translate(["a eos b", "a Zug b"], model)
    assert special.best == unknown.best


def test_a_very_long_line_among_short_ones(model):
    long_line = " ".join("abcdefg"[i % 7] for i in range(2000))
    settings = SearchSettings(beam=3, max_length=40)
    found = best(translate(["a b", long_line, "c"], model, settings))
    assert found[::2] == best(translate(["a b", "c"], model, settings))
    assert len(found[1].split()) <= 40


@pytest.mark.parametrize("batch_size", [1, 4])
def test_two_threads_translate_as_one_does(model, rng, batch_size):
    lines = [" ".join(rng.choice(list("abcdefg"), size=n)) for n in rng.integers(0, 12, size=30)]
    one, two = (best(translate(lines, model, batch_size=batch_size, n_threads=n)) for n in (1, 2))
    assert one == two


def test_n_best_lines_are_the_texts_of_the_hypotheses(model):
    found = translate(["a b c"], model, SearchSettings(beam=4, n_best=3))[0]
    assert len(found.lines) == len(found.hypotheses) == 3
    assert found.lines == [" ".join(WORDS[i] for i in h.ids) for h in found.hypotheses]


def test_pharaoh_links_stay_within_the_sentences(model):
    settings = SearchSettings(beam=2, max_length=5, keep_attention=True)
    for translation in translate(["a b c", "d", "e f"], model, settings):
        links = [tuple(map(int, link.split("-"))) for link in pharaoh_line(translation, model).split()]
        assert sorted(j for _, j in links) == list(range(len(translation.best.split())))
        assert all(0 <= i < len(translation.src_units) for i, _ in links)


def test_weights_are_labelled_with_units_and_eos(model):
    settings = SearchSettings(beam=2, max_length=5, keep_attention=True)
    record = weights_record(translate(["a b c"], model, settings)[0], model)
    assert record["src"] == ["a", "b", "c", "eos"] and record["trg"][-1] == "eos"
    assert np.shape(record["weights"]) == (len(record["trg"]), 4)
    np.testing.assert_allclose(np.sum(record["weights"], axis=1), 1, atol=1e-5)


def test_alignments_of_a_blank_line_are_blank(model):
    blank = translate([""], model, SearchSettings(keep_attention=True))[0]
    assert pharaoh_line(blank, model) == ""
    assert weights_record(blank, model) == {"src": [], "trg": [], "weights": []}


def test_pharaoh_links_count_words_not_bpe_units(rng):
    side = Pipeline(Vocab(["eos", "UNK", "a@@", "b", "c"]), BPE([]))
    params = random_parameters(rng, 5, 5, dtype=np.float32)
    params.softmax.W[:] = 0
    params.softmax.b[:] = [0, -50, 9, -50, -50]  # a@@ again and again: one open word
    model = Model(params, side, side, {})
    settings = SearchSettings(beam=1, max_length=3, keep_attention=True)
    translation = translate(["ab c"], model, settings)[0]
    assert translation.src_units == ["a@@", "b", "c"] and translation.best == "aaa"
    assert pharaoh_line(translation, model) in ("0-0", "1-0")
