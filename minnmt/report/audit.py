"""What the list costs: the same text decoded with and without it, and what the list keeps and loses on the way.

Numbers only; audit_text.py writes them down. The network is run batch by batch and step by step, so no array holds the
whole vocabulary for more than one step of one batch.
"""

import time
from dataclasses import asdict, dataclass

import numpy as np

from ..errors import UserError
from ..search.forced import at_each_step
from ..text.batches import pad
from .coverage import Coverage, reference_coverage
from .divergence import Summary, explain_missing, find_divergences, summarise
from .scores import all_scores

THRESHOLDS = (0.5, 0.9, 0.99)


@dataclass
class Decodings:
    """The Translations of the same lines, all words allowed and with lists."""

    full: list
    listed: list
    seconds_full: float
    seconds_list: float


@dataclass
class Lists:
    """How large the lists were, on average."""

    words_per_sentence: float
    words_per_source_unit: float
    vocabulary: int


@dataclass
class ScorePair:
    name: str
    full: float
    list: float
    difference: float  # what the list changes
    signature: str


@dataclass
class Mass:
    """The probability that the listed words have in the full softmax, over all steps, eos included."""

    steps: int
    mean: float
    median: float
    percentile_5: float
    percentile_1: float
    share_under: dict  # threshold -> share of the steps


@dataclass
class Audit:
    lines: int
    sentences: int  # lines that are not blank; all shares are of these
    identical: int
    seconds_full: float
    seconds_list: float
    lists: Lists
    scores: list | None  # of ScorePair; None without references, as are all things of the reference
    summary: Summary
    divergences: list
    mass_output: Mass
    mass_reference: Mass | None = None
    coverage: Coverage | None = None


def decode_both(lines, translators):
    """Raw lines, a Translator with all words and one with lists -> Decodings."""
    (full, seconds_full), (listed, seconds_list) = (timed_translations(lines, each) for each in translators)
    return Decodings(full, listed, seconds_full, seconds_list)


def timed_translations(lines, translator):
    """-> Translations, seconds; what is loaded or compiled at first use is not timed."""
    first = [line for line in lines if line.strip()][:1]
    if not first:
        raise UserError("there is nothing to audit: the text has no line with a word in it")
    translator.translate(first)
    began = time.monotonic()
    found = translator.translate(lines)
    return found, time.monotonic() - began


def audit(split, decodings, model, selector, ranking=None, negations=frozenset(), n_threads=1):
    """Compare the decodings of a Split (trg None without references) -> Audit.

    With a Ranking, missing words are looked up in the counts that the lists come from.
    """
    full, listed = decodings.full, decodings.listed
    src_ids = {i: model.src.vocab.encode(t.src_units) for i, t in enumerate(full) if t.src_units}
    lists = {i: selector.lists(*pad([ids]))[0] for i, ids in src_ids.items()}
    divergences = find_divergences(decodings, split, lists, model.trg.vocab)
    explain_missing(divergences, decodings, src_ids, model.params, ranking, n_threads)
    outputs = {i: full[i].hypotheses[0].ids for i in src_ids}
    found = Audit(
        len(full), len(src_ids), len(src_ids) - len(divergences), decodings.seconds_full, decodings.seconds_list,
        list_sizes(src_ids, lists, len(model.trg.vocab)), None, summarise(divergences, ranking), divergences,
        mass_kept(outputs, src_ids, lists, model.params, n_threads),
    )  # fmt: skip
    if split.trg:
        found.scores = compare_scores(full, listed, split.trg)
        units = {i: units for i in src_ids if (units := model.trg.units(split.trg[i]))}  # a blank reference is none
        ids = {i: model.trg.vocab.encode(u) for i, u in units.items()}
        found.mass_reference = mass_kept(ids, src_ids, lists, model.params, n_threads)
        found.coverage = reference_coverage(units.values(), [lists[i] for i in units], model.trg, negations)
    return found


def list_sizes(src_ids, lists, n_trg):
    sizes = np.array([len(lists[i]) for i in src_ids])
    lengths = np.array([len(src) for src in src_ids.values()])
    return Lists(float(sizes.mean()), float((sizes / lengths).mean()), n_trg)


def compare_scores(full, listed, references):
    both = [all_scores([t.best for t in found], references) for found in (full, listed)]
    return [ScorePair(a.name, a.value, b.value, b.value - a.value, a.signature) for a, b in zip(*both)]


def mass_kept(trg_ids, src_ids, lists, params, n_threads=1):
    """Force translations (by line number) through the full softmax -> Mass of the listed words; None for no steps."""
    if not trg_ids:
        return None
    src, lists = ([by_line[i] for i in trg_ids] for by_line in (src_ids, lists))

    def listed(k, logp):
        return np.exp(logp[lists[k]]).sum(dtype=np.float64)

    steps = at_each_step(listed, src, list(trg_ids.values()), params, n_threads)
    mass = np.minimum(np.concatenate(steps), 1.0)  # float32 probabilities may add up to a little more
    median, low, lowest = (float(p) for p in np.percentile(mass, [50, 5, 1]))
    under = {str(threshold): float((mass < threshold).mean()) for threshold in THRESHOLDS}
    return Mass(len(mass), float(mass.mean()), median, low, lowest, under)


def audit_record(found):
    """An Audit as a dictionary for JSON; parts that need a reference may be absent."""
    record = {key: value for key, value in asdict(found).items() if value is not None}
    return {"identical_share": found.identical / found.sentences, **record}
