"""Counting links, its part of training, and the aligner, on the embedded corpus."""

import numpy as np

from ...align.accumulator import Accumulator
from ...align.bitext import Bitext
from ...align.fastalign import train_fastalign
from ...align.links import parse_pharaoh
from ...align.model1 import pharaoh_lines
from ...files import read_parallel
from ...model.parameters import init_parameters
from ...text.batches import epoch_order, make_batch
from ...text.embedded import embedded_corpus
from ...text.parallel import encode_pairs
from ...text.pipeline import learn_pipelines
from ...threads import threads, tuned
from ...train.settings import Settings
from ...train.updates import Updater
from ..tables import Table
from ..timing import interleave, spread

BATCH = 64


def measure_counting(bench):
    """Yields one Table."""
    size = bench.size
    split = embedded_corpus().train.first(size.count_pairs)
    pipelines = learn_pipelines(split.src, split.trg)
    table = Table("count", f"{len(split.src):,} pairs of the embedded corpus", ("work", "threads", "speed", "unit"))
    add_links(table, split, pipelines, bench.n_repeats())
    add_overhead(table, bench, split, pipelines)
    lines = read_parallel(*bench.texts) if bench.texts else tokenized(split, pipelines)
    seconds = interleave({"aligner": lambda: align(*lines)}, bench.n_repeats())["aligner"].seconds
    record = {"work": "fastalign", "threads": 1, "pairs": len(lines[0]), "seconds": seconds}
    table.add(record, f"fastalign, {len(lines[0]):,} pairs, from words to links", 1, spread(seconds), "s")
    yield table


def tokenized(split, pipelines):
    """Both sides as the aligner reads them."""
    return [[" ".join(p.words(line)) for line in side] for p, side in zip(pipelines, (split.src, split.trg))]


def add_links(table, split, pipelines, repeats):
    """A row: attention into the accumulator, on one core."""
    batches = gold_attention(split, pipelines, n_batches=100)
    n_links = 10 * sum(int(((a > 0.1) & (b.trg_mask[:, None] > 0)).sum()) for a, b in batches)

    def count():
        accumulator = Accumulator(*(len(p.vocab) for p in pipelines))
        for _ in range(10):
            for alphas, batch in batches:
                accumulator.add_attention(alphas, batch)
        return accumulator.counts().n_cells

    timed = interleave({"count": count}, repeats)["count"]
    speeds = n_links / np.array(timed.seconds)
    record = {
        "work": "counting", "threads": 1, "links": n_links, "cells": timed.output,
        "seconds": timed.seconds, "links_per_second": speeds.tolist(),
    }  # fmt: skip
    name = f"counting, {n_links:,} links, {timed.output:,} cells"
    table.add(record, name, 1, spread(speeds / 1e6), "million links/s")


def gold_attention(split, pipelines, n_batches):
    """Batches of the embedded corpus with attention made of its gold links: 0.7 on them, the rest spread unevenly."""
    rng = np.random.default_rng(1)
    n = n_batches * BATCH
    src, trg = ([p.ids(line) for line in side[:n]] for p, side in zip(pipelines, (split.src, split.trg)))
    batches = []
    for chosen in epoch_order(src, trg, BATCH, Settings.pool, rng):
        batch = make_batch([src[k] for k in chosen], [trg[k] for k in chosen])
        alphas = rng.gamma(0.1, size=(len(batch.trg_ids), *batch.src_ids.shape)) * batch.src_mask
        alphas *= 0.3 / np.maximum(alphas.sum(axis=1, keepdims=True), 1e-9)
        for b, k in enumerate(chosen):
            for i, j in parse_pharaoh(split.alignments[k]):
                alphas[j, i, b] += 0.7
        batches.append((alphas.astype(np.float32), batch))
    return batches


def add_overhead(table, bench, split, pipelines):
    """Three rows: an update without counting, with it, and the counting alone."""
    E, H, n = bench.size.count_embedding, bench.size.count_hidden, bench.n_threads
    found = update_seconds(split, pipelines, E, H, n, 4 * bench.n_repeats())
    without, with_counting, counting = (np.array(timed.seconds) for timed in found.values())
    name = f"update of {BATCH} pairs, embedding {E}, hidden {H}"
    record = {"work": "update", "embedding": E, "hidden": H, "batch": BATCH, "threads": n}
    table.add({**record, "counting": False, "seconds": without.tolist()}, name, n, spread(1e3 * without), "ms")
    record = {**record, "counting": True, "seconds": with_counting.tolist(), "counting_seconds": counting.tolist()}
    table.add(record, "the same with counting", n, spread(with_counting / without), "times that")
    table.add(record, "the counting alone", 1, spread(100 * counting / without), "% of that")


def update_seconds(split, pipelines, embedding, hidden, n_threads, repeats):
    """Updates of a new network, in turns -> a Timed each for updates, updates with counting, the counting alone.

    A new network's attention is flat. Counting all of it is more work than a trained network's few links.
    """
    src, trg = encode_pairs(split, *pipelines)
    params = init_parameters(*(len(p.vocab) for p in pipelines), embedding, hidden, np.random.default_rng(1))
    settings = Settings(embedding=embedding, hidden=hidden, threads=n_threads)
    attention = Accumulator(*(len(p.vocab) for p in pipelines), threshold=0.0)
    with tuned(huge=True), threads(n_threads) as map:
        updater = Updater(params, src, trg, settings, map=map)
        shares = updater.shares([k % len(src) for k in range(BATCH)])

        def update():
            return updater.update(shares, 0.001).outputs

        def count(outputs):
            for batch, output in outputs:
                attention.add_attention(output.alphas, batch)

        outputs = update()
        cases = {"without": update, "with": lambda: count(update()), "counting": lambda: count(outputs)}
        return interleave(cases, repeats)


def align(src_lines, trg_lines):
    """fast_align's model on tokenized lines, from words to Pharaoh lines, on one core."""
    bitext, _, _ = Bitext.from_lines(src_lines, trg_lines)
    return pharaoh_lines(bitext, train_fastalign(bitext).links(bitext))
