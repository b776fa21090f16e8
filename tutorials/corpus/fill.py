"""Fills a clause: subject, objects, places and times that suit a verb's frame.

Left out: how the clause is used (simple.py, complex.py), and sentences with a frame of their own.
"""

from . import times
from .clauses import Clause, Item
from .draw import weights
from .entries import Verb
from .phrases import NounPhrase, Phrase, Pronoun, prepositional
from .places import Places
from .semantics import Chooser
from .tokens import Word, paired
from .verbgroup import VerbGroup

CASES = {"a": "acc", "d": "dat"}
FRAMES = weights("a 42, i 18, p 14, dir 6, loc 5, da 6, d 5, put 2, adir 2, ap 2, sw 2, dp 1")
TENSES = weights("present 38, preterite 17, perfect 21, modal 12, future 6, modal_past 5")
PERSON_FRAMES = weights("a 40, i 25, p 15, dir 8, loc 5, d 4, da 3")
_NOT_WITH_NICHT = tuple(
    "kein nie nirgend jed all beid jemand viel einig wenig mehrer ein irgend sofort endlich".split()
)


class Filler:
    def __init__(self, chooser: Chooser):
        self.chooser, self.draw, self.lexicon = chooser, chooser.draw, chooser.lexicon
        self.places = Places(chooser)
        self.times = times.TimePhrases(chooser)
        self.verbs_for_object: dict[str, list[Verb]] = {}
        for verb in self.lexicon.verbs_by_frame["a"]:
            if "person" in verb.subject and not verb.reflexive and not set(verb.flags) & set("bt"):
                for noun in self.lexicon.noun_pool(verb.object):
                    self.verbs_for_object.setdefault(noun.key, []).append(verb)

    # verbs

    def verb(self, frames=FRAMES) -> Verb:
        frame = self.draw.weighted(frames)
        return self.draw.zipf(self.lexicon.verbs_by_frame[frame])

    def person_verb(self, frames) -> Verb:
        """A verb whose subject may be a person."""
        while True:
            verb = self.verb(frames)
            if "person" in verb.subject:
                return verb

    def tense(self) -> str:
        return self.draw.weighted(TENSES)

    def group(self, verb: Verb, tense: str, view: str = "") -> VerbGroup:
        return VerbGroup(self.lexicon, verb, tense, view, self.modal(tense))

    def modal(self, tense: str):
        if tense not in ("modal", "modal_past", "passive_modal"):
            return None
        past = tense == "modal_past"
        usable = [(m, m.weight) for m in self.lexicon.modals if m.preterite != "-" or not past]
        if tense == "passive_modal":
            usable = [pair for pair in usable if pair[0].infinitive in ("können", "müssen")]
        return self.draw.weighted(usable)

    # clauses

    def clause(
        self,
        tense: str = "",
        verb: Verb | None = None,
        subject: Phrase | None = None,
        formal: bool = False,
        adverbs: bool = True,
        sentence_adverb: bool = False,
    ) -> Clause:
        """A clause with everything its verb asks for, and perhaps adverbs and a negation."""
        tense, verb = tense or self.tense(), verb or self.verb()
        tense = self._usual_tense(verb, tense)
        subject = subject or self.subject(verb, formal)
        if tense.startswith("modal") and subject.cls != "person":
            tense = "present" if tense == "modal" else "preterite"
        clause = Clause(subject, self.group(verb, tense))
        self.chooser.allow_kein = verb.frame == "a" and tense in ("present", "preterite", "perfect")
        self.complements(clause)
        self.chooser.allow_kein = False
        if adverbs:
            self.adverbs(clause, sentence_adverb)
        self.maybe_negate(clause)
        return clause

    def _usual_tense(self, verb: Verb, tense: str) -> str:
        """Verbs of state have no perfect and no modal here; kennen, haben and gefallen no future either."""
        if "s" in verb.flags and tense == "perfect":
            return "preterite"
        limited = verb.frame == "sw" or "n" in verb.flags
        if "s" in verb.flags and (tense.startswith("modal") or (limited and tense == "future")):
            return "preterite" if tense == "modal_past" else "present"
        return tense

    def subject(self, verb: Verb, formal: bool = False) -> Phrase:
        if verb.frame == "sw":  # the German subject is the English object: no pronouns
            return self.chooser.noun_phrase(self.chooser.noun(verb.subject), "object", definite=True)
        return self.chooser.phrase(verb.subject, "subject", None, formal)

    def complements(self, clause: Clause) -> None:
        verb = clause.verb.verb
        if verb.reflexive:
            clause.items.append(self.reflexive(clause))
        if verb.frame in ("a", "da", "ap", "put", "adir"):
            clause.items.append(
                self.accusative(clause, self.object_phrase(verb, verb.object, clause.subject))
            )
        if verb.frame in ("d", "da", "dp", "sw"):
            self.dative(clause)
        if verb.frame in ("p", "ap", "dp"):
            clause.items.append(self.prepositional_object(clause))
        if verb.frame in ("dir", "adir"):
            clause.items.append(self.places.direction(clause))
        if verb.frame == "put":
            clause.items.append(self.places.put_on(clause))
        if verb.frame == "loc":
            clause.items.append(self.places.location(clause))

    def object_phrase(self, verb: Verb, spec: tuple[str, ...], subject: Phrase) -> Phrase:
        """Flag b: no article (Tennis spielen); B: none on the second object (um Hilfe bitten);
        t: only English has one (Klavier spielen, play the piano)."""
        if "b" in verb.flags or "t" in verb.flags or ("B" in verb.flags and spec is verb.second_object):
            phrase = NounPhrase(self.chooser.noun(spec))
            phrase.english_the = "t" in verb.flags
            return phrase
        return self.chooser.phrase(spec, "object", subject)

    def reflexive(self, clause: Clause) -> Item:
        subject, dative = clause.subject, clause.verb.verb.reflexive == "dat"
        text = "sich"
        if isinstance(subject, Pronoun):
            text = subject.entry.reflexive_dat if dative else subject.entry.reflexive_acc
        return Item("reflexive", "", [Word(text, (clause.verb.main,))], [])

    def accusative(self, clause: Clause, phrase: Phrase) -> Item:
        slot = "acc_pronoun" if phrase.is_pronoun else ("object" if phrase.definite else "new_object")
        return Item(slot, "object", phrase.de("acc"), phrase.en("object"))

    def dative(self, clause: Clause) -> None:
        verb = clause.verb.verb
        spec = verb.object if verb.frame in ("d", "sw") else ("person",)
        phrase = self.chooser.phrase(spec, "object", clause.subject)
        if phrase.is_pronoun and any(item.german_slot == "acc_pronoun" for item in clause.items):
            phrase = self.chooser.noun_phrase(self.chooser.noun(("person",)), "object", clause.subject)
        slot = "dat_pronoun" if phrase.is_pronoun else "dative"
        if verb.frame == "sw":
            clause.swapped = phrase
            clause.items.append(Item(slot, "", phrase.de("dat"), []))
            clause.items.append(Item("object", "object", [], clause.subject.en("object")))
        elif verb.preposition and verb.frame == "da":
            clause.items.append(
                Item(slot, "to_recipient", phrase.de("dat"), self._with(verb.preposition, phrase))
            )
        elif verb.preposition and verb.frame == "d":
            clause.items.append(
                Item(
                    slot,
                    "to_recipient",
                    phrase.de("dat"),
                    self._with(verb.preposition, phrase, clause.verb.main),
                )
            )
        else:
            clause.items.append(Item(slot, "recipient", phrase.de("dat"), phrase.en("object")))

    def _with(self, preposition: str, phrase: Phrase, *links: int) -> list[Word]:
        """An English preposition that German says with a case: linked to the verb, or to nothing."""
        return [Word(preposition, links), *phrase.en("object")]

    def prepositional_object(self, clause: Clause) -> Item:
        verb = clause.verb.verb
        de_prep, case = verb.frame_args
        spec = verb.object if verb.frame in ("p", "dp") else verb.second_object
        phrase = self.object_phrase(verb, spec, clause.subject)
        return Item(
            "preposition",
            "preposition",
            *prepositional(de_prep, CASES[case], phrase, verb.preposition, clause.verb.main),
        )

    # adverbs and negation

    def adverbs(self, clause: Clause, sentence_adverb: bool) -> None:
        draw, verb = self.draw, clause.verb.verb
        dynamic = "s" not in verb.flags and clause.subject.cls == "person"
        company = dynamic and "o" not in verb.flags  # flag o: one does it alone
        if draw.chance(0.44) and ("s" not in verb.flags or verb.frame == "loc"):
            self.times.add(clause)
        if verb.frame in ("i", "a", "p", "d") and draw.chance(0.4 if verb.frame == "i" else 0.12) and dynamic:
            clause.items.append(self.places.place())
        if dynamic and draw.chance(0.07) and verb.frame in ("i", "a", "p"):
            clause.items.append(
                Item("manner", "manner", *paired(*draw.zipf(self.lexicon.words["manner"])[:2]))
            )
        elif verb.frame in ("i", "a") and company and draw.chance(0.06):
            phrase = self.chooser.noun_phrase(
                self.chooser.noun(("person",)), "object", clause.subject, plain=True
            )
            clause.items.append(Item("companion", "companion", *prepositional("mit", "dat", phrase, "with")))
        timed = any(item.german_slot == "time" for item in clause.items)
        plain = not timed and clause.verb.tense in ("present", "preterite") and "s" not in verb.flags
        if draw.chance(0.09) and plain:
            clause.items.append(self.frequency())
        elif draw.chance(0.08) and any(
            item.german_slot in ("new_object", "preposition") for item in clause.items
        ):
            clause.items.append(
                Item("frequency", "middle", *paired(*draw.zipf(self.lexicon.words["focus"])[:2]))
            )
        if sentence_adverb and draw.chance(0.09):
            adverb = paired(*draw.zipf(self.lexicon.words["sentence"])[:2])
            clause.items.append(Item("sentence", "front", *adverb))

    def frequency(self) -> Item:
        de, en = self.draw.zipf(self.lexicon.words["freq"])[:2]
        before_verb = en.endswith("ly") or en in ("always", "often", "sometimes", "never")
        return Item("frequency", "middle" if before_verb else "end", *paired(de, en))

    def maybe_negate(self, clause: Clause) -> None:
        """nicht, unless something in the clause is negative, indefinite or quantified already."""
        if not self.draw.chance(0.11) or clause.verb.view == "progressive":
            return
        if any(item.german_slot in ("new_object", "frequency") for item in clause.items):
            return
        words = clause.subject.de("nom") + [word for item in clause.items for word in item.de]
        clause.negated = not any(word.text.lower().startswith(_NOT_WITH_NICHT) for word in words)


class Templates:
    """A family of sentences. Its methods return a Piece without the final mark, and the mark."""

    def __init__(self, filler: Filler):
        self.filler = filler
        self.chooser, self.draw, self.lexicon = filler.chooser, filler.draw, filler.lexicon
