"""decode: translate text."""

import os

import click

from ..errors import UsageError
from .options import (
    COUNT,
    FILE,
    POSITIVE,
    Number,
    available_processors,
    counts_options,
    model_from_options,
    model_options,
    selector_from_options,
)


@click.command()
@model_options
@click.option("-i", "--input", "input_path", type=FILE, default="-", help="Text to translate. [default: stdin]")
@click.option("-o", "--output", "output_path", type=FILE, default="-", help="Where to write. [default: stdout]")
@click.option("--topn", type=COUNT, default=0, help="Candidates per source word, 0 = the full vocabulary.")
@counts_options
@click.option("--beam", type=POSITIVE, default=5, show_default=True, help="Hypotheses kept; 1 is greedy search.")
@click.option("--n-best", type=POSITIVE, default=1, help="Print the N best: number ||| translation ||| score.")
@click.option("--length-penalty", type=Number(0, 10), default=1.0, help="Score = log p / length^penalty. [default: 1]")
@click.option("--max-length", type=COUNT, help="Longest translation in units. [default: 2 * source + 10]")
@click.option("--alignments", type=FILE, help="Write the attention of each line's best translation to this file.")
@click.option(
    "--alignment-format", type=click.Choice(["pharaoh", "weights"]),
    help="Word links i-j a line, or all weights as a JSON object a line. [default: pharaoh]",
)  # fmt: skip
@click.option("--batch-size", type=POSITIVE, default=32, show_default=True, help="Sentences translated together.")
@click.option("--threads", type=POSITIVE, help="Batches translated side by side. [default: one per processor]")
def decode(input_path, output_path, batch_size, threads, alignments, alignment_format, **options):
    """Translate text: a line out for every line in.

    \b
    python cli.py decode < test.de > test.en
    python cli.py decode -m runs/deen -i test.de -o test.en --beam 12
    python cli.py decode --npz model.npz --vocab-src vocab.de.json --vocab-trg vocab.en.json < test.de

    With nothing to read (a terminal, or the null device) it translates the test set that the model was
    trained with and prints the scores to stderr.
    """
    from ..files import nothing_to_read
    from ..search.beam import SearchSettings
    from ..search.output import Output

    if options["n_best"] > options["beam"]:
        raise UsageError(f"--n-best {options['n_best']} needs --beam {options['n_best']} or more")
    if alignment_format and not alignments:
        raise UsageError("--alignment-format needs --alignments FILE")
    settings = SearchSettings(
        options["beam"], options["length_penalty"], options["max_length"], options["n_best"], bool(alignments)
    )
    model = model_from_options(options)
    selector = selector_from_options(options, model)
    threads = threads or available_processors()
    for path in (output_path, alignments):
        if path and input_path != "-" and os.path.realpath(path) == os.path.realpath(input_path):
            raise UsageError(f"{path} is the input: writing to it would destroy it")
    alignment_format = alignment_format or "pharaoh"
    output = Output(model, settings, output_path, alignments, alignment_format, batch_size, threads, selector)
    if input_path == "-" and nothing_to_read():
        from ..report.validation import decode_test_set

        click.echo(decode_test_set(model, output), err=True)
    else:
        output.translate_stream(input_path)
    if selector:
        click.echo(output.list_report(), err=True)
