"""bench: how fast decoding, training and counting are on this machine, and how fast they could be."""

import click

from ..errors import UsageError
from .options import FILE, POSITIVE, available_processors, check_outputs

SECTIONS = ("machine", "kernels", "decode", "train", "count", "verify", "growth", "mpi")
USUAL = SECTIONS[:-2]
PICTURES = (".svg", ".png")


@click.command()
@click.argument("sections", nargs=-1, type=click.Choice(SECTIONS), metavar="[SECTION]...")
@click.option(
    "--size", type=click.Choice(["paper", "medium", "default", "small"]), default="paper", show_default=True,
    help="The network: embedding 620 and hidden 1000, as in the paper; 256 and 512; 128 and 192 with the embedded "
    "corpus's vocabulary, as `train` has it; or 64 and 96 for a quick look.",
)  # fmt: skip
@click.option("--repeats", type=POSITIVE, help="Repeats of every measurement. [default: 5; 2 for train]")
@click.option("--threads", type=POSITIVE, help="Threads of decoding and training. [default: one per core]")
@click.option("--peer", type=click.Choice(["torch"]), help="Also measure the same network in PyTorch.")
@click.option("--json", "json_path", type=FILE, help="Write all measurements to this file.")
@click.option("--plot", "plot_path", type=FILE, help="With growth: draw it as .svg or .png. Needs matplotlib.")
@click.option("--src", type=FILE, help="Tokenized source text for the aligner. [default: the embedded corpus]")
@click.option("--trg", type=FILE, help="Its translation.")
def bench(sections, size, repeats, threads, peer, json_path, plot_path, src, trg):
    """Measure this machine and how much of it minnmt uses: medians, with quartiles in brackets.

    \b
    python cli.py bench
    python cli.py bench decode --peer torch --json decode.json
    python cli.py bench growth --plot growth.svg
    python cli.py bench --size small --repeats 1

    \b
    Sections (all but growth and mpi, unless you name some):
      machine   matrix products and memory, the limits of everything else; always measured
      kernels   each kernel against its plain function and against those limits
      decode    all words against lists, by beam, batch and threads
      train     updates with a softmax over all words and over lists
      count     counting links, its share of training, and the aligner
      verify    what --verify costs, with lists that miss as often as a trained model's
      growth    decoding by vocabulary, list, length and beam
      mpi       updates by two ranks, and what many machines would do (needs the extra mpi)
    """
    sections = sections or USUAL
    check_options(sections, peer, plot_path, src, trg)
    check_outputs([json_path, plot_path], [src, trg])

    from ..files import is_stdout
    from ..lab.bench import bench_record, format_table, run_benchmarks
    from ..threads import tuned

    settings = {"sections": list(sections), "size": size, "repeats": repeats}
    settings.update(threads=threads or available_processors(), peer=peer)
    to_stderr = bool(json_path) and is_stdout(json_path)
    tables = []
    texts = (src, trg) if src else None
    with tuned():
        for table in run_benchmarks(sections, size, repeats, settings["threads"], peer, texts):
            tables.append(table)
            click.echo("\n".join([*format_table(table), ""]), err=to_stderr)
    write_results(tables, bench_record(tables, settings, peer), json_path, plot_path)


def check_options(sections, peer, plot_path, src, trg):
    """What does not go together is refused, and what is needed must be installed."""
    if bool(src) != bool(trg):
        raise UsageError("--src and --trg go together: give both sides")
    if src and "count" not in sections:
        raise UsageError("--src and --trg are for the aligner: name the section count, too")
    if peer and not {"decode", "train"} & set(sections):
        raise UsageError("--peer decodes and trains: name the section decode or train, too")
    if plot_path and "growth" not in sections:
        raise UsageError("--plot draws growth: name the section growth, too")
    if plot_path and not str(plot_path).lower().endswith(PICTURES):
        raise UsageError(f"{plot_path}: --plot writes {' or '.join(PICTURES)}")
    if plot_path:
        from ..lab.figures import load_figure

        load_figure()


def write_results(tables, record, json_path, plot_path):
    """The files that were asked for."""
    import json

    from ..files import is_stdout, write_lines

    if json_path:
        text = json.dumps(record, ensure_ascii=False, indent=1, allow_nan=False)
        write_lines("-" if is_stdout(json_path) else json_path, [text])
    if plot_path:
        from ..lab.bench.growth_plot import plot_growth

        plot_growth(tables, plot_path)
