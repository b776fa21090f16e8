"""Nouns whose meaning the context decides, and compounds, which become two English words.

senses.tsv names for each meaning the verbs, adjectives or phrases that give it away: Er schält die Birne
(pear), die Birne leuchtet (bulb). Left out: nouns that a verb's own frame decides (lexicon.noun_pool) and
verbs with several meanings, which are simply several lines of verbs.tsv.
"""

from .clauses import Clause, Item, main_clause, predicate
from .entries import Noun, Verb
from .fill import Filler, Templates
from .lexicon import read_rows
from .phrases import NounPhrase, prepositional
from .tokens import Piece, Word, new_link, paired, words

_NEUTRAL = ("sehen", "suchen", "finden", "fotografieren", "brauchen", "zeichnen")  # verbs that decide nothing
_STATES = (
    "event",
    "abstract",
    "game",
    "time",
    "weather",
    "nature",
)  # classes that are rather described than drawn


class Meanings(Templates):
    def __init__(self, filler: Filler):
        super().__init__(filler)
        self.senses = [
            (self.lexicon.nouns_by_name[name], kind, cell.split(","))
            for name, kind, cell in read_rows("senses.tsv")
        ]
        self._transitive: dict[str, list[Verb]] = {}
        for verb in self.lexicon.verbs_by_frame["a"]:
            if not verb.reflexive:
                self._transitive.setdefault(verb.infinitive, []).append(verb)

    def ambiguous(self) -> tuple[Piece, str]:
        """Die Birne leuchtet: bulb. Er schält die Birne: pear. The verb, an adjective or a phrase decides."""
        noun, kind, cells = self.draw.zipf(self.senses)
        det = self.lexicon.determiners["der" if self.draw.chance(0.6) or not noun.countable else "ein"]
        plural = noun.countable and (kind == "objp" or kind in ("obj", "subj") and self.draw.chance(0.2))
        phrase = NounPhrase(noun, self.lexicon.determiners["der"] if plural else det, plural)
        cell = self.draw.choice(cells)
        if kind == "subj":
            verb = next(v for v in self.lexicon.verbs if v.infinitive == cell and v.frame == "i")
            return main_clause(self.filler.clause("", verb, phrase)), "."
        if kind == "on":
            verb = self.lexicon.find_verb(cell)
            clause = Clause(self.chooser.person("subject"), self.filler.group(verb, self.filler.tense()))
            place = prepositional("auf", "dat", NounPhrase(noun, self.lexicon.determiners["der"]), "on")
            clause.items.append(Item("place", "place", *place))
            return main_clause(clause), "."
        if kind == "adj":
            adjective = next(a for a in self.lexicon.adjectives if a.german == cell)
            phrase = NounPhrase(noun, det, False, [(adjective, "positive")])
        elif kind == "pp":
            phrase = NounPhrase(noun, self.lexicon.determiners["der"])
            phrase.after.append(paired(*cell.split(":")))
        verb = self._verb_for(noun, cell if kind in ("obj", "objp") else self.draw.choice(_NEUTRAL))
        clause = self.filler.clause("", verb, adverbs=kind in ("obj", "objp"))
        clause.items = [item for item in clause.items if item.english_slot != "object"]
        clause.items.append(self.filler.accusative(clause, phrase))
        clause.negated = clause.negated and phrase.definite
        return main_clause(clause), "."

    def _verb_for(self, noun: Noun, infinitive: str) -> Verb:
        """The reading of a verb that accepts the noun, else its first transitive one."""
        verbs = self._transitive[infinitive]
        return next((verb for verb in verbs if noun in self.lexicon.noun_pool(verb.object)), verbs[0])

    def compound(self) -> tuple[Piece, str]:
        """Der Küchentisch ist rund: compounds get a turn of their own."""
        noun, modifier = self.draw.zipf(self.lexicon.compounds)
        det = self.lexicon.determiners[
            self.draw.choice(("der", "der", "der", "unser", "mein", "dieser")) if noun.countable else "der"
        ]
        phrase = NounPhrase(
            noun, det, noun.countable and det.german != "ein" and self.draw.chance(0.2), None, None, modifier
        )
        if noun.cls in _STATES or self.draw.chance(0.4):
            clause = Clause(
                phrase,
                self.filler.group(
                    self.lexicon.auxiliaries["sein"], "present" if self.draw.chance(0.6) else "preterite"
                ),
            )
            adjective, link = self.chooser.adjective(noun), new_link()
            clause.items.append(predicate([Word(adjective.german, (link,))], words(adjective.english, link)))
            return main_clause(clause), "."
        verb = self._verb_for(
            noun, self.draw.choice(("sehen", "suchen", "finden", "fotografieren", "kennen", "zeichnen"))
        )
        clause = self.filler.clause("", verb, self.chooser.person("subject"))
        clause.items = [item for item in clause.items if item.english_slot != "object"]
        clause.items.append(self.filler.accusative(clause, phrase))
        clause.negated = clause.negated and phrase.definite
        return main_clause(clause), "."
