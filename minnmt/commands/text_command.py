"""score and corpus: files in, files or numbers out, no model."""

import sys

import click

from ..errors import UsageError, UserError
from .options import FILE, POSITIVE, Path


@click.command()
@click.argument("hypotheses", type=FILE)
@click.argument("references", type=FILE)
@click.option("--baseline", type=FILE, help="Other translations of the same text: how sure is the difference in BLEU?")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object instead of text.")
def score(hypotheses, references, baseline, as_json):
    """BLEU, TER and chrF of translations, with sacrebleu's signatures.

    \b
    python cli.py score test.hyp test.en
    python cli.py decode < test.de | python cli.py score - test.en --json
    python cli.py score lists.hyp test.en --baseline full.hyp

    With a baseline, the interval of 95 % of a paired bootstrap: 1,000 times as many sentences are drawn, with
    replacement, and both translations scored on them.
    """
    from ..report.scores import format_scores, score_files

    if [hypotheses, references, baseline].count("-") > 1:
        raise UsageError("only one of the files can be standard input (-)")
    text = format_scores(*score_files(hypotheses, references, baseline), as_json)
    if sys.stdout is None:
        raise UserError("standard output is closed: there is nowhere to write the scores to")
    click.echo(text)


@click.command()
@click.option("-o", "--output", type=Path(), required=True, help="Directory to write train, dev and test files into.")
@click.option("--overwrite", is_flag=True, help="Replace files of the same names.")
@click.option("--pairs", type=POSITIVE, metavar="N", help="Only the first N pairs of each split. [default: all]")
@click.option("--tokenized", is_flag=True, help="Write tokens with spaces between them, as the alignments count them.")
def corpus(output, overwrite, pairs, tokenized):
    """Write the embedded German-English corpus: raw text and gold word alignments.

    \b
    python cli.py corpus -o corpus

    DIR/train.de, train.en, train.align (Pharaoh: i-j, source-target, counted from 0 over tokens), and the same
    for dev and test.
    """
    from ..text.embedded import embedded_corpus, write_corpus

    click.echo(write_corpus(output, embedded_corpus().first(pairs), tokenized, overwrite), err=True)
