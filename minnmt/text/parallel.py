"""The parallel text of a run, from the user's files or the embedded corpus, as raw lines and as ids. Notebook 00."""

from ..errors import UserError
from ..files import read_parallel
from .embedded import embedded_corpus
from .split import Split


def load_split(settings, name):
    """The lines of "train", "dev" or "test"; a run without test files tests on dev."""
    paths = {
        "train": (settings.src, settings.trg),
        "dev": (settings.dev_src, settings.dev_trg),
        "test": (settings.test_src or settings.dev_src, settings.test_trg or settings.dev_trg),
    }[name]
    if settings.src is None:
        split = getattr(embedded_corpus(), name)
    else:
        split = Split(*read_parallel(*paths), name=" and ".join(paths))
    return split.first(settings.pairs or None)


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
        raise UserError(
            f"{split.name}: no usable sentence pair is left, every one has a blank side or more than {max_length} "
            "units (--max-train-length)"
        )
    return src, trg
