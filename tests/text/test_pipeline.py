"""Raw line -> ids -> raw line, with and without BPE and tokenizer, learned, saved and loaded."""

import pytest

from minnmt.errors import UserError
from minnmt.text.pipeline import Pipeline, learn_pipelines
from minnmt.text.vocab import UNK

SRC = ["Der Hund (er heißt Rex) bellt, laut!", "Die Katze schläft nicht."] * 3
TRG = ["The dog (his name's Rex) barks, loudly!", "The cat doesn't sleep."] * 3


@pytest.mark.parametrize("n_merges", [0, 30])
@pytest.mark.parametrize("shared", [False, True])
def test_training_lines_come_back(n_merges, shared):
    src, trg = learn_pipelines(SRC, TRG, n_merges, shared=shared)
    for pipeline, lines in ((src, SRC), (trg, TRG)):
        for line in lines:
            ids = pipeline.ids(line)
            assert UNK not in ids and pipeline.text(ids) == line
    assert (src.vocab.words == trg.vocab.words) == shared


def test_bpe_makes_units_and_the_tokenizer_words():
    words, units = (learn_pipelines(SRC, TRG, n)[0] for n in (0, 5))
    assert words.units("Der Hund.") == ["Der", "Hund", "￭."]
    assert len(units.units("Der Hund.")) > 3


def test_pretokenized_text_is_cut_at_spaces_only():
    src, _ = learn_pipelines(["don't stop , please"], ["x"], pretokenized=True)
    assert src.units("  don't  stop , please ") == ["don't", "stop", ",", "please"]
    assert src.text(src.ids("don't stop , please")) == "don't stop , please"


def test_the_vocabulary_limit_makes_unknown_words():
    src, _ = learn_pipelines(SRC, TRG, vocab_size=4)
    assert len(src.vocab) == 4 and src.ids(SRC[0]).count(UNK) > 3


@pytest.mark.parametrize("n_merges", [0, 30])
def test_saved_and_loaded(tmp_path, n_merges):
    src, _ = learn_pipelines(SRC, TRG, n_merges)
    src.save(tmp_path, "src")
    assert (tmp_path / "bpe.src.codes").exists() == bool(n_merges)
    loaded = Pipeline.load(tmp_path / "vocab.src.json", tmp_path / "bpe.src.codes" if n_merges else None)
    for line in [*SRC, "Ein unbekanntes Wörterungetüm"]:
        assert loaded.ids(line) == src.ids(line)


def test_codes_that_were_asked_for_must_exist(tmp_path):
    learn_pipelines(SRC, TRG)[0].save(tmp_path, "src")
    with pytest.raises(UserError, match="typo.codes"):
        Pipeline.load(tmp_path / "vocab.src.json", tmp_path / "typo.codes")
