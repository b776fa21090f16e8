"""reproduce: the paper's tables and figure."""

import os
import re
import shlex
import sys

import click

from ..errors import UsageError, UserError, call
from ..train.settings import Settings
from .options import (
    COUNT,
    DEFAULTS,
    POSITIVE,
    Number,
    Path,
    group,
    setting,
    settings_from_options,
    text_options,
    training_threads,
)
from .train_command import check_text_options

NAMES = (
    "deen-table", "epochs-figure", "threshold-table", "iten-table", "dynamic-table", "lists-table", "aligner-table",
    "claims-table", "all",
)  # fmt: skip
SETTINGS = (
    "vocab_size", "max_train_length", "embedding", "hidden", "dropout", "batch_size", "learning_rate", "precision",
    "epoch_pairs", "patience", "halve_after", "dynamic_vocab", "seed",
)  # fmt: skip
OTHER_TEXT = ("dev_src", "dev_trg", "test_src", "test_trg")  # what may be given with --model
EMBEDDED_EPOCHS = 3  # for each of the five models: all exhibits within twenty minutes


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice(NAMES), metavar="EXHIBIT...")
@click.option(
    "-o", "--output", type=Path(), default="runs/reproduce", show_default=True,
    help="Where models and measurements go.",
)  # fmt: skip
@click.option("--results", type=Path(), help="Where tables and figures go. [default: the output directory]")
@click.option(
    "--model", "models", multiple=True, metavar="[NAME=]DIR",
    help="A finished run of train, instead of training here: bpe=DIR, words=DIR, or both. It brings its own text and "
    "settings; --dev-src, --test-src and their translations may name others.",
)  # fmt: skip
@text_options
@click.option(
    "--also-test", "also", multiple=True, metavar="NAME=SRC,TRG", help="Another test set for Tables 1 and 3."
)  # fmt: skip
@click.option(
    "--units", type=click.Choice(["bpe", "words", "both"]), default="both", show_default=True,
    help="Which models deen-table compares.",
)  # fmt: skip
@click.option(
    "--bpe", type=POSITIVE, default=DEFAULTS.bpe, show_default=True,
    help="BPE merges of the models with BPE.",
)  # fmt: skip
@group(*map(setting, SETTINGS))
@click.option(
    "--epochs", type=POSITIVE, help=f"[default: {EMBEDDED_EPOCHS} for the embedded corpus, else {DEFAULTS.epochs}]"
)  # fmt: skip
@click.option("--max-minutes", type=Number(0, min_open=True), help="Longest training time per model.")
@click.option(
    "--count-pairs", type=COUNT, default=0,
    help="Pairs to count for one more epoch and for the thresholds. [default: one epoch]",
)  # fmt: skip
@click.option(
    "--speed-sentences", type=POSITIVE, default=100, show_default=True,
    help="Sentences to decode when measuring speed.",
)  # fmt: skip
@click.option("--repeats", type=POSITIVE, default=10, show_default=True, help="Repeats of every speed measurement.")
@click.option("--threads", type=POSITIVE, help="Threads of training and decoding. [default: one per core]")
@click.pass_context
def reproduce(context, names, output, results, models, also, units, max_minutes, speed_sentences, repeats, **options):
    """Make the paper's tables and figure, on the embedded corpus or on any text.

    \b
    python cli.py reproduce all
    python cli.py reproduce deen-table --src train.de --trg train.en --dev-src dev.de --dev-trg dev.en -o runs/paper
    python cli.py reproduce all --model bpe=runs/deen --model words=runs/deen-words -o runs/paper

    \b
    Exhibits:
      deen-table       Table 1: lists of 20 to 200, learned in three ways, for BPE and for words
      epochs-figure    Figure 1: lists by the epoch in which they were learned
      threshold-table  Table 2: which attention weights are counted
      iten-table       Table 3: another language pair (embedded corpus: English to German)
      dynamic-table    training with a softmax over lists, which the paper proposes
      lists-table      all ways to choose words, at equal length; the cost of verifying them
      aligner-table    the candidates of attention beside fast_align's, by part and frequency, with examples
      claims-table     what the paper says, what we find, and why: speed, n, epochs, thresholds, fast_align
      all              all of them; with your own text all but iten-table; with --model also not dynamic-table, which
                       trains, unless --max-minutes says for how long

    It trains the models it needs, measures, and writes NAME.md, .tsv and .json, and .png for the figure, with the
    paper's cells beside ours. What is finished is not done again: after Ctrl-C or a crash the same command goes on,
    and so does an interrupted training.
    """
    from pathlib import Path as FilePath

    from ..files import make_directory, only_writer
    from ..lab.figures import load_figure
    from ..lab.reproduce import Lab, chosen_exhibits, run_exhibits
    from ..lab.tables import format_table
    from ..threads import tuned

    count_pairs = options.pop("count_pairs")
    options["threads"] = options["threads"] or training_threads(options["batch_size"])
    given, chosen = {}, ("bpe", "words") if units == "both" else (units,)
    if models:
        given = given_models(models, options, context)
        chosen = tuple(given)
        settings = given[chosen[0]].settings
    else:
        settings = new_settings(options)
    names, also = chosen_exhibits(names, settings, bool(given), max_minutes), test_sets(also)
    if "epochs-figure" in names:
        load_figure()  # before the work, not after it
    results = FilePath(results or output)
    make_directory(results)
    check_texts([model.settings for model in given.values()] or [settings], also)
    command = call(shlex.join(sys.argv[1:]))
    with only_writer(output), tuned(huge=True):
        more = {"given": given, "also": also, "count_pairs": count_pairs}
        lab = Lab(output, settings, max_minutes, speed_sentences, repeats, chosen, **more)
        for name, table in run_exhibits(names, lab, results, command):
            click.echo("\n".join([*format_table(table), ""]))
            click.echo(f"{results / name}.md", err=True)


def new_settings(options):
    """The settings of models that are trained here."""
    options["epochs"] = options["epochs"] or (Settings.epochs if options["src"] else EMBEDDED_EPOCHS)
    check_text_options(options)
    if "-" in options.values():
        raise UsageError("the text is read several times: it cannot come from standard input (-)")
    return settings_from_options(options)


def given_models(models, options, context):
    """["bpe=DIR", "DIR"] -> {"bpe" or "words": Given}, bpe first; what a model decides itself is refused."""
    from dataclasses import asdict, replace
    from pathlib import Path as FilePath

    from ..lab.reproduce import Given
    from ..model.directory import load_text_side

    asked = {name for name in context.params if context.get_parameter_source(name).name == "COMMANDLINE"}
    for name in ("units", "bpe", "src", "trg", "epochs", *SETTINGS):
        if name in asked:
            raise UsageError(f"--{name.replace('_', '-')} does not go with --model: the model has its own settings")
    texts, given = other_texts(options), {}
    for text in models:
        name, path = re.fullmatch(r"(?:(bpe|words)=)?(.*)", text, re.DOTALL).groups()
        config, _, _ = load_text_side(path)
        settings = Settings.from_config(config)
        kind = "bpe" if settings.bpe else "words"
        if name not in (None, kind):
            raise UsageError(f"--model {text}: this is a model of {kind}, so it must be {kind}={path}")
        if kind in given:
            raise UsageError(f"--model {text}: there can be one model of {kind} only")
        try:
            given[kind] = Given(FilePath(path), replace(settings, **texts, threads=options["threads"]))
        except UserError as error:
            raise UsageError(str(error)) from None
        if "-" in asdict(given[kind].settings).values():
            raise UsageError(f"--model {text}: it was trained on standard input, which is gone")
    return dict(sorted(given.items()))


def other_texts(options):
    """The dev and test text to take instead of a model's own, both sides of each -> {setting: path}."""
    for side, other in (("dev_src", "dev_trg"), ("test_src", "test_trg")):
        for a, b in ((side, other), (other, side)):
            if options[a] and not options[b]:
                raise UsageError(f"--{a.replace('_', '-')} needs --{b.replace('_', '-')}: give both sides")
    return {name: os.path.abspath(options[name]) for name in OTHER_TEXT if options[name]}


def test_sets(also):
    """["NAME=SRC,TRG"] -> {NAME: (SRC, TRG)}."""
    found = {}
    for text in also:
        match = re.fullmatch(r"([A-Za-z0-9_-]+)=([^,]+),([^,]+)", text)
        if not match or match[1] in ("train", "dev", "test", *found):
            raise UsageError(f"--also-test {text}: it must be NAME=SRC,TRG, with a new name and two files")
        found[match[1]] = match[2], match[3]
    return found


def check_texts(all_settings, also):
    """Before any work: every text can be read, has words, and both its sides are equally long."""
    from ..files import read_parallel
    from ..text.parallel import load_split

    for settings in all_settings:
        for which in ("train", "dev", "test"):
            if not any(line.strip() for line in load_split(settings, which).src):
                raise UserError(f"the {which} text has no line with a word in it")
    for name, paths in also.items():
        if not any(line.strip() for line in read_parallel(*paths)[0]):
            raise UserError(f"the text {name} has no line with a word in it")
