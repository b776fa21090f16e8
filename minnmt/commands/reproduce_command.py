"""reproduce: the paper's tables and figure."""

import shlex
import sys

import click

from ..errors import UsageError, UserError, call
from ..train.settings import Settings
from .options import (
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

NAMES = ("deen-table", "epochs-figure", "threshold-table", "iten-table", "dynamic-table", "lists-table", "all")
SETTINGS = (
    "vocab_size", "max_train_length", "embedding", "hidden", "dropout", "batch_size", "learning_rate", "patience",
    "halve_after", "dynamic_vocab", "seed",
)  # fmt: skip
EMBEDDED_EPOCHS = 3  # for each of the five models: all exhibits within twenty minutes


@click.command()
@click.argument("names", nargs=-1, required=True, type=click.Choice(NAMES), metavar="EXHIBIT...")
@click.option("-o", "--output", type=Path(), default="runs/reproduce", show_default=True, help="Models, measurements.")
@click.option("--results", type=Path(), help="Where tables and figures go. [default: the output directory]")
@text_options
@click.option(
    "--units", type=click.Choice(["bpe", "words", "both"]), default="both", show_default=True,
    help="Models of the deen-table.",
)  # fmt: skip
@click.option("--bpe", type=POSITIVE, default=DEFAULTS.bpe, show_default=True, help="Merges, of the models with BPE.")
@group(*map(setting, SETTINGS))
@click.option("--epochs", type=POSITIVE, help=f"[default: {EMBEDDED_EPOCHS} for the embedded corpus, else 5]")
@click.option("--max-minutes", type=Number(0, min_open=True), help="Of training, for each model.")
@click.option("--speed-sentences", type=POSITIVE, default=100, show_default=True, help="That are decoded for speed.")
@click.option("--repeats", type=POSITIVE, default=10, show_default=True, help="Of every measurement of speed.")
@click.option("--threads", type=POSITIVE, help="Of training and decoding. [default: all processors]")
def reproduce(names, output, results, units, max_minutes, speed_sentences, repeats, **options):
    """Make the paper's tables and figure, on the embedded corpus or on any text.

    \b
    python cli.py reproduce all
    python cli.py reproduce deen-table --src train.de --trg train.en --dev-src dev.de --dev-trg dev.en -o runs/paper

    \b
    Exhibits:
      deen-table       Table 1: lists of 20 to 200, learned in three ways, for BPE and for words
      epochs-figure    Figure 1: lists by the epoch in which they were learned
      threshold-table  Table 2: which attention weights are counted
      iten-table       Table 3: another language pair (embedded corpus: English to German)
      dynamic-table    training with a softmax over lists, which the paper proposes
      lists-table      all ways to choose words, at equal length; the cost of verifying them
      all              every one of them; with a text of your own, all but iten-table

    Trains the models that are needed, measures, and writes NAME.md, .tsv, .json, and .png for the figure. What is
    finished is not done again: after Ctrl-C the same command goes on.
    """
    from pathlib import Path as FilePath

    from ..files import make_directory, only_writer
    from ..lab.figures import load_figure
    from ..lab.reproduce import Lab, chosen_exhibits, run_exhibits
    from ..lab.tables import format_table
    from ..text.parallel import load_split
    from ..threads import tuned

    options["threads"] = options["threads"] or training_threads(options["batch_size"])
    options["epochs"] = options["epochs"] or (Settings.epochs if options["src"] else EMBEDDED_EPOCHS)
    check_text_options(options)
    if "-" in options.values():
        raise UsageError("the text is read several times: it cannot come from standard input (-)")
    settings = settings_from_options(options)
    names = chosen_exhibits(names, settings)
    if "epochs-figure" in names:
        load_figure()  # before the work, not after it
    results = FilePath(results or output)
    make_directory(results)
    for which in ("train", "dev", "test"):  # also that both sides are equally long
        if not any(line.strip() for line in load_split(settings, which).src):
            raise UserError(f"the {which} text has no line with a word in it")
    chosen = ("bpe", "words") if units == "both" else (units,)
    command = call(shlex.join(sys.argv[1:]))
    with only_writer(output), tuned(huge=True):
        lab = Lab(output, settings, max_minutes, speed_sentences, repeats, chosen)
        for name, table in run_exhibits(names, lab, results, command):
            click.echo("\n".join([*format_table(table), ""]))
            click.echo(f"{results / name}.md", err=True)
