"""Words for UNK: copied or translated, by hand-made attention, in a search, and from the command line."""

import json

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.model.directory import Model, load_model
from minnmt.search.beam import Hypothesis, SearchSettings
from minnmt.search.translate import translate
from minnmt.search.unknown import Replacer
from minnmt.text.bpe import BPE
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import EOS, UNK, Vocab
from tests.cli.test_bad_input import refused
from tests.conftest import TINY, random_parameters, run_cli, write_toy_text

SRC = ["eos", "UNK", "das", "Haus", "ist", "rot", "￭."]
TRG = ["eos", "UNK", "the", "house", "is", "red", "￭."]
LINE = ["das", "Haus", "ist", "xylophil", "￭."]  # the fourth is unknown
THE, HOUSE, IS, RED, STOP = range(2, 7)


@pytest.fixture
def model():
    return Model(None, Pipeline(Vocab(SRC)), Pipeline(Vocab(TRG)), {})


def looking_at(*positions, n_src=5):
    """Attention (T,S) of words that look at these source positions, and eos' own."""
    alpha = np.full((len(positions) + 1, n_src + 1), 0.01)
    alpha[np.arange(len(positions)), positions] = 0.9
    return alpha


def hypothesis(ids, alpha):
    return Hypothesis(ids, -1.0, -1.0, alpha)


def table(*cells, n_src=7, n_trg=7):
    """Cells (source id, target id, weight) -> Counts."""
    src, trg, weights = zip(*cells) if cells else ((), (), ())
    return Counts.from_cells(np.array(src, int), np.array(trg, int), np.array(weights, float), n_src, n_trg)


def text(model, ids, alpha, counts=None, src=LINE):
    return Replacer(model, counts).text(hypothesis(ids, alpha), src)


def test_the_source_word_is_copied(model):
    assert text(model, [THE, HOUSE, IS, UNK, STOP], looking_at(0, 1, 2, 3, 4)) == "the house is xylophil."


def test_known_words_stay_wherever_they_look(model):
    assert text(model, [THE, RED], looking_at(3, 3)) == "the red"
    assert text(model, [], looking_at()) == ""


def test_several_unknown_words_each_look_for_themselves(model):
    assert text(model, [UNK, UNK, IS, UNK], looking_at(3, 1, 2, 3)) == "xylophil Haus is xylophil"


def test_every_word_has_its_own_row_of_attention(model):
    """Not the row of its neighbour, nor that of eos at the end."""
    assert text(model, [THE, UNK, THE], looking_at(0, 3, 1)) == "the xylophil the"


def test_eos_never_stands_in(model):
    alpha = looking_at(5)
    alpha[0, 1] = 0.05  # the best of the real words
    assert text(model, [UNK], alpha) == "Haus"


def test_attention_without_a_favourite_goes_to_the_first_word(model):
    assert text(model, [UNK], np.full((2, 6), 1 / 6)) == "das"


def test_a_table_translates_a_known_word(model):
    counts = table((3, THE, 1.0), (3, HOUSE, 2.0), (2, RED, 9.0))
    assert text(model, [UNK], looking_at(1), counts) == "house"
    assert text(model, [UNK], looking_at(0), counts) == "red"


def test_ties_in_the_table_go_to_the_lower_id(model):
    assert text(model, [UNK], looking_at(1), table((3, RED, 2.0), (3, HOUSE, 2.0))) == "house"


def test_eos_and_unk_are_no_translations(model):
    counts = table((3, EOS, 9.0), (3, UNK, 8.0), (3, HOUSE, 0.1))
    assert text(model, [UNK], looking_at(1), counts) == "house"


@pytest.mark.parametrize("cells", [[], [(2, THE, 1.0)], [(3, EOS, 1.0)], [(3, UNK, 2.0), (3, EOS, 1.0)]])
def test_a_word_without_a_translation_is_copied(model, cells):
    assert text(model, [UNK], looking_at(1), table(*cells)) == "Haus"


def test_an_unknown_source_word_is_copied_whatever_the_row_of_unk_says(model):
    counts = table((UNK, HOUSE, 9.0), (3, RED, 1.0))
    assert text(model, [UNK, UNK], looking_at(3, 1), counts) == "xylophil red"
    assert text(model, [UNK], looking_at(0, n_src=2), counts, src=["UNK", "eos"]) == "UNK"  # a word spelled so


def test_a_copied_full_stop_is_joined_as_in_the_source(model):
    assert text(model, [HOUSE, UNK], looking_at(1, 4)) == "house."


def test_pretokenized_text_stays_in_tokens(model):
    model.trg.pretokenized = True
    assert text(model, [HOUSE, UNK], looking_at(1, 4)) == "house ￭."


def test_words_without_a_spelling_are_replaced_too(model):
    model.trg.vocab = model.trg.vocab.resized(9)
    assert text(model, [THE, 8], looking_at(0, 3)) == "the xylophil"
    assert text(model, [UNK], looking_at(1), table((3, 8, 2.0), n_trg=9)) == "Haus"


# BPE

UNITS = ["Zü@@", "ri@@", "ch", "liegt", "am", "Se@@", "e"]


@pytest.fixture
def bpe_model():
    """A model whose source does not know ri@@ and ch."""
    words = "eos UNK Zü@@ liegt am Se@@ e", "eos UNK lies@@ on la@@ ke"
    return Model(None, *(Pipeline(Vocab(side.split()), BPE([])) for side in words), {})


@pytest.mark.parametrize("place", [0, 1, 2, 3, 5, 6])
def test_a_whole_word_is_copied_not_a_unit(bpe_model, place):
    word = {0: "Zürich", 1: "Zürich", 2: "Zürich", 3: "liegt", 5: "See", 6: "See"}[place]
    assert text(bpe_model, [UNK, 3], looking_at(place, 4, n_src=7), src=UNITS) == f"{word} on"


def test_a_word_cut_off_at_the_end_of_the_line_is_copied(bpe_model):
    assert text(bpe_model, [UNK], looking_at(1, n_src=2), src=["Zü@@", "ri@@"]) == "Züri"


def test_a_translated_unit_does_not_swallow_the_next_word(bpe_model):
    counts = table((5, 4, 2.0), (5, 5, 1.0), n_src=7, n_trg=6)
    assert text(bpe_model, [UNK, 3], looking_at(5, 4, n_src=7), counts, src=UNITS) == "la on"


def test_a_word_that_ends_like_a_unit_is_whole_without_bpe(model):
    assert text(model, [UNK, THE], looking_at(0, 1, n_src=2), src=["wow@@", "das"]) == "wow@@ the"


# In a search


def test_every_hypothesis_of_an_n_best_list(rng):
    params = random_parameters(rng, len(SRC), len(TRG), embedding=6, hidden=8, dtype=np.float32)
    params.softmax.W *= 4
    params.softmax.b[UNK] += 3
    model = Model(params, Pipeline(Vocab(SRC)), Pipeline(Vocab(TRG)), {})
    lines = ["das Haus ist rot", "xylophil", "", "das ist Quatsch"]
    settings = SearchSettings(beam=4, n_best=3, max_length=5, keep_attention=True)
    counts = table((3, HOUSE, 1.0), (4, IS, 1.0))
    plain = translate(lines, model, settings)
    for replacer in (Replacer(model), Replacer(model, counts)):
        found = translate(lines, model, settings, batch_size=2, replacer=replacer)
        assert found[2].lines == [] and found[2].best == ""
        for line, before, after in zip(lines, plain, found):
            assert [h.ids for h in before.hypotheses] == [h.ids for h in after.hypotheses]  # the search is the same
            assert len(after.lines) == len(before.lines) == (3 if line else 0)
            assert not any("UNK" in words for words in after.lines)
        assert sum("UNK" in words for before in plain for words in before.lines) > 3


# From the command line


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """A run with so few words that it writes UNK all the time, and Model 1's table beside it."""
    directory = tmp_path_factory.mktemp("unknown")
    options = [*write_toy_text(directory), "--bpe", 0, "--vocab-size", 7, "--epochs", 3, "--align-from-epoch", 1]
    assert run_cli("train", *options, "-o", directory / "run", *TINY).code == 0
    assert run_cli("align", "-m", directory / "run", "--method", "model1").code == 0
    return directory / "run"


def decode(run, *options):
    """The test text's translations."""
    result = run_cli("decode", "-m", run, "--beam", 2, *options, stdin=(run.parent / "test.src").read_bytes())
    assert result.code == 0, result.err
    return result.out.splitlines()


@pytest.fixture(scope="module")
def plain(run, tmp_path_factory):
    """Lines with UNK -> [(source units, target units, attention)]."""
    path = tmp_path_factory.mktemp("weights") / "weights"
    assert sum("UNK" in line for line in decode(run, "--alignments", path, "--alignment-format", "weights")) > 5
    return [json.loads(line) for line in path.read_text().splitlines()]


def expected_lines(run, plain, row=None):
    """What should come out, worked out from the written attention; row(source id) -> {target id: weight} or None."""
    model = load_model(run)
    lines = []
    for record in plain:
        units = []
        for unit, weights in zip(record["trg"][:-1], record["weights"]):
            source = record["src"][int(np.argmax(weights[:-1]))]
            src_id = model.src.vocab.encode([source])[0]
            known = {i: w for i, w in row(src_id).items() if i > UNK} if row and src_id != UNK else {}
            best = model.trg.vocab.words[max(known, key=known.get)] if known else source
            units.append(best if unit == "UNK" else unit)
        lines.append(model.trg.join(units))
    return lines


def row_of(path):
    counts = Counts.load(path)
    return lambda src_id: dict(zip(*(array.tolist() for array in counts.row(src_id))))


def test_copied(run, plain):
    found = decode(run, "--replace-unk", "copy")
    assert found == expected_lines(run, plain) and not any("UNK" in line for line in found)


def test_translated_by_the_models_own_counts(run, plain):
    found = decode(run, "--replace-unk", "table")
    assert found == expected_lines(run, plain, row_of(run / "alignments.npz"))
    assert found == decode(run, "--replace-unk", run / "alignments.npz") != decode(run, "--replace-unk", "copy")


@pytest.mark.parametrize("options", [["--replace-unk", "model1"], ["--replace-unk", "table", "--counts", "model1"]])
def test_translated_by_model_1(run, plain, options):
    assert decode(run, *options) == expected_lines(run, plain, row_of(run / "alignments.model1.npz"))


def test_with_a_list_and_n_best(run):
    found = [line.split(" ||| ") for line in decode(run, "--replace-unk", "copy", "--topn", 9, "--n-best", 2)]
    before = [line.split(" ||| ") for line in decode(run, "--topn", 9, "--n-best", 2)]
    assert [row[::2] for row in found] == [row[::2] for row in before]  # numbers and scores
    assert any("UNK" in row[1] for row in before) and not any("UNK" in row[1] for row in found)


def test_refused(run, tmp_path):
    decode = ["decode", "-m", run, "--replace-unk"]
    refused(1, "typo does not exist", "epoch1", "model1", arguments=[*decode, "typo"])
    refused(2, "frequent", arguments=[*decode, "table", "--counts", "frequent", "--topn", 5])
    refused(2, "--counts", "--topn", arguments=[*decode, "copy", "--counts", "epoch1"])
    (tmp_path / "text").write_text("eins")
    refused(1, "text", arguments=[*decode, tmp_path / "text"])


def test_a_dictionary_translates_words_that_the_model_does_not_know(model):
    words = Replacer(model, table((3, RED, 1.0)), {"xylophil": "woody", "Haus": "home"})
    found = words.text(hypothesis([UNK, UNK, UNK], looking_at(3, 1, 2)), LINE)
    assert found == "woody home ist"


def test_a_dictionary_has_whole_words(bpe_model):
    words = Replacer(bpe_model, dictionary={"Zürich": "Zurich"})
    assert words.text(hypothesis([UNK, 3], looking_at(2, 4, n_src=7)), UNITS) == "Zurich on"
