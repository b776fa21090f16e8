"""audit: what the list costs, or what products in 8 bits change."""

import sys

import click

from ..errors import UsageError, UserError
from . import options as opt


@click.command()
@opt.model_options
@click.option("-i", "--input", "input_path", type=opt.FILE, help="Source text. [default: the model's own test set]")
@click.option(
    "-r", "--reference", type=opt.FILE,
    help="With -i: its translation. Without it there are no scores and no coverage.",
)  # fmt: skip
@click.option("-o", "--output", "output_path", type=opt.FILE, default="-", help="Where to write. [default: stdout]")
@click.option("--json", "as_json", is_flag=True, help="Print everything, all divergences included, as a JSON object.")
@click.option("--examples", type=opt.COUNT, default=10, show_default=True, help="Divergences to show.")
@click.option("--topn", type=opt.COUNT, default=100, show_default=True, help="Candidates per source word.")
@click.option(
    "--engine", type=click.Choice(["int8", "float32"]), default="int8", show_default=True,
    help="As for decode; a CPU without 8-bit instructions uses float32.",
)  # fmt: skip
@click.option(
    "--against", type=click.Choice(["int8", "float32"]),
    help="Compare engines instead: --engine against this one, with the same lists (--topn 0: all words).",
)  # fmt: skip
@opt.counts_options
@opt.select_options
@click.option("--verify", type=click.Choice(["all", "best"]), help="Verify the lists, as for decode.")
@click.option(
    "--negations", metavar="NAME",
    help="Words to count as negations: en, de, it, fr, or a file with one per line. [default: those four]",
)  # fmt: skip
@opt.search_options
def audit(input_path, reference, output_path, as_json, examples, negations, **options):
    """Decode with and without the list, and report what the list costs.

    \b
    python cli.py audit
    python cli.py audit -m runs/deen -i test.de -r test.en --topn 50
    python cli.py audit -m runs/deen -i test.de -r test.en --counts fastalign --json -o audit.json
    python cli.py audit --against float32

    It reports identical outputs and scores, the words that the list lacked and the n that would bring them in, the
    probability that the list keeps, and how much of the references it can write. Probabilities are those of the
    network in float32, whatever the engine. With --against, it reports what products in 8 bits change.
    """
    import json

    from ..files import is_stdout, write_lines
    from ..report.coverage import negation_words
    from ..threads import tuned

    check_paths(input_path, reference, output_path, options)
    check_engines(options, negations)
    negations = negation_words(negations)
    model = opt.model_from_options(options)
    if "screen" in options["select"]:
        raise UsageError("audit looks at lists of sentences: --select screen has none; see reproduce lists-table")
    selector = opt.selector_from_options(options, model)
    split = text_from_options(input_path, reference, model)
    options["threads"] = options["threads"] or opt.available_processors()
    with tuned():
        if options["against"]:
            record, text = audit_engines(split, model, selector, options, examples)
        else:
            record, text = audit_lists(split, model, selector, options, examples, negations)
    if as_json:
        model_name = options["directory"] or options["npz"] or "runs/default"
        made_with = {"model": model_name, "text": split.name, **{name: options[name] for name in SETTINGS}}
        text = json.dumps({"settings": made_with, **record}, ensure_ascii=False, indent=2, allow_nan=False)
    write_lines("-" if is_stdout(output_path) else output_path, [text])


SETTINGS = (
    "topn", "counts", "select", "verify", "by", "min_prob", "frequent", "beam", "length_penalty", "max_length",
    "engine", "against",
)  # fmt: skip


def audit_lists(split, model, selector, options, examples, negations):
    """-> a record for JSON, the report."""
    from ..report.audit import audit as run_audit
    from ..report.audit import audit_record, decode_both
    from ..report.audit_text import format_audit

    ranking = ranking_from_options(options, model)
    click.echo(f"decoding {len(split.src):,} lines twice, with and without lists", err=True)
    full = make_translator(options, model, None, options["engine"])
    listed = make_translator(options, model, selector, options["engine"], full.engine)
    decodings = decode_both(split.src, (full, listed))
    click.echo("looking into every step", err=True)
    found = run_audit(split, decodings, model, selector, ranking, negations, options["threads"])
    return {"engine": full.engine_name, **audit_record(found)}, format_audit(found, options["topn"], examples)


def audit_engines(split, model, selector, options, examples):
    """-> a record for JSON, the report."""
    from ..report.audit import timed_translations
    from ..report.engines import compare_engines, engines_record, format_engines

    both = [make_translator(options, model, selector, name) for name in (options["engine"], options["against"])]
    names = [translator.engine_name for translator in both]
    if names[0] == names[1]:
        raise UsageError(f"both would be {names[0]} on this CPU: there is nothing to compare")
    click.echo(f"decoding {len(split.src):,} lines twice, with {names[0]} and with {names[1]}", err=True)
    both = [(name, *timed_translations(split.src, translator)) for name, translator in zip(names, both)]
    lists = f"{options['topn']} candidates per source word" if selector else "all words"
    found = compare_engines(split, *both)
    return engines_record(found), format_engines(found, lists, examples)


def make_translator(options, model, selector, engine, ready=None):
    """`ready`: an engine that is there already."""
    from ..search.beam import SearchSettings
    from ..search.translate import Translator

    settings = SearchSettings(options["beam"], options["length_penalty"], options["max_length"])
    precision = opt.precision_of(engine)
    return Translator(
        model, settings, options["batch_size"], options["threads"], selector, engine=ready, precision=precision,
        verify=options["verify"],
    )  # fmt: skip


def check_engines(options, negations):
    """What goes with --against, and what needs it."""
    if options["against"] == options["engine"]:
        raise UsageError(f"--against {options['against']} is --engine {options['engine']} itself: name another")
    if not options["topn"] and not options["against"]:
        raise UsageError("--topn 0 allows all words: without a list there is nothing to audit")
    if options["against"] and negations:
        raise UsageError("--negations is for lists: it does not go with --against")


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
    """Where missing words are looked up; None for selectors that have no counts."""
    from ..align.ranking import Ranking
    from ..align.selector import CONTROLS
    from ..align.sources import load_counts

    if set(options["counts"]) & set(CONTROLS) or options["select"] and "counts" not in options["select"]:
        return None
    sizes = len(model.src.vocab), len(model.trg.vocab)
    counts = load_counts(options["counts"], opt.directory_from_options(options), *sizes)
    return Ranking(counts, options["topn"], options["by"], options["min_prob"])
