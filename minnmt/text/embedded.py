"""The embedded German-English corpus: read from one packed file of the package, and written as text files.

A line of the packed file is a sentence pair: train, dev or test, the German, the English and the gold alignment, with
tabs between them (`bzcat` shows it). bzip2, because every version of it makes the same bytes.
Left out: where the sentences come from. A small grammar wrote them, and `python -m tutorials.corpus` has it write them
again. Notebook 00 looks at the corpus.
"""

import bz2
from functools import cache
from pathlib import Path

from ..errors import UsageError, UserError
from ..files import make_directory, read_bytes, write_lines
from .split import Corpus, Split
from .tokenizer import tokenize

PACKED = Path(__file__).with_name("embedded.tsv.bz2")
ENDINGS = ("de", "en", "align")


@cache
def embedded_corpus():
    """The corpus of the package; it is always the same, whatever the seed of the training."""
    return read_packed(PACKED)


def read_packed(path):
    """A packed file -> Corpus."""
    data = read_bytes(path)
    try:
        return unpack(data)
    except (OSError, ValueError):
        raise UserError(f"{path} is damaged or was not copied to its end: install minnmt again") from None


def pack(corpus):
    """Corpus -> the bytes of a packed file."""
    rows = [
        (name, *pair)
        for name, split in zip(Corpus._fields, corpus)
        for pair in zip(split.src, split.trg, split.alignments)
    ]
    return bz2.compress("".join("\t".join(row) + "\n" for row in rows).encode("utf-8"))


def unpack(data):
    """The bytes of a packed file -> Corpus; other bytes raise OSError or ValueError."""
    rows = [line.split("\t") for line in bz2.decompress(data).decode("utf-8").splitlines()]
    splits = []
    for name in Corpus._fields:
        src, trg, alignments = zip(*(row[1:] for row in rows if row[0] == name), strict=True)
        splits.append(Split(list(src), list(trg), list(alignments)))
    return Corpus(*splits)


def write_corpus(directory, corpus, tokenized=False, overwrite=False):
    """Write nine files, text of both sides and gold alignments of each split -> what was written, as a sentence."""
    names = [f"{name}.{ending}" for name in Corpus._fields for ending in ENDINGS]
    there = [name for name in names if (Path(directory) / name).exists()]
    if there and not overwrite:
        raise UsageError(f"{directory} already has {there[0]}: choose another directory, or replace with --overwrite")
    make_directory(directory)
    for name, split in zip(Corpus._fields, corpus):
        sides = [split.src, split.trg]
        if tokenized:
            sides = [[" ".join(tokenize(line)) for line in lines] for lines in sides]
        for ending, lines in zip(ENDINGS, [*sides, split.alignments]):
            write_lines(Path(directory) / f"{name}.{ending}", lines)
    sizes = ", ".join(f"{len(split.src):,} {name}" for name, split in zip(Corpus._fields, corpus))
    return f"{directory}: {sizes} pairs (.de, .en) with gold alignments (.align)"
