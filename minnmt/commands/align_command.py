"""align: counts for a model that has none, or a stand-alone word aligner."""

import contextlib
import os
from dataclasses import replace

import click

from ..align.aligners import ALIGNERS, ITERATING
from ..errors import UsageError, call
from . import options as opt

ITERATIONS = 5
*FIRST, LAST = (method.text for method in ALIGNERS.values())
ATTENTION_ONLY = ("frozen", "threshold", "learning_rate", "save_model", "shares")
THREADED = ("attention", "phrases", "neural")
# What is made for decode --select
SELECTORS = {"phrases": "phrases.npz", "neural": "selection.npz", "screen": "screen.npz"}


@click.command()
@opt.model_options
@click.option(
    "--method", type=click.Choice(["attention", *ALIGNERS, *SELECTORS]), default="attention", show_default=True,
    help=f"The model's attention, {', '.join(FIRST)}, or {LAST}. For decode --select: phrases, from attention to "
    "neighbouring words; neural, a layer that is trained in minutes; or screen, words per step.",
)  # fmt: skip
@click.option("--src", type=opt.FILE, help="Source text. [default: what the model was trained with]")
@click.option("--trg", type=opt.FILE, help="Target text: line by line, the translation of --src.")
@click.option("-o", "--output", type=opt.FILE, help="Where to write. [default: beside the model; links to stdout]")
@click.option("--overwrite", is_flag=True, help="Replace counts that are already beside the model.")
@click.option("--frozen", is_flag=True, help="Do not update the model: forward only, several times as fast.")
@click.option(
    "--threshold", type=opt.Number(0, 1, max_open=True),
    help="Count attention weights above this. [default: 0.1]",
)  # fmt: skip
@click.option(
    "--learning-rate", type=opt.Number(0, min_open=True),
    help="Learning rate of the epoch. [default: training's last]",
)  # fmt: skip
@click.option(
    "--save-model", type=opt.FILE,
    help="Write the updated parameters to this .npz; otherwise they are dropped.",
)  # fmt: skip
@click.option(
    "--iterations", type=opt.POSITIVE,
    help=f"Iterations of {' and '.join(ITERATING)}. [default: {ITERATIONS}]",
)  # fmt: skip
@click.option("--pharaoh", type=opt.FILE, help="With a model: also write word links i-j, one line per pair.")
@click.option(
    "--table", type=opt.FILE,
    help="Without a model: write source, target and ln p(target | source), one link per line.",
)  # fmt: skip
@click.option(
    "--threads", type=opt.POSITIVE,
    help="Threads that share the work; with --method neural, four at most. [default: as train]",
)  # fmt: skip
@opt.shares_option
def align(method, src, trg, **options):
    """Learn which target words belong to which source words.

    \b
    For a trained model, from its attention over one more epoch of training:
      python cli.py align -m runs/deen
    or from another aligner, to compare:
      python cli.py align -m runs/deen --method fastalign
      python cli.py decode -m runs/deen --topn 100 --counts fastalign < test.de
    As a word aligner for any tokenized text, links in Pharaoh format (i-j, source-target, from 0):
      python cli.py align --method fastalign --src train.de --trg train.en > links
    """
    if bool(src) != bool(trg):
        raise UsageError("--src and --trg go together: give both sides")
    if src == trg == "-":
        raise UsageError("--src and --trg: only one text can come from standard input (-)")
    if method != "attention":
        refuse(options, ATTENTION_ONLY, "goes with --method attention")
    if method not in THREADED:
        refuse(options, ("threads",), f"goes with --method {', '.join(THREADED[:-1])} and {THREADED[-1]}")
    if method not in ITERATING:
        refuse(options, ("iterations",), f"goes with --method {' and '.join(ITERATING)}")
    if method in SELECTORS:
        refuse(options, ("pharaoh", "table"), f"does not go with --method {method}")
        make_for_selector(method, src, trg, options)
        return
    if options["frozen"]:
        refuse(options, ("learning_rate", "save_model", "shares"), "does not go with --frozen, which changes nothing")
    if src and method != "attention" and not (options["directory"] or options["npz"]):
        align_any_text(method, src, trg, options)
    else:
        align_model(method, src, trg, options)


def refuse(options, names, why):
    for name in names:
        if options[name] is not None and options[name] is not False:
            raise UsageError(f"--{name.replace('_', '-')} {why}")


def align_any_text(method, src, trg, options):
    """No model: links to standard output or a file."""
    from ..ranks import current

    if current().size > 1:
        raise UsageError(f"--method {method} does not make use of several ranks: leave out mpiexec")
    from ..files import is_stdout, write_lines
    from ..tasks.aligning import align_text
    from ..train.status import Status

    refuse(options, ("pharaoh",), "goes with a model (-m); without one the links are the output (-o)")
    opt.directory_from_options(options)  # --vocab-src and the like go with --npz
    output = options["output"] or "-"
    opt.check_outputs([output, options["table"]], [src, trg])
    lines, table = align_text(method, src, trg, options["iterations"] or ITERATIONS, Status())
    write_lines("-" if is_stdout(output) else output, lines)
    if options["table"]:
        write_lines(options["table"], table)


def align_model(method, src, trg, options):
    """Counts for the lists of a model."""
    from ..files import only_writer, write_lines
    from ..model.npz import save_parameters
    from ..ranks import current
    from ..tasks import aligning
    from ..threads import tuned
    from ..train.status import Status, silent_status

    ranks = current()
    if ranks.size > 1 and method != "attention":
        raise UsageError(f"--method {method} does not make use of several ranks: leave out mpiexec")
    if not ranks.is_first:  # its work is what rank 0 sends
        count_attention(None, None, None, options, silent_status(), ranks)
        return
    refuse(options, ("table",), "goes without a model; candidates export writes a model's tables")
    status, directory = Status(), opt.directory_from_options(options)
    output = counts_output(method, directory, options)
    model = opt.model_from_options(options)
    inputs = [src, trg, *opt.model_files(options)]
    opt.check_outputs([output, options["pharaoh"], options["save_model"]], inputs)
    opt.check_outputs([options["pharaoh"], options["save_model"]], opt.counts_files(options))
    split = aligning.parallel_text(model, src, trg)
    with only_writer(directory) if opt.is_beside(output, directory) else contextlib.nullcontext():
        if method == "attention":
            with tuned(huge=True):
                counts, lines = count_attention(model, split, directory, options, status, ranks), None
        else:
            counts, lines = aligning.align_units(method, model, split, options["iterations"] or ITERATIONS, status)
        counts.save(output)
    if options["save_model"]:
        save_parameters(options["save_model"], model.params)
    if options["pharaoh"]:
        write_lines(options["pharaoh"], lines or aligning.attention_lines(model, split))
    status.line(f"{counts.n_cells:,} cells ({8 * counts.n_cells / 1e6:.1f} MB) in {output}")
    if not counts.n_cells:
        status.line("no attention is above the threshold: lists from these counts are empty")
    status.line(f"translate with: {decode_command(method, directory, options)}")


def make_for_selector(method, src, trg, options):
    """What decode --select reads, beside the model."""
    from ..files import only_writer
    from ..search.neural_selector import save_selection
    from ..tasks import aligning, selecting
    from ..threads import tuned
    from ..train.settings import Settings
    from ..train.status import Status

    status, directory = Status(), opt.directory_from_options(options)
    output = counts_output(method, directory, options)
    model = opt.model_from_options(options)
    opt.check_outputs([output], [src, trg, *opt.model_files(options)])
    settings = Settings.from_config(model.config) if model.config else Settings()
    settings = replace(settings, threads=options["threads"] or opt.training_threads(settings.batch_size))
    split = aligning.parallel_text(model, src, trg)
    with only_writer(directory) if opt.is_beside(output, directory) else contextlib.nullcontext(), tuned():
        if method == "phrases":
            counts = selecting.count_phrases(model, split, settings, status)
            counts.save(output)
            found = f"{counts.table.n_cells:,} cells of {len(counts.phrases):,} phrases"
        elif method == "screen":
            screen = selecting.make_screen(model, split, settings, status)
            screen.save(output, {"method": "screen", "readouts": int(screen.n_readouts.sum())})
            found = f"{len(screen.centres):,} groups of readouts with {screen.counts.n_cells:,} words in all"
        else:
            layer, losses = selecting.train_selection(model, split, settings, status)
            save_selection(output, layer, {"method": "neural", "losses": losses})
            found = f"a layer of {sum(array.size for array in vars(layer).values()):,} numbers"
    status.line(f"{found} in {output}")
    model = f"-m {directory}" if directory else f"--npz {options['npz']} ..."
    chosen = "--topn 500 --select screen" if method == "screen" else f"--topn 100 --select counts --select {method}"
    status.line(f"translate with: {call(f'decode {model} {chosen}')}")


def count_attention(model, split, directory, options, status, ranks):
    """One epoch over the text, by all ranks, of which the first gives model and text and gets the counts."""
    from ..tasks.aligning import learn_attention, share_model

    settings, rate = counting_settings(model, directory, options) if ranks.is_first else (None, None)
    split, settings, rate = ranks.share((split, settings, rate))
    model = share_model(model, ranks)
    settings = opt.with_ranks(settings, ranks, options["threads"], status)
    return learn_attention(model, split, settings, rate, options["frozen"], status, ranks=ranks)


def counting_settings(model, directory, options):
    """Settings as of the model's training, as far as they are known, and the learning rate."""
    from ..tasks.aligning import last_learning_rate
    from ..train.settings import Settings

    settings = Settings.from_config(model.config) if model.config else Settings()
    n = options["threads"] or opt.training_threads(settings.batch_size)
    settings = replace(settings, threads=n, shares=options["shares"] or n)
    if options["threshold"] is not None:
        settings = replace(settings, align_threshold=options["threshold"])
    rate = None
    if not options["frozen"]:
        rate = options["learning_rate"] or last_learning_rate(directory, settings)
    return settings, rate


def counts_output(method, directory, options):
    """Where the counts go."""
    from ..files import is_stdout

    output = options["output"]
    if output and is_stdout(output):
        raise UsageError("counts are no text: name a file for them with -o, not standard output")
    if not output and directory is None:
        raise UsageError("with --npz, name the file for the counts with -o")
    if not output:
        name = "alignments.npz" if method == "attention" else f"alignments.{method}.npz"
        output = os.path.join(directory, SELECTORS.get(method, name))
    opt.keep_counts(output, directory, options["overwrite"])
    return output


def decode_command(method, directory, options):
    """How to use the counts."""
    model = f"-m {directory}" if directory else f"--npz {options['npz']} ..."
    name = options["output"] or (None if method == "attention" else method)
    return call(f"decode {model} --topn 100" + (f" --counts {name}" if name else ""))
