"""What several commands share: kinds of values, and options with the checks that go with them."""

import contextlib
import math
import os
from dataclasses import replace

import click

from ..errors import UsageError, UserError
from ..train.settings import MOST, MOST_SHARES, Choice, Flag, Settings, allowed_values, help_texts

DEFAULTS = Settings()


class Path(click.Path):
    """A path; an empty one, as an unset shell variable gives, is none."""

    def convert(self, value, param, ctx):
        if not value:
            self.fail("the name is empty.", param, ctx)
        return super().convert(value, param, ctx)


FILE = Path()


class Number(click.FloatRange):
    """A number within limits; "nan" and "inf" are none."""

    def convert(self, value, param, ctx):
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"{value} is not a number.", param, ctx)
        return number


POSITIVE = click.IntRange(min=1)
COUNT = click.IntRange(min=0)


def setting(name, help=None):
    """An option for one setting of training, with its default, its limits and its help."""
    values, flag = allowed_values()[name], "--" + name.replace("_", "-")
    help = help or help_texts()[name]
    if isinstance(values, Flag):
        return click.option(flag, name, is_flag=True, help=help)
    default = getattr(DEFAULTS, name)
    return click.option(flag, name, type=click_type(values), default=default, show_default=True, help=help)


def settings_from_options(options):
    """Settings of a training; what they refuse is the command line's mistake."""
    try:
        return Settings(**options)
    except UserError as error:
        raise UsageError(str(error)) from None


def click_type(values):
    """What a setting may be, as click knows it."""
    if isinstance(values, Choice):
        return click.Choice(list(values))
    if values.kind is int:
        return click.IntRange(values.least, None if values.most == MOST else values.most)
    low, high = (values.least, values.above), (values.most, values.below)
    low_open, high_open = values.above is not None, values.below is not None
    return Number(low[low_open], high[high_open], min_open=low_open, max_open=high_open)


def check_outputs(outputs, inputs=()):
    """Before any work: every output can be written, none of them is an input or another output. None is no file."""
    from ..files import check_writable, is_stdout

    outputs = [path for path in outputs if path]
    for i, path in enumerate(outputs):
        real = os.path.realpath(path)
        if not is_stdout(path) and real in [os.path.realpath(other) for other in inputs if other and other != "-"]:
            raise UsageError(f"{path} is the input: writing to it would destroy it")
        for other in outputs[:i]:
            if real == os.path.realpath(other) or is_stdout(path) and is_stdout(other):
                raise UsageError(f"{path} is named for two outputs: they need a file each")
        if not is_stdout(path):
            check_writable(path)


def available_processors():
    from ..threads import n_processors

    return n_processors()


def group(*options):
    """Several options as one decorator."""

    def decorate(command):
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


# The options that name training, dev and test text; Settings has fields of the same names
text_options = group(
    click.option("--src", type=FILE, help="Source training text, one sentence per line. [default: embedded corpus]"),
    click.option("--trg", type=FILE, help="Target training text: line by line, the translation of --src."),
    click.option("--dev-src", type=FILE, help="Source text to validate on after each epoch."),
    click.option("--dev-trg", type=FILE, help="Its translation."),
    click.option("--test-src", type=FILE, help="Source text to score when training ends. [default: the dev text]"),
    click.option("--test-trg", type=FILE, help="Its translation."),
)

# The options that name a model; model_from_options reads them
model_options = group(
    click.option("-m", "--model", "directory", type=Path(), help="A model directory. [default: runs/default]"),
    click.option("--npz", type=FILE, help="Instead of -m: a single .npz of Nematus or dl4mt."),
    click.option("--vocab-src", type=FILE, help="With --npz: the source vocabulary, JSON."),
    click.option("--vocab-trg", type=FILE, help="With --npz: the target vocabulary, JSON."),
    click.option("--bpe-src", type=FILE, help="With --npz: BPE codes of the source side."),
    click.option("--bpe-trg", type=FILE, help="With --npz: BPE codes of the target side."),
    click.option("--any-vocab-size", is_flag=True, help="With --npz: vocabularies of any size, as Nematus accepts."),
    click.option("--pretokenized", is_flag=True, help="With --npz: the text is tokenized already."),
)
SINGLE_FILES = ("vocab_src", "vocab_trg", "bpe_src", "bpe_trg", "any_vocab_size", "pretokenized")


# The options that choose candidates; selector_from_options reads them
COUNTS_OPTIONS = (
    click.option(
        "--counts", multiple=True, metavar="NAME",
        help="Counts to take candidates from: a file, or the NAME of DIR/alignments.NAME.npz (epoch3, model1, "
        "fastalign, cooc); several are added up; frequent and random are controls. [default: DIR/alignments.npz]",
    ),
    click.option(
        "--by", type=click.Choice(["source", "target"]), default="source", show_default=True,
        help="Rank candidates by p(target | source) or by p(source | target).",
    ),
    click.option("--min-prob", type=Number(0, 1), default=0.0, help="Leave out candidates less probable than this."),
    click.option("--frequent", type=COUNT, default=0, help="Add the K most frequent words to every list."),
)  # fmt: skip


counts_options = group(*COUNTS_OPTIONS)

# What chooses words besides counts; selector_from_options reads them. minnmt/search/selectors.py has the selectors
SELECTOR_NAMES = ("counts", "copy", "phrases", "neural", "screen")
select_options = group(
    click.option(
        "--select", multiple=True, type=click.Choice(SELECTOR_NAMES),
        help="What chooses a sentence's words; several are combined. counts: the --topn best per source word; copy: "
        "words spelled as in the source; phrases: up to 20 words per two or three neighbouring source words; neural: a "
        "trained layer over the encoder; screen, alone: words per step, --topn of them on average. "
        "[default: counts, with --topn]",
    ),
    click.option(
        "--select-threshold", type=Number(0, 1, min_open=True, max_open=True), default=0.01, show_default=True,
        help="With --select neural: list words that are needed with at least this probability.",
    ),
)  # fmt: skip

engine_option = click.option(
    "--engine", type=click.Choice(["int8", "float32", "plain"]),
    help="int8 multiplies in 8 bits, so scores are approximate; a CPU without 8-bit instructions uses float32. "
    "plain is the program as you read it: nothing compiled, one thread, one sentence at a time. [default: int8]",
)  # fmt: skip

beam_options = group(
    click.option("--beam", type=POSITIVE, default=5, show_default=True, help="Hypotheses kept; 1 is greedy search."),
    click.option("--length-penalty", type=Number(0, 10), default=1.0, help="Score: ln p / length^N. [default: 1]"),
    click.option("--max-length", type=COUNT, help="Longest translation in units. [default: 2 * source + 10]"),
)
search_options = group(
    beam_options,
    click.option("--batch-size", type=POSITIVE, default=32, show_default=True, help="Sentences translated together."),
    click.option("--threads", type=POSITIVE, help="Each takes a batch, or all share one. [default: one per core]"),
)


def model_from_options(options):
    """The model of a directory, or of the single files that --npz names."""
    from ..model.directory import load_model, load_npz_model

    directory = directory_from_options(options)
    return load_model(directory) if directory else load_npz_model(options["npz"], **single_files(options))


def pipelines_from_options(options):
    """(source, target) Pipelines of the model that the options name; its parameters are not read."""
    from ..model.directory import load_npz_model, load_npz_text_side, load_text_side

    directory = directory_from_options(options)
    if directory:
        return load_text_side(directory)[1:]
    if options["any_vocab_size"]:  # only the parameters know the sizes
        model = load_npz_model(options["npz"], **single_files(options))
        return model.src, model.trg
    files = single_files(options)
    del files["any_vocab_size"]
    return load_npz_text_side(**files)


def directory_from_options(options):
    """The model directory that the options name, or None with --npz; what does not go together is refused."""
    if options["npz"] is None:
        for name in SINGLE_FILES:
            if options[name]:
                raise UsageError(f"--{name.replace('_', '-')} goes with --npz; a model directory (-m) has its own")
        return options["directory"] or "runs/default"
    if options["directory"]:
        raise UsageError("-m names a model directory and --npz a single file: choose one")
    if not (options["vocab_src"] and options["vocab_trg"]):
        raise UsageError("--npz needs --vocab-src and --vocab-trg, the model's two JSON vocabularies")
    return None


@contextlib.contextmanager
def profiled(wanted):
    """With --profile, print where the time went to stderr; not after an error."""
    from ..profile import profile_table, take_profile

    if not wanted:
        yield
        return
    with take_profile() as seconds:
        yield
    for line in profile_table(seconds):
        click.echo(line, err=True)


def precision_of(engine):
    """What --engine asks of the packed weights; None: what is faster here."""
    return "float32" if engine == "float32" else None


def training_threads(batch_size):
    """One per core, but none with fewer than 8 sentences: each has a gradient of its own to fill."""
    return min(available_processors(), max(1, batch_size // 8))


def with_ranks(settings, ranks, asked, status):
    """Of several ranks: the same Settings, with the threads that each has; what was chosen is said once."""
    if ranks.size == 1:
        return settings
    settings = replace(settings, threads=ranks.threads(asked), shares=settings.shares or settings.threads)
    status.line(ranks.describe(settings.threads, settings.shares))
    return settings


shares_option = click.option("--shares", type=click.IntRange(1, MOST_SHARES), help=help_texts()["shares"])


def model_files(options):
    """The files of the model that the options name, as far as it has them, its counts apart (counts_files)."""
    from ..model.directory import FILES

    directory = directory_from_options(options)
    if directory is None:
        return [options[name] for name in ("npz", "vocab_src", "vocab_trg", "bpe_src", "bpe_trg")]
    return [os.path.join(directory, name) for name in FILES]


def counts_files(options):
    """All counts beside the model, and those that --counts names."""
    from ..align.sources import counts_path
    from ..model.directory import counts_files as counts_beside

    directory = directory_from_options(options)
    beside = [os.path.join(directory, "alignments.npz"), *counts_beside(directory)] if directory else []
    return [*beside, *(counts_path(name, directory) for name in options.get("counts", ()))]


def keep_counts(output, directory, overwrite):
    """Counts that are beside the model already are only replaced on demand."""
    if is_beside(output, directory) and os.path.isfile(output) and not overwrite:
        raise UsageError(f"{output} is already there: replace it with --overwrite, or write elsewhere with -o")


def is_beside(path, directory):
    """Does a file lie in the model directory? None is no directory."""
    return bool(directory) and os.path.realpath(os.path.dirname(path)) == os.path.realpath(directory)


def single_files(options):
    return {name: options[name] for name in SINGLE_FILES}


def has_lists(options):
    """Is not every word allowed?"""
    return bool(options["topn"] or options["select"])


def selector_from_options(options, model):
    """What chooses the words of each sentence; None for the full vocabulary (--topn 0)."""
    from ..search.selectors import Choice, selector_by_names

    names = options["select"] or (("counts",) if options["topn"] else ())
    needy = [name for name in names if name in ("counts", "phrases", "screen")]
    if needy and not options["topn"]:
        raise UsageError(f"--select {needy[0]} needs --topn N")
    if not options["topn"]:
        defaults = {"counts": (), "min_prob": 0.0, "frequent": 0, "by": "source"}
        for name in defaults:
            if options[name] != defaults[name] and not (name == "counts" and options.get("replace_unk") == "table"):
                raise UsageError(f"--{name.replace('_', '-')} goes with --topn N: without it, all words are allowed")
    if not names:
        return None
    if "screen" in names and (options["counts"] or options["min_prob"] or options["frequent"]):
        raise UsageError("--select screen has counts of its own: leave out --counts, --min-prob and --frequent")
    choice = Choice(
        model, directory_from_options(options), options["topn"], options["counts"], options["by"], options["min_prob"],
        options["frequent"], options["select_threshold"],
    )  # fmt: skip
    return selector_by_names(names, choice)
