"""Noun phrases that can be asked for any case in German and for subject or object in English.

Every part of a phrase takes its link when it is made, so de() and en() may be called in any order and any
case and still belong together. Left out: the choice of words (semantics.py) and clauses (clauses.py).
"""

from . import english, german
from .entries import Adjective, Determiner, Noun, PronounEntry
from .tokens import Piece, Word, new_link, paired, words


class Phrase:
    """What clauses need to know of a noun phrase."""

    person = 3
    plural = False  # number of the German phrase
    english_plural = False  # ... and of the English one: die Hose, the trousers
    gender = "n"
    is_pronoun = False
    definite = True
    cls = "person"

    def de(self, case: str) -> list[Word]:
        raise NotImplementedError

    def en(self, role: str = "subject") -> list[Word]:
        raise NotImplementedError

    @property
    def german_gender(self) -> str:
        return "p" if self.plural else self.gender


class Pronoun(Phrase):
    is_pronoun = True

    def __init__(self, entry: PronounEntry):
        self.entry = entry
        self.person = entry.person
        self.plural = entry.number == "pl"
        self.english_plural = self.plural
        self.english_person = 2 if entry.gender == "formal" else entry.person
        self.gender = entry.gender if entry.gender in "mfn" else "m"
        self.link = new_link()

    def de(self, case: str) -> list[Word]:
        form = {"nom": self.entry.nominative, "acc": self.entry.accusative, "dat": self.entry.dative}[case]
        return [Word(form, (self.link,))]

    def en(self, role: str = "subject") -> list[Word]:
        return [Word(self.entry.english if role == "subject" else self.entry.english_object, (self.link,))]


class Name(Phrase):
    """Anna; Herr Schmidt and Mr Schmidt (title and surname); a city or country."""

    def __init__(self, de: str, en: str, gender: str = "n", title: tuple[str, str] | None = None):
        self.gender = gender
        self.names = paired(de, en)
        self.title, self.title_link = title, new_link()

    def de(self, case: str) -> list[Word]:
        line = self.names.de
        if case == "gen":
            last = line[-1]
            line = [*line[:-1], last._replace(text=last.text + "s")]
        if not self.title:
            return line
        title = self.title[0]
        return [Word(title + "n" if title == "Herr" and case != "nom" else title, (self.title_link,)), *line]

    def en(self, role: str = "subject") -> list[Word]:
        return [Word(self.title[1], (self.title_link,)), *self.names.en] if self.title else self.names.en

    @property
    def possessive_link(self) -> int:
        return self.names.de[-1].links[0]


class NounPhrase(Phrase):
    """[determiner] [number] [adjectives] noun [possessor] [after] [, relative clause ,]"""

    def __init__(
        self,
        noun: Noun,
        determiner: Determiner | None = None,
        plural: bool = False,
        adjectives: list[tuple[Adjective, str]] | None = None,
        number: Piece | None = None,
        modifier: str = "",
        degree: Piece | None = None,
    ):
        self.noun, self.determiner, self.number = noun, determiner, number
        self.plural = plural or noun.gender == "p"
        self.english_plural = (self.plural and noun.english_plural != "-") or noun.plural_only_english
        self.gender = noun.gender
        self.cls = noun.cls
        self.definite = (
            determiner is not None
            and determiner.kind != "strong"
            and determiner.german not in ("ein", "kein")
        )
        self.adjectives = [(adjective, how, new_link()) for adjective, how in adjectives or []]
        self.modifier = modifier  # English words of a compound's first part
        self.degree = degree  # very: before the first adjective
        self.determiner_link, self.noun_link = new_link(), new_link()
        self.english_the = False  # Klavier spielen, play the piano
        self.possessor: Phrase | None = None
        self.after: list[Piece] = []
        self.relative: Piece | None = None

    @property
    def possessive_link(self) -> int:
        return self.determiner_link if self.determiner else self.noun_link

    def de(self, case: str) -> list[Word]:
        line = []
        if self.determiner:
            form = german.determiner_form(self.determiner, case, self.german_gender)
            line.append(Word(form, (self.determiner_link,)))
        if self.number:
            line += self.number.de
        if self.degree:
            line += self.degree.de
        kind = self.determiner.kind if self.determiner else "none"
        for adjective, how, link in self.adjectives:
            ending = german.adjective_ending(kind, case, self.german_gender)
            line.append(Word(german.adjective_stem(adjective, how) + ending, (link,)))
        line.append(Word(german.noun_form(self.noun, case, self.plural), (self.noun_link,)))
        if isinstance(self.possessor, Name):
            line = self.possessor.de("gen") + line  # Annas Hund
        elif self.possessor:
            line += self.possessor.de("gen")
        return self._close(line, 0)

    def en(self, role: str = "subject") -> list[Word]:
        line = []
        genitive_first = self.possessor is not None and self.possessor.cls == "person"
        if genitive_first:
            owner = self.possessor
            line += english.possessive(owner.en(), owner.english_plural, owner.possessive_link)
        else:
            line += self._english_determiner()
        if self.number:
            line += self.number.en
        if self.degree:
            line += self.degree.en
        for adjective, how, link in self.adjectives:
            text = {
                "comparative": adjective.english_comparative,
                "superlative": adjective.english_superlative,
            }
            line += words(text.get(how, adjective.english), link)
        if self.modifier:
            line += words(self.modifier, self.noun_link)
        line += words(self.noun.english_plural if self.english_plural else self.noun.english, self.noun_link)
        if self.possessor and not genitive_first:
            line += [Word("of", (self.possessor.possessive_link,)), *self.possessor.en()]
        return self._close(line, 1)

    def _english_determiner(self) -> list[Word]:
        if not self.determiner:
            return [Word("the", ())] if self.english_the else []
        if (
            self.determiner.kind == "def"
            and self.noun.generic
            and not (self.relative or self.possessor or self.after or self.adjectives)
        ):
            return []  # die Liebe, love
        text = self.determiner.english_plural if self.english_plural else self.determiner.english
        return [] if text == "-" else [Word(text, (self.determiner_link,))]

    def _close(self, line: list[Word], side: int) -> list[Word]:
        for piece in self.after:
            line += piece[side]
        return line + self.relative[side] if self.relative else line


class Pair(Phrase):
    """Two phrases joined by und."""

    plural = english_plural = True

    def __init__(self, first: Phrase, second: Phrase):
        self.first, self.second = first, second
        self.conjunction = paired("und", "and")
        self.person = min(first.person, second.person)
        self.definite = first.definite and second.definite
        self.cls = first.cls

    def de(self, case: str) -> list[Word]:
        return self.first.de(case) + self.conjunction.de + self.second.de(case)

    def en(self, role: str = "subject") -> list[Word]:
        return self.first.en(role) + self.conjunction.en + self.second.en(role)


class Fixed(Phrase):
    """Words that do not inflect, such as es for the weather or wer and was in questions."""

    is_pronoun = True

    def __init__(self, de: dict[str, str] | str, en: str, gender: str = "n"):
        self.forms, self.english, self.gender = de, en, gender
        self.link = new_link()

    def de(self, case: str) -> list[Word]:
        return words(self.forms if isinstance(self.forms, str) else self.forms[case], self.link)

    def en(self, role: str = "subject") -> list[Word]:
        return words(self.english, self.link)


def prepositional(de_prep: str, case: str, phrase: Phrase, en_prep: str, verb_link: int = 0) -> Piece:
    """auf + dat + the phrase; in + dem contract to im, one word linked to both in and the.

    Where English has no preposition (sich erinnern an, remember), the German one is linked to the verb.
    """
    links = (new_link() if en_prep else verb_link,)
    de = phrase.de(case)
    english_side = words(en_prep, links[0]) + phrase.en("object") if en_prep else phrase.en("object")
    article = isinstance(phrase, NounPhrase) and phrase.determiner and phrase.determiner.kind == "def"
    short = german.CONTRACTIONS.get((de_prep, de[0].text)) if article and not phrase.relative else None
    if short:
        return Piece([Word(short, links + de[0].links), *de[1:]], english_side)
    return Piece(words(de_prep, *links) + de, english_side)
