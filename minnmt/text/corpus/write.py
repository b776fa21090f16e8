"""The embedded corpus as files: text of both sides and gold alignments for train, dev and test."""

from pathlib import Path

from ...errors import UsageError
from ...files import make_directory, write_lines
from ..tokenizer import tokenize
from .generate import generate

SPLITS, ENDINGS = ("train", "dev", "test"), ("de", "en", "align")


def write_corpus(directory, seed, tokenized=False, overwrite=False):
    """Write nine files; returns what was written as a sentence."""
    there = [f"{name}.{e}" for name in SPLITS for e in ENDINGS if (Path(directory) / f"{name}.{e}").exists()]
    if there and not overwrite:
        raise UsageError(f"{directory} already has {there[0]}: choose another directory, or replace with --overwrite")
    make_directory(directory)
    corpus = generate(seed=seed)
    for name in SPLITS:
        split = getattr(corpus, name)
        sides = {"de": split.src, "en": split.trg}
        if tokenized:
            sides = {side: [" ".join(tokenize(line)) for line in lines] for side, lines in sides.items()}
        for ending, lines in zip(ENDINGS, (*sides.values(), split.alignments)):
            write_lines(Path(directory) / f"{name}.{ending}", lines)
    sizes = ", ".join(f"{len(getattr(corpus, name).src):,} {name}" for name in SPLITS)
    return f"{directory}: {sizes} pairs (.de, .en) with gold alignments (.align)"
