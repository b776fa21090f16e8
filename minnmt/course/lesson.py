"""What the lessons share: how long they may take, their seeds, and a translator that comes with the package.

MINNMT_FAST=1 in the environment makes every lesson short: less text, smaller networks to train, fewer repeats. The
numbers are then worse, and everything still runs.
"""

import os
import time
from pathlib import Path

import minnmt

from ..errors import UserError, quoted
from ..files import make_directory, only_writer, write_atomically, write_lines
from ..text.embedded import embedded_corpus
from ..train.settings import Settings
from .pack import PACKED, unpack, unpacked

FAST = os.environ.get("MINNMT_FAST") == "1"
HOME = Path(__file__).resolve().parents[2]
# where lessons write: a folder of the checkout or, without one, beside the notebook; a grade has its own
RUNS = Path(os.environ.get("MINNMT_RUNS") or (HOME if (HOME / "tutorials").is_dir() else Path.cwd()) / "runs").resolve()
FAST_PAIRS = {"train": 2000, "dev": 100, "test": 100}
PATIENCE = 60  # seconds for another notebook to unpack the model


def choose(full, fast):
    """One of two values: the usual one, or the one for MINNMT_FAST=1."""
    return fast if FAST else full


def seeded(default):
    """The seed of a lesson's random numbers: `default`, or another for each value of MINNMT_SEED but 0.

    Grading sets it, so that numbers copied from elsewhere do not pass.
    """
    variant = os.environ.get("MINNMT_SEED", "0")
    if not variant.isdecimal():
        raise UserError(f"MINNMT_SEED is {quoted(variant)}: give a whole number, or leave it out")
    return default + 7919 * int(variant)


def lesson_model(directory=None):
    """The directory of a model that translates German to English, with its counts: runs/lesson-model.

    It comes with the package, and is unpacked in a second when it is first needed. It is `python cli.py train` after
    twelve epochs, its weights in seven bits (pack.py): float32 again here, but no finer. It scores 82.22 BLEU on the
    embedded test set, decoding in float32; the weights before, 82.21.
    """
    directory = Path(directory or RUNS / "lesson-model")
    end = time.monotonic() + PATIENCE
    while not unpacked(PACKED, directory):
        try:
            with only_writer(directory):
                unpack(PACKED, directory)
        except UserError:
            if not (directory / ".lock").exists() or time.monotonic() > end:
                raise
            time.sleep(0.1)  # another notebook unpacks it
    return directory


def lesson_settings():
    """For a model of one's own: the default network, attention counted from the first epoch on, five epochs.

    With MINNMT_FAST=1 a small network and a small part of the corpus.
    """
    if not FAST:
        return Settings(align_from_epoch=1, epochs=5, precision="float32")
    corpus = RUNS / "lesson-fast-corpus"
    make_directory(corpus)
    paths = {}
    for name, n in FAST_PAIRS.items():
        split, prefix = getattr(embedded_corpus(), name), "" if name == "train" else f"{name}_"
        for side, lines in (("src", split.src), ("trg", split.trg)):
            paths[prefix + side] = str(corpus / f"{name}.{side}")
            write_lines(paths[prefix + side], lines[:n])
    return Settings(
        **paths, bpe=500, embedding=48, hidden=64, epochs=4, learning_rate=0.005, align_from_epoch=1, threads=1,
        precision="float32",
    )


def step_through(sentence, name, state, topn=100):
    """The page that steps through one translation of the lessons' model, in a frame: `python cli.py explore` in small.

    It is written beside the notebook, as explore-NAME.html, so that the notebook stays small. `state` is what follows #
    in its address: where it opens.
    """
    from IPython.display import IFrame

    page = minnmt.explore(lesson_model(), sentence, topn=topn)
    path = f"explore-{name}.html"
    write_atomically(path, page.html)
    return IFrame(f"{path}#{state}", width="100%", height=860)
