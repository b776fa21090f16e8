"""What 8 bits cost: the same text decoded by two engines, everything else alike.

Numbers, and the text that a person reads. Scores of hypotheses are compared where both engines found the same words.
"""

import textwrap
from dataclasses import asdict, dataclass

from .scores import Difference, all_scores, bleu_difference

WIDTH = 100


@dataclass
class EngineComparison:
    """The engine that is looked at, and the one it is compared with."""

    engine: str
    against: str
    lines: int
    sentences: int  # lines that are not blank
    identical: int  # of these
    seconds: float
    seconds_against: float
    score_apart: float  # the largest difference of two scores of the same translation
    scores: dict | None  # {metric: (engine's, the other's)}; None without references
    bleu: Difference | None
    differing: list  # {"line", "source", "engine", "against", "reference"}


def compare_engines(split, ours, theirs):
    """A Split (trg None without references), and of both engines (name, Translations, seconds) -> EngineComparison."""
    (engine, found, seconds), (against, others, seconds_against) = ours, theirs
    pairs = [(a, b) for a, b in zip(found, others) if a.src_units]
    apart = [abs(a.hypotheses[0].score - b.hypotheses[0].score) for a, b in pairs if a.best == b.best]
    differing = [
        {"line": i + 1, "source": split.src[i], "engine": a.best, "against": b.best,
         "reference": split.trg[i] if split.trg else None}
        for i, (a, b) in enumerate(zip(found, others)) if a.best != b.best
    ]  # fmt: skip
    scores = difference = None
    if split.trg:
        ours, theirs = [t.best for t in found], [t.best for t in others]
        both = zip(all_scores(ours, split.trg), all_scores(theirs, split.trg))
        scores = {a.name: (a.value, b.value) for a, b in both}
        difference = bleu_difference(ours, theirs, split.trg)
    return EngineComparison(
        engine, against, len(found), len(pairs), len(pairs) - len(differing), seconds, seconds_against,
        max(apart, default=0.0), scores, difference, differing,
    )  # fmt: skip


def engines_record(found):
    """As a dictionary for JSON."""
    record = {key: value for key, value in asdict(found).items() if value is not None}
    if found.bleu:
        record["bleu"] = found.bleu._asdict()
    return {"identical_share": found.identical / max(found.sentences, 1), **record}


def format_engines(found, lists, n_examples=10):
    """The report; `lists` says in words which words were allowed."""
    title = f"What {found.engine} changes, against {found.against}: {lists}"
    share = 100 * found.identical / max(found.sentences, 1)
    lines = [
        title, "=" * len(title),
        f"identical outputs  {found.identical:,} of {found.sentences:,} ({share:.2f} %)",
        f"time               {found.seconds:.2f} s against {found.seconds_against:.2f} s",
        f"scores differ by   {found.score_apart:.4f} at most, where the outputs are identical",
    ]  # fmt: skip
    for name, (ours, theirs) in (found.scores or {}).items():
        lines.append(f"{name:<19}{ours:.2f} against {theirs:.2f} ({ours - theirs:+.2f})")
    if found.bleu:
        lines.append(f"BLEU, difference   {found.bleu}, 95 % interval of a paired bootstrap")
    examples = found.differing[:n_examples]
    if examples:
        title = f"Where they differ ({len(examples):,} of {len(found.differing):,})"
        lines += ["", title, "-" * len(title)]
    for example in examples:
        lines.append(f"line {example['line']:,}")
        for label, key in (("source", "source"), ("reference", "reference")):
            if example[key]:
                lines += wrapped(label, example[key])
        for name, text in ((found.engine, example["engine"]), (found.against, example["against"])):
            lines += wrapped(name.split()[0], text)
    return "\n".join(lines)


def wrapped(label, text):
    first = f"  {label:<11}"
    return textwrap.wrap(text, WIDTH, initial_indent=first, subsequent_indent=" " * len(first)) or [first.rstrip()]
