"""English inflection: verb forms, a or an, the possessive.

Left out: plurals and comparatives, which the lexicon spells out, and word order (clauses.py).
"""

import re
from functools import cache
from typing import NamedTuple

from .entries import Verb
from .tokens import Word


class Forms(NamedTuple):
    """The forms of one English verb; an invariant modal repeats itself."""

    base: str
    third: str
    past: str
    participle: str
    ing: str
    is_auxiliary: bool = False  # takes not and inverts without do


BE = Forms("be", "is", "was", "been", "being", True)
HAVE = Forms("have", "has", "had", "had", "having", True)
DO = Forms("do", "does", "did", "done", "doing", True)
_MODALS = ("can", "could", "will", "would", "should")
_DOUBLED = (
    "run swim sit get put cut shut win begin forget let set hit stop plan nod hug ban fit dig stir wrap swap "
    "admit regret travel cancel fulfil remodel"
).split()


def third_person(base: str) -> str:
    if base in ("have", "do", "go"):
        return {"have": "has", "do": "does", "go": "goes"}[base]
    if base.endswith(("s", "sh", "ch", "x", "z")):
        return base + "es"
    return base[:-1] + "ies" if re.search("[^aeiou]y$", base) else base + "s"


def ing_form(base: str) -> str:
    if base.endswith("ie"):
        return base[:-2] + "ying"
    if base in _DOUBLED:
        return base + base[-1] + "ing"
    if base.endswith("e") and base not in ("be", "see") and not base.endswith(("ee", "ye")):
        return base[:-1] + "ing"
    return base + "ing"


@cache
def verb_forms(verb: Verb) -> Forms:
    base = re.split("[ |]", verb.english)[0]
    if base == "be":
        return BE
    return Forms(base, third_person(base), verb.past, verb.english_participle, ing_form(base))


@cache
def modal(word: str) -> Forms:
    return Forms(word, word, word, word, word, True)


@cache
def phrase_head(phrase: str) -> tuple[Forms, tuple[str, ...]]:
    """'have to' -> the forms of have, ('to',); 'would like to' -> would, ('like', 'to')."""
    first, *rest = phrase.split(" ")
    if first in _MODALS:
        return modal(first), tuple(rest)
    forms = {"be": BE, "have": HAVE._replace(is_auxiliary=False)}.get(first)
    return forms or Forms(first, third_person(first), first + "ed", first + "ed", ing_form(first)), tuple(
        rest
    )


def finite(forms: Forms, past: bool, person: int, plural: bool) -> str:
    if forms is BE:
        if past:
            return "were" if plural or person == 2 else "was"
        return "are" if plural or person == 2 else ("am" if person == 1 else "is")
    if past:
        return forms.past
    return forms.third if person == 3 and not plural else forms.base


def particle_of(verb: Verb) -> tuple[list[str], str]:
    """Fixed words after the verb, and the particle that may move: look for -> [for], -; turn|on -> [], on."""
    head, _, particle = verb.english.partition("|")
    return head.split(" ")[1:], particle


_SILENT_H = ("hour", "honest", "honour", "heir")
_CONSONANT_VOWEL = ("uni", "use", "usu", "eu", "one", "once", "ute")


def starts_with_vowel_sound(word: str) -> bool:
    word = word.lower()
    if word.startswith(_SILENT_H):
        return True
    if word.startswith(_CONSONANT_VOWEL) and not word.startswith(("unim", "unin")):
        return False
    return word[0] in "aeiou" or word in ("8", "11", "18") or word.startswith("80")


def with_articles(line: list[Word]) -> list[Word]:
    """a -> an before a vowel sound; the generator writes 'a' everywhere."""
    result = list(line)
    for i in range(len(line) - 1):
        if line[i].text == "a" and starts_with_vowel_sound(line[i + 1].text):
            result[i] = line[i]._replace(text="an")
    return result


def possessive(line: list[Word], plural: bool, link: int) -> list[Word]:
    """the teacher + 's; the teachers + '."""
    mark = "'" if plural and line[-1].text.endswith("s") else "'s"
    return [*line, Word(mark, (link,), True)]
