"""audit: what the list costs."""

import sys

import click

from ..errors import UsageError, UserError
from . import options as opt


@click.command()
@opt.model_options
@click.option("-i", "--input", "input_path", type=opt.FILE, help="Source text. [default: the model's own test set]")
@click.option("-r", "--reference", type=opt.FILE, help="With -i: its translation; without it no scores, no coverage.")
@click.option("-o", "--output", "output_path", type=opt.FILE, default="-", help="Where to write. [default: stdout]")
@click.option("--json", "as_json", is_flag=True, help="Everything, all divergences included, as a JSON object.")
@click.option("--examples", type=opt.COUNT, default=10, show_default=True, help="Divergences that the text shows.")
@click.option("--topn", type=opt.POSITIVE, default=100, show_default=True, help="Candidates per source word.")
@opt.counts_options
@click.option(
    "--negations", metavar="NAME",
    help="Words to count as negations: en, de, it, fr, or a file with one on each line. [default: those four]",
)  # fmt: skip
@opt.search_options
def audit(input_path, reference, output_path, as_json, examples, negations, batch_size, threads, **options):
    """Decode with and without the list, and report what the list costs.

    \b
    python cli.py audit
    python cli.py audit -m runs/deen -i test.de -r test.en --topn 50
    python cli.py audit -m runs/deen -i test.de -r test.en --counts fastalign --json -o audit.json

    Identical outputs and scores, the words that the list lacked and the n that would bring them, the
    probability that the list keeps, and how much of the references it can write.
    """
    import json

    from ..files import is_stdout, write_lines
    from ..report.audit import audit as run_audit
    from ..report.audit import audit_record, decode_both
    from ..report.audit_text import format_audit
    from ..report.coverage import negation_words
    from ..search.beam import SearchSettings
    from ..threads import tuned

    check_paths(input_path, reference, output_path, options)
    negations = negation_words(negations)
    model = opt.model_from_options(options)
    selector = opt.selector_from_options(options, model)
    ranking = ranking_from_options(options, model)
    split = text_from_options(input_path, reference, model)
    threads = threads or opt.available_processors()
    settings = SearchSettings(options["beam"], options["length_penalty"], options["max_length"])
    click.echo(f"decoding {len(split.src):,} lines twice, with and without lists", err=True)
    with tuned():
        decodings = decode_both(split.src, model, selector, settings, batch_size, threads)
        click.echo("looking into every step", err=True)
        found = run_audit(split, decodings, model, selector, ranking, negations, threads)
    if as_json:
        model_name = options["directory"] or options["npz"] or "runs/default"
        made_with = {"model": model_name, "text": split.name, **{name: options[name] for name in SETTINGS}}
        text = json.dumps(audit_record(found, made_with), ensure_ascii=False, indent=2, allow_nan=False)
    else:
        text = format_audit(found, options["topn"], examples)
    write_lines("-" if is_stdout(output_path) else output_path, [text])


SETTINGS = ("topn", "counts", "by", "min_prob", "frequent", "beam", "length_penalty", "max_length")


def check_paths(input_path, reference, output_path, options):
    """Refuse, before any work, what cannot be read or written."""
    from ..files import is_stdout

    if reference and not input_path:
        raise UsageError("-r goes with -i: without them, the model's own test set is decoded")
    if input_path == reference == "-":
        raise UsageError("only one of -i and -r can be standard input (-)")
    if is_stdout(output_path) and sys.stdout is None:
        raise UserError("standard output is closed: name a file with -o")
    opt.check_outputs([output_path], [input_path, reference, *opt.model_files(options), *opt.counts_files(options)])


def text_from_options(input_path, reference, model):
    """The named files, or the test set that the model was trained with, as a Split; trg is None without reference."""
    from ..files import read_lines, read_parallel
    from ..text.parallel import Split, load_split
    from ..train.settings import Settings

    if input_path and reference:
        return Split(*read_parallel(input_path, reference), name=f"{input_path} and {reference}")
    if input_path:
        return Split(read_lines(input_path), None, name=input_path)
    if "settings" not in model.config:
        raise UsageError("a single .npz has no test set of its own: name text with -i and -r")
    return load_split(Settings.from_config(model.config), "test")


def ranking_from_options(options, model):
    """Where missing words are looked up; None for the controls, which have no counts."""
    from ..align.ranking import Ranking
    from ..align.selector import CONTROLS
    from ..align.sources import load_counts

    if set(options["counts"]) & set(CONTROLS):
        return None
    sizes = len(model.src.vocab), len(model.trg.vocab)
    counts = load_counts(options["counts"], opt.directory_from_options(options), *sizes)
    return Ranking(counts, options["topn"], options["by"], options["min_prob"])
