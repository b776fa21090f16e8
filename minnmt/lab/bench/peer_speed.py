"""The same network in PyTorch beside ours: same weights, same sentences, same lists, and the outputs compared."""

import numpy as np

from ...errors import UserError
from ..tables import Table
from ..timing import SIDES_APART, interleave, ratios, spread
from .variants import BATCH, Variant, decoder
from .yardstick import random_lists

HEADINGS = ("list", "batch", "threads", "ms a sentence", "PyTorch, ms", "x PyTorch", "same words", "score apart by")


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

    title = f"against PyTorch {bench.torch.__version__}, beam 5, {task.n_words:,} target words"
    note = (
        f"Both sides have {bench.n_threads} threads: alone, they share a sentence; in batches, PyTorch's share one of "
        f"{BATCH}, and each of minnmt's has its own. PyTorch's weights are float32, and it computes the products of "
        "words whenever they are met, as minnmt does with new words. Same words: identical translations."
    )
    table = Table("decode", title, HEADINGS, (note,))
    network = TorchNetwork(params)
    n_threads = bench.n_threads
    kinds = ((False, False), (False, True), (True, True))
    grid = [Variant(5, 1, n_threads, topn, exact, cold) for exact, cold in kinds for topn in (0, 100)]
    grid += [Variant(5, BATCH, n_threads, topn) for topn in (0, 100)]
    cases = {}
    for variant in grid:
        cases[variant] = decoder(task, variant)
        cases["torch", variant.batch, variant.topn] = peer_decoder(network, task, variant)
    found = interleave(cases, bench.n_repeats(), SIDES_APART)
    for variant in grid:
        add_comparison(table, task, variant, found[variant], found["torch", variant.batch, variant.topn])
    return table


def n_peer_decodes(task, variant):
    return task.n_alone if variant.batch == 1 else variant.batch


def peer_decoder(network, task, variant):
    """As decoding.decoder, but one batch at a time -> [(ids, score)]."""
    n = n_peer_decodes(task, variant)
    sentences, lists = task.sentences[:n], random_lists(n, variant.topn, task.n_words)

    def decode():
        found = []
        for i in range(0, n, variant.batch):
            part = slice(i, i + variant.batch)
            found += network.decode(sentences[part], variant.beam, task.length, lists and lists[part])
        return found

    return decode


def add_comparison(table, task, variant, ours, theirs):
    """A row: times of both sides, and how far their translations agree."""
    seconds = np.array(ours.seconds) / task.n_decoded(variant)
    peer_seconds = np.array(theirs.seconds) / n_peer_decodes(task, variant)
    pairs = list(zip(ours.output, theirs.output))  # PyTorch's are the first of ours
    same = sum(hypothesis.ids == ids for hypothesis, (ids, _) in pairs)
    apart = max(abs(hypothesis.score - score) for hypothesis, (_, score) in pairs)
    record = {
        "vocabulary": task.n_words, "list": variant.list_name, **variant._asdict(),
        "seconds_per_sentence": seconds.tolist(), "peer_seconds_per_sentence": peer_seconds.tolist(),
        "compared": len(pairs), "identical": same, "largest_score_difference": apart,
    }  # fmt: skip
    table.add(
        record, variant.list_name, variant.batch, variant.threads, spread(1e3 * seconds), spread(1e3 * peer_seconds),
        spread(ratios(peer_seconds, seconds)), f"{same} of {len(pairs)}", f"{apart:.1e}",
    )  # fmt: skip
