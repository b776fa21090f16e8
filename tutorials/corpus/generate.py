"""The corpus: draws sentences until there are enough distinct ones, and splits them.

Same seed, same bytes. Left out: files; `minnmt.text.embedded` reads and writes those.
"""

from minnmt.text.split import Corpus, Split

from . import english
from .complex import Complex
from .copulas import Copulas
from .draw import Draw
from .fill import Filler
from .lexicon import load
from .meanings import Meanings
from .semantics import Chooser
from .simple import Simple
from .special import Special
from .tokens import Piece, Word, new_link, pharaoh, text_of

MAX_WORDS = 25
SHORT = 7  # about half of the sentences with fewer words are dropped


class Author:
    """Writes one sentence pair after another."""

    def __init__(self, seed: int):
        self.draw = Draw(seed)
        filler = Filler(Chooser(load(), self.draw))
        simple, two, copulas = Simple(filler), Complex(filler), Copulas(filler)
        special, meanings = Special(filler), Meanings(filler)
        self.templates = [
            (simple.statement, 25),
            (simple.yes_no_question, 6),
            (simple.subject_question, 2),
            (simple.adverb_question, 4),
            (simple.object_question, 4),
            (two.subordinate_sentence, 14),
            (two.unreal_condition, 1),
            (two.coordination, 5),
            (two.that_sentence, 8),
            (two.infinitive_sentence, 5),
            (two.purpose_sentence, 3),
            (two.relative_sentence, 7),
            (simple.imperative, 2),
            (copulas.copula, 7),
            (copulas.profession, 2),
            (special.age, 1),
            (special.price, 1.5),
            (special.counted, 3),
            (copulas.comparison, 3),
            (copulas.superlative, 3),
            (special.passive, 5),
            (special.there_is, 1.5),
            (special.weather, 1),
            (special.language, 1),
            (meanings.ambiguous, 6),
            (meanings.compound, 4),
        ]

    def sentence(self) -> tuple[str, str, str]:
        """German line, English line, alignment."""
        while True:
            piece, mark = self.draw.weighted(self.templates)()
            if len(piece.de) > MAX_WORDS or (len(piece.de) < SHORT and self.draw.chance(0.45)):
                continue
            return finish(piece, mark)


def finish(piece: Piece, mark: str) -> tuple[str, str, str]:
    """Close a sentence: no comma before the final mark, a or an, capital letters, alignment."""
    end = Word(mark, (new_link(),), True)
    de = _single_commas([*piece.de, end])
    en = english.with_articles([*piece.en, end])
    return text_of(de), text_of(en), pharaoh(de, en)


def _single_commas(line: list[Word]) -> list[Word]:
    """A clause that closes with a comma may meet another comma or the end of the sentence."""
    return [
        word
        for word, after in zip(line, [*line[1:], None])
        if word.text != "," or after.text not in (",", ".", "?")
    ]


def generate(seed: int = 1, n_train: int = 24000, n_dev: int = 1000, n_test: int = 1000) -> Corpus:
    """Distinct German sentences throughout; no English line of dev or test occurs in train."""
    author = Author(seed)
    seen_de: set[str] = set()
    held_out: list[tuple[str, str, str]] = []
    held_out_en: set[str] = set()
    while len(held_out) < n_dev + n_test:
        pair = author.sentence()
        if pair[0] not in seen_de and pair[1] not in held_out_en:
            seen_de.add(pair[0])
            held_out_en.add(pair[1])
            held_out.append(pair)
    train: list[tuple[str, str, str]] = []
    while len(train) < n_train:
        pair = author.sentence()
        if pair[0] not in seen_de and pair[1] not in held_out_en:
            seen_de.add(pair[0])
            train.append(pair)
    return Corpus(_split(train), _split(held_out[:n_dev]), _split(held_out[n_dev:]))


def _split(pairs: list[tuple[str, str, str]]) -> Split:
    return Split([pair[0] for pair in pairs], [pair[1] for pair in pairs], [pair[2] for pair in pairs])
