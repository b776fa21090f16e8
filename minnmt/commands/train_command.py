"""train: learn a model, and the alignments that its attention shows on the way."""

import contextlib
import os
from functools import partial

import click

from ..errors import UsageError
from ..train.settings import help_texts
from .options import (
    DEFAULTS,
    POSITIVE,
    Number,
    Path,
    group,
    profiled,
    setting,
    settings_from_options,
    shares_option,
    text_options,
    training_threads,
    with_ranks,
)

SETTINGS = [name for name in help_texts() if name not in ("threads", "shares")]  # which have defaults of their own


@click.command()
@text_options
@click.option("-o", "--output", type=Path(), default="runs/default", show_default=True, help="Directory of the run.")
@click.option("--resume", is_flag=True, help="Continue the run in the output directory.")
@click.option("--overwrite", is_flag=True, help="Replace a run that is already in the output directory.")
@group(*map(setting, SETTINGS))
@click.option("--threads", type=POSITIVE, help="Threads that share each batch. [default: one per core]")
@shares_option
@click.option("--max-minutes", type=Number(0, min_open=True), help="Pause after this many minutes.")
@click.option("--max-updates", type=POSITIVE, help="Pause after this many updates.")
@click.option("--profile", is_flag=True, help="At the end, print the time of each stage.")
@click.option("--save-every", type=POSITIVE, default=500, show_default=True, help="Updates between checkpoints.")
@click.pass_context
def train(context, output, resume, overwrite, max_minutes, max_updates, save_every, profile, **options):
    """Train a model; with no arguments, on the embedded German-English corpus.

    \b
    python cli.py train
    python cli.py train --src train.de --trg train.en --dev-src dev.de --dev-trg dev.en -o runs/deen
    python cli.py train -o runs/deen --resume

    Progress goes to stderr. Ctrl-C saves the state; --resume continues from it, or from the last checkpoint
    after a crash, to the same parameters as a run without a break.
    """
    from ..files import only_writer
    from ..ranks import current
    from ..tasks.training import run_training
    from ..threads import tuned
    from ..train.loop import Limits
    from ..train.run import new_run, resume_run, share_run
    from ..train.status import Status, silent_status

    ranks, asked = current(), options["threads"]
    status = Status() if ranks.is_first else silent_status()
    if resume and overwrite:
        raise UsageError("--resume continues a run and --overwrite replaces it: choose one")
    if resume:
        start = partial(resume_run, output, changes_on_resume(context, options))
    else:
        options["threads"] = asked or training_threads(options["batch_size"])
        cores = options["threads"] if ranks.size == 1 else training_threads(options["batch_size"])
        options["shares"] = options["shares"] or cores
        check_text_options(options)
        check_dynamic(options)
        start = partial(new_run, output, settings_from_options(options), status.line, overwrite)
    with only_writer(output) if ranks.is_first else contextlib.nullcontext():
        run = share_run(start() if ranks.is_first else None, ranks)
        run.settings = with_ranks(run.settings, ranks, asked, status)
        with tuned(huge=True), profiled(profile and ranks.is_first):
            code = run_training(run, status, Limits(max_minutes, max_updates, save_every))
        ranks.end()
    raise SystemExit(code)


def check_text_options(options):
    """Parallel files come in pairs, and training text needs dev text."""
    for side, other in (("src", "trg"), ("dev_src", "dev_trg"), ("test_src", "test_trg")):
        for a, b in ((side, other), (other, side)):
            if options[a] and not options[b]:
                raise UsageError(f"--{a.replace('_', '-')} needs --{b.replace('_', '-')}: give both sides")
    texts = [name for name in options if name.endswith(("src", "trg")) and options[name]]
    if [options[name] for name in texts].count("-") > 1:
        names = " and ".join("--" + name.replace("_", "-") for name in texts if options[name] == "-")
        raise UsageError(f"{names}: only one text can come from standard input (-)")
    for name in texts:
        if options[name] != "-":
            options[name] = os.path.abspath(options[name])  # so that --resume works from anywhere
    if options["src"] and not options["dev_src"]:
        raise UsageError("--src and --trg need --dev-src and --dev-trg: text to validate on, kept out of training")
    if not options["src"] and (options["dev_src"] or options["test_src"]):
        raise UsageError("--dev-src and --test-src need --src and --trg: the embedded corpus has its own")


def check_dynamic(options):
    """Dynamic lists come from the counts of an earlier epoch."""
    if options["dynamic_lists"] != DEFAULTS.dynamic_lists and not options["dynamic_vocab"]:
        raise UsageError("--dynamic-lists goes with --dynamic-vocab N")
    if options["dynamic_vocab"] and not options["align_from_epoch"]:
        raise UsageError("--dynamic-vocab takes its lists from the counts of training: --align-from-epoch 0 makes none")
    if options["dynamic_vocab"] and options["align_from_epoch"] >= options["epochs"]:
        raise UsageError(
            f"--dynamic-vocab starts after the first epoch with counts, {options['align_from_epoch']}: "
            f"with --epochs {options['epochs']} there is none left"
        )


def changes_on_resume(context, options):
    """The settings that --resume may change; any other that was given is refused."""
    given = {name for name in options if context.get_parameter_source(name).name == "COMMANDLINE"}
    refused = sorted(given - {"epochs", "patience", "learning_rate", "clip", "threads"})
    if refused:
        names = ", ".join("--" + name.replace("_", "-") for name in refused)
        raise UsageError(
            f"{names} cannot change with --resume: only --epochs, --patience, --learning-rate, --clip and "
            "--threads can"
        )
    return {name: options[name] for name in given}
