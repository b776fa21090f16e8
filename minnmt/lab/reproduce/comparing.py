"""Translations with lists beside those with all words, each made once: what most exhibits are made of."""

from ...report.scores import METRICS, Difference, bleu_difference
from .measure import quality
from .paper import TOPN

BLEU_ALONE = ("bleu",)  # of the lists of one epoch, for a figure: TER takes longer than decoding
AGAINST_FULL = "Against full: how lists change BLEU, with the 95 % interval of a paired bootstrap."


def translated(lab, name, source=None, topn=TOPN, which="test", replacer=None):
    """The quality of a model with lists from a source of counts, or with all words; measured once.

    With lists, "against_full" has what they change in BLEU; the translations themselves are kept beside the numbers.
    """
    ending = ", UNK replaced" if replacer else ""
    full, label = (f"{name}, {which}, {lists}{ending}" for lists in ("full", f"{source} {topn}" if source else "full"))

    def measure():
        split, selector = lab.split(name, which), lab.selector(name, source, topn) if source else None
        metrics = BLEU_ALONE if source and source.startswith("epoch") else tuple(METRICS)
        found = quality(lab.model(name), split, selector, lab.settings.threads, replacer, metrics)
        lines = lab.keep_translations(label, found.pop("lines"))
        if source:
            found["against_full"] = bleu_difference(lines, lab.translations(full), split.trg)
        return found

    if source:
        translated(lab, name, which=which, replacer=replacer)  # what the lists are compared with
    return lab.once(label, measure)


def against_full(found):
    """The difference in BLEU as text; none for full decoding itself."""
    return str(Difference(*found["against_full"])) if "against_full" in found else "-"


def score(value):
    """BLEU or TER: with a few thousand sentences, a second digit would say nothing."""
    return f"{value:.1f}"
