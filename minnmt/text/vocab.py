"""Words to numbers and back: a vocabulary by descending frequency, stored as Nematus' JSON.

{"eos": 0, "UNK": 1, word: 2, ...}. The two first entries are special; a word of the text that happens to be
spelled like one of them is unknown, never the special itself. Notebook 00.
"""

import json
import re
from collections import Counter
from itertools import chain

from ..errors import UserError, quoted
from ..files import read_text, write_atomically

EOS, UNK = 0, 1
UNWRITABLE = re.compile(r"[\n\r\ud800-\udfff]")  # in a line of UTF-8
SPECIAL_SPELLINGS = ({"eos", "</s>", "<EOS>", "<eos>"}, {"UNK", "<unk>", "<UNK>", "unk"})


class Vocab:
    """words[id] is the spelling; id 0 ends a sentence, id 1 stands for every unknown word."""

    def __init__(self, words):
        self.words = list(words)
        self._ids = {word: i for i, word in enumerate(self.words) if i > UNK and word != self.words[UNK]}

    def __len__(self):
        return len(self.words)

    def encode(self, tokens):
        """Tokens -> ids; unknown ones become UNK."""
        return [self._ids.get(token, UNK) for token in tokens]

    def decode(self, ids):
        """Ids -> tokens; eos is left out."""
        return [self.words[i] for i in ids if i != EOS]

    @classmethod
    def from_counts(cls, counts, limit=0):
        """The `limit` most frequent words (0 = all), eos and UNK included; ties in alphabetical order."""
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        words = [word for word, _ in ordered if word not in ("eos", "UNK")]
        if limit:
            words = words[: max(limit - 2, 0)]
        return cls(["eos", "UNK", *words])

    def resized(self, size):
        """The vocabulary of a model with `size` rows: longer lists are cut, missing words have no spelling.

        Nematus trains with --n-words below or above the dictionary's size; this is how it reads the file then.
        """
        return Vocab(self.words[:size] + [self.words[UNK]] * (size - len(self.words)))

    def save(self, path):
        text = json.dumps({word: i for i, word in enumerate(self.words)}, ensure_ascii=False, indent=0)
        write_atomically(path, text + "\n")

    @classmethod
    def load(cls, path):
        """Read a JSON vocabulary; its ids must be 0..n-1, with the end of sentence at 0 and the unknown word at 1."""
        try:
            ids = json.loads(read_text(path))
        except json.JSONDecodeError as error:
            raise UserError(
                f"{path}, line {error.lineno}: not JSON ({error.msg}); "
                'a vocabulary looks like {"eos": 0, "UNK": 1, "the": 2}'
            ) from None
        except (RecursionError, ValueError):
            raise UserError(f"{path}: not a vocabulary (too deeply nested, or a number too long to read)") from None
        if not isinstance(ids, dict) or not all(type(i) is int for i in ids.values()):
            raise UserError(f"{path}: a vocabulary maps words to whole numbers, this file holds something else")
        words = sorted(ids, key=ids.get)
        if [ids[word] for word in words] != list(range(len(words))):
            raise UserError(f"{path}: the ids of a vocabulary must be 0, 1, 2, ... with no gap and none twice")
        for word in words:
            if UNWRITABLE.search(word):
                raise UserError(f"{path}: the word {quoted(word)} (id {ids[word]}) cannot be written as text in a line")
        for i, (name, spellings) in enumerate(zip(("end of sentence", "unknown word"), SPECIAL_SPELLINGS)):
            if len(words) <= i or words[i] not in spellings:
                found = quoted(words[i]) if len(words) > i else "nothing"
                raise UserError(f"{path}: id {i} must be the {name} ({' or '.join(sorted(spellings))}), found {found}")
        return cls(words)


def count_tokens(sentences):
    """Token lists -> Counter."""
    return Counter(chain.from_iterable(sentences))
