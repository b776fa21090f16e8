"""An Audit as a person reads it: the most important figure first, at most 100 columns."""

import textwrap
from collections import Counter
from itertools import chain, repeat

from ..align.inspect import number_of
from ..align.ranking import BELOW, NEVER
from .divergence import KINDS

WIDTH = 100
MOST_WORDS = 10


def format_audit(found, topn, n_examples=10):
    """The whole report: headlines and what stands below them; those with nothing below are left out."""
    summary, n = found.summary, len(found.divergences)
    n_missing = sum(word["times"] for word in summary.words)
    examples = _varied(found.divergences, summary.words)[:n_examples]
    of = "all" if len(examples) == n else f"{len(examples):,} of {n:,}"
    sections = {
        f"What the list costs: {topn} candidates per source word": _outcome(found),
        f"Where the outputs differ: {number_of(n, 'sentence')}": [
            f"{times:>6,}  {kind:<34}{KINDS[kind]}" for kind, times in summary.kinds.items() if n
        ],
        f"Which n would bring the missing words into the list (each sentence's first, {n_missing:,} in all)": [
            f"{times:>6,}  {_percent(times, n_missing):>9}  {name}"
            for name, times in (summary.brought_by or {}).items() if n_missing
        ],
        "The missing words, most frequent first": _missing_words(summary.words),
        f"Examples: a sentence for each missing word, the most frequent words first ({of})": [
            line for d in examples for line in ("", *_example(d, topn))
        ][1:],
        "Probability that the list keeps, at each step of the full softmax": _mass(found),
        "How much of the references the lists can write": _coverage(found.coverage) if found.coverage else [],
        "How the scores were computed": [f"{s.name:<8}{s.signature}" for s in found.scores or ()],
    }  # fmt: skip
    rules = chain("=", repeat("-"))
    parts = [[title, rule * len(title), *lines] for rule, (title, lines) in zip(rules, sections.items()) if lines]
    return "\n\n".join("\n".join(lines) for lines in parts)


def _percent(part, whole):
    return f"{100 * part / whole:.2f} %" if whole else "-"


def _wrapped(label, text, indent=2, column=13):
    """A label, and text beside it that goes on below itself."""
    first = f"{'':{indent}}{label:<{column - indent}}"
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * column) or [first.rstrip()]


def _outcome(found):
    lists, blank = found.lists, found.lines - found.sentences
    left_out = f", {number_of(blank, 'blank line')} left out" if blank else ""
    same = f"{_percent(found.identical, found.sentences)}  ({found.identical:,} of {found.sentences:,}{left_out})"
    factor = f"{found.seconds_full / max(found.seconds_list, 1e-9):.1f} x"
    share = _percent(lists.words_per_sentence, lists.vocabulary)
    return [
        f"identical outputs   {same}",
        "",
        f"{'':10}{'full':>10}{'list':>10}{'difference':>14}",
        *(f"{s.name:<10}{s.full:>10.2f}{s.list:>10.2f}{s.difference:>+14.2f}" for s in found.scores or ()),
        f"{'seconds':<10}{found.seconds_full:>10.2f}{found.seconds_list:>10.2f}{factor:>14}   "
        "(rough: one run each, one after the other)",
        "",
        f"a list has {lists.words_per_sentence:,.1f} words on average, {share} of the vocabulary of "
        f"{lists.vocabulary:,}; {lists.words_per_source_unit:,.1f} per source unit",
    ]


def _missing_words(words):
    lines = [f"{word['times']:>6,}  {word['unit']:<24}{_needed(word)}".rstrip() for word in words[:MOST_WORDS]]
    more = len(words) - MOST_WORDS
    return lines + ([f"        and {number_of(more, 'more word')}"] if more > 0 else [])


def _needed(word):
    """The n that would bring a missing word, in a few words."""
    needed = word["needed_n"]
    parts = ["n = " + ", ".join(map(str, needed[:4])) + (", ..." if len(needed) > 4 else "")] if needed else []
    return "; ".join(parts + ([NEVER] if word[NEVER] else []))


def _varied(divergences, words):
    """One sentence for every missing word, then a second for each, ...; those that miss no word come last."""
    place = {word["unit"]: k for k, word in enumerate(words)}
    shown = Counter()
    keys = {}
    for d in sorted(divergences, key=lambda d: -d.missing.prob if d.missing else 0.0):
        unit = d.missing.unit if d.missing else None
        keys[d.line] = (unit is None, shown[unit], place.get(unit))
        shown[unit] += 1
    return sorted(divergences, key=lambda d: keys[d.line])


def _example(d, topn):
    texts = {"source": d.source, "full": d.full_output, "list": d.list_output, "reference": d.reference}
    texts["they part"] = f"at step {d.first_step}: full {d.full_unit}, list {d.list_unit}"
    if m := d.missing:
        texts["missing"] = f"{m.unit} at step {m.step}: rank {m.rank:,} in the full softmax, probability {m.prob:.3f}"
        texts[""] = None if m.sources is None else _sources(m, topn)
    wrapped = [_wrapped(label, text) for label, text in texts.items() if text is not None]
    return [f"line {d.line}: {d.kind}", *chain.from_iterable(wrapped)]


def _sources(missing, topn):
    linked = [s for s in missing.sources if s["rank"]]
    if missing.why == NEVER:
        return "never linked with any source word of the sentence"
    if missing.why == BELOW:
        return "its links are below --min-prob: " + ", ".join(f"{s['prob']:.2g} ({s['unit']})" for s in linked)
    ways = [f"n = {s['rank']} ({s['unit']})" for s in linked if s["rank"] > topn]
    never = f"; never linked: {' '.join(s['unit'] for s in missing.sources if not s['rank'])}"
    return "would need " + " or ".join(ways) + (never if len(linked) < len(missing.sources) else "")


def _mass(found):
    names = "".join(f"{'< ' + name:>9}" for name in found.mass_output.share_under)
    lines = [f"{'':20}{'steps':>9}{'mean':>9}{'median':>9}{'5th pct':>9}{'1st pct':>9}{names}"]
    for name, mass in (("full output", found.mass_output), ("reference", found.mass_reference)):
        if mass:
            values = (mass.mean, mass.median, mass.percentile_5, mass.percentile_1)
            shares = "".join(f"{100 * share:>7.2f} %" for share in mass.share_under.values())
            lines.append(f"{name:<20}{mass.steps:>9,}" + "".join(f"{value:>9.4f}" for value in values) + shares)
    return lines


def _coverage(coverage):
    lines = [f"{'':34}{'units':>10}{'listed':>11}{'words':>12}{'listed':>11}"]
    for row in coverage.rows:
        units, words = _percent(row.units_covered, row.units), _percent(row.words_covered, row.words)
        lines.append(f"{row.name:<34}{row.units:>10,}{units:>11}{row.words:>12,}{words:>11}")
    lines.append(
        f"unknown to the vocabulary, never listed, in no row above: "
        f"{number_of(coverage.unknown_units, 'unit')}, {number_of(coverage.unknown_words, 'word')}"
    )
    note = (
        "A word is listed when all its units are. Ranks are those of the target vocabulary, by frequency; a word has "
        "the rank of its rarest unit."
    )
    return lines + textwrap.wrap(note, WIDTH)
