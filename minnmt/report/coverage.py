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
        for spelling, is_first, ids in _words(units, pipeline):
            kinds = [ALL, *word_kinds(spelling, is_first, negations)]
            known = [i for i in ids if i != UNK]
            found.unknown_units += len(ids) - len(known)
            for i in known:
                for name in (frequency_band(i), *kinds):
                    rows[name].units += 1
                    rows[name].units_covered += i in listed
            if len(known) < len(ids):
                found.unknown_words += 1
                continue
            for name in (frequency_band(max(ids)), *kinds):
                rows[name].words += 1
                rows[name].words_covered += listed.issuperset(ids)
    return found


def frequency_band(i):
    """The name of an id's band; the vocabulary is sorted by frequency, and the first word follows UNK."""
    return BAND_NAMES[sum(i - UNK > last for last in BANDS)]


def word_kinds(spelling, is_first, negations):
    """Which of KINDS a word is: none, one or several."""
    letter = next(filter(str.isalpha, spelling), "")
    capitalised = letter != letter.lower()
    is_kind = (
        any(map(str.isdigit, spelling)),
        capitalised and is_first,
        capitalised and not is_first,
        plain(spelling) in negations,
    )
    return [name for name, yes in zip(KINDS, is_kind) if yes]


def _words(units, pipeline):
    """A sentence's units -> of each word its spelling, whether it is the first that has a letter, and its ids."""
    numbers = iter(word_numbers(units, pipeline))
    is_first = True
    for _, group in groupby(units, lambda unit: next(numbers)):
        pieces = list(group)
        spelling = join_units(pieces)[0] if pipeline.bpe else pieces[0]
        yield spelling, is_first, pipeline.vocab.encode(pieces)
        is_first = is_first and not any(map(str.isalpha, spelling))
