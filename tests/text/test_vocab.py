"""Vocabularies: order, limits, unknown words, specials, and files that are no vocabulary."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from minnmt.errors import UserError
from minnmt.text.vocab import EOS, UNK, Vocab, count_tokens

COUNTS = {"the": 5, "b": 2, "a": 2, "rare": 1, "eos": 9, "UNK": 9}


def test_words_by_descending_frequency_after_the_specials():
    assert Vocab.from_counts(COUNTS).words == ["eos", "UNK", "the", "a", "b", "rare"]


@pytest.mark.parametrize("limit, words", [(4, ["the", "a"]), (2, []), (1, []), (99, ["the", "a", "b", "rare"])])
def test_the_limit_counts_the_specials(limit, words):
    assert Vocab.from_counts(COUNTS, limit).words[2:] == words


def test_unknown_words_and_words_spelled_like_specials():
    vocab = Vocab.from_counts(COUNTS)
    assert vocab.encode(["the", "nowhere", "eos", "UNK", "rare"]) == [2, UNK, UNK, UNK, 5]
    assert vocab.decode([2, UNK, EOS, 5]) == ["the", "UNK", "rare"]


@given(st.lists(st.lists(st.text(min_size=1, max_size=5), max_size=6), max_size=6))
def test_known_words_survive_the_way_to_ids_and_back(sentences):
    vocab = Vocab.from_counts(count_tokens(sentences))
    for tokens in sentences:
        expected = ["UNK" if token in ("eos", "UNK") else token for token in tokens]
        assert vocab.decode(vocab.encode(tokens)) == expected


def test_the_file_is_nematus_json(tmp_path):
    vocab = Vocab.from_counts({"größe": 3, '"': 2, "\\": 1})
    vocab.save(tmp_path / "v.json")
    assert json.loads((tmp_path / "v.json").read_text("utf-8")) == {"eos": 0, "UNK": 1, "größe": 2, '"': 3, "\\": 4}
    assert Vocab.load(tmp_path / "v.json").words == vocab.words


@pytest.mark.parametrize("specials", [("eos", "UNK"), ("</s>", "<unk>"), ("<EOS>", "<UNK>")])
def test_the_specials_of_other_toolkits_are_read(tmp_path, specials):
    (tmp_path / "v.json").write_text(json.dumps({specials[0]: 0, specials[1]: 1, "a": 2}))
    assert Vocab.load(tmp_path / "v.json").encode(["a", "x"]) == [2, UNK]


def test_nematus_sizes():
    vocab = Vocab(["eos", "UNK", "a", "b"])
    assert vocab.resized(3).encode(["a", "b"]) == [2, UNK]
    assert len(vocab.resized(6)) == 6 and vocab.resized(6).decode([5]) == ["UNK"]
    assert vocab.resized(6).encode(["UNK"]) == [UNK]
    assert Vocab(["<EOS>", "<UNK>", "a"]).resized(5).encode(["UNK", "<UNK>", "a"]) == [UNK, UNK, 2]


@pytest.mark.parametrize(
    "text, complaint",
    [
        ('{"eos": 0,\n "UNK": 1,,}', "line 2: not JSON"),
        ("", "line 1: not JSON"),
        ('["eos", "UNK"]', "maps words to whole numbers"),
        ('{"eos": 0, "UNK": 1, "a": "2"}', "maps words to whole numbers"),
        ('{"eos": 0, "UNK": 1, "a": 2.0}', "maps words to whole numbers"),
        ('{"eos": 0, "UNK": 1, "a": true}', "maps words to whole numbers"),
        ('{"eos": 0, "UNK": 1, "a": 3}', "no gap"),
        ('{"eos": 0, "UNK": 1, "a": 2, "b": 2}', "none twice"),
        ('{"a": 0, "UNK": 1}', "id 0 must be the end of sentence.*found 'a'"),
        ('{"eos": 0, "a": 1}', "id 1 must be the unknown word.*found 'a'"),
        ('{"eos": 0}', "id 1 must be the unknown word.*found nothing"),
        ("{}", "id 0 must be"),
        ("[" * 100_000, "v.json"),
        ('{"eos": ' + "1" * 5000 + "}", "v.json"),
    ],
)
def test_files_that_are_no_vocabulary(tmp_path, text, complaint):
    (tmp_path / "v.json").write_text(text)
    with pytest.raises(UserError, match=complaint) as error:
        Vocab.load(tmp_path / "v.json")
    assert "v.json" in str(error.value)


def test_a_long_word_is_not_quoted_in_full(tmp_path):
    (tmp_path / "v.json").write_text(json.dumps({"x" * 100_000: 0, "UNK": 1}))
    with pytest.raises(UserError, match="id 0 must be") as error:
        Vocab.load(tmp_path / "v.json")
    assert len(str(error.value)) < 500


@pytest.mark.parametrize("word", ["a\\nb", "\\ud800"])
def test_words_that_no_line_of_text_can_hold_are_refused(tmp_path, word):
    """A newline in a translation would be two lines out for one line in; a lone surrogate cannot be written."""
    (tmp_path / "v.json").write_text('{"eos": 0, "UNK": 1, "' + word + '": 2}')
    with pytest.raises(UserError, match="v.json"):
        Vocab.load(tmp_path / "v.json")
