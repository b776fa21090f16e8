"""Sentences about what somebody or something is: adjectives, professions, comparatives and superlatives.

Left out: adjectives inside noun phrases (semantics.py).
"""

from .clauses import Clause, Item, main_clause, predicate, question
from .entries import Adjective, Noun
from .fill import Filler, Templates
from .phrases import Fixed, NounPhrase, Phrase
from .semantics import is_gradable
from .tokens import Piece, Word, new_link, words

_CONCRETE = tuple(
    "furniture clothing vehicle building food machine text animal place art container tool plant".split()
)
_THINGS = (*_CONCRETE, "game", "event", "abstract", "nature", "weather", "time", "drink")


class Copulas(Templates):
    def __init__(self, filler: Filler):
        super().__init__(filler)
        self.be = self.lexicon.auxiliaries["sein"]

    def _thing_or_person(self) -> Phrase:
        if self.draw.chance(0.45):
            return self.chooser.person("subject")
        cls = self.draw.choice(_THINGS)
        det = self.lexicon.determiners[
            self.draw.choice(("der", "der", "der", "der", "dieser", "mein", "unser"))
        ]
        noun = self.chooser.noun(("clear", cls))
        plural = noun.countable and self.draw.chance(0.2)
        return NounPhrase(
            noun, self.lexicon.determiners["der"] if cls in ("nature", "weather") else det, plural
        )

    def copula(self) -> tuple[Piece, str]:
        """Der Tisch ist rund. Sie wird müde. Das Auto sieht neu aus."""
        subject = self._thing_or_person()
        verb = self.be
        if subject.cls in ("person", "animal") and self.draw.chance(0.4):
            verb = self.draw.choice(
                [v for v in self.lexicon.verbs_by_frame["adj"] if subject.cls in v.subject]
            )
        tense = self.draw.weighted((("present", 6), ("preterite", 4)))
        clause = Clause(subject, self.filler.group(verb, tense))
        if verb.reflexive:
            clause.items.append(self.filler.reflexive(clause))
        adjective, link = self.chooser.adjective_for(subject), new_link()
        degree = self.chooser.degree() if is_gradable(adjective) and self.draw.chance(0.25) else Piece([], [])
        clause.items.append(
            predicate(
                [*degree.de, Word(adjective.german, (link,))], degree.en + words(adjective.english, link)
            )
        )
        if verb is self.be and not degree.de:
            self.filler.maybe_negate(clause)
        if verb is self.be and self.draw.chance(0.2):
            return question(clause), "?"
        return main_clause(clause), "."

    def profession(self) -> tuple[Piece, str]:
        """Er ist Lehrer. Anna wurde Ärztin: no article in German."""
        subject = self.chooser.pronoun() if self.draw.chance(0.5) else self.chooser.first_name()
        while subject.plural or subject.de("nom")[0].text in ("jemand", "niemand", "ich", "du"):
            subject = self.chooser.pronoun() if self.draw.chance(0.3) else self.chooser.first_name()
        noun = self.chooser.noun(("profession" if subject.gender == "m" else "profession_f",))
        verb = self.be if self.draw.chance(0.6) else self.lexicon.find_verb("werden")
        tense = self.draw.weighted((("present", 4), ("preterite", 4), ("modal", 2)))
        clause = Clause(subject, self.filler.group(verb, tense))
        link = new_link()
        clause.items.append(
            predicate([Word(noun.german, (link,))], [Word("a", ()), *words(noun.english, link)])
        )
        if tense == "preterite" and self.draw.chance(0.4):
            clause.items.append(Item("time", "time", *self.filler.times.year()))
        return main_clause(clause), "."

    def _same_class_pair(self) -> tuple[Phrase, Phrase]:
        cls = "person" if self.draw.chance(0.5) else self.draw.choice(_CONCRETE)
        if cls == "person":
            return self.chooser.person("subject"), self.chooser.first_name()
        nouns = [self.chooser.noun(("clear", cls)) for _ in range(2)]
        det = self.lexicon.determiners
        first = NounPhrase(nouns[0], det[self.draw.choice(("der", "dieser"))], False)
        second = NounPhrase(nouns[1], det[self.draw.choice(("der", "dieser", "mein"))], False)
        return first, second

    def _gradable(self, noun: Noun | None) -> Adjective:
        while True:
            adjective = self.chooser.adjective(noun)
            if is_gradable(adjective):
                return adjective

    def comparison(self) -> tuple[Piece, str]:
        """Anna ist größer als Peter; so groß wie; am größten."""
        first, second = self._same_class_pair()
        adjective, link = self._gradable(getattr(first, "noun", None)), new_link()
        clause = Clause(
            first, self.filler.group(self.be, self.draw.weighted((("present", 5), ("preterite", 2))))
        )
        kind = self.draw.below(10)
        if kind < 5:
            than = new_link()
            clause.items.append(
                predicate(
                    [Word(adjective.comparative, (link,)), Word("als", (than,)), *second.de("nom")],
                    [
                        *words(adjective.english_comparative, link),
                        Word("than", (than,)),
                        *second.en("object"),
                    ],
                )
            )
        elif kind < 8:
            one, two = new_link(), new_link()
            clause.items.append(
                predicate(
                    [
                        Word("so", (one,)),
                        Word(adjective.german, (link,)),
                        Word("wie", (two,)),
                        *second.de("nom"),
                    ],
                    [
                        Word("as", (one,)),
                        *words(adjective.english, link),
                        Word("as", (two,)),
                        *second.en("object"),
                    ],
                )
            )
        else:
            clause.items.append(
                predicate(
                    [Word("am", (link,)), Word(adjective.superlative + "en", (link,))],
                    words("the " + adjective.english_superlative, link),
                )
            )
        self.filler.maybe_negate(clause) if kind < 8 else None
        return main_clause(clause), "."

    def superlative(self) -> tuple[Piece, str]:
        """Das ist der höchste Turm. Er kauft das größte Haus. Ich suche einen schnelleren Computer."""
        cls = self.draw.choice(_CONCRETE)
        noun = self.chooser.noun(("clear", cls))
        adjective = self._gradable(noun)
        det = self.lexicon.determiners
        comparative = self.draw.chance(0.4) and noun.countable
        how = "comparative" if comparative else "superlative"
        phrase = NounPhrase(
            noun,
            det["ein" if comparative and not noun.plural_only_english else "der"],
            False,
            [(adjective, how)],
        )
        if self.draw.chance(0.4):
            subject = Fixed("das", "that")
            subject.cls = "abstract"
            tense = "present" if self.draw.chance(0.7) else "preterite"
            subject.plural, subject.english_plural = phrase.plural, phrase.english_plural
            if phrase.english_plural:
                subject.english = "those"
            clause = Clause(subject, self.filler.group(self.be, tense))
            clause.items.append(predicate(phrase.de("nom"), phrase.en("object")))
            return main_clause(clause), "."
        verbs = [v for v in self.filler.verbs_for_object.get(noun.key, ()) if "s" not in v.flags]
        if not verbs:
            return self.comparison()
        clause = self.filler.clause(
            "", self.draw.choice(verbs), self.chooser.person("subject"), adverbs=False
        )
        clause.negated = False
        clause.items = [item for item in clause.items if item.english_slot != "object"]
        clause.items.append(self.filler.accusative(clause, phrase))
        return main_clause(clause), "."
