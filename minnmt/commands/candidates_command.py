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


def select_option(help):
    return click.option("--select", type=click.Choice(opt.SELECTOR_NAMES), default="counts", help=help)


topn_option = click.option(
    "--topn", type=opt.POSITIVE, default=100, show_default=True,
    help="With phrases: candidates per source word, which are left out; with screen: words per step.",
)  # fmt: skip


def choice_from(options, topn, counts=(), by="source"):
    """The Choice of a selector other than counts."""
    from ..search.selectors import Choice

    return Choice(opt.model_from_options(options), opt.directory_from_options(options), topn, counts, by)


@candidates.command()
@click.argument("word")
@click.option("-n", type=opt.POSITIVE, default=20, show_default=True, help="Candidates to show.")
@select_option("What brings the candidates (see decode). [default: counts]")
@topn_option
@by_option
@counts_option
@opt.model_options
def inspect(word, n, select, topn, by, counts, **options):
    """The candidates of a source word, best first.

    \b
    python cli.py candidates inspect Haus
    python cli.py candidates inspect ein@@ -n 50 --by target
    python cli.py candidates inspect "auf dem Dach" --select phrases

    WORD is a raw word (with BPE, each of its units is shown) or a unit as the vocabulary spells it. "rank back" is
    the place of WORD among the source words of the target word. With --select copy, phrases or neural, WORD is a text
    of any length; with --select screen it is a target word, and the groups of steps that may choose it are shown.
    """
    if select != "counts":
        from ..report.selector_text import INSPECT

        return click.echo(INSPECT[select](choice_from(options, topn, counts, by), word, n))
    from ..align.inspect import find_units, format_list
    from ..align.ranking import Ranking

    src, trg = opt.pipelines_from_options(options)
    units = find_units(word, src, "source")
    ranking = Ranking(load_named_counts(options, counts, src, trg), n, by)
    if units.note:
        click.echo(f"{word}: {units.note}", err=True)
    click.echo("\n\n".join(format_list(ranking, src_id, src.vocab, trg.vocab) for src_id in dict.fromkeys(units.ids)))


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
    from ..align.candidates import best_candidates
    from ..align.copying import CopySelector
    from ..align.inspect import describe_units, find_units, format_reasons
    from ..align.phrases import PhraseSelector
    from ..align.ranking import Ranking
    from ..text.vocab import EOS

    src, trg = opt.pipelines_from_options(options)
    units = find_units(target_word, trg, "target")
    counts = load_named_counts(options, counts, src, trg)
    src_units = src.units(sentence)
    src_ids = src.vocab.encode(src_units) + [EOS]
    for name, note in (("sentence", describe_units(src_units, src.vocab, "source")), (target_word, units.note)):
        if note:
            click.echo(f"{name}: {note}", err=True)
    ranking = Ranking(counts, topn, by, min_prob, frequent)
    size = ranking.list_size(src_ids)
    click.echo(f"the list: {size:,} of {counts.n_trg:,} target words, from {len(src_ids)} source units (eos is one)\n")
    reasons = [ranking.reason(src_ids, trg_id) for trg_id in units.ids]
    click.echo(format_reasons(ranking, reasons, target_word, units.pieces, src.vocab, trg.vocab))
    lists = best_candidates(counts, topn, by, min_prob)
    for name in dict.fromkeys(select):
        selector = CopySelector(src, trg) if name == "copy" else PhraseSelector(load_phrases(options, src, trg), lists)
        for trg_id in units.ids:
            click.echo(f"\n{trg.vocab.words[trg_id]} (id {trg_id}): {name}: {through(selector, src_ids, trg_id, src)}")


@candidates.command()
@select_option("Which selector (see decode). [default: counts]")
@topn_option
@counts_option
@opt.model_options
def stats(select, topn, counts, **options):
    """How large the counts are and where they come from; or another selector.

    \b
    python cli.py candidates stats
    python cli.py candidates stats --counts epoch2 --counts more.npz
    python cli.py candidates stats --select screen
    """
    if select != "counts":
        from ..report.selector_text import STATS

        return click.echo(STATS[select](choice_from(options, topn, counts)))
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
    beside = phrases_beside(options, lists, src, trg) if phrases else None
    n_written, n_src, n_left_out = export_candidates(name, output, lists, src.vocab, trg.vocab, topn, frequent, beside)
    if n_left_out:
        click.echo(f"left out: candidates that this format cannot spell ({n_left_out:,})", err=True)
    use = FORMATS[name].use.format(path=output, always=2, topn=topn)
    click.echo(f"wrote {n_written:,} candidates of {n_src:,} source words to {output}", err=True)
    click.echo(f"use: {use}", err=True)


def phrases_beside(options, lists, src, trg):
    """The phrases of the model, and their candidates beside those of the words."""
    counts = load_phrases(options, src, trg)
    return counts.phrases, counts.beside(lists)


def through(selector, src_ids, trg_id, src):
    """Why a selector brings a target word, as text."""
    found = selector.why(src_ids, trg_id)
    if found is None:
        return "does not bring it"
    spelled = found if isinstance(found, str) else " ".join(src.vocab.words[i] for i in found if i >= 0)
    return f"in the list through {spelled}"


def load_phrases(options, src, trg):
    """The PhraseCounts beside the model."""
    import os

    from ..align.phrases import PhraseCounts

    directory = opt.directory_from_options(options)
    path = os.path.join(directory or ".", "phrases.npz")
    if directory is None or not os.path.exists(path):
        raise UserError(f"{path} does not exist: make it with align --method phrases")
    return PhraseCounts.load(path, len(src.vocab), len(trg.vocab))


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
