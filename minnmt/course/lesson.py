"""What the lessons share: how long they may take, and a small translator that is trained once for all of them.

MINNMT_FAST=1 in the environment makes every lesson short: less text, a smaller network, fewer repeats. The numbers are
then worse, and everything still runs.
"""

import os
from functools import partial
from pathlib import Path

import minnmt

from ..errors import UserError, quoted
from ..files import make_directory, only_writer, write_atomically, write_lines
from ..tasks.training import start_or_resume
from ..tasks.validation import validate
from ..text.embedded import embedded_corpus
from ..train.loop import Limits, finished, train
from ..train.settings import Settings
from ..train.status import Status

FAST = os.environ.get("MINNMT_FAST") == "1"
HOME = Path(__file__).resolve().parents[2]
RUNS = (HOME if (HOME / "tutorials").is_dir() else Path.cwd()) / "runs"  # of the checkout, or beside the notebook
FAST_PAIRS = {"train": 2000, "dev": 100, "test": 100}


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


def lesson_model():
    """The directory of a model that translates German to English, with its counts; trained when it is first needed.

    About four minutes on two processors (a few seconds with MINNMT_FAST=1).
    """
    directory = RUNS / choose("lesson", "lesson-fast")
    if (directory / "done").exists():
        return directory
    with only_writer(directory):  # a second notebook that asks meanwhile is told to wait
        run = start_or_resume(directory, lesson_settings())
        train(run, partial(validate, n_threads=run.settings.threads), Status(), Limits())
        if not finished(run.settings, run.progress):
            raise KeyboardInterrupt  # stopped on the way: the next call goes on from there
        (directory / "done").touch()
    return directory


def lesson_settings():
    """The default network, attention counted from the first epoch on; with MINNMT_FAST=1 a small part of the corpus."""
    if not FAST:
        return Settings(align_from_epoch=1, epochs=5, precision="float32")  # what the lessons' numbers are of
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
