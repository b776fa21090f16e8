"""The verb of a clause in every tense: German verbal bracket, English auxiliaries and do-support.

Tenses and their fixed translations:
    present      steht auf            gets up           (with jetzt: is getting up; with morgen: will get up)
    preterite    stand auf            got up
    perfect      ist aufgestanden     has got up        (with gestern, wann: got up)
    pluperfect   war aufgestanden     had got up
    future       wird aufstehen       will get up
    would        würde aufstehen      would get up
    subjunctive  hätte, wäre          had, were
    modal, modal_past                 kann aufstehen    can get up
    passive, passive_past, passive_perfect, passive_modal    wird gebaut    is built
Left out: the other subjunctives, the perfect of modals (hat aufstehen müssen), the future perfect.
"""

from typing import NamedTuple

from . import english, german
from .entries import Modal, Verb
from .lexicon import Lexicon
from .phrases import Phrase
from .tokens import Word, new_link, words


class EnglishVerb(NamedTuple):
    """A chain of English verbs: one finite head and what follows it."""

    head: english.Forms
    past: bool
    head_links: tuple[int, ...]
    rest: list[Word]


class VerbGroup:
    def __init__(self, lexicon: Lexicon, verb: Verb, tense: str, view: str = "", modal: Modal | None = None):
        """view changes the English tense only: progressive, future (of a present) or past (of a perfect)."""
        self.lexicon, self.verb, self.tense, self.view, self.modal = lexicon, verb, tense, view, modal
        self.main, self.finite, self.aux, self.third = new_link(), new_link(), new_link(), new_link()

    # German

    def german_finite(self, subject: Phrase) -> Word:
        person, plural = subject.person, subject.plural
        if self.tense in ("present", "preterite", "subjunctive"):
            return Word(german.finite(self.verb, self.tense, person, plural), (self.main, self.finite))
        if self.modal:
            return Word(
                german.modal_form(self.modal, self.tense == "modal_past", person, plural), (self.aux,)
            )
        if self.tense in ("perfect", "pluperfect"):
            lemma, tense = self.verb.auxiliary, "present" if self.tense == "perfect" else "preterite"
        elif self.tense == "passive_perfect":
            lemma, tense = "sein", "present"
        else:
            lemma = "werden"
            tense = {"would": "subjunctive", "passive_past": "preterite"}.get(self.tense, "present")
        return Word(german.finite(self._auxiliary(lemma), tense, person, plural), (self.aux,))

    def _auxiliary(self, lemma: str) -> Verb:
        return self.lexicon.auxiliaries[lemma]

    def german_tail(self) -> list[Word]:
        """What closes the verbal bracket of a main clause: prefix, participle or infinitive."""
        if self.tense in ("present", "preterite", "subjunctive"):
            return [Word(self.verb.prefix, (self.main,))] if self.verb.prefix else []
        if self.tense in ("perfect", "pluperfect"):
            return [Word(self.verb.participle, (self.main,))]
        if self.tense.startswith("passive"):
            last = {"passive_perfect": "worden", "passive_modal": "werden"}.get(self.tense)
            return [Word(self.verb.participle, (self.main,))] + ([Word(last, (self.third,))] if last else [])
        return [Word(self.verb.infinitive, (self.main,))]

    def german_final(self, subject: Phrase) -> list[Word]:
        """The whole verb at the end of a subordinate clause: ... früh aufsteht, ... aufgestanden ist."""
        finite = self.german_finite(subject)
        if self.tense in ("present", "preterite", "subjunctive"):
            return [finite._replace(text=self.verb.prefix + finite.text)]
        return [*self.german_tail(), finite]

    def zu_infinitive(self) -> tuple[list[Word], int]:
        """The German words and the link of zu, for the English to."""
        zu = new_link()
        forms = german.zu_infinitive(self.verb)
        if len(forms) == 1:
            return [Word(forms[0], (self.main, zu))], zu
        return [Word("zu", (zu,)), Word(forms[1], (self.main,))], zu

    # English

    def english_chain(self) -> EnglishVerb:
        forms, tense = english.verb_forms(self.verb), self.tense
        main, aux, third = (self.main,), (self.aux,), (self.third,)
        base, participle = Word(forms.base, main), Word(forms.participle, main)
        if tense in ("present", "preterite", "subjunctive"):
            return self._simple(forms, base)
        if tense in ("perfect", "pluperfect"):
            if self.view == "past":
                return EnglishVerb(forms, True, aux + main, [])
            return EnglishVerb(english.HAVE, tense == "pluperfect", aux, [participle])
        if tense in ("future", "would"):
            return EnglishVerb(english.modal("will" if tense == "future" else "would"), False, aux, [base])
        if tense == "passive_perfect":
            return EnglishVerb(english.HAVE, False, aux, [Word("been", third), participle])
        if tense in ("passive", "passive_past"):
            return EnglishVerb(english.BE, tense == "passive_past", aux, [participle])
        past = tense == "modal_past"
        head, rest = english.phrase_head(self.modal.english_past if past else self.modal.english_present)
        verbs = [Word("be", third), participle] if tense == "passive_modal" else [base]
        return EnglishVerb(head, past, aux, [Word(text, aux) for text in rest] + verbs)

    def _simple(self, forms: english.Forms, base: Word) -> EnglishVerb:
        main = (self.main,)
        if self.view == "progressive":
            return EnglishVerb(english.BE, False, (self.finite,), [Word(forms.ing, main)])
        if self.view == "future":
            return EnglishVerb(english.modal("will"), False, (self.finite,), [base])
        return EnglishVerb(forms, self.tense != "present", main, [])

    def english_words(self, subject: Phrase, needs_auxiliary: bool) -> tuple[Word, list[Word], bool]:
        """Finite word, the rest of the chain, and whether the finite word is an auxiliary."""
        head, past, links, rest = self.english_chain()
        if needs_auxiliary and not head.is_auxiliary:
            simple = links == (self.main,)  # does belongs to the finite verb, not to its prefix or sich
            rest = [Word(head.base, links[1:] or links), *rest]
            head, links = english.DO, (self.finite,) if simple else links[:1]
        finite = english.finite(
            head, past, getattr(subject, "english_person", subject.person), subject.english_plural
        )
        if self.tense == "subjunctive" and head is english.BE:
            finite = "were"
        return Word(finite, links), rest, head.is_auxiliary

    def english_extra(self) -> tuple[list[Word], list[Word]]:
        """Fixed words right after the verb, and the particle that a pronoun object may precede."""
        fixed, particle = english.particle_of(self.verb)
        return words(" ".join(fixed), self.main), words(particle, self.main)

    def english_bare(self, form: str = "base") -> Word:
        return Word(getattr(english.verb_forms(self.verb), form), (self.main,))
