"""German inflection: articles, adjective endings, noun cases, contractions and verb forms.

Cases are nom, acc, dat, gen; genders m, f, n; a plural is gender p. Left out: imperatives of du and ihr, the
old subjunctive forms (only hätte, wäre, würde and the modals' are needed), and word order (clauses.py).
"""

from functools import cache

from .entries import Adjective, Determiner, Modal, Noun, Verb

CASES = ("nom", "acc", "dat", "gen")
# One row per case, the columns m f n p.
_DER = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
_STRONG = {"nom": ("er", "e", "es", "e"), "acc": ("en", "e", "es", "e"), "dat": ("em", "er", "em", "en")}
_DETERMINER = _STRONG | {"gen": ("es", "er", "es", "er")}
_ADJECTIVE_STRONG = _STRONG | {"gen": ("en", "er", "en", "er")}
_ADJECTIVE_WEAK = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
_RELATIVE = _DER | {"dat": ("dem", "der", "dem", "denen"), "gen": ("dessen", "deren", "dessen", "deren")}
_COLUMN = {"m": 0, "f": 1, "n": 2, "p": 3}

CONTRACTIONS = {
    ("in", "dem"): "im",
    ("in", "das"): "ins",
    ("an", "dem"): "am",
    ("an", "das"): "ans",
    ("zu", "dem"): "zum",
    ("zu", "der"): "zur",
    ("von", "dem"): "vom",
    ("bei", "dem"): "beim",
}


def definite_article(case: str, gender: str) -> str:
    return _DER[case][_COLUMN[gender]]


def relative_pronoun(case: str, gender: str) -> str:
    return _RELATIVE[case][_COLUMN[gender]]


@cache
def determiner_form(det: Determiner, case: str, gender: str) -> str:
    """der -> dem; ein -> einem; dieser -> diesem; euer -> eurem; viele -> vielen."""
    if det.kind == "def":
        return definite_article(case, gender)
    ending = _DETERMINER[case][_COLUMN[gender]]
    if det.kind == "ein":
        bare = (case == "nom" and gender in "mn") or (case == "acc" and gender == "n")
        return det.german if bare else det.german.replace("euer", "eur") + ending
    stem = det.german[:-2] if det.german.endswith("er") else det.german[:-1]
    return stem + ending


def adjective_stem(adjective: Adjective, degree: str = "positive") -> str:
    """dunkel -> dunkl-, teuer -> teur-, hoch -> hoh-, müde -> müd-; schöner- and schönst- are given."""
    if degree == "comparative":
        return adjective.comparative
    if degree == "superlative":
        return adjective.superlative
    word = adjective.german
    if word == "hoch":
        return "hoh"
    if word.endswith("el"):
        return word[:-2] + "l"
    if word.endswith(("auer", "euer")):
        return word[:-2] + "r"
    return word[:-1] if word.endswith("e") else word


@cache
def adjective_ending(kind: str, case: str, gender: str) -> str:
    """The ending after a determiner of this kind (none: no determiner)."""
    column = _COLUMN[gender]
    if kind in ("def", "der"):
        return _ADJECTIVE_WEAK[case][column]
    if kind == "ein":  # mixed: strong where ein itself has no ending
        bare = (case == "nom" and gender in "mn") or (case == "acc" and gender == "n")
        return (_ADJECTIVE_STRONG if bare else _ADJECTIVE_WEAK)[case][column]
    return _ADJECTIVE_STRONG[case][column]


@cache
def noun_form(noun: Noun, case: str, plural: bool = False) -> str:
    """Haus -> dem Haus, des Hauses, den Häusern; weak nouns: der Student, den Studenten; Name: dem Namen."""
    if plural:
        form = noun.german if noun.gender == "p" else noun.plural
        return form + "n" if case == "dat" and not form.endswith(("n", "s")) else form
    if case == "nom":
        return noun.german
    if case == "gen":
        return noun.genitive
    if "weak" in noun.flags:
        if noun.gender == "n" and case == "acc":
            return noun.german  # das Herz, dem Herzen
        return noun.genitive[:-1] if noun.genitive.endswith("s") else noun.genitive
    return noun.german


_IRREGULAR_PRESENT = {
    "sein": ("bin", "bist", "ist", "sind", "seid", "sind"),
    "haben": ("habe", "hast", "hat", "haben", "habt", "haben"),
    "werden": ("werde", "wirst", "wird", "werden", "werdet", "werden"),
    "wissen": ("weiß", "weißt", "weiß", "wissen", "wisst", "wissen"),
    "mögen": ("mag", "magst", "mag", "mögen", "mögt", "mögen"),
}
SUBJUNCTIVE = {"sein": "wäre", "haben": "hätte", "werden": "würde"}


def _index(person: int, plural: bool) -> int:
    return person - 1 + 3 * plural


@cache
def present(infinitive: str, third: str, person: int, plural: bool) -> str:
    """Present tense from infinitive and third person: lesen, liest -> ich lese, du liest, ihr lest."""
    if infinitive in _IRREGULAR_PRESENT:
        return _IRREGULAR_PRESENT[infinitive][_index(person, plural)]
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    if plural:
        if person != 2:
            return infinitive
        return stem + ("et" if stem.endswith(("t", "d")) or third == stem + "et" else "t")
    if person == 1:
        return stem[:-2] + "le" if stem.endswith("el") else stem + "e"
    if person == 3:
        return third
    if stem.endswith("t") and not third.endswith("et"):
        return third + "st"  # er hält, du hältst
    root = third[:-1]
    return root + ("t" if root.endswith(("s", "ß", "z", "x")) else "st")


@cache
def preterite(form: str, person: int, plural: bool) -> str:
    """Simple past or subjunctive from the first person: stand -> du standest, wir standen; sagte: sagten."""
    if person != 2:
        if not plural:
            return form
        return form + ("n" if form.endswith("e") else "en")
    if plural:
        return form + ("et" if form.endswith(("t", "d")) else "t")
    return form + ("est" if form.endswith(("s", "ß", "z", "t", "d")) else "st")


def modal_form(modal: Modal, past: bool, person: int, plural: bool) -> str:
    """können -> ich kann, du kannst, wir können; konnte; möchte."""
    if past or modal.infinitive == "möchten":
        return preterite(modal.preterite if past else modal.present, person, plural)
    if plural:
        return present(modal.infinitive, modal.present, person, True)
    if person != 2:
        return modal.present
    return modal.present + ("t" if modal.present.endswith("s") else "st")


def finite(verb: Verb, tense: str, person: int, plural: bool) -> str:
    """The finite form without its separable prefix; tense is present, preterite or subjunctive."""
    if tense == "present":
        return present(verb.german, verb.present, person, plural)
    form = SUBJUNCTIVE[verb.german] if tense == "subjunctive" else verb.preterite
    return preterite(form, person, plural)


def zu_infinitive(verb: Verb) -> list[str]:
    """['zu', 'gehen'] or ['aufzustehen']."""
    return [verb.prefix + "zu" + verb.german] if verb.prefix else ["zu", verb.german]
