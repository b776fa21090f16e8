"""BPE: codes, files and segmentations must be those of subword-nmt. Notebook 00 teaches the code."""

import io
import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.errors import UserError
from minnmt.text.bpe import (
    BPE,
    count_words,
    format_codes,
    join_units,
    learn_bpe,
    read_codes,
    unit_words,
)

# Few letters make many ties and overlaps; parts of "</w>" and the backslash might be taken for the mark.
ALPHABETS = ["ab", "abc", "a</w\\", "aé￭@'中"]
WORDS = st.sampled_from(ALPHABETS).flatmap(
    lambda ab: st.dictionaries(st.text(ab, min_size=1, max_size=14), st.integers(1, 30), max_size=40)
)


@pytest.fixture(scope="module")
def subword_nmt():
    """The reference package, without its progress bar."""
    from subword_nmt import apply_bpe, learn_bpe

    class Reference:
        @staticmethod
        def learn(text, n_merges, min_frequency=2):
            codes = io.StringIO()
            learn_bpe.learn_bpe(io.StringIO(text), codes, n_merges, min_frequency)
            return codes

        @staticmethod
        def segment(codes, tokens):
            return apply_bpe.BPE(codes).segment_tokens(tokens)

    patch = pytest.MonkeyPatch()
    patch.setattr(learn_bpe, "tqdm", lambda steps: steps)
    yield Reference
    patch.undo()


def as_text(word_counts):
    return "\n".join(" ".join([word] * count) for word, count in word_counts.items())


def made_up_text(seed, syllables, n_lines=400):
    """Lines of words with a Zipf-like spread of frequencies, put together from syllables."""
    rng = random.Random(seed)
    words = ["".join(rng.choices(syllables, k=rng.randint(1, 4))) for _ in range(1500)]
    weights = [1 / rank for rank in range(1, len(words) + 1)]
    return "\n".join(" ".join(rng.choices(words, weights, k=12)) + " ￭." for _ in range(n_lines)) + "\n"


GERMAN = ["ge", "be", "ver", "hund", "lauf", "schön", "en", "er", "ung", "straß", "e", "t"]
ENGLISH = ["un", "re", "dog", "run", "ner", "ing", "ed", "street", "er", "e", "s"]
TEXTS = {
    "german": made_up_text(1, GERMAN),
    "english": made_up_text(2, ENGLISH),
    "shared": made_up_text(3, GERMAN) + made_up_text(4, ENGLISH),
}


@settings(max_examples=150, deadline=None)
@given(WORDS, st.integers(0, 300), st.sampled_from([2, 2, 1, 4]))
def test_learns_the_reference_codes(subword_nmt, word_counts, n_merges, min_frequency):
    merges = learn_bpe(word_counts, n_merges, min_frequency)
    if all(len(word) == 1 for word in word_counts):
        assert merges == []  # there are no pairs; the reference crashes
    else:
        expected = subword_nmt.learn(as_text(word_counts), n_merges, min_frequency)
        assert format_codes(merges) == expected.getvalue()


def test_long_runs_of_two_letters(subword_nmt):
    """Hundreds of merges with overlapping pairs (a a a) in nearly every word."""
    for seed in range(6):
        rng = random.Random(seed)
        words = Counter("".join(rng.choices("ab", k=rng.randint(1, 40))) for _ in range(200))
        assert format_codes(learn_bpe(words, 1000)) == subword_nmt.learn(as_text(words), 1000).getvalue(), seed


@pytest.mark.parametrize("name", TEXTS)
def test_same_codes_and_units_on_a_longer_text(subword_nmt, name):
    text = TEXTS[name]
    merges = learn_bpe(count_words(text.splitlines(keepends=True)), 1200)
    codes = subword_nmt.learn(text, 1200)
    assert len(merges) > 300
    assert format_codes(merges) == codes.getvalue()
    bpe = BPE(merges[:200])
    some_codes = io.StringIO(format_codes(merges[:200]))
    tokens = TEXTS["shared"].split()
    assert bpe.segment(tokens) == subword_nmt.segment(some_codes, tokens)
    assert join_units(bpe.segment(tokens)) == tokens


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(*[st.text("ab", min_size=1, max_size=3)] * 2), min_size=1, max_size=20),
    st.lists(st.text("abc", max_size=10)),
    st.booleans(),
)
def test_segments_as_the_reference_for_any_codes(subword_nmt, merges, tokens, final):
    """Also for codes that nobody learned: out of order, repeated, impossible."""
    if final:
        merges = merges + [(first, second + "</w>") for first, second in merges]
    expected = subword_nmt.segment(io.StringIO(format_codes(merges)), tokens)
    bpe = BPE(merges)
    assert bpe.segment(tokens) == expected
    assert bpe.segment(tokens) == expected, "the second time, from the cache"


def test_ties_go_to_the_last_pair_in_the_order_of_characters():
    merges = learn_bpe({"ab": 5, "cd": 5, "xy": 4, "c": 9}, 3)
    assert merges == [("c", "d</w>"), ("a", "b</w>"), ("x", "y</w>")]
    assert learn_bpe({"ab": 5, "cd": 1}, 9) == [("a", "b</w>")], "a pair seen once is not merged"
    assert learn_bpe({}, 5) == learn_bpe({"a": 3}, 5) == learn_bpe({"ab": 3}, 0) == []


def test_count_words(subword_nmt):
    from subword_nmt.learn_bpe import get_vocabulary

    lines = ["a b  a\n", "\n", "   \r\n", " c\tc b \r\n", "", "a\u00a0a b"]
    assert count_words(lines) == {"a": 2, "b": 3, "c\tc": 1, "a\u00a0a": 1}
    assert count_words(lines) == get_vocabulary(lines)


def test_segment_and_join_by_hand():
    bpe = BPE([("l", "o"), ("lo", "w</w>"), ("e", "r</w>"), ("lo", "w")])
    units = bpe.segment(["low", "lower", "", "x", "lo"])
    assert units == ["low", "low@@", "er", "x", "l@@", "o"]
    assert unit_words(units) == [0, 1, 1, 2, 3, 3]
    assert join_units(units) == ["low", "lower", "x", "lo"]


def test_a_repeated_pair_keeps_its_first_rank():
    assert BPE([("a", "b"), ("b", "c"), ("a", "b")]).segment(["abcd"]) == ["ab@@", "c@@", "d"]


def test_a_word_left_open_at_the_end_is_closed():
    assert join_units(["a", "lo@@"]) == ["a", "lo"]
    assert join_units(["@@"]) == join_units([]) == []
    assert unit_words(["a", "lo@@"]) == [0, 1] and unit_words([]) == []


@given(st.lists(st.text("ab@￭", min_size=1).filter(lambda token: not token.endswith("@@"))))
def test_join_undoes_segment(tokens):
    units = BPE([("a", "b"), ("@", "@"), ("b", "@</w>")]).segment(tokens)
    assert join_units(units) == tokens
    glued = [""] * len(tokens)
    for unit, word in zip(units, unit_words(units), strict=True):
        glued[word] += unit.removesuffix("@@")
    assert glued == tokens


def test_files_go_both_ways(subword_nmt, tmp_path):
    codes = subword_nmt.learn(TEXTS["german"], 100)
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.write_text(codes.getvalue(), encoding="utf-8", newline="\n")
    merges = learn_bpe(count_words(TEXTS["german"].split("\n")), 100)
    ours.write_text(format_codes(merges), encoding="utf-8", newline="")
    assert ours.read_bytes() == theirs.read_bytes()
    assert read_codes(theirs) == read_codes(str(ours)) == merges
    tokens = TEXTS["german"].split()
    with open(ours, encoding="utf-8") as file:
        assert subword_nmt.segment(file, tokens) == BPE(read_codes(theirs)).segment(tokens)


def test_codes_without_merges_and_with_windows_line_ends(tmp_path):
    (tmp_path / "empty").write_text(format_codes([]))
    assert read_codes(tmp_path / "empty") == []
    (tmp_path / "windows").write_bytes("#version: 0.2\r\nä b</w>\r\n".encode())
    assert read_codes(tmp_path / "windows") == [("ä", "b</w>")]


@pytest.mark.parametrize(
    "content, line, what",
    [
        (b"", 1, "must begin with"),
        (b"a b\n", 1, "must begin with"),
        (b"#version: 0.1\na b\n", 1, "must begin with"),
        (b"#version: 0.2\na b\nab\n", 3, "two symbols"),
        (b"#version: 0.2\na b c\n", 2, "two symbols"),
        (b"#version: 0.2\na  b\n", 2, "two symbols"),
        (b"#version: 0.2\n\na b\n", 2, "two symbols"),
        (b"#version: 0.2\na b\n\xff c\n", 3, "UTF-8"),
    ],
)
def test_damaged_codes_are_refused(tmp_path, content, line, what):
    path = tmp_path / "codes"
    path.write_bytes(content)
    with pytest.raises(UserError, match=what) as caught:
        read_codes(path)
    assert f"{path}, line {line}: " in str(caught.value)


def test_missing_codes_are_a_user_error(tmp_path):
    with pytest.raises(UserError, match="nowhere"):
        read_codes(tmp_path / "nowhere")
