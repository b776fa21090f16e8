"""The embedded corpus as files: text of both sides and gold alignments for train, dev and test."""

from pathlib import Path

from ...files import make_directory, write_lines
from ..tokenizer import tokenize
from .generate import generate


def write_corpus(directory, seed, tokenized=False):
    """Write nine files; returns what was written as a sentence."""
    make_directory(directory)
    corpus = generate(seed=seed)
    for name in ("train", "dev", "test"):
        split = getattr(corpus, name)
        sides = {"de": split.src, "en": split.trg}
        if tokenized:
            sides = {side: [" ".join(tokenize(line)) for line in lines] for side, lines in sides.items()}
        for ending, lines in {**sides, "align": split.alignments}.items():
            write_lines(Path(directory) / f"{name}.{ending}", lines)
    sizes = ", ".join(f"{len(getattr(corpus, name).src):,} {name}" for name in ("train", "dev", "test"))
    return f"{directory}: {sizes} pairs (.de, .en) with gold alignments (.align)"
