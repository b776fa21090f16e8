"""Words for UNK: where a translation has an unknown word, the source word that it attends to most stands in.

The source word is translated by a dictionary of whole words or by a table of counts over the model's units (its own, or
Model 1's), if it is there, and copied otherwise.
"""

import numpy as np

from ..text.bpe import SEPARATOR, join_units, unit_words
from ..text.vocab import EOS, UNK


class Replacer:
    """Replaces the unknown words of a translation."""

    def __init__(self, model, counts=None, dictionary=None):
        self.model, self.counts = model, counts
        self.dictionary = dictionary or {}  # {source word: its translation}; also of words that the model does not know

    def text(self, hypothesis, src_units):
        """A Hypothesis with its attention, the units of the source -> a raw line without UNK."""
        units = []
        for word, alpha in zip(hypothesis.ids, hypothesis.alpha):
            if self.spelled(word):
                units.append(self.model.trg.vocab.words[word])
                continue
            if units and self.model.trg.bpe:
                units[-1] = units[-1].removesuffix(SEPARATOR)  # a whole word follows, not the rest of this one
            units.append(self.replacement(alpha, src_units))
        return self.model.trg.join(units)

    def spelled(self, trg_id):
        """Is there a word to write? A vocabulary that is shorter than its model has ids without one."""
        words = self.model.trg.vocab.words
        return words[trg_id] != words[UNK]

    def replacement(self, alpha, src_units):
        """alpha (S) of one target word -> a word for it; eos, the last position, cannot stand in."""
        position = int(alpha[: len(src_units)].argmax())
        word = self.source_word(src_units, position)
        if word in self.dictionary:
            return self.dictionary[word]
        translation = self.translation(src_units[position])
        return word if translation is None else translation

    def translation(self, src_unit):
        """The likeliest translation of a source unit; None if the table has none."""
        src_id = self.model.src.vocab.encode([src_unit])[0]
        if self.counts is None or src_id == UNK:
            return None
        ids, weights = self.counts.row(src_id)
        known = np.array([i != EOS and self.spelled(i) for i in ids], bool)
        if not known.any():
            return None
        word = self.model.trg.vocab.words[ids[known][weights[known].argmax()]]
        return word.removesuffix(SEPARATOR) if self.model.trg.bpe else word

    def source_word(self, src_units, position):
        """The whole word that a source unit is a part of."""
        if not self.model.src.bpe:
            return src_units[position]
        words = unit_words(src_units)
        return join_units(unit for unit, word in zip(src_units, words) if word == words[position])[0]
