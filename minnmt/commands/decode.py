"""decode: translate text."""

import click

from ..errors import UsageError
from .options import (
    COUNT,
    FILE,
    POSITIVE,
    available_processors,
    check_outputs,
    counts_files,
    counts_options,
    directory_from_options,
    model_files,
    model_from_options,
    model_options,
    search_options,
    selector_from_options,
)


@click.command()
@model_options
@click.option("-i", "--input", "input_path", type=FILE, default="-", help="Text to translate. [default: stdin]")
@click.option("-o", "--output", "output_path", type=FILE, default="-", help="Where to write. [default: stdout]")
@click.option("--topn", type=COUNT, default=0, help="Candidates per source word, as far as it has them; 0 = all words.")
@counts_options
@click.option(
    "--replace-unk", metavar="HOW",
    help="Replace unknown words by the source word attended to most: copy it, or translate it by the table of "
    "--counts, by model1 (see align --method), or by any counts as --counts names them. [copy|table|model1|NAME]",
)  # fmt: skip
@click.option("--reference", type=FILE, help="Do not translate: print ln p(reference | source) of each line.")
@click.option(
    "--outside", type=click.Choice(["add", "unk", "refuse"]),
    help="With --reference: what becomes of its words outside the list. [default: add]",
)  # fmt: skip
@click.option("--n-best", type=POSITIVE, default=1, help="Print the N best: number ||| translation ||| score.")
@click.option("--alignments", type=FILE, help="Write the attention of each line's best translation to this file.")
@click.option(
    "--alignment-format", type=click.Choice(["pharaoh", "weights"]),
    help="Word links i-j a line, or all weights as a JSON object a line. [default: pharaoh]",
)  # fmt: skip
@search_options
def decode(input_path, output_path, batch_size, threads, alignments, alignment_format, **options):
    """Translate text: a line out for every line in.

    \b
    python cli.py decode --topn 100 < test.de > test.en
    python cli.py decode -m runs/deen -i test.de -o test.en --beam 12
    python cli.py decode --npz model.npz --vocab-src vocab.de.json --vocab-trg vocab.en.json < test.de

    With nothing to read (a terminal, or the null device) it translates the test set that the model was
    trained with and prints the scores to stderr.
    """
    from ..files import nothing_to_read
    from ..search.beam import SearchSettings
    from ..search.output import Output
    from ..search.translate import Translator

    if options["n_best"] > options["beam"]:
        raise UsageError(f"--n-best {options['n_best']} needs --beam {options['n_best']} or more")
    if options["outside"] and not options["reference"]:
        raise UsageError("--outside needs --reference FILE")
    if options["outside"] and not options["topn"]:
        raise UsageError("--outside goes with --topn N: without it no word is outside")
    if options["reference"] and (alignments or options["replace_unk"] or options["n_best"] > 1):
        raise UsageError("--reference translates nothing: --alignments, --replace-unk and --n-best do not go with it")
    if alignment_format and not alignments:
        raise UsageError("--alignment-format needs --alignments FILE")
    keep_attention = bool(alignments or options["replace_unk"])
    settings = SearchSettings(
        options["beam"], options["length_penalty"], options["max_length"], options["n_best"], keep_attention
    )
    inputs = [input_path, options["reference"], *model_files(options), *counts_files(options)]
    check_outputs([output_path, alignments], inputs)
    model = model_from_options(options)
    selector, replacer = selector_from_options(options, model), replacer_from_options(options, model)
    threads = threads or available_processors()
    if options["reference"]:
        score_reference(input_path, output_path, options, model, selector, threads)
        return
    translator = Translator(model, settings, batch_size, threads, selector, replacer)
    output = Output(translator, output_path, alignments, alignment_format or "pharaoh")
    if input_path == "-" and nothing_to_read():
        from ..report.validation import decode_test_set

        click.echo(decode_test_set(model, output), err=True)
    else:
        output.translate_stream(input_path)
    if report := output.list_report():
        click.echo(report, err=True)


def replacer_from_options(options, model):
    """What finds words for UNK; None to leave them."""
    from ..align.sources import CONTROLS, load_counts
    from ..search.unknown import Replacer

    method = options["replace_unk"]
    if method in (None, "copy"):
        return Replacer(model) if method else None
    names = options["counts"] if method == "table" else (method,)
    if set(names) & set(CONTROLS):
        raise UsageError(f"--replace-unk table needs counts: --counts {' and '.join(CONTROLS)} have none")
    sizes = len(model.src.vocab), len(model.trg.vocab)
    return Replacer(model, load_counts(names, directory_from_options(options), *sizes))


def score_reference(input_path, output_path, options, model, selector, n_threads):
    """Forced decoding: a log-probability for each line of the reference."""
    from ..files import read_parallel, write_lines
    from ..search.forced import score_translations

    if input_path == options["reference"] == "-":
        raise UsageError("only one of -i and --reference can be standard input (-)")
    lines = read_parallel(input_path, options["reference"])
    logps = score_translations(*lines, model, selector, options["outside"] or "add", n_threads)
    write_lines(output_path, [f"{logp:.4f}" for logp in logps])
