"""Decoding with all words against decoding with lists, by beam, batch, threads and numbers; and on a busy machine."""

import contextlib
import subprocess
import sys

import numpy as np

from ...search.cost import Shape, decoding_cost
from ...search.packed import fastest_precision, pack
from ...threads import n_processors, threads
from ..tables import Table
from ..timing import interleave, median, number, ratios, spread
from .peer_speed import decode_against_peer
from .variants import BATCH, Task, Variant, decoder
from .yardstick import LISTS, random_sentences, with_words

NOTES = (
    f"{LISTS}. Choosing words is not timed, gathering rows is. eos is never chosen: all translations reach the "
    "length limit. Threads share a sentence; in batches each has its own. Every repeat projects its words anew; known "
    "words: the engine has met them all before, as late in a text. Weights have 8 bits unless float32 is named. GFLOP: "
    "matrix products of a sentence, less those of target words. % sgemm, % int8, % memory (weights and annotations "
    "read): of what the machine can do with as many threads. What stays in the cache counts, too, and may bring it "
    "above 100 %.",
)
HEADINGS = (
    "list", "words", "beam", "batch", "threads", "ms per sentence", "x full", "GFLOP", "% sgemm", "% int8", "% memory"
)  # fmt: skip
LOAD_NOTES = (
    "A process that does nothing but count runs on every second core, at the same priority. x 1 thread: how many times "
    "as long a sentence takes as with one thread beside the same load; below 1, threads still pay.",
)
LOAD_HEADINGS = ("list", "batch", "threads", "ms per sentence", "x 1 thread")


def measure_decoding(bench):
    """Yields a Table for each vocabulary, with a peer another, and one under load."""
    size = bench.size
    packed = {precision: pack(bench.params, precision) for precision in (fastest_precision(), "float32")}
    sentences = random_sentences(BATCH * bench.n_threads, size.length, size.src_words)
    with threads(bench.n_threads) as each:
        for n_words in size.vocabularies:
            smaller = {precision: with_words(p, n_words) for precision, p in packed.items()}
            task = Task(smaller, n_words, sentences, size.length, size.n_sentences, each)
            yield compare_variants(bench, task)
            if bench.torch:
                yield decode_against_peer(bench, task, with_words(bench.params, n_words))
            if bench.n_threads > 1 and n_words == size.vocabularies[0]:
                yield compare_under_load(bench, task)


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
    """The part of the grid of beams, batches, threads, lists and numbers that is measured."""
    alone, fastest = {1: (0, 100), 5: (0, 20, 50, 100, 200), 12: (0, 100)}, fastest_precision()
    grid = [Variant(beam, 1, n_threads, topn, fastest) for beam, topns in alone.items() for topn in topns]
    grid += [Variant(5, 1, n_threads, topn, fastest, cold=False) for topn in (0, 100)]
    grid += [Variant(5, BATCH, n_threads, topn, fastest) for topn in (0, 100)]
    if fastest != "float32":
        grid += [Variant(5, batch, n_threads, topn, "float32") for batch in (1, BATCH) for topn in (0, 100)]
    if n_threads > 1:
        grid += [Variant(5, batch, 1, topn, fastest) for batch in (1, BATCH) for topn in (0, 100)]
    return grid


def sentence_cost(size, task, variant):
    """-> Cost."""
    n_listed, n_bytes = variant.n_listed(task.n_words), task.packed[variant.precision].softmax.w.itemsize
    return decoding_cost(Shape(size.embedding, size.hidden, task.length, variant.beam, n_listed, n_bytes))


def add_variant(table, bench, task, variant, seconds, full_seconds):
    """A row: seconds per sentence, of this variant and of the one with all words."""
    cost, limits, time = sentence_cost(bench.size, task, variant), bench.limits, median(seconds)
    of_sgemm, of_int8 = (cost.flops / time / speed[variant.threads] for speed in (limits.flops, limits.int8))
    in_memory = cost.nbytes / time / limits.bytes[variant.threads] if variant.batch == 1 else None
    n_listed = variant.n_listed(task.n_words)
    record = {
        "vocabulary": task.n_words, "list": variant.list_name, "list_words": n_listed, **variant._asdict(),
        "seconds_per_sentence": seconds.tolist(), "gain": ratios(full_seconds, seconds).tolist(),
        "flops": cost.flops, "bytes": cost.nbytes, "share_of_sgemm": of_sgemm, "share_of_int8": of_int8,
        "share_of_memory": in_memory,
    }  # fmt: skip
    table.add(
        record, variant.list_name, f"{n_listed:,}", variant.beam, variant.batch, variant.threads,
        spread(1e3 * seconds), spread(ratios(full_seconds, seconds)) if variant.topn else "-",
        number(cost.flops / 1e9), number(100 * of_sgemm),
        number(100 * of_int8) if variant.precision == "int8" else "-",
        number(100 * in_memory) if in_memory else "-",
    )  # fmt: skip


def compare_under_load(bench, task):
    """The default number of threads against one, beside busy processes -> Table."""
    n_busy = max(1, n_processors() // 2)
    title = f"beside {n_busy} busy process{'es' * (n_busy > 1)}, {task.n_words:,} target words"
    table = Table("decode", title, LOAD_HEADINGS, LOAD_NOTES)
    grid = [Variant(5, batch, n, 100, fastest_precision()) for batch in (1, BATCH) for n in (1, bench.n_threads)]
    with busy_processes(n_busy):
        found = interleave({variant: decoder(task, variant) for variant in grid}, bench.n_repeats())
    seconds = {variant: np.array(found[variant].seconds) / task.n_decoded(variant) for variant in grid}
    for variant in grid:
        times = ratios(seconds[variant], seconds[variant._replace(threads=1)])
        record = {**variant._asdict(), "busy": n_busy, "times_one_thread": times.tolist()}
        record["seconds_per_sentence"] = seconds[variant].tolist()
        text = spread(times) if variant.threads > 1 else "-"
        table.add(record, variant.list_name, variant.batch, variant.threads, spread(1e3 * seconds[variant]), text)
    return table


@contextlib.contextmanager
def busy_processes(n):
    """Within it, n processes keep a core busy each."""
    busy = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()
