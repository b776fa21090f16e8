"""Places and directions: im Park, in the park; in den Park, to the park; nach Berlin; auf dem Tisch.

places.tsv gives each place its prepositions in both languages, surfaces.tsv what things stand and lie on.
Left out: places as a part of a noun phrase.
"""

from .clauses import Clause, Item
from .entries import Noun
from .lexicon import read_rows
from .phrases import NounPhrase, prepositional
from .semantics import Chooser
from .tokens import Piece, paired

_SEATS = ("Stuhl", "Sofa", "Sessel", "Bett", "Boden=floor", "Hocker", "Teppich")
_HOOKS = ("Wand", "Schrank")
_STANDING = (
    "person",
    "animal",
    "building",
    "plant",
    "vehicle",
)  # these are at places, other things on surfaces


class Places:
    def __init__(self, chooser: Chooser):
        self.chooser, self.draw, self.lexicon = chooser, chooser.draw, chooser.lexicon
        nouns = self.lexicon.nouns_by_name
        self.places = [(nouns[row[0]], *row[1:]) for row in read_rows("places.tsv")]
        self.surfaces = [(nouns[row[0]], *row[1:]) for row in read_rows("surfaces.tsv")]
        self.seats = [row for row in self.surfaces if row[0] in [nouns[name] for name in _SEATS]]
        self.hooks = [row for row in self.surfaces if row[0] in [nouns[name] for name in _HOOKS]]
        self.surfaces = [row for row in self.surfaces if row[0] is not nouns["Wand"]]  # things only hang there

    def direction(self, clause: Clause) -> Item:
        verb, draw = clause.verb.verb, self.draw
        if verb.german == "setzen":
            return self.put_on(clause, self.seats)
        if verb.german == "kommen" and draw.chance(0.5):
            return Item("direction", "direction", *prepositional("aus", "dat", self.chooser.town(), "from"))
        point = draw.random()
        if point < 0.3:
            return Item("direction", "direction", *prepositional("nach", "dat", self.chooser.town(), "to"))
        if point < 0.4 and verb.german not in ("klettern", "wandern", "spazieren"):
            return Item("direction", "direction", *paired("nach Hause", "home"))
        noun, _, _, de, en = draw.zipf(self.places)
        return Item("direction", "direction", *self._at(noun, de, en))

    def _at(self, noun: Noun, de: str, en: str) -> Piece:
        prep, case = de.split(" ")
        phrase = NounPhrase(noun, self.lexicon.determiners["der"], False, self._place_adjective(noun))
        return prepositional(prep, case, phrase, en)

    def _place_adjective(self, noun: Noun) -> list:
        return [(self.chooser.adjective(noun), "positive")] if self.draw.chance(0.18) else []

    def put_on(self, clause: Clause, table=None, case: str = "acc") -> Item:
        table = table or (self.hooks if clause.verb.verb.german == "hängen" else self.surfaces)
        noun, prep, en_in, en_to = self.draw.zipf(table)
        phrase = NounPhrase(noun, self.lexicon.determiners["der"], False, self._place_adjective(noun))
        slot = "direction" if case == "acc" else "place"
        return Item(slot, slot, *prepositional(prep, case, phrase, en_to if case == "acc" else en_in))

    def location(self, clause: Clause) -> Item:
        verb, draw = clause.verb.verb, self.draw
        if clause.subject.cls not in _STANDING:
            return self.put_on(clause, case="dat")
        if verb.german == "sitzen":
            return self.put_on(clause, self.seats, "dat")
        if verb.german in ("wohnen", "leben", "bleiben") and draw.chance(0.45):
            return Item("place", "place", *prepositional("in", "dat", self.chooser.town(), "in"))
        return self.place()

    def place(self) -> Item:
        if self.draw.chance(0.3):
            return Item("place", "place", *paired(*self.draw.zipf(self.lexicon.words["place"])[:2]))
        if self.draw.chance(0.12):
            return Item("place", "place", *prepositional("in", "dat", self.chooser.town(), "in"))
        noun, de, en, _, _ = self.draw.zipf(self.places)
        return Item("place", "place", *self._at(noun, de, en))
