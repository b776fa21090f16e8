"""What kind of word a unit of the target vocabulary is, by criteria that are simple enough to be stated in a table.

They look at spellings alone, and the first that fits counts. No tagger, no dictionary: a name at the start of many
sentences is a word like others, and "party" counts as a form of "part".
"""

from ...text.bpe import SEPARATOR
from ...text.tokenizer import JOINER
from ...text.vocab import UNK

FUNCTION_WORDS = (  # English, German, Italian: articles, pronouns, prepositions, conjunctions, auxiliaries, particles
    "a an the this that these those i you he she it we they me him her us them my your his its our their mine yours "
    "who whom whose which what when where why how of in on at by for with from to into onto upon over under about "
    "between among through during before after against without within since until than as if and or but nor so "
    "because while although though whether not no 's 't 're 've 'll 'd 'm be am is are was were been being have has "
    "had having do does did doing will would shall should can could may might must there here also too very only just",
    "der die das den dem des ein eine einen einem einer eines ich du er sie es wir ihr mich mir dich dir ihn ihm uns "
    "euch ihnen sich mein dein sein unser euer und oder aber denn weil dass daß wenn ob als wie zu in im an am auf aus "
    "bei mit nach von vom vor für durch über unter zwischen gegen ohne um bis seit nicht kein keine auch noch nur "
    "schon sehr so bin bist ist sind war waren habe hat haben hatte wird werden wurde kann können muss soll",
    "il lo la i gli le un uno una di a da in con su per tra fra e o ma se che chi cui non si mi ti ci vi io tu lui lei "
    "noi voi loro è sono era erano ha hanno del della dei delle al alla nel nella sul sulla come più anche",
)
PARTS = {
    "marks and numbers": "no letter, or a digit",
    "function words": "articles, pronouns, prepositions, conjunctions, auxiliaries and particles, from a list",
    "pieces of words": "units of BPE that do not end a word",
    "names": "capitalised, and not more frequent in lower case",
    "inflections": "a more frequent word differs in the last three letters at most and shares the first four at least",
    "other words": "all others",
}
SHARED, LAST = 4, 3  # letters


class WordParts:
    """The part of every target word of a vocabulary: part(id) -> a key of PARTS."""

    def __init__(self, vocab):
        self.words = [word.strip(JOINER) for word in vocab.words]
        self.functions = {word for words in FUNCTION_WORDS for word in words.split()}
        self.rank = {}  # of the most frequent spelling, and of the most frequent word with a beginning
        self.first_with = {}
        for i, word in enumerate(self.words[UNK + 1 :], start=UNK + 1):
            self.rank.setdefault(word, i)
            for stem in stems(word):
                self.first_with.setdefault(stem, i)

    def part(self, i):
        word = self.words[i]
        if any(map(str.isdigit, word)) or not any(map(str.isalpha, word)):
            return "marks and numbers"
        if word.lower().replace("’", "'") in self.functions:
            return "function words"
        if word.endswith(SEPARATOR):
            return "pieces of words"
        if word[0].isupper() and self.rank.get(word.lower(), len(self.words)) > i:
            return "names"
        if any(self.first_with[stem] < i for stem in stems(word)):
            return "inflections"
        return "other words"


def stems(word):
    """The beginnings by which a word is known as a form of another: itself, or without its last letters."""
    word = word.lower()
    if word.endswith(SEPARATOR) or not word.isalpha():
        return []
    return [word[: len(word) - cut] for cut in range(LAST + 1) if len(word) - cut >= SHARED]
