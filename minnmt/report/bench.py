"""Benchmarks of counting and aligning: two things are compared in one process, interleaved and repeated.

Times depend on the machine and on what else it does; look at the ratios and their spread.
"""

import time

import numpy as np

from ..align.accumulator import Accumulator
from ..align.bitext import Bitext
from ..align.fastalign import train_fastalign
from ..align.links import parse_pharaoh
from ..align.model1 import pharaoh_lines
from ..files import read_parallel
from ..model.directory import Model
from ..model.parameters import init_parameters
from ..text.batches import epoch_order, make_batch
from ..text.pipeline import learn_pipelines
from ..train.adam import Adam
from ..train.checkpoint import Progress
from ..train.data import embedded_corpus, encode_pairs
from ..train.gradients import Workers
from ..train.loop import gradient_step
from ..train.run import Run
from ..train.settings import Settings

EMBEDDING, HIDDEN, BATCH = 256, 512, 64


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


def bench_links(split, pipelines, repeats):
    """Attention into the accumulator, on one core -> (links a second of each repeat, links, cells)."""
    batches = gold_attention(split, pipelines, n_batches=100)
    sizes = [len(p.vocab) for p in pipelines]
    n_links = sum(int(((a > 0.1) & (b.trg_mask[:, None] > 0)).sum()) for a, b in batches)
    speeds = []
    for _ in range(repeats + 1):
        accumulator = Accumulator(*sizes)
        began = time.perf_counter()
        for _ in range(10):
            for alphas, batch in batches:
                accumulator.add_attention(alphas, batch)
        n_cells = accumulator.counts().n_cells
        speeds.append(10 * n_links / (time.perf_counter() - began))
    return speeds[1:], 10 * n_links, n_cells  # the first repeat compiles


def bench_overhead(split, pipelines, repeats, n_threads):
    """Updates of a network of embedding 256 and hidden 512 -> seconds of those with counting, of those without, and of
    the counting alone.

    A new network's attention is flat. Counting all of it is more work than a trained network's few links.
    """
    src, trg = encode_pairs(split, *pipelines)
    params = init_parameters(*(len(p.vocab) for p in pipelines), EMBEDDING, HIDDEN, np.random.default_rng(1))
    settings = Settings(embedding=EMBEDDING, hidden=HIDDEN, threads=n_threads, align_threshold=0.0)
    model = Model(params, *pipelines, {})
    run = Run(None, settings, model, Adam.for_parameters(params), Progress(learning_rate=0.001), src, trg, None, None)
    with_counting, without, counting = [], [], []
    with Workers(params, n_threads) as workers:
        for repeat in range(repeats + 1):
            chosen = [k % len(src) for k in range(repeat * BATCH, (repeat + 1) * BATCH)]
            began = time.perf_counter()
            gradient_step(run, chosen, workers)
            middle = time.perf_counter()
            outputs, _, _ = gradient_step(run, chosen, workers)
            computed = time.perf_counter()
            for batch, output in outputs:
                run.attention.add_attention(output.alphas, batch)
            end = time.perf_counter()
            without.append(middle - began)
            with_counting.append(end - middle)
            counting.append(end - computed)
    return with_counting[1:], without[1:], counting[1:]


def bench_aligner(src_lines, trg_lines, repeats):
    """fast_align's model on tokenized lines, from words to Pharaoh lines, on one core -> seconds of each repeat."""
    seconds = []
    for _ in range(repeats + 1):
        began = time.perf_counter()
        bitext, _, _ = Bitext.from_lines(src_lines, trg_lines)
        pharaoh_lines(bitext, train_fastalign(bitext).links(bitext))
        seconds.append(time.perf_counter() - began)
    return seconds[1:]


def run_benchmarks(src, trg, repeats, n_threads):
    """Yields a line for each benchmark; src and trg are tokenized files for the aligner, or None."""
    train = embedded_corpus().train
    pipelines = learn_pipelines(train.src, train.trg)
    if src:
        lines = read_parallel(src, trg)
    else:
        lines = ([" ".join(p.words(s)) for s in side] for p, side in zip(pipelines, (train.src, train.trg)))
    speeds, n_links, n_cells = bench_links(train, pipelines, repeats)
    yield f"counting, one core: {spread(np.array(speeds) / 1e6)} million links/s ({n_links:,} links, {n_cells:,} cells)"
    with_counting, without, counting = (np.array(t) for t in bench_overhead(train, pipelines, 4 * repeats, n_threads))
    yield (
        f"an update at embedding {EMBEDDING}, hidden {HIDDEN}: {spread(without)} s; with counting "
        f"{spread(with_counting / without)} times that; counting alone {spread(100 * counting / without)} %"
    )
    yield f"fastalign, one core: {spread(np.array(bench_aligner(*lines, repeats)))} s"


def spread(values):
    """Median and quartiles as text."""
    low, middle, high = np.percentile(values, [25, 50, 75])
    return f"{middle:.3g} ({low:.3g} to {high:.3g})"
