"""Times and dates: adverbs, weekdays, months, clock times, years, and the English tense they ask for.

gestern, am Montag, vor drei Tagen turn a German perfect into an English simple past; jetzt and gerade ask
for the progressive, morgen for will. Left out: durations with seit, which English says with another tense.
"""

from . import numbers
from .clauses import Clause, Item
from .tokens import Piece, Word, new_link, paired, words

PROGRESSIVE = ("jetzt", "gerade", "momentan", "zurzeit")
_PAST_TENSES = ("preterite", "perfect", "pluperfect", "passive_past", "passive_perfect", "modal_past")


class TimePhrases:
    def __init__(self, chooser):
        self.chooser, self.draw, self.lexicon = chooser, chooser.draw, chooser.lexicon
        self.adverbs = {}
        for row in self.lexicon.words["time"]:
            self.adverbs.setdefault(row[2], []).append(row)

    def add(self, clause: Clause) -> None:
        """Append a time that suits the tense, and set the English view of the verb."""
        group, tense = clause.verb, clause.verb.tense
        if tense in _PAST_TENSES:
            piece, definite = self._past()
            if definite and tense == "perfect":
                group.view = "past"
            elif definite and tense == "passive_perfect":
                return
        elif tense in ("future", "would"):
            piece = self._future()
        else:
            piece = self._present(clause)
        clause.items.append(Item("time", "time", *piece))

    def _adverb(self, kind: str) -> Piece:
        de, en, *_ = self.draw.zipf(self.adverbs[kind])
        return paired(de, en)

    def _past(self) -> tuple[Piece, bool]:
        point = self.draw.random()
        if point < 0.5:
            return self._adverb("past"), True
        if point < 0.6:
            return self.ago(), True
        if point < 0.68:
            return self.year(), True
        if point < 0.76:
            return self.last_weekday(), True
        return self._calendar(), True

    def _future(self) -> Piece:
        point = self.draw.random()
        if point < 0.6:
            return self._adverb("future")
        return self.ahead() if point < 0.72 else self._calendar()

    def _present(self, clause: Clause) -> Piece:
        group, point = clause.verb, self.draw.random()
        plain = group.tense == "present" and group.verb.frame != "adj"
        if point < 0.25 and plain:
            group.view = "future"
            return self._adverb("future")
        if point < 0.5 and plain and "s" not in group.verb.flags and not group.verb.english.startswith("be "):
            group.view = "progressive"
            return paired(*self.draw.choice([r for r in self.adverbs["present"] if r[0] in PROGRESSIVE])[:2])
        if point < 0.7:
            return paired("heute", "today")
        if point < 0.8:
            return self._adverb("any")
        return self.every() if point < 0.9 and plain else self._calendar()

    # built from numbers and the calendar

    def _calendar(self) -> Piece:
        return self.draw.weighted(
            [
                (self.weekday, 5),
                (self.clock, 5),
                (self.month, 2),
                (self.date, 4),
                (self.part, 3),
                (self.season, 1),
            ]
        )()

    def _entry(self, kind: str) -> tuple[str, ...]:
        return self.draw.zipf(self.lexicon.calendar[kind])

    def _in(self, short: str, en_prep: str, de: str, en: str) -> Piece:
        """am Montag, on Monday; im Winter, in winter: the contraction is linked to the preposition."""
        prep, name = new_link(), new_link()
        return Piece([Word(short, (prep,)), Word(de, (name,))], [Word(en_prep, (prep,)), Word(en, (name,))])

    def weekday(self) -> Piece:
        return self._in("am", "on", *self._entry("weekday"))

    def month(self) -> Piece:
        return self._in("im", "in", *self._entry("month"))

    def season(self) -> Piece:
        return self._in("im", "in", *self._entry("season"))

    def part(self) -> Piece:
        return paired(*self._entry("part"))

    def every(self) -> Piece:
        de, en = self._entry("weekday")
        return paired(f"jeden {de}", f"every {en}")

    def last_weekday(self) -> Piece:
        de, en = self._entry("weekday")
        return paired(f"letzten {de}", f"last {en}")

    def clock(self) -> Piece:
        """um acht Uhr, um halb neun, um Viertel nach acht, um zehn vor acht."""
        hour, kind = self.draw.between(1, 12), self.draw.below(5)
        at, link, clock = new_link(), new_link(), new_link()
        word = numbers.german(hour), numbers.english(hour)
        opening = Word("um", (at,)), Word("at", (at,))
        if kind < 2:
            de = "ein" if hour == 1 else word[0]
            return Piece(
                [opening[0], Word(de, (link,)), Word("Uhr", (clock,))],
                [opening[1], *words(word[1], link), *words("o'clock", clock)],
            )
        if kind == 2:
            after = numbers.german(hour % 12 + 1)
            return Piece(
                [opening[0], Word("halb", (clock,)), Word(after, (link,))],
                [opening[1], *words("half past", clock), Word(word[1], (link,))],
            )
        minutes, side = self.draw.choice((0, 5, 10, 20)), self.draw.choice((("nach", "past"), ("vor", "to")))
        turn, amount = new_link(), new_link()
        de_minutes = words(numbers.german(minutes) if minutes else "Viertel", amount)
        en_minutes = words(numbers.english(minutes) if minutes else "a quarter", amount)
        return Piece(
            [opening[0], *de_minutes, Word(side[0], (turn,)), Word(word[0], (link,))],
            [opening[1], *en_minutes, Word(side[1], (turn,)), Word(word[1], (link,))],
        )

    def date(self) -> Piece:
        """am dritten Mai, on the third of May."""
        day, (de, en) = self.draw.between(1, 28), self._entry("month")
        prep, number, name = new_link(), new_link(), new_link()
        ordinal = numbers.german_ordinal_stem(day) + "en"
        return Piece(
            [Word("am", (prep,)), Word(ordinal, (number,)), Word(de, (name,))],
            [
                *words("on the", prep),
                *words(numbers.english_ordinal(day), number),
                Word("of", ()),
                Word(en, (name,)),
            ],
        )

    def year(self) -> Piece:
        """im Jahr neunzehnhundertfünf, in nineteen oh five; im Jahr 1905, in 1905."""
        year = self.draw.between(1900, 2020)
        prep, number = new_link(), new_link()
        de, en = (str(year), str(year))
        if self.draw.chance(0.4):
            de, en = numbers.german_year(year), numbers.english_year(year)
        return Piece(
            [Word("im", (prep,)), Word("Jahr", (prep,)), Word(de, (number,))],
            [Word("in", (prep,)), *words(en, number)],
        )

    def _amount(self, dative: bool) -> tuple[list[Word], list[Word]]:
        unit_de, unit_en = self._entry("unit")
        one, dat_plural, plural = unit_de.split("/")
        single_en, plural_en = unit_en.split("/")
        n = self.draw.between(2, 30) if self.draw.chance(0.4) else self.draw.between(2, 6)
        number, unit = new_link(), new_link()
        return (
            [Word(numbers.german(n), (number,)), Word(dat_plural if dative else plural, (unit,))],
            [*words(numbers.english(n), number), Word(plural_en, (unit,))],
        )

    def ago(self) -> Piece:
        """vor drei Tagen, three days ago."""
        ago, (de, en) = new_link(), self._amount(True)
        return Piece([Word("vor", (ago,)), *de], [*en, Word("ago", (ago,))])

    def ahead(self) -> Piece:
        """in drei Tagen, in three days."""
        prep, (de, en) = new_link(), self._amount(True)
        return Piece([Word("in", (prep,)), *de], [Word("in", (prep,)), *en])
