"""Word order: one clause as German main clause, question, subordinate clause or infinitive, and as English.

A Clause is a subject, a verb group and a list of items. German and English each have an order of slots; the
functions here only permute the same linked words. Left out: the choice of content (semantics.py, fill.py).
"""

from dataclasses import dataclass, field
from typing import NamedTuple

from .phrases import Phrase
from .tokens import Piece, Word, comma, new_link, paired
from .verbgroup import VerbGroup

# Slots from left to right. "object" is a definite or pronoun-free accusative, "new_object" an indefinite one.
GERMAN_ORDER = (
    "acc_pronoun",
    "reflexive",
    "dat_pronoun",
    "sentence",
    "time",
    "dative",
    "object",
    "frequency",
    "new_object",
    "negation",
    "manner",
    "companion",
    "place",
    "preposition",
    "direction",
    "predicate",
)
ENGLISH_ORDER = (
    "recipient",
    "object",
    "particle",
    "to_recipient",
    "preposition",
    "direction",
    "predicate",
    "manner",
    "companion",
    "place",
    "end",
    "time",
)
_PRONOUNS = GERMAN_ORDER[:3]
_GERMAN_RANK = {slot: rank for rank, slot in enumerate(GERMAN_ORDER)}
_ENGLISH_RANK = {slot: rank for rank, slot in enumerate(ENGLISH_ORDER)}


class Item(NamedTuple):
    german_slot: str
    english_slot: str  # also "front" (Unfortunately, ...) and "middle" (often, never)
    de: list[Word]
    en: list[Word]


@dataclass
class Clause:
    subject: Phrase
    verb: VerbGroup
    items: list[Item] = field(default_factory=list)
    negated: bool = False
    swapped: Phrase | None = None  # gefallen: the German dative is the English subject

    def __post_init__(self):
        self.negation = new_link()

    @property
    def english_subject(self) -> Phrase:
        return self.swapped or self.subject

    def subject_and_middle(self, skip: Item | None = None) -> list[Word]:
        """Subject and middle field after the finite verb: heute sieht mich der Mann, heute sehe ich ihn.

        Pronouns precede a subject that is none, except those that could be taken for the subject.
        """
        subject = self.subject.de("nom")
        early = []
        if not self.subject.is_pronoun:
            early = [item for item in self.pronouns() if item is not skip]
            early = [item for item in early if item.de[0].text not in ("sie", "es", "ihr")]
        return [word for item in early for word in item.de] + subject + self.middle_field(skip, *early)

    def pronouns(self) -> list[Item]:
        items = [item for item in self.items if item.german_slot in _PRONOUNS]
        return sorted(items, key=lambda item: _GERMAN_RANK[item.german_slot])

    def middle_field(self, *skip: Item | None) -> list[Word]:
        items = [item for item in self.items if not any(item is other for other in skip)]
        if self.negated:
            items.append(Item("negation", "", [Word("nicht", (self.negation,))], []))
        items.sort(key=lambda item: _GERMAN_RANK[item.german_slot])
        return [word for item in items for word in item.de]


def _opening(en: list[Word]) -> list[Word]:
    """What English says before the subject: unfortunately, ...; but perhaps without a comma."""
    return [*en] if en[-1].text == "perhaps" else [*en, comma()]


def predicate(de: list[Word], en: list[Word]) -> Item:
    return Item("predicate", "predicate", de, en)


def german_main(clause: Clause, first: Item | None = None) -> list[Word]:
    """Verb second: subject (or another first item), finite verb, middle field, rest of the verb."""
    finite = clause.verb.german_finite(clause.subject)
    if first:
        return [*first.de, finite, *clause.subject_and_middle(first), *clause.verb.german_tail()]
    return [*clause.subject.de("nom"), finite, *clause.middle_field(), *clause.verb.german_tail()]


def german_question(clause: Clause, wh: Item | None = None) -> list[Word]:
    """Verb first; a question word may stand before it. The question word can be the subject itself."""
    opening = [*wh.de] if wh else []
    finite = clause.verb.german_finite(clause.subject)
    return [*opening, finite, *clause.subject_and_middle(wh), *clause.verb.german_tail()]


def german_final(clause: Clause, first: Item | None = None) -> list[Word]:
    """Verb last, after a conjunction or a relative pronoun."""
    opening = first.de if first else []
    return [
        *opening,
        *clause.subject.de("nom"),
        *clause.middle_field(first),
        *clause.verb.german_final(clause.subject),
    ]


def english_clause(clause: Clause, first: Item | None = None, inverted: bool = False) -> list[Word]:
    """Subject, verb, objects, place, time; inverted with do-support for questions."""
    subject = clause.english_subject
    finite, rest, is_auxiliary = clause.verb.english_words(subject, clause.negated or inverted)
    negation = [Word("not", (clause.negation,))] if clause.negated else []
    middle = [
        word
        for item in clause.items
        if item.english_slot == "middle" and item is not first
        for word in item.en
    ]
    front = [item.en for item in clause.items if item.english_slot == "front" and item is not first]
    line = [word for words in front for word in _opening(words)]
    if first:
        line += first.en
    if inverted:
        line += [finite, *subject.en(), *negation, *middle]
    elif is_auxiliary:
        if negation and finite.text == "can":
            finite, negation = Word("cannot", finite.links + negation[0].links), []
        line += [*subject.en(), finite, *negation, *middle]
    else:
        line += [*subject.en(), *middle, finite]
    return line + rest + _english_after_verb(clause, first)


def _english_after_verb(clause: Clause, first: Item | None) -> list[Word]:
    fixed, particle = clause.verb.english_extra()
    items = [item for item in clause.items if item.english_slot in _ENGLISH_RANK and item is not first]
    if particle:
        pronoun_object = any(item.german_slot == "acc_pronoun" for item in items)
        if pronoun_object:
            items.append(Item("", "particle", [], particle))
        else:
            fixed = fixed + particle
    items.sort(key=lambda item: _ENGLISH_RANK[item.english_slot])
    return fixed + [word for item in items for word in item.en]


def main_clause(clause: Clause, first: Item | None = None) -> Piece:
    """A statement. What German puts first, English puts first before a comma, except objects."""
    de = german_main(clause, first)
    if first is None or first.english_slot in ("object", "recipient", "to_recipient", "preposition"):
        return Piece(de, english_clause(clause))
    opening = first._replace(en=_opening(first.en))
    clause_without = Clause(
        clause.subject,
        clause.verb,
        [item for item in clause.items if item is not first],
        clause.negated,
        clause.swapped,
    )
    clause_without.negation = clause.negation
    return Piece(de, english_clause(clause_without, opening))


def question(clause: Clause, wh: Item | None = None) -> Piece:
    return Piece(german_question(clause, wh), english_clause(clause, wh, inverted=True))


def subject_question(clause: Clause) -> Piece:
    """Wer kommt?: the question word is the subject, so English needs no do."""
    return Piece(german_main(clause), english_clause(clause))


def subordinate(conjunction: Piece | None, clause: Clause, first: Item | None = None) -> Piece:
    """weil ... verb-final; with `first` a relative pronoun or a question word that is not the subject."""
    opening = conjunction or Piece([], [])
    return Piece(opening.de + german_final(clause, first), opening.en + english_clause(clause, first))


def infinitive(clause: Clause, de_opening: str = "", en_opening: str = "", gerund: bool = False) -> Piece:
    """früh aufzustehen / to get up early; um ... zu / in order to ...; ohne ... zu / without getting up."""
    zu_words, zu = clause.verb.zu_infinitive()
    opening = paired(de_opening, en_opening) if de_opening else Piece([], [])
    de = opening.de + clause.middle_field() + zu_words
    verb = clause.verb.english_bare("ing" if gerund else "base")
    negation = [Word("not", (clause.negation,))] if clause.negated else []
    to = [] if gerund else [Word("to", (zu,))]
    middle = [word for item in clause.items if item.english_slot == "middle" for word in item.en]
    return Piece(de, opening.en + negation + to + middle + [verb] + _english_after_verb(clause, None))
