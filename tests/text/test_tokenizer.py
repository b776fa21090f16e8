"""The tokenizer: its rules by example, and the round trip of any string. Notebook 00 teaches the code."""

from itertools import pairwise

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from minnmt.text.tokenizer import ESCAPE, JOINER, detokenize, tokenize

EXAMPLES = {
    "": "",
    " \t\u00a0\u3000 ": "",
    "Hallo, Welt!": "Hallo ￭, Welt ￭!",
    "(foo)": "(￭ foo ￭)",
    "foo(bar": "foo ￭(￭ bar",
    "twenty-three": "twenty ￭-￭ three",
    "a - b": "a - b",
    "Wait...": "Wait ￭. ￭. ￭.",
    "...": ". ￭. ￭.",
    '"Ja."': '"￭ Ja ￭. ￭"',
    "dog's": "dog ￭'s",
    "don’t": "don ￭’t",
    "rock'n'roll": "rock ￭'n ￭'roll",
    "the 90's": "the 90 ￭'s",
    "dogs' 'tis 5'10": "dogs ￭' '￭ tis 5 ￭'￭ 10",
    "3,000.50 at 10:30.": "3,000.50 at 10:30 ￭.",
    "3,x x,3 .5 1..2": "3 ￭,￭ x x ￭,￭ 3 .￭ 5 1 ￭. ￭.￭ 2",
    "snake_case": "snake ￭_￭ case",
    "user@@example": "user ￭@ ￭@￭ example",
    "cafe\u0301s Öl": "cafe\u0301s Öl",
    "नमस्ते।": "नमस्ते ￭।",
    "ok ❤\ufe0f!": "ok ❤\ufe0f ￭!",
}

# Characters that the rules treat specially, so that hypothesis meets their combinations.
TRICKY = st.text(
    alphabet=f"ab1_.,:'’-@({JOINER}{ESCAPE}| \t\n\u00a0\u2028\u0301\u200d\ufe0f👩é中ि\x1c\x85\ud800"
)


@pytest.mark.parametrize("line", EXAMPLES)
def test_examples(line):
    assert tokenize(line) == EXAMPLES[line].split(" " if line.strip() else None)


@settings(max_examples=500)
@given(st.one_of(TRICKY, st.text()))
@example(f"{JOINER}{JOINER} {ESCAPE}| {ESCAPE}{JOINER}x {JOINER}")
def test_round_trip_of_any_string(line):
    tokens = tokenize(line)
    assert detokenize(tokens) == " ".join(line.split())
    assert all(token and token.split() == [token] for token in tokens)


@settings(max_examples=300)
@given(st.one_of(TRICKY, st.text()))
def test_marks_sit_on_the_edges_of_punctuation(line):
    tokens = tokenize(line)
    for left, right in pairwise(tokens):
        assert not (left.endswith(JOINER) and right.startswith(JOINER)), "one mark for one missing space"
    for token in tokens:
        bare = token.removeprefix(JOINER).removesuffix(JOINER)
        assert bare and JOINER not in bare
        assert bare == token or not bare[0].isalnum(), "words carry no mark"


@given(st.lists(st.sampled_from(["a", "￭,", "(￭", "￭-￭", "￭", "￭￭", "￬", "b￭c"])))
def test_detokenize_accepts_what_a_model_may_produce(tokens):
    line = detokenize(tokens)
    assert JOINER not in line and line == line.strip()


def test_stray_marks_glue():
    assert detokenize(["￭,", "a", "(￭", "￭-", "b", "￭"]) == ", a (- b"
