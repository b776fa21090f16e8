"""Alignment as a user sees it: counts for a model's candidate lists, or word links of any parallel text."""

import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from ..align.accumulator import Accumulator
from ..align.aligners import find_aligner
from ..align.bitext import Bitext
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
    src, trg = encode_pairs(split, model.src, model.trg, settings.max_train_length)
    if len(src) < len(split.src):
        left_out = len(split.src) - len(src)
        status.line(f"{left_out:,} pairs are left out: blank, or longer than {settings.max_train_length} units")
    attention = Accumulator(len(model.src.vocab), len(model.trg.vocab), settings.align_threshold)
    try:
        if frozen:
            frozen_counts(model.params, src, trg, settings, attention, status, ranks)
        else:
            with threads(settings.threads) as map:
                updater = Updater(model.params, src, trg, settings, map=map, owned=slice_of(model.params, ranks))
                updater.words = BatchWords(selector, src, trg) if selector else None
                loss = continued_counts(updater, attention, learning_rate, status, ranks)
    finally:
        status.clear()
    if not frozen:
        status.line(f"{len(src):,} pairs, loss {loss:.3f} per word")
    how = "frozen" if frozen else "continued"
    return attention.counts(
        {"method": "attention", "threshold": settings.align_threshold, "pairs": len(src), "pass": how}
    )


def share_model(model, ranks):
    """Rank 0's Model (elsewhere None), on all ranks."""
    rest = ranks.share(model and replace(model, params=None))
    return replace(rest, params=share_parameters(model and model.params, ranks))


def attention_lines(model, split):
    """The hardest attention links between words, a Pharaoh line for each pair."""
    return [format_pharaoh(links) for links in attention_links(split, model)]


def train_aligner(method, bitext, iterations, status):
    """Train a statistical aligner on the bitext -> Aligner, its links (see Aligner.links)."""

    def report(iteration, bits, extra):
        status.line(f"iteration {iteration}: cross entropy {bits:.2f} bits a word{', ' + extra if extra else ''}")

    began = time.monotonic()
    aligner = find_aligner(method)(bitext, iterations, report)
    links = aligner.links(bitext)
    status.line(f"{len(bitext):,} pairs in {time.monotonic() - began:.2f} s")
    return aligner, links


def align_units(method, model, split, iterations, status):
    """Train a statistical aligner on a model's units -> its counts, word links as Pharaoh lines."""
    src_units, trg_units = [model.src.units(s) for s in split.src], [model.trg.units(t) for t in split.trg]
    src, trg = map(model.src.vocab.encode, src_units), map(model.trg.vocab.encode, trg_units)
    bitext = Bitext.from_lists(list(src), list(trg), len(model.src.vocab), len(model.trg.vocab))
    aligner, links = train_aligner(method, bitext, iterations, status)
    lines = []
    for k, (src, trg) in enumerate(zip(src_units, trg_units)):
        src_words, trg_words = word_numbers(src, model.src), word_numbers(trg, model.trg)
        places = links[bitext.trg_starts[k] : bitext.trg_starts[k + 1]].tolist()
        lines.append(format_pharaoh({(src_words[i], trg_words[j]) for j, i in enumerate(places) if i >= 0}))
    return aligner.counts, lines


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
