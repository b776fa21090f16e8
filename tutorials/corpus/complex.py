"""Sentences of two clauses: subordination, coordination, object clauses, infinitives, relative clauses.

Each method of Complex returns a Piece without its final mark, and the mark. Left out: sentences of one clause
(simple.py), and deeper nesting.
"""

from . import german
from .clauses import Clause, Item, english_clause, german_question, infinitive, main_clause, subordinate
from .draw import weights
from .entries import Noun
from .fill import PERSON_FRAMES, Filler, Templates
from .lexicon import read_rows
from .phrases import Fixed, NounPhrase, Phrase, Pronoun
from .tokens import Piece, Word, comma, new_link, paired

INFINITIVE_FRAMES = weights("a 55, i 20, p 12, dir 8, da 5")
_SAME_TIME = weights("present 10, preterite 7, modal 3")


class Complex(Templates):
    def __init__(self, filler: Filler):
        super().__init__(filler)
        self.conjunctions: dict[str, list] = {}
        for de, en, kind, weight in read_rows("conjunctions.tsv"):
            group = kind if kind in ("join", "contrast") else "subordinate"
            self.conjunctions.setdefault(group, []).append(((de, en, kind), float(weight)))

    def refer_to(self, phrase: Phrase) -> Phrase | None:
        """A pronoun for a person named before: der Mann ... er; ich ... ich. Neuter nouns are left out."""
        if not self.chooser.has_natural_gender(phrase):
            return None
        if isinstance(phrase, Pronoun):
            return Pronoun(phrase.entry)
        number, gender = ("pl", "-") if phrase.plural else ("sg", phrase.gender)
        return next(
            Pronoun(entry)
            for entry in self.lexicon.pronouns
            if (entry.person, entry.number, entry.gender) == (3, number, gender)
        )

    def _second_clause(self, first: Clause, tense: str, adverbs: bool = False) -> Clause:
        again = self.refer_to(first.english_subject) if self.draw.chance(0.5) else None
        verb = self.filler.person_verb(PERSON_FRAMES) if again else self.filler.verb()
        return self.filler.clause(tense, verb, again, adverbs=adverbs)

    def subordinate_sentence(self) -> tuple[Piece, str]:
        """Er bleibt zu Hause, weil er krank ist. / Weil er krank ist, bleibt er zu Hause."""
        de, en, kind = self.draw.weighted(self.conjunctions["subordinate"])
        tense = self.draw.weighted(_SAME_TIME)
        main_tense, sub_tense = {
            "past": ("preterite", "preterite"),
            "earlier": ("preterite", "pluperfect"),
            "present": (self.draw.choice(("present", "present", "modal", "future")), "present"),
            "can": ("present", "modal"),
        }.get(kind, (tense, tense))
        if main_tense == sub_tense == "modal":
            sub_tense = "present"
        if de == "immer wenn":
            main_tense = "present"
        timeless = de in ("sobald", "immer wenn")  # not: he is reading right now as soon as
        main = self.filler.clause(main_tense, adverbs=self.draw.chance(0.35) and not timeless)
        sub = self._second_clause(main, sub_tense, adverbs=self.draw.chance(0.2))
        if de in ("bis", "bevor", "sobald", "damit", "falls"):
            sub.negated = False
        if kind == "can":
            sub.verb.modal = self.lexicon.modals[0]
            if sub.verb.tense == "present":
                sub.verb.tense = "modal"
        if de not in ("weil", "obwohl", "da") and sub.verb.view == "future":
            sub.verb.view = ""  # before he comes tomorrow: no will in English
        piece = subordinate(paired(de, en), sub)
        if kind != "can" and self.draw.chance(0.35):
            return self.sub_first(piece, main), "."
        opening = main_clause(main)
        return Piece([*opening.de, comma(), *piece.de], opening.en + piece.en), "."

    def sub_first(self, piece: Piece, main: Clause) -> Piece:
        """The subordinate clause takes the first place of the main clause, so the finite verb follows it."""
        link = new_link()
        return Piece(
            [*piece.de, comma(link), *german_question(main)], [*piece.en, comma(link), *english_clause(main)]
        )

    def unreal_condition(self) -> tuple[Piece, str]:
        """Wenn ich Zeit hätte, würde ich ein Buch lesen."""
        verb = self.lexicon.find_verb("haben", "have")
        noun = self.chooser.noun(("owned",))
        bare = not noun.countable or noun.german == "Zeit"
        subject = self.chooser.pronoun()
        while not self.refer_to(subject):
            subject = self.chooser.pronoun()
        condition = Clause(subject, self.filler.group(verb, "subjunctive"))
        condition.items.append(
            self.filler.accusative(
                condition, NounPhrase(noun, None if bare else self.lexicon.determiners["ein"])
            )
        )
        main = self.filler.clause(
            "would",
            self.filler.person_verb(PERSON_FRAMES),
            self.refer_to(subject),
            adverbs=self.draw.chance(0.3),
        )
        return self.sub_first(subordinate(paired("wenn", "if"), condition), main), "."

    def coordination(self) -> tuple[Piece, str]:
        """Anna liest und Peter schläft. Er ist müde, aber er arbeitet."""
        group = "join" if self.draw.chance(0.45) else "contrast"
        de, en, _ = self.draw.weighted(self.conjunctions[group])
        tense = self.draw.weighted((*_SAME_TIME, ("perfect", 5)))
        first = self.filler.clause(tense, adverbs=self.draw.chance(0.3))
        second = self._second_clause(first, tense)
        one, two, conj = main_clause(first), main_clause(second), paired(de, en)
        if group == "join":
            return Piece(one.de + conj.de + two.de, one.en + conj.en + two.en), "."
        link = new_link()
        return Piece(
            [*one.de, comma(link), *conj.de, *two.de], [*one.en, comma(link), *conj.en, *two.en]
        ), "."

    # clauses as objects

    def that_sentence(self) -> tuple[Piece, str]:
        """Er sagt, dass ...; sie fragt, ob ...; ich weiß nicht, wo ..."""
        kind = "ob" if self.draw.chance(0.25) else "dass"
        verbs = [verb for verb in self.lexicon.verbs_by_frame["c"] if verb.frame_args == (kind,)]
        verb = self.draw.zipf(verbs)
        tense = self.draw.weighted((("present", 6), ("preterite", 4)))
        main = self.filler.clause(tense, verb, adverbs=False)
        main.negated = main.negated and verb.infinitive in ("wissen", "glauben", "denken", "sagen", "sehen")
        if "N" in verb.flags:
            main.negated = main.subject.de("nom")[0].text not in ("niemand", "jemand")
        sub_tense = self.draw.weighted((("present", 4), ("perfect", 3), ("modal", 2), ("future", 1)))
        if tense != "present":
            sub_tense = "preterite" if self.draw.chance(0.6) else "modal_past"
        sub = self._second_clause(main, sub_tense, adverbs=self.draw.chance(0.4))
        if kind == "ob" and self.draw.chance(0.35):
            link = new_link()
            de, en = self.draw.choice((("warum", "why"), ("wann", "when"), ("wie", "how")))
            wh = Item("", "", [Word(de, (link,))], [Word(en, (link,))])
            sub.items = [item for item in sub.items if item.german_slot != "time"]
            sub.verb.view = "past" if de == "wann" and sub.verb.tense == "perfect" else ""
            piece = subordinate(None, sub, wh)
        else:
            piece = subordinate(paired(kind, "whether" if kind == "ob" else "that"), sub)
        opening = main_clause(main)
        return Piece([*opening.de, comma(), *piece.de], opening.en + piece.en), "."

    def infinitive_sentence(self) -> tuple[Piece, str]:
        """Er versucht, das Buch zu lesen. Sie hört auf zu rauchen. Flag e: er schafft es, das Buch zu lesen."""
        verbs = [verb for verb in self.lexicon.verbs_by_frame["c"] if verb.frame_args == ("zu",)]
        verb = self.draw.zipf(verbs)
        main = self.filler.clause(
            self.draw.weighted((("present", 4), ("preterite", 3), ("perfect", 3))), verb, adverbs=False
        )
        if "e" in verb.flags:
            main.items.append(Item("acc_pronoun", "", [Word("es", (main.verb.main,))], []))
        piece = infinitive(self._inner(main.subject), gerund="g" in verb.flags)
        opening = main_clause(main)
        return Piece([*opening.de, comma(), *piece.de], opening.en + piece.en), "."

    def _inner(self, subject: Phrase) -> Clause:
        """The clause inside an infinitive: its subject is understood."""
        verb = self.filler.person_verb(INFINITIVE_FRAMES)
        while "s" in verb.flags:
            verb = self.filler.person_verb(INFINITIVE_FRAMES)
        clause = self.filler.clause("present", verb, subject, adverbs=False)
        if any(word.text.startswith("kein") for item in clause.items for word in item.de):
            return self._inner(subject)  # without washing no shoe
        clause.negated = False
        return clause

    def purpose_sentence(self) -> tuple[Piece, str]:
        """Er geht in die Stadt, um Brot zu kaufen; ..., ohne zu fragen; ..., statt zu arbeiten."""
        de, en, gerund = self.draw.weighted(
            [
                (("um", "in order", False), 6),
                (("ohne", "without", True), 3),
                (("statt", "instead of", True), 2),
            ]
        )
        frames = (("dir", 5), ("a", 5)) if de == "um" else PERSON_FRAMES
        main = self.filler.clause("", self.filler.person_verb(frames), adverbs=False)
        while main.subject.cls != "person" or "s" in main.verb.verb.flags:
            main = self.filler.clause("", self.filler.person_verb(frames), adverbs=False)
        main.negated = False
        inner = self._inner(main.subject)
        while inner.verb.verb.frame == main.verb.verb.frame == "dir":
            inner = self._inner(main.subject)
        piece = infinitive(inner, de, en, gerund)
        opening = main_clause(main)
        return Piece([*opening.de, comma(), *piece.de], opening.en + piece.en), "."

    # relative clauses

    def relative_sentence(self) -> tuple[Piece, str]:
        """Der Mann, der im Garten arbeitet, kennt mich. Ich lese das Buch, das du gekauft hast."""
        tense = self.draw.weighted((("present", 5), ("preterite", 4)))
        if self.draw.chance(0.5):
            subject = self.chooser.noun_phrase(self.chooser.noun(("person",)), "subject", plain=True)
            piece = self.relative(subject, tense)
            subject.relative = Piece([comma(), *piece.de, comma()], piece.en)
            verb = self.filler.person_verb(PERSON_FRAMES)
            return main_clause(self.filler.clause(tense, verb, subject, adverbs=False)), "."
        verb = self.filler.person_verb((("a", 1),))
        while verb.reflexive or set(verb.flags) & set("bt"):
            verb = self.filler.person_verb((("a", 1),))
        clause = self.filler.clause(tense, verb, adverbs=False)
        clause.negated = False
        noun = self.chooser.noun(verb.object)
        thing = NounPhrase(noun, self.lexicon.determiners["dieser" if noun.generic else "der"])
        clause.items = [item for item in clause.items if item.english_slot != "object"]
        clause.items.append(self.filler.accusative(clause, thing))
        main, piece = main_clause(clause), self.relative(thing, tense)
        return Piece([*main.de, comma(), *piece.de], main.en + piece.en), "."  # after the verbal bracket

    def relative(self, phrase: NounPhrase, tense: str) -> Piece:
        """..., der im Garten arbeitet: the noun is the subject (who); or the object, see below."""
        gender = phrase.german_gender
        if phrase.cls == "person" and self.draw.chance(0.6):
            who = Fixed({"nom": german.relative_pronoun("nom", gender)}, "who", phrase.gender)
            who.plural = phrase.plural
            who.english_plural = phrase.english_plural
            verb = self.filler.person_verb(PERSON_FRAMES)
            while gender != "m" and "person" in verb.object and verb.frame == "a":
                verb = self.filler.person_verb(PERSON_FRAMES)  # die Frau, die Anna sieht: who sees whom?
            return subordinate(None, self.filler.clause(tense, verb, who, adverbs=self.draw.chance(0.4)))
        return self._object_relative(phrase, phrase.noun, gender, tense)

    def _object_relative(self, phrase: NounPhrase, noun: Noun, gender: str, tense: str) -> Piece:
        """..., den ich gesehen habe: which or whom, the object of a verb that accepts the noun."""
        anybody = self.lexicon.noun_pool(("person",))[0]
        verbs = self.filler.verbs_for_object[anybody.key if phrase.cls == "person" else noun.key]
        verb = self.draw.zipf(verbs)
        tense = "perfect" if tense == "present" and "s" not in verb.flags and self.draw.chance(0.5) else tense
        subject = self.chooser.person("subject")
        while phrase.cls == "person" and gender != "m" and not self._nominative_shows(subject):
            subject = self.chooser.person("subject")
        clause = self.filler.clause(tense, verb, subject, adverbs=False)
        clause.negated = False
        clause.items = [item for item in clause.items if item.english_slot != "object"]
        link = new_link()
        english = "whom" if phrase.cls == "person" else "which"
        first = Item(
            "object",
            "object",
            [Word(german.relative_pronoun("acc", gender), (link,))],
            [Word(english, (link,))],
        )
        return subordinate(None, clause, first)

    def _nominative_shows(self, phrase: Phrase) -> bool:
        """der Mann, ich, er: forms that cannot be an accusative."""
        if isinstance(phrase, Pronoun):
            return phrase.entry.nominative not in ("sie", "jemand", "niemand")
        return (
            isinstance(phrase, NounPhrase) and phrase.german_gender == "m" and phrase.determiner is not None
        )
