"""Simple sentences: statements, all kinds of questions, imperatives.

Each method of Simple returns a Piece without its final mark, and the mark. Left out: sentences of two clauses
(complex.py) and those with a frame of their own, such as prices and comparisons (special.py).
"""

from .clauses import Clause, Item, infinitive, main_clause, question, subject_question
from .fill import PERSON_FRAMES, Templates
from .phrases import Fixed, NounPhrase, Pronoun
from .tokens import Piece, Word, new_link, paired


class Simple(Templates):
    def statement(self) -> tuple[Piece, str]:
        clause = self.filler.clause(sentence_adverb=True)
        return main_clause(clause, self._fronted(clause)), "."

    def _fronted(self, clause: Clause) -> Item | None:
        """What stands before the verb instead of the subject: a time, a place, an object whose case shows."""
        if clause.swapped or not self.draw.chance(0.42):
            return None
        for item in clause.items:
            if item.german_slot == "sentence":
                return item  # English always begins with it
        if any(item.english_slot == "front" for item in clause.items):
            return None
        for item in clause.items:
            if item.german_slot == "time":
                return item
            if item.german_slot == "place" and clause.verb.verb.frame != "loc" and self.draw.chance(0.5):
                return item
            if (
                item.german_slot == "object"
                and item.de[0].text in ("den", "diesen", "meinen")
                and not clause.negated
            ):
                return item if self.draw.chance(0.4) else None
        return None

    def yes_no_question(self) -> tuple[Piece, str]:
        return question(self.filler.clause(formal=True)), "?"

    def subject_question(self) -> tuple[Piece, str]:
        """Wer hat das Buch gelesen?"""
        verb = self.filler.person_verb(PERSON_FRAMES)
        clause = self.filler.clause(verb=verb, subject=Fixed({"nom": "wer"}, "who", "m"))
        return subject_question(clause), "?"

    def adverb_question(self) -> tuple[Piece, str]:
        """Wann, wo, warum, wie, wie oft, mit wem ...?"""
        de, en = self.draw.weighted(
            [
                (("wann", "when"), 5),
                (("warum", "why"), 6),
                (("wo", "where"), 5),
                (("wie", "how"), 2),
                (("wie oft", "how often"), 2),
                (("mit wem", "with whom"), 2),
                (("seit wann", "since when"), 0),
            ]
        )
        frames = (
            (("a", 50), ("i", 25), ("p", 20), ("d", 5)) if de != "wo" else (("a", 45), ("loc", 25), ("i", 30))
        )
        if de == "mit wem":
            frames = (("a", 2), ("i", 1))  # not: with whom does he dance with Anna?
        verb = self.filler.person_verb(frames)
        while de in ("wie", "wie oft", "mit wem") and set(verb.flags) & set("so" if de == "mit wem" else "s"):
            verb = self.filler.person_verb(frames)
        clause = self.filler.clause(verb=verb, formal=True, adverbs=False)
        clause.negated = clause.negated and de == "warum"
        clause.items = [item for item in clause.items if de != "wo" or item.german_slot != "place"]
        if de == "wann" and clause.verb.tense == "perfect":
            clause.verb.view = "past"
        return question(clause, Item("", "", *paired(de, en))), "?"

    def object_question(self) -> tuple[Piece, str]:
        """Was liest er? Wen siehst du? Welches Buch kauft sie? Wie viele Bücher ...? Wohin geht er?"""
        point = self.draw.random()
        if point < 0.18:
            return self._direction_question(), "?"
        verb = self.filler.person_verb((("a", 1),))
        while set(verb.flags) & set("bt"):
            verb = self.filler.person_verb((("a", 1),))  # which football does he play?
        clause = self.filler.clause(verb=verb, formal=True)
        clause.negated = False
        clause.items = [
            item
            for item in clause.items
            if item.english_slot != "object" and item.german_slot != "frequency"  # only belonged to the object
        ]
        noun = self.chooser.noun(verb.object)
        if point < 0.5:
            person = verb.object[0] == "person"
            link = new_link()
            de, en = ("wen", "whom") if person else ("was", "what")
            wh = Item("object", "object", [Word(de, (link,))], [Word(en, (link,))])
        elif point < 0.8 or not noun.countable:
            plural = noun.countable and self.draw.chance(0.3)
            wh = self.filler.accusative(clause, NounPhrase(noun, self.lexicon.determiners["welcher"], plural))
        else:
            wh = self.filler.accusative(
                clause, NounPhrase(noun, None, True, number=paired("wie viele", "how many"))
            )
        return question(clause, wh), "?"

    def _direction_question(self) -> Piece:
        verb = self.filler.person_verb((("dir", 1),))
        clause = self.filler.clause(verb=verb, formal=True)
        clause.negated = False
        clause.items = [item for item in clause.items if item.german_slot != "direction"]
        if verb.german == "kommen":
            link = new_link()
            clause.items.append(Item("direction", "direction", [], [Word("from", (link,))]))
            return question(clause, Item("", "", [Word("woher", (link,))], [Word("where", (link,))]))
        return question(clause, Item("", "", *paired("wohin", "where")))

    def imperative(self) -> tuple[Piece, str]:
        """Öffnen Sie bitte das Fenster. Setzen Sie sich bitte auf den Stuhl."""
        verb = self.filler.person_verb((("a", 6), ("i", 2), ("da", 2), ("dir", 1)))
        while "s" in verb.flags:
            verb = self.filler.person_verb((("a", 6), ("i", 2), ("da", 2), ("dir", 1)))
        clause = self.filler.clause("present", verb, Pronoun(self.chooser.formal), adverbs=False)
        clause.negated = False
        please, pronouns = paired("bitte", "please"), clause.pronouns()
        finite = clause.verb.german_finite(clause.subject)
        de = [
            finite,
            *clause.subject.de("nom"),
            *[word for item in pronouns for word in item.de],
            *please.de,
            *clause.middle_field(*pronouns),
            *clause.verb.german_tail(),
        ]
        base = infinitive(clause).en[1:]
        return Piece(de, please.en + base), "."
