"""Sentences with a frame of their own: passives, ages, prices, counted things, there is, weather, languages.

Left out: everything an ordinary verb frame can say (simple.py, complex.py), adjectives (copulas.py) and
ambiguous nouns (meanings.py).
"""

from . import numbers
from .clauses import Clause, Item, main_clause, predicate
from .draw import weights
from .fill import Filler, Templates
from .phrases import Fixed, NounPhrase, prepositional
from .tokens import Piece, Word, new_link, paired, words

PASSIVES = weights("passive 4, passive_past 6, passive_perfect 3, passive_modal 3")
_PRICES = {
    "clothing": (10, 300),
    "furniture": (50, 2000),
    "machine": (50, 3000),
    "vehicle": (1000, 9000),
    "tool": (2, 60),
    "container": (2, 90),
}


class Special(Templates):
    def __init__(self, filler: Filler):
        super().__init__(filler)
        self.be = self.lexicon.find_verb("sein")

    def age(self) -> tuple[Piece, str]:
        """Er ist dreiundzwanzig Jahre alt."""
        clause = Clause(self.chooser.person("subject"), self.filler.group(self.be, "present"))
        n = self.draw.between(2, 99)
        number, years, old = new_link(), new_link(), new_link()
        clause.items.append(
            predicate(
                [Word(numbers.german(n), (number,)), Word("Jahre", (years,)), Word("alt", (old,))],
                [*words(numbers.english(n), number), Word("years", (years,)), Word("old", (old,))],
            )
        )
        return main_clause(clause), "."

    def price(self) -> tuple[Piece, str]:
        """Dieser Mantel kostet einhundertfünfzig Euro."""
        verb = self.lexicon.find_verb("kosten")
        cls = self.draw.choice(tuple(_PRICES))
        noun = self.chooser.noun((cls,))
        single = noun.countable and not noun.plural_only_english
        det = self.draw.choice(("der", "dieser", "ein")) if single else "der"
        subject = NounPhrase(noun, self.lexicon.determiners[det])
        n = self.draw.between(*_PRICES[cls])
        if n > 100 and self.draw.chance(0.6):
            n -= n % 50
        clause = Clause(
            subject, self.filler.group(verb, self.draw.weighted((("present", 2), ("preterite", 1))))
        )
        number, unit = new_link(), new_link()
        currency = self.draw.choice((("Euro", "euros"), ("Dollar", "dollars"), ("Euro", "euros")))
        clause.items.append(
            predicate(
                [Word(numbers.german(n), (number,)), Word(currency[0], (unit,))],
                [*words(numbers.english(n), number), Word(currency[1], (unit,))],
            )
        )
        return main_clause(clause), "."

    def counted(self) -> tuple[Piece, str]:
        """Er hat drei Bücher gekauft."""
        verbs = [v for v in self.lexicon.verbs_by_frame["a"] if "person" in v.subject]
        verb = self.draw.zipf([v for v in verbs if not set(v.flags) & set("bt")])
        clause = self.filler.clause("", verb)
        clause.negated = False
        countable = [noun for noun in self.lexicon.noun_pool(verb.object) if noun.countable]
        if not countable:
            return self.age()
        n = self.draw.between(2, 12) if self.draw.chance(0.7) else self.draw.between(13, 400)
        noun = self.draw.zipf(countable)
        adjectives = [(self.chooser.adjective(noun), "positive")] if self.draw.chance(0.15) else []
        phrase = NounPhrase(noun, None, True, adjectives, paired(numbers.german(n), numbers.english(n)))
        clause.items = [item for item in clause.items if item.english_slot != "object"]
        clause.items.append(self.filler.accusative(clause, phrase))
        return main_clause(clause), "."

    # passive

    def passive(self) -> tuple[Piece, str]:
        """Das Haus wurde gebaut; ... ist von meinem Vater repariert worden; ... muss gewaschen werden."""
        while True:
            verb = self.draw.zipf(self.lexicon.verbs_by_frame["a"])
            if not verb.reflexive and not set(verb.flags) & set("snb"):
                break
        tense = self.draw.weighted(PASSIVES)
        patient = self.chooser.phrase(verb.object, "subject")
        while patient.is_pronoun and self.draw.chance(0.7):
            patient = self.chooser.phrase(verb.object, "subject")
        clause = Clause(patient, self.filler.group(verb, tense))
        if self.draw.chance(0.4) and tense != "passive_modal":
            agent = self.chooser.phrase(verb.subject, "object")
            clause.items.append(Item("companion", "companion", *prepositional("von", "dat", agent, "by")))
        if self.draw.chance(0.4) and tense != "passive_perfect":
            self.filler.times.add(clause)
        self.filler.maybe_negate(clause)
        first = next((item for item in clause.items if item.german_slot == "time"), None)
        return main_clause(clause, first if self.draw.chance(0.3) else None), "."

    # es

    def there_is(self) -> tuple[Piece, str]:
        """In der Stadt gibt es ein Museum. Es gibt viele Bücher in der Bibliothek."""
        cls = self.draw.choice(("building", "place", "nature", "plant", "animal"))
        noun = self.chooser.noun(("clear", cls))
        det = self.lexicon.determiners
        if noun.countable and self.draw.chance(0.5):
            number = self.draw.between(2, 20)
            if self.draw.chance(0.5):
                phrase = NounPhrase(
                    noun, None, True, number=paired(numbers.german(number), numbers.english(number))
                )
            else:
                phrase = NounPhrase(noun, det[self.draw.choice(("viele", "einige", "kein", "wenige"))], True)
        else:
            phrase = NounPhrase(
                noun,
                det["ein" if noun.countable else "kein"],
                False,
                [(self.chooser.adjective(noun), "positive")] if self.draw.chance(0.4) else [],
            )
        past = self.draw.chance(0.35)
        place, es, gibt = self.filler.places.place(), new_link(), new_link()
        be = ("were" if past else "are") if phrase.english_plural else ("was" if past else "is")
        de = [Word("gab" if past else "gibt", (gibt,)), Word("es", (es,))]
        en = [Word("there", (es,)), Word(be, (gibt,))]
        if self.draw.chance(0.5):
            return Piece(place.de + de + phrase.de("acc"), en + phrase.en("object") + place.en), "."
        return Piece(de[::-1] + place.de + phrase.de("acc"), en + phrase.en("object") + place.en), "."

    def weather(self) -> tuple[Piece, str]:
        """Es regnet. Morgen wird es schneien. Es ist kalt."""
        subject = Fixed("es", "it")
        subject.cls = "weather"
        tense = self.draw.weighted((("present", 4), ("preterite", 4), ("perfect", 2), ("future", 2)))
        verb = self.draw.choice(self.lexicon.verbs_by_frame["es"])
        clause = Clause(subject, self.filler.group(verb, tense))
        self.filler.times.add(clause)
        if self.draw.chance(0.5):
            clause.items.append(self.filler.places.place())
        self.filler.maybe_negate(clause)
        first = clause.items[0] if self.draw.chance(0.5) else None
        return main_clause(clause, first), "."

    def language(self) -> tuple[Piece, str]:
        """Sie spricht fließend Deutsch. Er lernt Französisch."""
        verb = self.lexicon.find_verb(self.draw.choice(("sprechen", "lernen", "verstehen")), "")
        verb = next(
            v for v in self.lexicon.verbs if v.infinitive == verb.infinitive and v.frame in ("a", "lang")
        )
        subject = self.chooser.person("subject")
        clause = Clause(subject, self.filler.group(verb, self.filler.tense()))
        if clause.verb.tense == "perfect" and "s" in verb.flags:
            clause.verb.tense = "preterite"
        name = paired(*self.draw.zipf(self.lexicon.names["language"]))
        clause.items.append(Item("new_object", "object", *name))
        if verb.infinitive == "sprechen" and self.draw.chance(0.4):
            clause.items.append(
                Item(
                    "frequency",
                    "manner",
                    *paired(
                        *self.draw.choice(
                            (("fließend", "fluently"), ("gut", "well"), ("perfekt", "perfectly"))
                        )
                    ),
                )
            )
        elif self.draw.chance(0.4) and verb.infinitive == "lernen":
            self.filler.times.add(clause)
        return main_clause(clause), "."
