"""Reads the hand-written lexicon: every *.tsv file of this folder into small dataclasses, once, on first use.

A file's order is its frequency order. Left out: inflection (german.py, english.py) and the choice of words
(semantics.py).
"""

from collections import Counter
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from pathlib import Path

from .entries import Adjective, Determiner, Modal, Noun, PronounEntry, Verb

FOLDER = Path(__file__).parent


def _with_meaning(adjective: Adjective, meaning: str) -> Adjective:
    """groß=tall/taller/tallest: another English word for this class of nouns."""
    if not meaning:
        return adjective
    base, comparative, superlative = meaning.split("/")
    return replace(adjective, english=base, english_comparative=comparative, english_superlative=superlative)


def read_rows(name: str) -> list[list[str]]:
    lines = (FOLDER / name).read_text(encoding="utf-8").splitlines()
    return [line.rstrip("\n").split("\t") for line in lines if line and not line.startswith("#")]


def _split(cell: str) -> tuple[str, ...]:
    return () if cell == "-" else tuple(cell.split(","))


def _verb(row: list[str]) -> Verb:
    infinitive, present, preterite, participle, aux, frame, subj, obj, english, past, en_part, prep, flags = (
        row
    )
    reflexive = ""
    if " " in infinitive:
        marker, infinitive = infinitive.split(" ")
        reflexive = "dat" if marker == "sich3" else "acc"
    prefix, _, base = infinitive.rpartition("|")
    kind, *args = frame.split(" ")
    first, _, second = obj.partition("+")
    return Verb(
        base,
        prefix,
        reflexive,
        present,
        preterite,
        participle,
        aux,
        kind,
        tuple(args),
        _split(subj),
        _split(first),
        _split(second or "-"),
        english,
        past,
        en_part,
        "" if prep == "-" else prep,
        flags,
    )


def _noun(row: list[str]) -> Noun:
    return Noun(*row[:7], flags=tuple(cell for cell in row[7:] if cell))


@dataclass
class Lexicon:
    nouns: list[Noun]
    adjectives: list[Adjective]
    verbs: list[Verb]
    names: dict[str, list[tuple[str, str]]]
    words: dict[str, list[tuple[str, ...]]]
    determiners: dict[str, Determiner]
    pronouns: list[PronounEntry]
    modals: list[Modal]
    groups: dict[str, tuple[str, ...]]
    adjective_fit: dict[str, tuple[str, ...]]
    calendar: dict[str, list[tuple[str, ...]]]
    _pools: dict[tuple[str, ...], list] = field(default_factory=dict)

    @cached_property
    def nouns_by_name(self) -> dict[str, Noun]:
        """Nouns with one meaning by their German name; every noun also as German=english."""
        table = {noun.key: noun for noun in reversed(self.nouns)}
        table.update(
            {noun.german: noun for noun in reversed(self.nouns) if noun.german not in self.ambiguous}
        )
        return table

    @cached_property
    def ambiguous(self) -> set[str]:
        """German nouns with several English translations; der Ball, ball and ball, is not one of them."""
        meanings: dict[str, set[str]] = {}
        for noun in self.nouns:
            if "spouse" not in noun.flags:  # mein Mann, my husband: the possessive decides, see semantics.py
                meanings.setdefault(noun.german, set()).add(noun.english)
        return {german for german, english in meanings.items() if len(english) > 1}

    @cached_property
    def _nouns_by_class(self) -> dict[str, list[Noun]]:
        table: dict[str, list[Noun]] = {}
        for noun in self.nouns:
            if "spouse" not in noun.flags:
                table.setdefault(noun.cls, []).append(noun)
        return table

    def noun_pool(self, spec: tuple[str, ...]) -> list[Noun]:
        """The nouns a frame accepts: classes, groups, and nouns by name (-Name leaves one out).

        A noun with several meanings is in only if the frame accepts just one of them: then the verb
        decides. In a spec that accepts everything, or has "clear", no verb decides: such nouns are left out.
        """
        if spec not in self._pools:
            pool = self._collect(spec)
            meanings = Counter(noun.german for noun in pool)
            if "clear" in spec or "everything" in spec or "anyone" in spec:
                pool = [noun for noun in pool if noun.german not in self.ambiguous]
            self._pools[spec] = [noun for noun in pool if meanings[noun.german] == 1]
        return self._pools[spec]

    def _collect(self, spec: tuple[str, ...], in_group: bool = False) -> list[Noun]:
        """A group may bear the name of a class, to leave out some of it; inside, the name means the class."""
        without = {item[1:] for item in spec if item.startswith("-")}
        pool: dict[str, Noun] = {}
        for item in spec:
            if item in self.groups and not in_group:
                members = self._collect(self.groups[item], in_group=True)
            elif item in self._nouns_by_class:
                members = self._nouns_by_class[item]
            else:
                members = [self.nouns_by_name[item]] if item in self.nouns_by_name else []
            pool.update((noun.key, noun) for noun in members if noun.german not in without)
        return list(pool.values())

    @cached_property
    def adjectives_by_class(self) -> dict[str, list[Adjective]]:
        """The adjectives that go with a class of nouns (adjective_fit.tsv; =class takes a whole class)."""
        by_name = {adjective.german: adjective for adjective in self.adjectives}
        table = {}
        for cls, names in self.adjective_fit.items():
            fitting: dict[str, Adjective] = {}
            for name in names:
                german, _, meaning = name.partition("=")
                if german in by_name:
                    fitting[german] = _with_meaning(by_name[german], meaning)
            for adjective in self.adjectives:
                if "=" + adjective.cls in names:
                    fitting.setdefault(adjective.german, adjective)
            table[cls] = list(fitting.values())
        return table

    @cached_property
    def compounds(self) -> list[tuple[Noun, str]]:
        """(German compound noun with the gender and endings of its head, English words before the head)."""
        known = {noun.german for noun in self.nouns}
        result = []
        for first, english, heads in read_rows("compounds.tsv"):
            for head in self._collect(tuple(heads.split(","))):
                joined = {
                    name: first + getattr(head, name).lower() for name in ("german", "genitive", "plural")
                }
                if joined["german"] not in known:
                    plural = "-" if head.plural == "-" else joined.pop("plural")
                    result.append((replace(head, **(joined | {"plural": plural})), english))
        return result

    @cached_property
    def compounds_by_head(self) -> dict[str, list[tuple[Noun, str]]]:
        table: dict[str, list[tuple[Noun, str]]] = {}
        for noun, english in self.compounds:
            head = next(
                known
                for known in self.nouns
                if known.english == noun.english
                and known.cls == noun.cls
                and noun.german.endswith(known.german.lower())
            )
            table.setdefault(head.key, []).append((noun, english))
        return table

    @cached_property
    def verbs_by_frame(self) -> dict[str, list[Verb]]:
        table: dict[str, list[Verb]] = {}
        for verb in self.verbs:
            table.setdefault(verb.frame, []).append(verb)
        return table

    @cached_property
    def auxiliaries(self) -> dict[str, Verb]:
        return {name: self.find_verb(name) for name in ("sein", "haben", "werden")}

    def find_verb(self, infinitive: str, english: str = "") -> Verb:
        for verb in self.verbs:
            if verb.infinitive == infinitive and english in ("", verb.english):
                return verb
        raise KeyError(f"verbs.tsv has no {infinitive} {english}".rstrip())


def _determiners() -> dict[str, Determiner]:
    """By German name; the second ihr, their, as ihr=their."""
    table: dict[str, Determiner] = {}
    for row in read_rows("determiners.tsv"):
        entry = Determiner(*row[:5], float(row[5]))
        table[f"{entry.german}={entry.english}" if entry.german in table else entry.german] = entry
    return table


def _by_kind(rows: list[list[str]], unused: set[tuple[str, str]] = frozenset()) -> dict[str, list[tuple]]:
    table: dict[str, list[tuple]] = {}
    for kind, *cells in rows:
        if (kind, cells[0]) not in unused:
            table.setdefault(kind, []).append(tuple(cells))
    return table


@lru_cache(maxsize=1)
def load() -> Lexicon:
    noun_rows = read_rows("nouns.tsv") + read_rows("more_nouns.tsv")
    unused = {(row[0], row[1]) for row in read_rows("unused.tsv")}
    return Lexicon(
        nouns=[_noun(row) for row in noun_rows if ("noun", row[0]) not in unused],
        adjectives=[
            Adjective(*row) for row in read_rows("adjectives.tsv") if ("adjective", row[0]) not in unused
        ],
        verbs=[_verb(row) for row in read_rows("verbs.tsv")],
        names=_by_kind(read_rows("names.tsv")),
        words=_by_kind(read_rows("words.tsv"), unused),
        determiners=_determiners(),
        pronouns=[PronounEntry(*r[:5], int(r[5]), *r[6:10], float(r[10])) for r in read_rows("pronouns.tsv")],
        modals=[Modal(*row[:5], float(row[5])) for row in read_rows("modals.tsv")],
        adjective_fit={row[0]: tuple(row[1].split(",")) for row in read_rows("adjective_fit.tsv")},
        calendar=_by_kind(read_rows("calendar.tsv")),
        groups={row[0]: tuple(row[1].split(",")) for row in read_rows("groups.tsv")},
    )


def lemma_counts() -> dict[str, int]:
    """How many different lemmas the lexicon holds, by part of speech."""
    lexicon = load()
    return {
        "noun": len({noun.german for noun in lexicon.nouns}),
        "compound": len({noun.german for noun, _ in lexicon.compounds}),
        "verb": len({verb.infinitive for verb in lexicon.verbs}) + len(lexicon.modals),
        "adjective": len(lexicon.adjectives),
        "adverb": sum(len(rows) for rows in lexicon.words.values()),
        "name": sum(len(rows) for rows in lexicon.names.values()),
        "function word": len(lexicon.determiners)
        + len(lexicon.pronouns)
        + len(read_rows("conjunctions.tsv")),
    }
