"""One language's way from a raw line to ids and back: tokenizer, BPE, vocabulary, and their files.

    line  --tokenize-->  words  --BPE-->  units  --vocabulary-->  ids

Notebook 00.
"""

from dataclasses import dataclass
from pathlib import Path

from ..files import write_atomically
from .bpe import BPE, count_words, format_codes, join_units, learn_bpe, read_codes, unit_words
from .tokenizer import detokenize, tokenize
from .vocab import Vocab, count_tokens


@dataclass
class Pipeline:
    """How one side of the parallel text is read and written."""

    vocab: Vocab
    bpe: BPE | None = None
    pretokenized: bool = False

    def words(self, line):
        """A raw line -> its words and punctuation marks."""
        return split_words(line, self.pretokenized)

    def units(self, line):
        """A raw line -> the units that the vocabulary knows."""
        words = self.words(line)
        return self.bpe.segment(words) if self.bpe else words

    def ids(self, line):
        """A raw line -> ids, without eos."""
        return self.vocab.encode(self.units(line))

    def join(self, units):
        """Units -> a raw line."""
        words = join_units(units) if self.bpe else units
        return " ".join(words) if self.pretokenized else detokenize(words)

    def text(self, ids):
        """Ids -> a raw line."""
        return self.join(self.vocab.decode(ids))

    def save(self, directory, side):
        """Write vocab.SIDE.json and, with BPE, bpe.SIDE.codes."""
        self.vocab.save(Path(directory) / f"vocab.{side}.json")
        if self.bpe:
            write_atomically(Path(directory) / f"bpe.{side}.codes", format_codes(self.bpe.ranks))

    @classmethod
    def load(cls, vocab_path, codes_path=None, pretokenized=False):
        """Read a vocabulary and, if one is named, a BPE codes file."""
        bpe = BPE(read_codes(codes_path)) if codes_path else None
        return cls(Vocab.load(vocab_path), bpe, pretokenized)


def split_words(line, pretokenized):
    """A raw line -> words; a pretokenized line is only cut at its spaces."""
    return line.split() if pretokenized else tokenize(line)


def learn_pipelines(src_lines, trg_lines, n_merges=0, vocab_size=0, shared=False, pretokenized=False):
    """Learn BPE (n_merges > 0) and vocabularies (vocab_size > 0 limits them) -> (source, target) Pipelines.

    `shared` learns one set of codes and one vocabulary from both sides together.
    """
    sides = [[split_words(line, pretokenized) for line in lines] for lines in (src_lines, trg_lines)]
    if shared:
        side = _learn(sides[0] + sides[1], n_merges, vocab_size, pretokenized)
        return side, side
    return tuple(_learn(side, n_merges, vocab_size, pretokenized) for side in sides)


def _learn(sentences, n_merges, vocab_size, pretokenized):
    bpe = None
    if n_merges:
        bpe = BPE(learn_bpe(count_words(" ".join(words) for words in sentences), n_merges))
        sentences = map(bpe.segment, sentences)
    return Pipeline(Vocab.from_counts(count_tokens(sentences), vocab_size), bpe, pretokenized)


def word_numbers(units, pipeline):
    """The number of the word that each unit belongs to."""
    return unit_words(units) if pipeline.bpe else list(range(len(units)))
