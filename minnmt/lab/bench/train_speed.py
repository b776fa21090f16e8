"""Updates of training: the softmax over all words, over one list for the batch, over a list for each sentence."""

import sys
from dataclasses import replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ...model.network import network_forward
from ...nn.bf16 import has_bf16
from ...text.batches import make_batch
from ...text.vocab import EOS, UNK
from ...threads import threads, tuned
from ...train.settings import Settings
from ...train.updates import Updater
from ..tables import Table
from ..timing import SIDES_APART, interleave, median, number, ratios, spread
from .yardstick import SIZES, make_network, random_list

REPEATS = 2  # an update takes seconds
FULL, BATCH_LIST, SENTENCE_LISTS = "full", "one list for the batch", "a list for each sentence"
HEADINGS = (
    "softmax", "products", "words in it", "s an update", "words/s", "of the limit", "x full", "x float32", "peak, GB"
)  # fmt: skip
PEER_HEADINGS = ("PyTorch, s", "x PyTorch", "PyTorch bf16, s", "x PyTorch bf16", "losses apart by")
PRECISIONS = ("float32", "bf16")


class Pairs(NamedTuple):
    """One batch of sentence pairs with their lists."""

    src: list
    trg: list
    lists: list  # arrays of ids, ascending; the target words are among them


class Words:
    """Chooses the softmax's words as minnmt/train/dynamic.py does, from lists that are given."""

    def __init__(self, lists, for_batch):
        self.own = [ids.astype(np.int32) for ids in lists]
        self.batch = np.unique(np.concatenate(lists)) if for_batch else None

    def lists(self, chosen, shares):
        if self.batch is not None:
            return [self.batch] * len(shares)
        return [[self.own[i] for i in share] for share in shares]


def measure_training(bench):
    """Yields a Table for each size: beside the paper's network, the two that one would train on two cores."""
    others = [SIZES["medium"], SIZES["default"]] if bench.size == SIZES["paper"] else []
    for size in (bench.size, *others):
        yield measure_size(bench, size, is_first=size is bench.size)


def measure_size(bench, size, is_first):
    """One network -> Table. Only the first says how much memory it needs: what it had, the process keeps."""
    n_words = size.vocabularies[0]
    params = make_network(size, n_words)
    params.softmax.b[EOS] = 0
    pairs = random_pairs(size, n_words)
    choices = {SENTENCE_LISTS: Words(pairs.lists, False), BATCH_LIST: Words(pairs.lists, True), FULL: None}
    settings = Settings(threads=bench.n_threads, dropout=0.0)
    with tuned(huge=True), threads(bench.n_threads) as map:
        updater = Updater(params, pairs.src, pairs.trg, settings, map=map)
        cases = {
            (name, precision): update_with(updater, words, precision)
            for name, words in choices.items() for precision in PRECISIONS if precision == "float32" or has_bf16()
        }  # fmt: skip
        peaks = {name: peak_after(case) for name, case in cases.items()}  # ascending: full needs most
        if not is_first:
            peaks = dict.fromkeys(peaks)
        peer = Peer(pairs, choices, params) if bench.torch else None  # only now, for the peaks are minnmt's
        if peer:
            cases.update(peer.warm_cases())
        # in training an update follows many of its kind, and finds its memory as they left it
        found = interleave(cases, bench.n_repeats(REPEATS), SIDES_APART if peer else 0.0, warm_up=False, before=3)
    return training_table(bench, size, pairs, choices, peaks, found, peer)


def random_pairs(size, n_words):
    """A batch whose lists and targets come from a part of the vocabulary, as those of real text do, by their topics."""
    rng = np.random.default_rng(4)
    words = random_list(rng, size.train_words, n_words)
    lists = [words[random_list(rng, size.train_list, len(words))] for _ in range(size.batch)]
    trg = [rng.choice(ids[UNK + 1 :], size.length).tolist() for ids in lists]
    return Pairs(rng.integers(UNK + 1, size.src_words, (size.batch, size.length)).tolist(), trg, lists)


def update_with(updater, words, precision):
    """A function that does one update with these words of the softmax, and such products."""

    def update():
        updater.words, updater.settings = words, replace(updater.settings, precision=precision)
        updater.update(updater.shares(range(len(updater.src))), 5e-4)

    return update


def peak_after(function):
    """Call it -> the most bytes of memory that this process ever had; None where the system does not say (Windows)."""
    function()
    try:
        import resource
    except ImportError:
        return None
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def update_flops(size, n_words):
    """Operations of the matrix products of an update: forward, and twice as many on the way back."""
    E, H, C = size.embedding, size.hidden, 2 * size.hidden
    source = 2 * (E + H) * 3 * H + C * C  # for each position: both directions of the encoder, attention's memory
    target = (E + H) * 3 * H + H * C + (H + C) * 3 * H + (H + E + C) * E + n_words * E
    return 3 * 2 * size.batch * ((size.length + 1) * (source + target) + C * H)


def training_table(bench, size, pairs, choices, peaks, found, peer):
    title = (
        f"embedding {size.embedding}, hidden {size.hidden:,}, {size.vocabularies[0]:,} target words, updates of "
        f"{size.batch} pairs of {size.length} words, {bench.n_threads} threads"
    )
    notes = (
        f"words/s: target words, eos not counted. Lists have {size.train_list} words, eos and UNK, drawn from "
        f"{size.train_words:,} words, as the targets are.",
        "Of the limit: operations of the products / seconds, as a share of what the machine can do (section machine).",
        "Products: in float32, or rounded to bfloat16 (`train --precision bf16`); PyTorch's bf16 is its autocast.",
        "Peak: the most memory this process has had so far; of the first network only, in the order of the rows.",
    )
    table = Table("train", title, HEADINGS + (PEER_HEADINGS if peer else ()), notes)
    n_words = size.batch * size.length
    for name, precision in peaks:
        seconds, full, exact = (
            np.array(found[case].seconds) for case in ((name, precision), (FULL, precision), (name, "float32"))
        )
        softmax_words = words_in(choices[name], size.vocabularies[0])
        record = {
            "softmax": name, "precision": precision, "softmax_words": softmax_words, "threads": bench.n_threads,
            "target_words": n_words, "seconds": seconds.tolist(), "peak_bytes": peaks[name, precision],
        }  # fmt: skip
        limit = (bench.limits.bf16 if precision == "bf16" else bench.limits.flops)[bench.n_threads]
        record["share_of_limit"] = (update_flops(size, softmax_words) / seconds / limit).tolist()
        cells = [name, precision, number(softmax_words), spread(seconds), spread(n_words / seconds)]
        cells.append(f"{100 * median(record['share_of_limit']):.0f} %")
        cells.append("-" if name == FULL else spread(ratios(full, seconds)))
        cells.append("-" if precision == "float32" else spread(ratios(exact, seconds)))
        cells.append(number(peaks[name, precision] / 1e9) if peaks[name, precision] else "-")
        if peer:
            cells += peer.compare(name, precision, record, found)
        table.add(record, *cells)
    return table


def words_in(words, n_words):
    """How many words the softmax of one sentence has."""
    if words is None:
        return n_words
    return len(words.own[0] if words.batch is None else words.batch)


class Peer:
    """The same updates in PyTorch, with weights that start as ours are now; it has no list for each sentence."""

    def __init__(self, pairs, choices, params):
        import torch

        from ..peer_torch import TorchNetwork

        self.torch, self.network = torch, TorchNetwork(params)
        self.batch = make_batch(*pairs[:2])
        self.ids = {FULL: None, BATCH_LIST: choices[BATCH_LIST].batch}
        self.losses = {name: self.both_losses(params, ids) for name, ids in self.ids.items()}

    def both_losses(self, params, ids):
        """With the same weights, before PyTorch's first update -> the loss of minnmt and of PyTorch."""
        ours = network_forward(self.batch, params, ids)[0].nll
        return float(ours.sum(dtype=np.float64)), float(self.network.nll(self.batch, ids))

    def warm_cases(self):
        """Its updates, after one of each."""
        cases = {
            (name, "torch", precision): partial(self.train_step, ids, precision)
            for name, ids in self.ids.items() for precision in PRECISIONS
        }  # fmt: skip
        for update in cases.values():
            update()
        return cases

    def train_step(self, ids, precision):
        """One update, with bf16 in PyTorch's autocast."""
        with self.torch.autocast("cpu", dtype=self.torch.bfloat16, enabled=precision == "bf16"):
            return self.network.train_step(self.batch, ids)

    def compare(self, name, precision, record, found):
        """Cells of the table; adds to the record."""
        if name not in self.ids:
            return ["-"] * len(PEER_HEADINGS)
        ours, theirs = self.losses[name]
        seconds = [found[name, "torch", each].seconds for each in PRECISIONS]
        record.update(peer_seconds=seconds[0], peer_bf16_seconds=seconds[1], loss=ours, peer_loss=theirs)
        gains = [ratios(each, found[name, precision].seconds) for each in seconds]
        texts = [text for pair in zip(map(spread, seconds), map(spread, gains)) for text in pair]
        return [*texts, f"{abs(ours - theirs) / ours:.1e} of them" if precision == "float32" else "-"]
