"""decode: translate text."""

import contextlib
import json

import click

from ..errors import UsageError, UserError, call
from . import options as opt

NOT_WITH_REFERENCE = ("alignments", "replace_unk", "profile", "verify", "json")


@click.command()
@opt.model_options
@click.option("-i", "--input", type=opt.FILE, default="-", help="Text to translate. [default: stdin]")
@click.option("-o", "--output", type=opt.FILE, default="-", help="Where to write. [default: stdout]")
@click.option(
    "--resume", is_flag=True,
    help="With -i FILE -o FILE: continue an interrupted output after its last complete line.",
)  # fmt: skip
@click.option("--topn", type=opt.COUNT, default=0, help="At most N candidates per source word; 0 = all words.")
@opt.counts_options
@opt.select_options
@click.option(
    "--verify", type=click.Choice(["all", "best"]),
    help="With --topn N. all: the translations of the full vocabulary, with scores equal to five digits. best: check "
    "the best translations, and search again if a word outside the list was nearly as good. Pays with large "
    "vocabularies.",
)  # fmt: skip
@click.option(
    "--replace-unk", metavar="HOW",
    help="Replace each unknown word with the source word it attends to most: copied, or translated by the table of "
    "--counts, by model1 (see align --method), or by any counts that --counts could name. [copy|table|model1|NAME]",
)  # fmt: skip
@click.option("--reference", type=opt.FILE, help="Do not translate: print ln p(reference | source) for each line.")
@click.option(
    "--outside", type=click.Choice(["add", "unk", "refuse"]),
    help="With --reference: what to do with its words outside the list. [default: add]",
)  # fmt: skip
@click.option(
    "--n-best", type=opt.POSITIVE, default=1,
    help="Print the N best: number ||| translation ||| score (approximate without --engine float32).",
)  # fmt: skip
@click.option("--alignments", type=opt.FILE, help="Write the attention of each line's best translation to this file.")
@click.option(
    "--alignment-format", type=click.Choice(["pharaoh", "weights"]),
    help="Per line: word links i-j, or all weights as a JSON object. [default: pharaoh]",
)  # fmt: skip
@click.option(
    "--on-bad-line", type=click.Choice(["stop", "blank", "copy"]), default="stop", show_default=True,
    help="At a line that is not UTF-8: stop, write a blank line, or copy it.",
)  # fmt: skip
@opt.search_options
@opt.engine_option
@click.option("--json", type=opt.FILE, help="Also write the statistics of the lists to this file.")
@click.option(
    "--profile", is_flag=True,
    help="At the end, print the time of each stage, and which engine ran. Steps then run part by part in one thread, "
    "somewhat slower.",
)  # fmt: skip
def decode(**options):
    """Translate text, one line out for every line in.

    \b
    python cli.py decode --topn 100 < test.de > test.en
    python cli.py decode -m runs/deen -i test.de -o test.en --beam 12
    python cli.py decode --npz model.npz --vocab-src vocab.de.json --vocab-trg vocab.en.json < test.de

    With nothing to read (a terminal or /dev/null), it translates the test set that the model was trained with
    and prints the scores to stderr.
    """
    from ..compiled import reading

    check_together(options)
    with reading() if options["engine"] == "plain" else contextlib.nullcontext():
        run_decode(options)


def run_decode(options):
    """Check the files, then translate, or score the reference."""
    from ..ranks import current

    ranks, translator = current(), None
    if options["reference"] and ranks.size > 1:
        raise UsageError("--reference does not make use of several ranks: leave out mpiexec")
    if "screen" in options["select"] and ranks.size > 1:
        raise UsageError("--select screen does not make use of several ranks: leave out mpiexec")
    if not why_not_resumable(options):
        ranks.tell(f"Go on with: {resume_command()}")
    if ranks.is_first:
        inputs = [options["input"], options["reference"], *opt.model_files(options), *opt.counts_files(options)]
        opt.check_outputs([options["output"], options["alignments"], options["json"]], inputs)
        model = opt.model_from_options(options)
        selector = opt.selector_from_options(options, model)
        if options["reference"]:
            score_reference(options, model, selector)
            return
        translator = translator_from_options(options, model, selector)
        del model, selector  # with several ranks, what they share takes their place
    n_threads = ranks.threads(options["threads"])
    if ranks.size > 1:
        from ..tasks.translating import share_translator

        translator = share_translator(translator, ranks, n_threads)
    translate_all(translator, options, ranks, n_threads)


def resume_command():
    """The command that goes on where this one was interrupted."""
    import shlex
    import sys

    arguments = [argument for argument in sys.argv[1:] if argument != "--resume"]
    return call(f"{shlex.join(arguments)} --resume")


def check_together(options):
    """Options that need each other, or do not go together."""
    if options["n_best"] > options["beam"]:
        raise UsageError(f"--n-best {options['n_best']} needs --beam {options['n_best']} or more")
    if options["outside"] and not options["reference"]:
        raise UsageError("--outside needs --reference FILE")
    for name in ("verify", "json"):
        if options[name] and not opt.has_lists(options):
            raise UsageError(f"--{name} goes with --topn N or --select: without them there are no lists")
    if "screen" in options["select"] and (options["verify"] or options["reference"]):
        raise UsageError("--verify and --reference need lists of sentences: they do not go with --select screen")
    if options["outside"] and not opt.has_lists(options):
        raise UsageError("--outside goes with --topn N: without it no word is outside")
    if options["reference"] and options["engine"]:
        raise UsageError("--reference runs the network as training does, whatever the --engine: leave it out")
    if options["reference"] and (options["n_best"] > 1 or any(options[name] for name in NOT_WITH_REFERENCE)):
        names = ", ".join("--" + name.replace("_", "-") for name in NOT_WITH_REFERENCE)
        raise UsageError(f"--reference translates nothing: {names} and --n-best do not go with it")
    if options["alignment_format"] and not options["alignments"]:
        raise UsageError("--alignment-format needs --alignments FILE")
    if options["resume"] and (reason := why_not_resumable(options)):
        raise UsageError(reason)


def why_not_resumable(options):
    """Only a plain text of which every line stands for one of the input can be continued -> what is wrong, or ""."""
    from ..streams import can_go_on

    if options["input"] == "-" or not can_go_on(options["output"]):
        return "--resume needs -i FILE and -o FILE: only a plain file has lines to go on after"
    for name in ("reference", "alignments", "profile"):
        if options[name]:
            return f"--resume goes on with translations alone: leave out --{name}"
    if options["n_best"] > 1:
        return "--resume needs an output of one line for each line: leave out --n-best"
    return ""


def translator_from_options(options, model, selector):
    from ..search.beam import SearchSettings
    from ..search.translate import Translator

    keep_attention = bool(options["alignments"] or options["replace_unk"])
    settings = SearchSettings(
        options["beam"], options["length_penalty"], options["max_length"], options["n_best"], keep_attention
    )
    n_threads = options["threads"] or opt.available_processors()
    replacer = replacer_from_options(options, model)
    precision = opt.precision_of(options["engine"])
    return Translator(
        model, settings, options["batch_size"], n_threads, selector, replacer, precision=precision,
        verify=options["verify"],
    )  # fmt: skip


def translate_all(translator, options, ranks, n_threads):
    """From the input to the output, by all ranks."""
    from ..tasks.translating import crew_of
    from ..threads import tuned

    crew = contextlib.nullcontext()
    if ranks.size > 1:
        crew = crew_of(ranks, translator)
        if ranks.is_first:
            click.echo(ranks.describe(n_threads), err=True)
    with tuned(), crew as crew:
        if ranks.is_first:
            with opt.profiled(options["profile"]):
                write_translations(translator, options, crew)
            if options["profile"]:
                click.echo(f"engine: {translator.engine_name}", err=True)


def write_translations(translator, options, crew):
    """What the crew translates; with nothing to read, the test set."""
    from ..files import nothing_to_read, write_lines
    from ..search.output import Output

    files = options["output"], options["alignments"], options["alignment_format"] or "pharaoh"
    can_go_on = not why_not_resumable(options)
    to_file = Output(translator, *files, "resume" if options["resume"] else "begin" if can_go_on else None, crew)
    try:
        with to_file as output:
            if options["input"] == "-" and nothing_to_read():
                from ..tasks.validation import decode_test_set

                click.echo(decode_test_set(translator.model, output), err=True)
            else:
                if output.n_lines:
                    click.echo(f"going on after line {output.n_lines:,} of {options['output']}", err=True)
                output.translate_stream(options["input"], options["on_bad_line"])
    except (KeyboardInterrupt, UserError):
        if can_go_on and to_file.n_lines > to_file.n_before:
            click.echo(f"{to_file.n_lines:,} lines are kept; go on with: {resume_command()}", err=True)
        raise
    if report := output.list_report():
        click.echo(report, err=True)
    if options["json"]:
        write_lines(options["json"], [json.dumps(output.list_record())])


def replacer_from_options(options, model):
    """What finds words for UNK; None to leave them."""
    from ..align.selector import CONTROLS
    from ..align.sources import load_counts
    from ..search.unknown import Replacer

    method = options["replace_unk"]
    if method in (None, "copy"):
        return Replacer(model) if method else None
    names = options["counts"] if method == "table" else (method,)
    if set(names) & set(CONTROLS):
        raise UsageError(f"--replace-unk table needs counts: --counts {' and '.join(CONTROLS)} have none")
    sizes = len(model.src.vocab), len(model.trg.vocab)
    return Replacer(model, load_counts(names, opt.directory_from_options(options), *sizes))


def score_reference(options, model, selector):
    """Forced decoding: a log-probability for each line of the reference."""
    from ..files import read_parallel, write_lines
    from ..search.forced import score_translations

    if options["input"] == options["reference"] == "-":
        raise UsageError("only one of -i and --reference can be standard input (-)")
    lines = read_parallel(options["input"], options["reference"])
    n_threads = options["threads"] or opt.available_processors()
    logps = score_translations(*lines, model, selector, options["outside"] or "add", n_threads)
    write_lines(options["output"], [f"{logp:.4f}" for logp in logps])
