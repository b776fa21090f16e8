"""Words that carry their alignment: the smallest piece of the generator.

A Word is one token of the finished line plus the link ids it was built with. A German and an English word are
aligned exactly when they share a link, so word order can be permuted freely and the gold alignment follows
by itself.
Left out: anything grammatical. One Word is always one token of minnmt.text.tokenizer.
"""

from functools import cache
from itertools import count
from typing import NamedTuple

from minnmt.text.tokenizer import JOINER, tokenize

CONTRACTED = ("im", "am", "ins", "zum", "zur", "vom", "beim")  # a preposition and an article in one word
_link_ids = count(1)  # ids only have to differ within a sentence; no output depends on their values


class Word(NamedTuple):
    text: str
    links: tuple[int, ...] = ()
    glued: bool = False  # no space before this token


class Piece(NamedTuple):
    """A German phrase and its English translation."""

    de: list[Word]
    en: list[Word]


def new_link() -> int:
    return next(_link_ids)


@cache
def _tokens(text: str) -> tuple[tuple[str, bool], ...]:
    """(token, glued to its left neighbour?) for each token of the text."""
    result, glue_next = [], False
    for token in tokenize(text):
        result.append((token.strip(JOINER), token.startswith(JOINER) or glue_next))
        glue_next = token.endswith(JOINER)
    return tuple(result)


def words(text: str, *links: int) -> list[Word]:
    """Every token of the text, all with the same links: twenty-three becomes three linked words."""
    return [Word(token, links, glued) for token, glued in _tokens(text)]


def paired(de: str, en: str) -> Piece:
    """A fixed expression and its translation: word by word when both are equally long, else as one block."""
    de_tokens, en_tokens = _tokens(de), _tokens(en)
    links = [(new_link(),) for _ in en_tokens]
    if len(de_tokens) == len(en_tokens):
        de_links = links
    elif de_tokens[0][0] in CONTRACTED and len(en_tokens) == len(de_tokens) + 1:
        de_links = [links[0] + links[1], *links[2:]]  # im Park, in the park
    else:
        de_links, links = [links[0]] * len(de_tokens), [links[0]] * len(en_tokens)
    return Piece(
        [Word(token, link, glued) for (token, glued), link in zip(de_tokens, de_links)],
        [Word(token, link, glued) for (token, glued), link in zip(en_tokens, links)],
    )


def comma(*links: int) -> Word:
    return Word(",", links, True)


def text_of(line: list[Word]) -> str:
    """The raw line as people write it, its first letter a capital."""
    parts = []
    for word in line:
        if parts and not word.glued:
            parts.append(" ")
        parts.append(word.text)
    text = "".join(parts)
    return text[0].upper() + text[1:]


def pharaoh(de: list[Word], en: list[Word]) -> str:
    """Gold alignment `i-j i-j ...`: all pairs of positions that share a link."""
    positions: dict[int, list[int]] = {}
    for j, word in enumerate(en):
        for link in word.links:
            positions.setdefault(link, []).append(j)
    points = {(i, j) for i, word in enumerate(de) for link in word.links for j in positions.get(link, ())}
    return " ".join(f"{i}-{j}" for i, j in sorted(points))
