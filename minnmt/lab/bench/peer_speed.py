"""The same network in PyTorch beside ours: same weights, same sentences, same lists, and the outputs compared."""

import numpy as np

from ...errors import UserError
from ...search.packed import fastest_precision
from ..tables import Table
from ..timing import SIDES_APART, interleave, median, ratios, spread
from .variants import BATCH, Variant, decoder
from .yardstick import random_lists

HEADINGS = (
    "list", "batch", "threads", "ms per sentence", "PyTorch, ms", "x PyTorch", "PyTorch int8, ms", "x PyTorch int8",
    "same words", "score apart by",
)  # fmt: skip
ENGINES = ("fbgemm", "x86", "onednn", "qnnpack")  # of PyTorch's products in 8 bits, as far as it has them here
FLOAT32 = "float32"


def load_torch(n_threads):
    """Import torch, for so many threads; only now, for minnmt does not need it."""
    try:
        import torch
    except ImportError:
        raise UserError("--peer torch needs PyTorch, which is not installed: pip install torch") from None
    torch.set_num_threads(n_threads)
    return torch


def decode_against_peer(bench, task, params):
    """Beam 5, with all words and with lists, sentences alone and in batches -> Table."""
    from ..peer_torch import TorchNetwork

    n_threads, int8 = bench.n_threads, fastest_int8(bench.torch, task, params)
    title = f"against PyTorch {bench.torch.__version__}, beam 5, {task.n_words:,} target words"
    note = (
        f"Both sides have {n_threads} threads: alone, they share a sentence; in batches, PyTorch's share one of "
        f"{BATCH}, and each of minnmt's has its own. Both compute the products of words whenever they are met, minnmt "
        f"not with known words. PyTorch int8: dynamic quantisation with its engine {int8.engine}, the faster one here. "
        "Same words: translations that are identical to those of PyTorch in float32."
    )
    table = Table("decode", title, HEADINGS, (note,))
    fastest = fastest_precision()
    kinds = dict.fromkeys(((fastest, True), (fastest, False), ("float32", True)))
    grid = [Variant(5, 1, n_threads, topn, *kind) for kind in kinds for topn in (0, 100)]
    grid += [Variant(5, BATCH, n_threads, topn, p) for p in dict.fromkeys((fastest, "float32")) for topn in (0, 100)]
    cases, networks = {}, {FLOAT32: TorchNetwork(params), "int8": int8}
    for variant in grid:
        cases[variant] = decoder(task, variant)
        for name, network in networks.items():
            cases[name, variant.batch, variant.topn] = peer_decoder(network, task, variant)
    found = interleave(cases, bench.n_repeats(), SIDES_APART)
    for variant in grid:
        theirs = (found[name, variant.batch, variant.topn] for name in networks)
        add_comparison(table, task, variant, found[variant], *theirs)
    return table


def fastest_int8(torch, task, params):
    """PyTorch's network in 8 bits with the engine that is faster here, of the first two that it has."""
    from ..peer_torch import Int8TorchNetwork

    engines = [engine for engine in ENGINES if engine in torch.backends.quantized.supported_engines]
    networks = {engine: Int8TorchNetwork(params, engine) for engine in engines[:2]}
    decode = {engine: peer_decoder(network, task, Variant(5, 1, 1, 0)) for engine, network in networks.items()}
    found = interleave(decode, 3)
    return networks[min(networks, key=lambda engine: median(found[engine].seconds))]


def n_peer_decodes(task, variant):
    return task.n_alone if variant.batch == 1 else variant.batch


def peer_decoder(network, task, variant):
    """As variants.decoder, but one batch at a time -> [(ids, score)]."""
    n = n_peer_decodes(task, variant)
    sentences, lists = task.sentences[:n], random_lists(n, variant.topn, task.n_words)

    def decode():
        found = []
        for i in range(0, n, variant.batch):
            part = slice(i, i + variant.batch)
            found += network.decode(sentences[part], variant.beam, task.length, lists and lists[part])
        return found

    return decode


def add_comparison(table, task, variant, ours, float32, int8):
    """A row: times of both sides, and how far their translations agree."""
    seconds = np.array(ours.seconds) / task.n_decoded(variant)
    theirs = [np.array(timed.seconds) / n_peer_decodes(task, variant) for timed in (float32, int8)]
    pairs = list(zip(ours.output, float32.output))  # PyTorch's are the first of ours
    same = sum(hypothesis.ids == ids for hypothesis, (ids, _) in pairs)
    apart = max(abs(hypothesis.score - score) for hypothesis, (_, score) in pairs)
    record = {
        "vocabulary": task.n_words, "list": variant.list_name, **variant._asdict(),
        "seconds_per_sentence": seconds.tolist(), "peer_seconds_per_sentence": theirs[0].tolist(),
        "peer_int8_seconds_per_sentence": theirs[1].tolist(),
        "compared": len(pairs), "identical": same, "largest_score_difference": apart,
    }  # fmt: skip
    times = [text for peer in theirs for text in (spread(1e3 * peer), spread(ratios(peer, seconds)))]
    table.add(
        record, variant.list_name, variant.batch, variant.threads, spread(1e3 * seconds), *times,
        f"{same} of {len(pairs)}", f"{apart:.1e}",
    )  # fmt: skip
