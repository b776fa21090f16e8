"""explore: a page to step through translations."""

import os
import pathlib
import sys
import time

import click

from ..errors import UsageError, UserError, call
from . import options as opt

PORT = 8017


class Port(click.IntRange):
    """A port; a sentence in its place is a common slip."""

    def convert(self, value, param, ctx):
        if not str(value).isdigit():
            self.fail(f"{value!r} is no port: give sentences before --serve, or name a port.", param, ctx)
        return super().convert(value, param, ctx)


@click.command()
@click.argument("sentences", nargs=-1)
@opt.model_options
@click.option("-o", "--output", type=opt.FILE, help="The page to write, - for stdout. [default: explore.html]")
@click.option(
    "--serve", type=Port(0, 65535), is_flag=False, flag_value=PORT, metavar="[PORT]",
    help=f"Serve the page on 127.0.0.1 instead, and translate what you type there. [default port: {PORT}; 0: any]",
)  # fmt: skip
@click.option("--open", "open_it", is_flag=True, help="Open the page in a browser.")
@click.option(
    "--topn", type=opt.POSITIVE, default=100, show_default=True,
    help="Where the slider for n stands at first.",
)  # fmt: skip
@opt.counts_options
@click.option(
    "--against", metavar="NAME", type=opt.FILE,
    help="Compare with other counts (a file, or a NAME as in --counts) or another model directory.",
)  # fmt: skip
@opt.beam_options
def explore(sentences, output, serve, open_it, against, **options):
    """Write one HTML page to step through translations, word by word and stage by stage.

    \b
    python cli.py explore "Das Haus ist blau." -o page.html
    python cli.py explore --open
    python cli.py explore "Das Haus ist blau." --against fastalign -o page.html
    python cli.py explore --serve

    The page is one file that needs nothing else, not even a network. Without a sentence it shows the five
    most instructive ones of the test set. With --serve it also translates other sentences, with any n, and with words
    forced.
    """
    if serve is not None and output:
        raise UsageError("-o writes a file and --serve serves the page: choose one")
    output = output or "explore.html"
    check_output(output, serve, open_it, options, against)
    began = time.monotonic()
    variants = variants_from_options(options, against)
    chosen = examples(variants[0], options) if not sentences else [(sentence, "") for sentence in sentences]
    if serve is not None:
        run_server(chosen, variants, serve, open_it)
        return
    write_page(chosen, variants, output, began)
    if open_it:
        open_page(pathlib.Path(output).resolve().as_uri())


def check_output(output, serve, open_it, options, against):
    """Refuse, before any work, what cannot be written."""
    if serve is not None:
        return
    if output == "-" and open_it:
        raise UsageError("--open needs a file: name one with -o")
    if output == "-" and sys.stdout is None:
        raise UserError("standard output is closed: name a file with -o")
    others = [against] if against and os.path.isfile(against) else []
    opt.check_outputs([output], [*others, *opt.model_files(options), *opt.counts_files(options)])


def variants_from_options(options, against):
    """The model with its counts and, with --against, what stands beside it."""
    from ..model.directory import load_model
    from ..report.explorer.variant import ListChoice, make_variant
    from ..search.beam import SearchSettings

    directory, model = opt.directory_from_options(options), opt.model_from_options(options)
    settings = SearchSettings(options["beam"], options["length_penalty"], options["max_length"])
    chosen = {name: options[name] for name in ("topn", "by", "min_prob", "frequent")}
    choice = ListChoice(counts=options["counts"], **chosen)
    path = directory or options["npz"]
    name, other = base_name(path), base_name(against or "")
    if against and os.path.isdir(against) and name == other:
        name, other = path, against
    own = make_variant(name, model, directory, choice, settings)
    if own.ranking is None:
        make = f"align -m {directory}" if directory else "align"
        click.echo(f"no counts, so no lists on the page: make some with {call(make)}", err=True)
    if not against:
        return [own]
    if os.path.isdir(against):
        return [own, make_variant(other, load_model(against), against, ListChoice(**chosen), settings)]
    own.name = f"{name}, {' + '.join(options['counts']) or 'attention'}"
    choice = ListChoice(counts=(against,), **chosen)
    return [own, make_variant(f"{name}, {os.path.basename(against)}", model, directory, choice, settings)]


def base_name(path):
    return os.path.basename(os.path.normpath(path))


def examples(variant, options):
    """Five sentences of the test set that the model was trained with, and what each shows."""
    from ..report.explorer.examples import instructive
    from ..text.parallel import load_split
    from ..train.settings import Settings

    if "settings" not in variant.model.config:
        raise UsageError("a single .npz has no test set of its own: give a sentence")
    split = load_split(Settings.from_config(variant.model.config), "test")
    click.echo(f"looking for instructive sentences in {split.name}", err=True)
    found = instructive(split.src, variant)
    if not found:
        raise UserError(f"{split.name} has no sentence to show: give one")
    return found


def write_page(chosen, variants, output, began):
    from ..align.inspect import number_of
    from ..files import write_atomically
    from ..report.explorer.page import explore_sentences, make_page

    sentences, notes = zip(*chosen)
    page = make_page(explore_sentences(sentences, variants, notes))
    write_atomically(output, page.html)
    if output != "-":
        size, took = len(page.html.encode()) / 1e6, time.monotonic() - began
        what = number_of(len(sentences), "sentence")
        click.echo(f"{output}: {what}, {size:.2f} MB, {took:.1f} s; open it in a browser", err=True)


def run_server(chosen, variants, port, open_it):
    from ..report.explorer.page import explore_sentences
    from ..report.explorer.server import Server

    sentences, notes = zip(*chosen)
    with Server(explore_sentences(sentences, variants, notes), variants, port) as server:
        click.echo(f"serving {server.address}; Ctrl-C ends it", err=True)
        if open_it:
            open_page(server.address)
        server.serve_forever()


def open_page(address):
    import webbrowser

    if not webbrowser.open(address):
        click.echo(f"no browser was found: open {address} yourself", err=True)
