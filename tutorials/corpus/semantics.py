"""Chooses the words: noun phrases that suit a verb, their articles and adjectives, names and pronouns.

A Chooser holds the lexicon and one stream of random draws. Left out: whole clauses (fill.py) and sentences.
"""

from .draw import Draw
from .entries import Adjective, Noun
from .lexicon import Lexicon
from .phrases import Fixed, Name, NounPhrase, Pair, Phrase, Pronoun, prepositional
from .tokens import Piece, paired

TITLES = {"m": ("Herr", "Mr"), "f": ("Frau", "Mrs")}
_MASS_CLASSES = ("food", "drink", "material", "weather")
_SPOUSES = {"Mann": "husband", "Frau": "wife"}  # with a possessive
_UNOWNED_CLASSES = ("abstract", "time", "nature", "weather", "place", "event", "material")
_POSSESSIVES = ("mein", "dein", "unser", "euer")


def is_gradable(adjective: Adjective) -> bool:
    return "-" not in (adjective.comparative, adjective.english_comparative) and adjective.cls != "color"


class Chooser:
    def __init__(self, lexicon: Lexicon, draw: Draw):
        self.lexicon, self.draw = lexicon, draw
        plain = [entry for entry in lexicon.pronouns if entry.gender != "formal"]
        definite = [entry for entry in plain if entry.nominative not in ("jemand", "niemand")]
        self._subjects = [(entry, entry.weight) for entry in definite]
        self._objects = [(entry, entry.weight) for entry in definite if entry.accusative != "-"]
        self.formal = next(entry for entry in lexicon.pronouns if entry.gender == "formal")
        self._indefinite = [entry for entry in plain if entry not in definite]
        self._kin = {noun.german for noun in lexicon.noun_pool(("kin",))}
        self._unowned = {noun.german for noun in lexicon.noun_pool(("unowned",))}
        self._single = {noun.german for noun in lexicon.noun_pool(("parent",))}  # nobody has two husbands
        self._never_bare = {noun.german for noun in lexicon.noun_pool(("never_bare",))}
        self._collective = {noun.german for noun in lexicon.noun_pool(("collective",))}
        self.allow_kein = True
        self._determiners = {number: self._usual(number) for number in ("sg", "pl", "mass")}

    def _usual(self, number: str) -> list[tuple]:
        """(determiner, weight) for singular, plural and mass nouns; None is no determiner at all."""
        allowed = {"sg": ("sg", "both"), "pl": ("pl", "both"), "mass": ("both",)}[number]
        table = [
            (det, det.weight)
            for det in self.lexicon.determiners.values()
            if det.number in allowed and det.weight
        ]
        return table if number == "sg" else [*table, (None, 22)]

    # pronouns and names

    def pronoun(self, role: str = "subject", formal: bool = False) -> Pronoun:
        """sie as an object is always she: they only as subject. Sie only where its capital letter shows."""
        if formal and self.draw.chance(0.35):
            return Pronoun(self.formal)
        if self.draw.chance(0.05):
            return Pronoun(self.draw.choice(self._indefinite))
        return Pronoun(self.draw.weighted(self._subjects if role == "subject" else self._objects))

    def first_name(self) -> Name:
        kind = "male" if self.draw.chance(0.5) else "female"
        de, en = self.draw.zipf(self.lexicon.names[kind])
        return Name(de, en, "m" if kind == "male" else "f")

    def titled_name(self) -> Name:
        gender = "m" if self.draw.chance(0.5) else "f"
        de, en = self.draw.zipf(self.lexicon.names["surname"])
        return Name(de, en, gender, TITLES[gender])

    def town(self, kinds: tuple[str, ...] = ("city", "city", "country")) -> Name:
        kind = self.draw.choice(kinds)
        return Name(*self.draw.zipf(self.lexicon.names[kind]))

    # noun phrases

    def phrase(
        self, spec: tuple[str, ...], role: str = "object", subject: Phrase | None = None, formal: bool = False
    ) -> Phrase:
        """A phrase the frame accepts. People may be pronouns and names; `subject` binds sein and ihr."""
        if "person" in spec and (len(spec) == 1 or self.draw.chance(0.6)):
            return self.person(role, subject, formal)
        return self.noun_phrase(self.noun(spec), role, subject)

    def noun(self, spec: tuple[str, ...]) -> Noun:
        return self.draw.zipf(self.lexicon.noun_pool(spec))

    def person(self, role: str = "object", subject: Phrase | None = None, formal: bool = False) -> Phrase:
        point = self.draw.random()
        if point < (0.4 if role == "subject" else 0.22) and not (
            subject and subject.is_pronoun and role != "subject"
        ):
            return self.pronoun(role, formal)
        if point < 0.5:
            return self.first_name()
        if point < 0.56:
            return self.titled_name()
        noun = self.noun(("person",))
        phrase = self.noun_phrase(noun, role, subject)
        if role == "subject" and self.draw.chance(0.05):
            return Pair(phrase, self.noun_phrase(self.noun(("person",)), "object", None, plain=True))
        return phrase

    def noun_phrase(
        self,
        noun: Noun,
        role: str = "object",
        subject: Phrase | None = None,
        plain: bool = False,
        definite: bool = False,
    ) -> NounPhrase:
        """Article, perhaps an adjective, perhaps a compound of the noun, perhaps something after it."""
        draw = self.draw
        modifier = ""
        compounds = self.lexicon.compounds_by_head.get(noun.key)
        if compounds and draw.chance(0.14):
            noun, modifier = draw.zipf(compounds)
        plural = noun.countable and noun.german not in self._single and draw.chance(0.22)
        determiner = (
            self.lexicon.determiners["der"] if definite else self._determiner(noun, plural, role, subject)
        )
        if determiner and determiner.german in ("mein", "dein", "sein", "ihr") and noun.german in _SPOUSES:
            noun = self.lexicon.nouns_by_name[f"{noun.german}={_SPOUSES[noun.german]}"]
        adjectives, degree = [], None
        if not plain and draw.chance(0.3):
            adjectives = [(self.adjective(noun), "positive")]
            gradable = is_gradable(adjectives[0][0])
            if gradable and determiner and determiner.german == "ein" and draw.chance(0.12):
                degree = self.degree(attributive=True)
        phrase = NounPhrase(noun, determiner, plural, adjectives, None, modifier, degree)
        if not plain and phrase.definite and not phrase.plural and determiner.kind == "def":
            self._extend(phrase)
        return phrase

    def adjective(self, noun: Noun | None = None):
        """One that suits the noun (by its name, else by its class); without a noun one for people."""
        table = self.lexicon.adjectives_by_class
        fitting = table["person"] if noun is None else table.get(noun.german) or table[noun.cls]
        return self.draw.zipf(fitting)

    def adjective_for(self, phrase: Phrase):
        return self.adjective(phrase.noun if isinstance(phrase, NounPhrase) else None)

    def degree(self, attributive: bool = False) -> Piece:
        """very, quite; too only after a verb (eine zu fleißige Frau, too diligent a woman)."""
        de, en, *_ = self.draw.zipf(self.lexicon.words["degree"])
        return self.degree(attributive) if attributive and de == "zu" else paired(de, en)

    def _determiner(self, noun: Noun, plural: bool, role: str, subject: Phrase | None):
        """Draw until the determiner suits the noun; sein and ihr must be bound by the subject."""
        if noun.gender == "p":
            plural = True
        mass = not plural and (noun.plural == "-" or noun.english_plural == "-")
        table = self._determiners["pl" if plural else ("mass" if mass else "sg")]
        while True:
            det = self.draw.weighted(table)
            if det is None:
                if not plural and noun.plural != "-" and noun.cls not in _MASS_CLASSES:
                    continue
                if role == "subject" and (not plural or noun.cls == "person"):
                    continue  # Wasser kocht: rather with an article; Frauen lügen: nothing about all of them
                if noun.german in self._never_bare:
                    continue  # die Polizei rufen
                return None
            name = det.german
            if not self._may_own(name, noun, plural):
                continue
            if name in ("sein", "ihr"):
                det = self._bound_possessive(name, role, subject)
                if det is None:
                    continue
            elif name in _POSSESSIVES and (
                noun.cls in ("weather", "nature", "plant") or noun.german in self._unowned
            ):
                continue
            elif name in ("dein", "euer") and isinstance(subject, Pronoun) and subject.entry is self.formal:
                continue
            elif name in ("ein", "jeder") and noun.plural_only_english:
                continue
            elif (
                name in ("alle", "viele", "einige", "mehrere", "wenige", "beide")
                and noun.english_plural == "-"
            ):
                continue
            elif (
                name in ("kein", "jeder", "beide", "alle")
                and role == "subject"
                or name == "kein"
                and not self.allow_kein
            ):
                continue
            elif name not in _POSSESSIVES and noun.german in self._kin and self.draw.chance(0.7):
                continue
            return det

    def _may_own(self, name: str, noun: Noun, plural: bool) -> bool:
        """mein Mann is my husband: only for one owner, and not sein Mann or ihre Frau."""
        if noun.german in ("Mann", "Frau"):
            other = "sein" if noun.german == "Mann" else "ihr"
            return name not in (other, "unser", "euer") and not (
                plural and name in ("mein", "dein", "sein", "ihr")
            )
        return (name, noun.german) not in (("sein", "Ehemann"), ("ihr", "Ehefrau"))

    def _bound_possessive(self, name: str, role: str, subject: Phrase | None):
        """sein is his; ihr is her after a woman, their after a plural, and her in a subject."""
        table = self.lexicon.determiners
        if role == "subject":
            return table[name]
        if subject is None or subject.person != 3 or not self.has_natural_gender(subject):
            return None
        if subject.plural:
            return table["ihr=their"] if name == "ihr" else None
        return table[name] if subject.gender == {"sein": "m", "ihr": "f"}[name] else None

    def has_natural_gender(self, phrase: Phrase) -> bool:
        """Can er or sie stand for it? Not for things, for das Mädchen, for a team, for jemand or Sie."""
        if phrase.cls != "person" or isinstance(phrase, Fixed):
            return False
        if isinstance(phrase, Pronoun):
            return phrase.entry is not self.formal and phrase.entry not in self._indefinite
        if isinstance(phrase, NounPhrase) and phrase.noun.german in self._collective:
            return False
        return phrase.plural or phrase.gender in "mf"

    def _extend(self, phrase: NounPhrase) -> None:
        """der Hund + des Nachbarn; Annas Hund; der Mann + aus Berlin.

        No feminine genitives: they look like datives, and the sentence could mean something else. Annas Mann
        would be her husband. People with an adjective have no origin: no lazy men from anywhere.
        """
        point = self.draw.random()
        if phrase.noun.german in _SPOUSES and point < 0.16:
            return
        if point < 0.16 and phrase.cls not in (
            "abstract",
            "time",
            "nature",
            "weather",
            "place",
            "event",
            "material",
        ):
            owner = self.noun(("person",))
            name = self.first_name()
            if name.names.de[-1].text[-1] not in "sßxz" and self.draw.chance(0.35):
                phrase.possessor, phrase.determiner = name, None
            elif owner.gender in "mn":
                det = (
                    "der"
                    if owner.german in _SPOUSES or self.draw.chance(0.6)
                    else self.draw.choice(_POSSESSIVES)
                )
                phrase.possessor = NounPhrase(owner, self.lexicon.determiners[det])
        elif point < 0.21 and phrase.cls == "person" and not phrase.adjectives:
            phrase.after.append(prepositional("aus", "dat", self.town(("city",)), "from"))
