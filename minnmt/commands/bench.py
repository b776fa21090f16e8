"""bench: how fast counting and aligning are on this machine."""

import click

from ..errors import UsageError
from .options import FILE, POSITIVE, available_processors


@click.command()
@click.option("--src", type=FILE, help="Tokenized source text for the aligner. [default: the embedded corpus]")
@click.option("--trg", type=FILE, help="Its translation.")
@click.option("--repeats", type=POSITIVE, default=5, show_default=True, help="Of every measurement.")
@click.option("--threads", type=POSITIVE, help="Of training. [default: all processors]")
def bench(src, trg, repeats, threads):
    """Measure counting, its part of training, and the aligner; medians, with quartiles in brackets.

    \b
    python cli.py bench
    python cli.py bench --src train.tok.de --trg train.tok.en
    """
    from ..report.bench import run_benchmarks

    if bool(src) != bool(trg):
        raise UsageError("--src and --trg go together: give both sides")
    for line in run_benchmarks(src, trg, repeats, threads or available_processors()):
        click.echo(line)
