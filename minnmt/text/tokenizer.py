"""A small lossless tokenizer: punctuation becomes tokens of its own, and the spacing can always be restored.

The joiner mark ￭ (U+FFED) on a token says "no space on this side":

    Hallo, Welt!  ->  Hallo ￭, Welt ￭!          (twenty-three)  ->  (￭ twenty ￭-￭ three ￭)

For every string, detokenize(tokenize(line)) == " ".join(line.split()).
Left out: lowercasing, Unicode normalisation, abbreviations ("z.B." is four tokens), languages written without
spaces (a run of Chinese characters is one word: leave it to BPE). Notebook 00 teaches this file.
"""

import re

JOINER = "￭"

# A joiner in the text itself must not read as a mark: ￭ is written ￬| and ￬ is written ￬￬.
ESCAPE = "￬"
_ESCAPED = {ord(JOINER): ESCAPE + "|", ord(ESCAPE): ESCAPE + ESCAPE}
_ESCAPE_PAIR = re.compile(f"{ESCAPE}([|{ESCAPE}])")

# Python's \w knows letters and digits but not the marks written over or under them. The first set combines
# with any character (accents, variation selectors, zero-width joiners); the second belongs to words only:
# Cyrillic, Hebrew, Arabic, the Indic scripts, Thai and Lao, Tibetan, Burmese, Khmer, in readably wide ranges.
_ACCENTS = (
    r"\u0300-\u036F\u1AB0-\u1AFF\u1DC0-\u1DFF\u200C\u200D\u20D0-\u20FF"
    r"\u3099\u309A\uFE00-\uFE0F\uFE20-\uFE2F"
)
_SIGNS = (
    r"\u0483-\u0489"
    r"\u0591-\u05BD\u05BF\u05C1\u05C2\u05C4\u05C5\u05C7"
    r"\u0610-\u061A\u064B-\u065F\u0670\u06D6-\u06ED"
    r"\u0900-\u0963\u0966-\u0DF3"
    r"\u0E31-\u0E3A\u0E47-\u0E4E\u0EB1-\u0ECE"
    r"\u0F18-\u0FBC\u102B-\u1049\u17B4-\u17D3"
)
_ALNUM = r"[^\W_]"
_LETTER = r"[^\W\d_]"
_WORD = rf"{_ALNUM}(?:{_ALNUM}|[{_ACCENTS}{_SIGNS}])*"
_WORD_OR_NUMBER = rf"{_WORD}(?:(?<=\d)[.,:](?=\d){_WORD})*"  # 3,000.50 and 10:30 stay whole
_SUFFIX = rf"(?<={_ALNUM}|[{_ACCENTS}{_SIGNS}])['’](?={_LETTER}){_WORD_OR_NUMBER}"  # the 's of dog's
_PIECE = re.compile(rf"{_WORD_OR_NUMBER}|{_SUFFIX}|.[{_ACCENTS}]*")

_JOINED = re.compile(f" ?{JOINER} ?")


def tokenize(line: str) -> list[str]:
    """Split a line into words and punctuation; ￭ shows where there was no space."""
    if JOINER in line or ESCAPE in line:
        line = line.translate(_ESCAPED)
    tokens = []
    for chunk in line.split():
        if chunk.isalnum():  # most chunks are plain words: skip the regular expression
            tokens.append(chunk)
        else:
            tokens += _mark(_PIECE.findall(chunk))
    return tokens


def _mark(pieces: list[str]) -> list[str]:
    """Put joiners on the pieces of one chunk of text; they all touched, and no two words are neighbours."""
    is_word = [piece[0].isalnum() for piece in pieces] + [False]
    tokens = []
    for i, piece in enumerate(pieces):
        if not is_word[i]:
            left = JOINER if i > 0 else ""
            right = JOINER if is_word[i + 1] else ""
            piece = left + piece + right
        tokens.append(piece)
    return tokens


def detokenize(tokens: list[str]) -> str:
    """The line that the tokens came from; stray joiners, which a model may produce, simply glue."""
    line = _JOINED.sub("", " ".join(tokens))
    if ESCAPE in line:
        line = _ESCAPE_PAIR.sub(lambda match: JOINER if match[1] == "|" else ESCAPE, line)
    return line
