"""The parallel text of a run, from the user's files or the embedded corpus, as raw lines and as ids."""

from dataclasses import dataclass, field

from ..errors import UserError
from ..text.files import read_parallel


@dataclass
class Split:
    """Raw lines of both sides, and gold word alignments (Pharaoh strings) where the corpus knows them."""

    src: list
    trg: list
    alignments: list = field(default_factory=list)


def load_split(settings, name):
    """The lines of "train", "dev" or "test"; a run without test files tests on dev."""
    if settings.src is None:
        from ..text.corpus import generate

        return Split(*getattr(generate(seed=settings.seed), name))
    if name == "train":
        return Split(*read_parallel(settings.src, settings.trg))
    if name == "test" and settings.test_src:
        return Split(*read_parallel(settings.test_src, settings.test_trg))
    return Split(*read_parallel(settings.dev_src, settings.dev_trg))


def encode_pairs(split, src_pipeline, trg_pipeline, max_length=None):
    """Raw lines -> (source ids, target ids), two lists of lists.

    Pairs with an empty side, or one longer than max_length, teach nothing good and are left out.
    """
    src, trg = [], []
    for src_line, trg_line in zip(split.src, split.trg):
        s, t = src_pipeline.ids(src_line), trg_pipeline.ids(trg_line)
        if s and t and (max_length is None or max(len(s), len(t)) <= max_length):
            src.append(s)
            trg.append(t)
    if not src:
        raise UserError("no usable sentence pair is left: every pair has a blank side or exceeds --max-train-length")
    return src, trg
