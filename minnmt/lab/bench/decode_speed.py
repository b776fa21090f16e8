"""Decoding with all words against decoding with lists, by beam, batch and threads."""

import numpy as np

from ...search.cost import Shape, decoding_cost
from ...search.packed import pack
from ...threads import threads
from ..tables import Table
from ..timing import interleave, median, number, ratios, spread
from .peer_speed import decode_against_peer
from .variants import BATCH, Task, Variant, decoder
from .yardstick import LISTS, random_sentences, with_words

NOTES = (
    f"{LISTS}. Their choice is not counted, gathering their rows is. eos is never chosen: all translations reach the "
    "length limit. The engine has met every word before, as late in a text; new words: it has met none when a repeat "
    "starts. float32: without weights in 16 bits. GFLOP: matrix products of a sentence, less those of target words. "
    "% sgemm and % memory (weights and annotations read): of what the machine can do with as many threads. Weights "
    "that stay in the cache count as well, and may bring it above 100 %.",
)
HEADINGS = ("list", "words", "beam", "batch", "threads", "ms a sentence", "x full", "GFLOP", "% sgemm", "% memory")


def measure_decoding(bench):
    """Yields a Table for each vocabulary, and with a peer another."""
    size = bench.size
    packed, exact = pack(bench.params), pack(bench.params, exact=True)
    sentences = random_sentences(BATCH * bench.n_threads, size.length, size.src_words)
    with threads(bench.n_threads) as each:
        for n_words in size.vocabularies:
            both = (with_words(p, n_words) for p in (packed, exact))
            task = Task(*both, sentences, size.length, size.n_sentences, each)
            yield compare_variants(bench, task)
            if bench.torch:
                yield decode_against_peer(bench, task, with_words(bench.params, n_words))


def compare_variants(bench, task):
    """-> Table."""
    size = bench.size
    title = (
        f"embedding {size.embedding}, hidden {size.hidden:,}, {task.n_words:,} target words, "
        f"sentences of {task.length} words, {task.length + 1} steps"
    )
    table = Table("decode", title, HEADINGS, NOTES)
    grid = variants(bench.n_threads)
    found = interleave({variant: decoder(task, variant) for variant in grid}, bench.n_repeats())
    seconds = {variant: np.array(found[variant].seconds) / task.n_decoded(variant) for variant in grid}
    for variant in grid:
        add_variant(table, bench, task, variant, seconds[variant], seconds[variant.group])
    return table


def variants(n_threads):
    """The part of the grid of beams, batches, threads and lists that is measured."""
    alone = {1: (0, 100), 5: (0, 20, 50, 100, 200), 12: (0, 100)}
    grid = [Variant(beam, 1, n_threads, topn) for beam, topns in alone.items() for topn in topns]
    grid += [Variant(5, 1, n_threads, topn, cold=True) for topn in (0, 100)]
    grid += [Variant(5, 1, n_threads, topn, exact=True) for topn in (0, 100)]
    grid += [Variant(5, BATCH, n_threads, topn) for topn in (0, 100)]
    if n_threads > 1:
        grid += [Variant(5, batch, 1, topn) for batch in (1, BATCH) for topn in (0, 100)]
    return grid


def sentence_cost(size, task, variant):
    """-> Cost."""
    weights = (task.exact if variant.exact else task.packed).state.weights.w
    n_listed = variant.n_listed(task.n_words)
    return decoding_cost(Shape(size.embedding, size.hidden, task.length, variant.beam, n_listed, weights.itemsize))


def add_variant(table, bench, task, variant, seconds, full_seconds):
    """A row: seconds a sentence, of this variant and of the one with all words."""
    cost, limits, time = sentence_cost(bench.size, task, variant), bench.limits, median(seconds)
    flops_share = cost.flops / time / limits.flops[variant.threads]
    bytes_share = cost.nbytes / time / limits.bytes[variant.threads] if variant.batch == 1 else None
    n_listed = variant.n_listed(task.n_words)
    record = {
        "vocabulary": task.n_words, "list": variant.list_name, "list_words": n_listed, **variant._asdict(),
        "seconds_per_sentence": seconds.tolist(), "gain": ratios(full_seconds, seconds).tolist(),
        "flops": cost.flops, "bytes": cost.nbytes, "share_of_sgemm": flops_share, "share_of_memory": bytes_share,
    }  # fmt: skip
    table.add(
        record, variant.list_name, f"{n_listed:,}", variant.beam, variant.batch, variant.threads,
        spread(1e3 * seconds), spread(ratios(full_seconds, seconds)) if variant.topn else "-",
        number(cost.flops / 1e9), number(100 * flops_share), number(100 * bytes_share) if bytes_share else "-",
    )  # fmt: skip
