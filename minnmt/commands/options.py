"""What several commands share: kinds of values, and options with the checks that go with them."""

import math

import click

from ..errors import UsageError
from ..train.settings import Settings

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


def setting(name, help, **kwargs):
    """An option for one field of Settings, with that field's default."""
    return click.option(
        "--" + name.replace("_", "-"), name, default=getattr(DEFAULTS, name), show_default=True, help=help, **kwargs
    )


def available_processors():
    from ..threads import n_processors

    return n_processors()


MODEL_OPTIONS = (
    click.option("-m", "--model", "directory", type=Path(), help="A model directory. [default: runs/default]"),
    click.option("--npz", type=FILE, help="Instead of -m: a single .npz of Nematus or dl4mt."),
    click.option("--vocab-src", type=FILE, help="With --npz: the source vocabulary, JSON."),
    click.option("--vocab-trg", type=FILE, help="With --npz: the target vocabulary, JSON."),
    click.option("--bpe-src", type=FILE, help="With --npz: BPE codes of the source side."),
    click.option("--bpe-trg", type=FILE, help="With --npz: BPE codes of the target side."),
    click.option("--any-vocab-size", is_flag=True, help="With --npz: take vocabularies of another size, as Nematus does."),
    click.option("--pretokenized", is_flag=True, help="With --npz: the text is tokenized already."),
)


def model_options(command):
    """Give a command the options that name a model; model_from_options reads them."""
    for option in reversed(MODEL_OPTIONS):
        command = option(command)
    return command


def model_from_options(options):
    """The model of a directory, or of the single files that --npz names."""
    from ..model.directory import load_model, load_npz_model

    single = ("vocab_src", "vocab_trg", "bpe_src", "bpe_trg", "any_vocab_size", "pretokenized")
    if options["npz"] is None:
        for name in single:
            if options[name]:
                raise UsageError(f"--{name.replace('_', '-')} goes with --npz; a model directory (-m) has its own")
        return load_model(options["directory"] or "runs/default")
    if options["directory"]:
        raise UsageError("-m names a model directory and --npz a single file: choose one")
    if not (options["vocab_src"] and options["vocab_trg"]):
        raise UsageError("--npz needs --vocab-src and --vocab-trg, the model's two JSON vocabularies")
    return load_npz_model(options["npz"], **{name: options[name] for name in single})
