"""How much of the references the lists can write: by unit and by whole word, for all words and for the delicate kinds.

BLEU hardly notices a lost number, name or negation, so they are counted apart. A word is covered when all its units
are in its sentence's list. Frequency is the rank in the target vocabulary, and a word's is that of its rarest unit.
A unit that the vocabulary does not know can never be covered: it is counted on its own, in no row.
"""

from dataclasses import dataclass
from itertools import groupby

from ..files import read_lines
from ..text.bpe import join_units
from ..text.pipeline import word_numbers
from ..text.tokenizer import JOINER
from ..text.vocab import UNK

# In lower case, as the tokenizer leaves them: don't is "don" and "'t", n'est is "n" and "'est".
NEGATIONS = {
    "en": "not no never n't 't nobody nothing none neither nor nowhere without cannot",
    "de": "nicht nichts nie niemals niemand niemanden niemandem nein kein keine keinen keinem keiner keines keins "
    "weder nirgends nirgendwo ohne",
    "it": "non no né neanche nemmeno neppure mai nessun nessuno nessuna niente nulla senza",
    "fr": "ne n n' non pas jamais rien personne aucun aucune ni nulle guère sans",
}

BANDS = (100, 1000, 5000)  # the last ranks of the frequency bands
BAND_NAMES = ("rank 1-100", "rank 101-1000", "rank 1001-5000", "rank 5001 and more")
KINDS = ("numbers", "capitalised, first of the line", "capitalised, elsewhere", "negations")
ALL = "all"


@dataclass
class Row:
    """One kind of words: how many units and words there are, and how many of them the lists have."""

    name: str
    units: int = 0
    units_covered: int = 0
    words: int = 0
    words_covered: int = 0


@dataclass
class Coverage:
    rows: list  # of Row, in the order of ALL, BAND_NAMES, KINDS
    unknown_units: int = 0
    unknown_words: int = 0  # with at least one unknown unit


def negation_words(name=None):
    """The set of one language, of all (None), or of a file with a word on each line."""
    if name is None:
        return {word for words in NEGATIONS.values() for word in words.split()}
    words = NEGATIONS[name].split() if name in NEGATIONS else read_lines(name)
    return {plain(word.strip()) for word in words if word.strip()}


def plain(word):
    """A word as the negations are spelled: no joiner marks, lower case, a straight apostrophe."""
    return word.strip(JOINER).lower().replace("’", "'")


def reference_coverage(references, lists, pipeline, negations):
    """references: each sentence's units; lists: each sentence's array of ids -> Coverage."""
    rows = {name: Row(name) for name in (ALL, *BAND_NAMES, *KINDS)}
    found = Coverage(list(rows.values()))
    for units, ids in zip(references, lists):
        listed = set(ids.tolist())
        for word, ids in zip(*_words_and_ids(units, pipeline)):
            kinds = [ALL, *word.kinds(negations)]
            for i in ids:
                if i == UNK:
                    found.unknown_units += 1
                    continue
                for name in (frequency_band(i), *kinds):
                    rows[name].units += 1
                    rows[name].units_covered += i in listed
            if UNK in ids:
                found.unknown_words += 1
                continue
            for name in (frequency_band(max(ids)), *kinds):
                rows[name].words += 1
                rows[name].words_covered += listed.issuperset(ids)
    return found


def frequency_band(i):
    """The name of an id's band; the vocabulary is sorted by frequency, and the first word follows UNK."""
    return BAND_NAMES[sum(i - UNK > last for last in BANDS)]


@dataclass
class Word:
    spelling: str
    is_first: bool  # the first of its line that has a letter

    def kinds(self, negations):
        """Which of KINDS it is: none, one or several."""
        letter = first_letter(self.spelling)
        capitalised = letter is not None and letter != letter.lower()
        is_kind = (
            any(character.isdigit() for character in self.spelling),
            capitalised and self.is_first,
            capitalised and not self.is_first,
            plain(self.spelling) in negations,
        )
        return [name for name, yes in zip(KINDS, is_kind) if yes]


def first_letter(word):
    return next((character for character in word if character.isalpha()), None)


def _words_and_ids(units, pipeline):
    """A sentence's units -> its Words, and each one's ids."""
    numbers = iter(word_numbers(units, pipeline))
    groups = [list(group) for _, group in groupby(units, lambda unit: next(numbers))]
    spellings = [join_units(group)[0] if pipeline.bpe else group[0] for group in groups]
    first = next((k for k, spelling in enumerate(spellings) if first_letter(spelling)), None)
    words = [Word(spelling, k == first) for k, spelling in enumerate(spellings)]
    return words, [pipeline.vocab.encode(group) for group in groups]
