"""The lexicon's entries: one dataclass for each part of speech, as the *.tsv files spell them.

Entries compare by identity, which makes them fast keys of a cache. Left out: reading the files (lexicon.py).
"""

from dataclasses import dataclass
from functools import cached_property


@dataclass(frozen=True, eq=False)
class Noun:
    german: str
    gender: str  # m, f, n; p for nouns that only have a plural
    genitive: str
    plural: str
    english: str
    english_plural: str
    cls: str
    flags: tuple[str, ...] = ()

    @cached_property
    def key(self) -> str:
        return f"{self.german}={self.english}"

    @property
    def countable(self) -> bool:
        return self.plural != "-" and self.english_plural != "-" and self.gender != "p"

    @property
    def generic(self) -> bool:
        """Abstract mass nouns: German says die Liebe where English says love; flag the: the noise, the north."""
        return self.cls == "abstract" and self.english_plural == "-" and "the" not in self.flags

    @property
    def plural_only_english(self) -> bool:
        """trousers, police: the English word takes a plural verb even where the German one is singular."""
        return "enpl" in self.flags


@dataclass(frozen=True, eq=False)
class Adjective:
    german: str
    comparative: str
    superlative: str
    english: str
    english_comparative: str
    english_superlative: str
    cls: str


@dataclass(frozen=True, eq=False)
class Verb:
    german: str  # infinitive without the separable prefix
    prefix: str
    reflexive: str  # "", "acc" or "dat"
    present: str
    preterite: str
    participle: str
    auxiliary: str
    frame: str
    frame_args: tuple[str, ...]  # preposition and case, or the kind of clause
    subject: tuple[str, ...]
    object: tuple[str, ...]
    second_object: tuple[str, ...]
    english: str  # first word: the verb; after a space: fixed words; after a bar: a particle that may move
    past: str
    english_participle: str
    preposition: str
    flags: str

    @property
    def infinitive(self) -> str:
        return self.prefix + self.german


@dataclass(frozen=True, eq=False)
class Determiner:
    german: str
    kind: str  # def, der, ein, strong: which endings it takes and asks of an adjective
    english: str
    english_plural: str
    number: str
    weight: float


@dataclass(frozen=True, eq=False)
class PronounEntry:
    nominative: str
    accusative: str
    dative: str
    english: str
    english_object: str
    person: int
    number: str
    gender: str
    reflexive_acc: str
    reflexive_dat: str
    weight: float


@dataclass(frozen=True, eq=False)
class Modal:
    infinitive: str
    present: str
    preterite: str
    english_present: str
    english_past: str
    weight: float
