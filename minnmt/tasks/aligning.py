"""Alignment as a user sees it: counts for a model's candidate lists, or word links of any parallel text."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..align.accumulator import Accumulator
from ..align.aligners import find_aligner
from ..align.bitext import Bitext
from ..align.candidates import best_candidates
from ..align.links import format_pharaoh
from ..align.model1 import NEGLIGIBLE, pharaoh_lines
from ..errors import UsageError, UserError
from ..files import read_lines, read_parallel
from ..ranks import ALONE
from ..text.parallel import Split, encode_pairs, load_split
from ..text.pipeline import word_numbers
from ..threads import threads
from ..train.attention_pass import continued_counts, frozen_counts
from ..train.dynamic import BatchWords
from ..train.run import share_parameters
from ..train.settings import Settings
from ..train.slices import slice_of
from ..train.updates import Updater
from .validation import attention_links

ELSEWHERE = 0.0001  # the learning rate for a model of which only the parameters are known


def last_learning_rate(directory, settings):
    """The step size that training ended with, from log.tsv; small steps for a model from elsewhere."""
    if not directory:
        return ELSEWHERE
    log = Path(directory) / "log.tsv"
    if not log.exists():
        return settings.learning_rate
    try:
        header, *_, last = (line.split("\t") for line in read_lines(log))
        return float(last[header.index("learning_rate")])
    except (ValueError, IndexError):
        raise UserError(f"{log} is damaged: it does not say the last learning rate; give --learning-rate") from None


def parallel_text(model, src, trg):
    """The named files, or the text that the model was trained with."""
    if src:
        return Split(*read_parallel(src, trg), name=f"{src} and {trg}")
    if "settings" not in model.config:
        raise UsageError("a single .npz does not say what it was trained with: name text with --src and --trg")
    settings = Settings.from_config(model.config)
    if "-" in (settings.src, settings.trg):
        raise UsageError("the model was trained on standard input, which is gone: name its text with --src and --trg")
    return load_split(settings, "train")


def learn_attention(model, split, settings, learning_rate, frozen, status, selector=None, ranks=ALONE):
    """Counts of the attention of one epoch over the text; without `frozen`, model.params change on the way.

    With a selector, the softmax of the updates runs over a list for each batch, as in training with --dynamic-vocab. Of
    several ranks, the first has the counts.
    """
    if frozen:
        return frozen_attention(model, split, settings, [settings.align_threshold], status, ranks)[0]
    src, trg = pairs_to_count(model, split, settings, status)
    attention = new_accumulator(model, settings.align_threshold)
    try:
        with threads(settings.threads) as map:
            updater = Updater(model.params, src, trg, settings, map=map, owned=slice_of(model.params, ranks))
            updater.words = BatchWords(selector, src, trg) if selector else None
            loss = continued_counts(updater, attention, learning_rate, status, ranks)
    finally:
        status.clear()
    n_pairs = settings.epoch_pairs or len(src)
    status.line(f"{n_pairs:,} pairs, loss {loss:.3f} per word")
    return attention.counts(attention_info(settings.align_threshold, n_pairs, "continued"))


def frozen_attention(model, split, settings, thresholds, status, ranks=ALONE):
    """Counts of the attention of a model that stays as it is, one for each threshold, in a single pass."""
    src, trg = pairs_to_count(model, split, settings, status)
    accumulators = [new_accumulator(model, threshold) for threshold in thresholds]
    try:
        frozen_counts(model.params, src, trg, settings, accumulators, status, ranks)
    finally:
        status.clear()
    return [found.counts(attention_info(found.threshold, len(src), "frozen")) for found in accumulators]


def pairs_to_count(model, split, settings, status):
    """-> source ids, target ids of the pairs that training would use."""
    src, trg = encode_pairs(split, model.src, model.trg, settings.max_train_length)
    if len(src) < len(split.src):
        left_out = len(split.src) - len(src)
        status.line(f"{left_out:,} pairs are left out: blank, or longer than {settings.max_train_length} units")
    return src, trg


def new_accumulator(model, threshold):
    return Accumulator(len(model.src.vocab), len(model.trg.vocab), threshold)


def attention_info(threshold, n_pairs, how):
    return {"method": "attention", "threshold": threshold, "pairs": n_pairs, "pass": how}


def share_model(model, ranks):
    """Rank 0's Model (elsewhere None), on all ranks."""
    rest = ranks.share(model and replace(model, params=None))
    return replace(rest, params=share_parameters(model and model.params, ranks))


def attention_lines(model, split):
    """The hardest attention links between words, a Pharaoh line for each pair."""
    return [format_pharaoh(links) for links in attention_links(split, model)]


def train_aligner(method, bitext, iterations, status):
    """Train a statistical aligner on the bitext -> Aligner, its links (see Aligner.links)."""
    began = time.monotonic()
    aligner = train_table(method, bitext, iterations, status)
    links = aligner.links(bitext)
    status.line(f"{len(bitext):,} pairs in {time.monotonic() - began:.2f} s")
    return aligner, links


def train_table(method, bitext, iterations, status):
    """The same without links -> Aligner."""

    def report(iteration, bits, extra):
        status.line(f"iteration {iteration}: cross entropy {bits:.2f} bits per word{', ' + extra if extra else ''}")

    return find_aligner(method)(bitext, iterations, report)


def align_units(method, model, split, iterations, status):
    """Train a statistical aligner on a model's units -> its counts, word links as Pharaoh lines."""
    bitext = units_bitext(model, split)
    aligner, links = train_aligner(method, bitext, iterations, status)
    lines = []
    for k, (src, trg) in enumerate(zip(split.src, split.trg)):
        src_words = word_numbers(model.src.units(src), model.src)
        trg_words = word_numbers(model.trg.units(trg), model.trg)
        places = links[bitext.trg_starts[k] : bitext.trg_starts[k + 1]].tolist()
        lines.append(format_pharaoh({(src_words[i], trg_words[j]) for j, i in enumerate(places) if i >= 0}))
    return aligner.counts, lines


def units_bitext(model, split):
    """The text in a model's units."""
    src, trg = [model.src.ids(line) for line in split.src], [model.trg.ids(line) for line in split.trg]
    return Bitext.from_lists(src, trg, len(model.src.vocab), len(model.trg.vocab))


def word_dictionary(model, split, iterations, status):
    """{source word: its likeliest translation by Model 1}, of all words of the text, known to the model or not."""
    src, trg = (" ".join(model.src.words(s)) for s in split.src), (" ".join(model.trg.words(t)) for t in split.trg)
    bitext, src_words, trg_words = Bitext.from_lines(src, trg)
    best = best_candidates(train_table("model1", bitext, iterations, status).table, 1)
    return {src_words[f]: trg_words[e] for f, e in zip(best.rows.tolist(), best.ids.tolist())}


def align_text(method, src, trg, iterations, status):
    """Align two files of tokenized text -> Pharaoh lines, and the lines of the table as fast_align -p writes it."""
    bitext, src_words, trg_words = Bitext.from_lines(*read_parallel(src, trg))
    aligner, links = train_aligner(method, bitext, iterations, status)
    return pharaoh_lines(bitext, links), table_lines(aligner, src_words, trg_words)


def table_lines(aligner, src_words, trg_words):
    """The table as fast_align -p writes it: source, target and ln p(target | source) a line, NULL as <eps>.

    Cells that are as good as zero are left out.
    """
    for trg in np.flatnonzero(aligner.null > NEGLIGIBLE).tolist():
        yield f"<eps>\t{trg_words[trg]}\t{np.log(aligner.null[trg]):.6g}"
    table = aligner.table
    for src, trg, logp in zip(table.rows.tolist(), table.indices.tolist(), np.log(table.data).tolist()):
        yield f"{src_words[src]}\t{trg_words[trg]}\t{logp:.6g}"
