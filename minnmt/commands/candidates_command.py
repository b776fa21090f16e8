"""candidates: look into the lists, and exchange them with other programs."""

import sys

import click

from ..align.formats import FORMATS
from ..errors import UsageError, UserError
from . import options as opt

FORMAT_LIST = "\n".join(["\b", "FORMATS", *(f"  {name:<12} {format.text}" for name, format in FORMATS.items())])
WITH_ALWAYS = sorted(name for name, format in FORMATS.items() if format.always)


@click.group()
def candidates():
    """Look into the candidate lists, or exchange them with other programs.

    \b
    python cli.py candidates inspect Haus
    python cli.py candidates inspect "auf dem" --select phrases
    python cli.py candidates why "Das Haus ist blau." house --topn 100
    python cli.py candidates stats
    python cli.py candidates export --format ct2 -o vmap.txt
    python cli.py candidates import --format fastalign table.txt -o counts.npz
    python cli.py candidates lint vmap.txt
    """


counts_option, by_option, *_ = opt.COUNTS_OPTIONS


def load_named_counts(options, names, src, trg):
    from ..align.sources import load_counts

    return load_counts(names, opt.directory_from_options(options), len(src.vocab), len(trg.vocab))


select_option = click.option(
    "--select", type=click.Choice(opt.SELECTOR_NAMES), default="counts", show_default=True,
    help="Look into this selector (see decode).",
)  # fmt: skip
topn_option = click.option(
    "--topn", type=opt.POSITIVE, default=100, show_default=True,
    help="With --select phrases: candidates per source word, which a phrase need not bring; screen: words per step.",
)  # fmt: skip
threshold_option = click.option(
    "--select-threshold", type=opt.Number(0, 1, min_open=True, max_open=True), default=0.01, show_default=True,
    help="With --select neural: a list has the words that are needed with at least this probability.",
)  # fmt: skip
GOES_WITH = {  # of the options that not every selector heeds
    "topn": ("phrases", "screen"), "by": ("counts", "phrases"), "counts": ("counts", "phrases"),
    "select_threshold": ("neural",),
}  # fmt: skip


def check_given(select):
    """Refuse an option that this selector would not heed."""
    context = click.get_current_context()
    for name, selectors in GOES_WITH.items():
        given = name in context.params and context.get_parameter_source(name).name == "COMMANDLINE"
        if given and select not in selectors:
            names = " or ".join(selectors)
            raise UsageError(f"--{name.replace('_', '-')} goes with --select {names}, not with {select}")


def choice_of(select, options, topn=100, **more):
    """The Choice of a selector; only those that need the parameters read them."""
    from ..model.directory import Model
    from ..search.selectors import Choice

    needs_all = select in ("neural", "screen")
    model = opt.model_from_options(options) if needs_all else Model(None, *opt.pipelines_from_options(options), {})
    return Choice(model, opt.directory_from_options(options), topn, **more)


@candidates.command()
@click.argument("word")
@click.option("-n", type=opt.POSITIVE, default=20, show_default=True, help="Candidates to show.")
@select_option
@topn_option
@threshold_option
@by_option
@counts_option
@opt.model_options
def inspect(word, n, select, topn, select_threshold, by, counts, **options):
    """The candidates of a source word, best first.

    \b
    python cli.py candidates inspect Haus
    python cli.py candidates inspect ein@@ -n 50 --by target
    python cli.py candidates inspect "auf dem Dach" --select phrases

    WORD is a raw word (with BPE, each of its units is shown) or a unit as the vocabulary spells it. "rank back" is
    the place of WORD among the source words of the target word. With --select copy, phrases or neural, WORD is a raw
    text of any length; with --select screen it is a target word, and the groups of steps that may choose it are shown.
    """
    check_given(select)
    if select != "counts":
        more = {"counts": counts, "by": by, "threshold": select_threshold}
        return inspect_other(select, word, n, choice_of(select, options, topn, **more))
    from ..align.inspect import find_units, format_list
    from ..align.ranking import Ranking

    src, trg = opt.pipelines_from_options(options)
    units = find_units(word, src, "source")
    ranking = Ranking(load_named_counts(options, counts, src, trg), n, by)
    if units.note:
        click.echo(f"{word}: {units.note}", err=True)
    click.echo("\n\n".join(format_list(ranking, src_id, src.vocab, trg.vocab) for src_id in dict.fromkeys(units.ids)))


def inspect_other(select, word, n, choice):
    """What a selector other than counts brings; on stderr, how the words are cut and which are unknown."""
    from ..align.inspect import describe_units, find_units
    from ..report.selector_text import INSPECT

    src, trg = choice.model.src, choice.model.trg
    is_screen = select == "screen"
    note = find_units(word, trg, "target").note if is_screen else describe_units(src.units(word), src.vocab, "source")
    found = INSPECT[select](choice, word, n)
    if note:
        click.echo(f"{word}: {note}", err=True)
    click.echo(found)


@candidates.command()
@click.argument("sentence")
@click.argument("target_word")
@click.option("--topn", type=opt.POSITIVE, default=100, show_default=True, help="Candidates per source word.")
@opt.counts_options
@click.option("--select", multiple=True, type=click.Choice(["copy", "phrases"]), help="Also ask these selectors.")
@opt.model_options
def why(sentence, target_word, topn, by, counts, frequent, min_prob, select, **options):
    """Is a target word in the list of a sentence, and through which source words?

    \b
    python cli.py candidates why "Das Haus ist blau." house
    python cli.py candidates why "Das Haus ist blau." house --topn 10 --frequent 50

    If it is not, the ranks show which --topn would bring it. With BPE, each unit of the word is looked up.
    """
    from ..align.inspect import describe_units, find_units, format_reasons
    from ..align.ranking import Ranking
    from ..report.selector_text import through
    from ..search.selectors import SELECTORS
    from ..text.vocab import EOS

    src, trg = opt.pipelines_from_options(options)
    units = find_units(target_word, trg, "target")
    loaded = load_named_counts(options, counts, src, trg)
    src_units = src.units(sentence)
    src_ids = src.vocab.encode(src_units) + [EOS]
    for name, note in (("sentence", describe_units(src_units, src.vocab, "source")), (target_word, units.note)):
        if note:
            click.echo(f"{name}: {note}", err=True)
    ranking = Ranking(loaded, topn, by, min_prob, frequent)
    size = ranking.list_size(src_ids)
    click.echo(f"the list: {size:,} of {loaded.n_trg:,} target words, from {len(src_ids)} source units (eos is one)\n")
    reasons = [ranking.reason(src_ids, trg_id) for trg_id in units.ids]
    click.echo(format_reasons(ranking, reasons, target_word, units.pieces, src.vocab, trg.vocab))
    for name in dict.fromkeys(select):
        selector = SELECTORS[name](choice_of(name, options, topn, counts=counts, by=by, min_prob=min_prob))
        for trg_id in units.ids:
            click.echo(f"\n{trg.vocab.words[trg_id]} (id {trg_id}): {name}: {through(selector, src_ids, trg_id, src)}")


@candidates.command()
@select_option
@topn_option
@counts_option
@opt.model_options
def stats(select, topn, counts, **options):
    """How large the counts, or another selector, are and where they come from.

    \b
    python cli.py candidates stats
    python cli.py candidates stats --counts epoch2 --counts more.npz
    python cli.py candidates stats --select screen
    """
    check_given(select)
    if select != "counts":
        from ..report.selector_text import STATS

        return click.echo(STATS[select](choice_of(select, options, topn, counts=counts)))
    from ..align.inspect import format_stats
    from ..align.sources import counts_paths

    src, trg = opt.pipelines_from_options(options)
    loaded = load_named_counts(options, counts, src, trg)
    click.echo(format_stats(loaded, src.vocab, counts_paths(counts, opt.directory_from_options(options))))


@candidates.command(epilog=FORMAT_LIST)
@click.option("--format", "name", type=click.Choice(list(FORMATS)), required=True, help="See below.")
@click.option("-o", "--output", type=opt.FILE, required=True, help="File to write, - for stdout.")
@click.option("--topn", type=opt.POSITIVE, default=100, show_default=True, help="Candidates per source word.")
@opt.counts_options
@click.option(
    "--phrases", is_flag=True,
    help="With ct2: also write the phrases of DIR/phrases.npz (align --method phrases).",
)  # fmt: skip
@opt.model_options
def export(name, output, topn, counts, by, min_prob, frequent, phrases, **options):
    """Write the candidate lists for another program.

    \b
    python cli.py candidates export --format marian -o lex.s2t
    python cli.py candidates export --format ct2 --topn 50 --frequent 100 -o vmap.txt

    Words are spelled as in the vocabularies (ein@@), eos as </s> and UNK as <unk>. marian-bin has the ids of our
    vocabularies, which a Marian vocabulary with eos 0 and unk 1 shares. sockeye-npy has Sockeye's: pad 0, unk 1,
    bos 2, eos 3, and every other word's id is ours + 2. --frequent goes with ct2 and marian-bin.
    """
    from ..align.candidates import best_candidates
    from ..align.formats import export_candidates

    if phrases and name != "ct2":
        raise UsageError(f"--phrases goes with ct2: {name} has no lines for phrases")
    if frequent and name not in WITH_ALWAYS:
        formats = " and ".join(WITH_ALWAYS)
        raise UsageError(f"--frequent goes with {formats}: {name} has no words that are always included")
    opt.check_outputs([output], [*opt.model_files(options), *opt.counts_files({**options, "counts": counts})])
    if output == "-" and sys.stdout is None:
        raise UserError("standard output is closed: there is nowhere to write to")
    src, trg = opt.pipelines_from_options(options)
    lists = best_candidates(load_named_counts(options, counts, src, trg), topn, by, min_prob)
    if not len(lists.ids):
        raise UserError("there is no candidate to write: the counts are empty, or --min-prob is too high")
    beside = phrases_beside(options, lists) if phrases else None
    n_written, n_src, n_left_out = export_candidates(name, output, lists, src.vocab, trg.vocab, topn, frequent, beside)
    if n_left_out:
        click.echo(f"left out: candidates that this format cannot spell ({n_left_out:,})", err=True)
    use = FORMATS[name].use.format(path=output, always=2, topn=topn)
    click.echo(f"wrote {n_written:,} candidates of {n_src:,} source words to {output}", err=True)
    if beside:
        n_phrases = len(set(beside[1].rows.tolist()))
        hint = "" if n_phrases else "; with a smaller --topn there are more"
        click.echo(f"phrases with candidates that their words do not bring: {n_phrases:,}{hint}", err=True)
    click.echo(f"use: {use}", err=True)


def phrases_beside(options, lists):
    """The phrases of the model, and their candidates beside those of the words."""
    from ..search.selectors import phrase_counts

    counts = phrase_counts(choice_of("phrases", options))
    return counts.phrases, counts.beside(lists)


@candidates.command("import", epilog=FORMAT_LIST)
@click.argument("file", type=opt.FILE)
@click.option(
    "--format", "name", type=click.Choice(list(FORMATS)),
    help="See below. [default: recognised by its first bytes]",
)  # fmt: skip
@click.option("-o", "--output", type=opt.FILE, required=True, help="Counts file (.npz) to write.")
@click.option("--overwrite", is_flag=True, help="Replace counts that are already beside the model.")
@click.option("--phrases", type=opt.FILE, help="With ct2: write its phrases to this file, for decode --select phrases.")
@opt.model_options
def import_(file, name, output, overwrite, phrases, **options):
    """Read the lists of another program into counts, for --counts.

    \b
    python cli.py candidates import --format fastalign table.txt -o counts.npz
    python cli.py decode --counts counts.npz --topn 100 < test.de

    Words that the vocabularies do not have are left out and reported. Where a format has an order but no
    probabilities (ct2, sockeye-npy), entry i of a list weighs 1/i; marian-bin has no order: all weigh the same.
    """
    from ..align.formats import import_counts, import_phrases

    if output == "-":
        raise UsageError("counts cannot go to standard output: name a file with -o")
    opt.check_outputs([output, phrases], [file, *opt.model_files(options)])
    opt.keep_counts(output, opt.directory_from_options(options), overwrite)
    src, trg = opt.pipelines_from_options(options)
    counts, remarks, name = import_counts(name, file, src.vocab, trg.vocab)
    for remark in remarks:
        click.echo(f"{file}: {remark}", err=True)
    if not counts.n_cells:
        raise UserError(f"{file} ({name}): there is no candidate in it; nothing was written")
    if phrases and name != "ct2":
        raise UsageError(f"--phrases goes with ct2: {name} has no lines for phrases")
    counts.save(output)
    if phrases:
        import_phrases(file, src.vocab, trg.vocab).save(phrases)
    size = f"{counts.n_cells:,} candidates of {counts.n_rows:,} source words"
    click.echo(f"{file} ({name}): {size}, now in {output}", err=True)


@candidates.command(epilog=FORMAT_LIST)
@click.argument("file", type=opt.FILE)
@click.option(
    "--format", "name", type=click.Choice(list(FORMATS)),
    help="See below. [default: recognised by its first bytes]",
)  # fmt: skip
@click.option("--limit", type=opt.POSITIVE, default=20, show_default=True, help="Problems to show.")
@opt.model_options
def lint(file, name, limit, **options):
    """Check a file of candidate lists strictly, against the model's vocabularies.

    \b
    python cli.py candidates lint vmap.txt
    python cli.py candidates lint --format sockeye lexicon.txt

    Problems go to stdout with their lines; the exit code is 1 if there are any.
    """
    from ..align.formats import lint as lint_file
    from ..align.formats.scan import where

    src, trg = opt.pipelines_from_options(options)
    found, name = lint_file(name, file, src.vocab, trg.vocab, limit)
    for problem in found.problems:
        click.echo(f"{where(file, problem.line)}: {problem.text}")
    if found.n_problems:
        shown = f", {len(found.problems)} shown (--limit)" if found.n_problems > len(found.problems) else ""
        raise UserError(f"{file} ({name}): {found.n_problems:,} problem{'s' * (found.n_problems > 1)}{shown}")
    size = f"{len(found.cells):,} candidates of {len(set(found.cells['src'])):,} source words"
    click.echo(f"{file} ({name}): {size}, no problems")
