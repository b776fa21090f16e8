"""One update of the parameters: the gradient of a batch, clipping, Adam. Notebook 04.

A batch is cut into shares, one for each thread. Each share runs through the network into a gradient object of its own,
and the objects are added up in a fixed order: the result depends on the number of shares, never on timing. Of the
embeddings, and of a softmax over lists, only the rows that the batch uses are ever looked at: the others stay zero.
"""

import contextlib
import math
from typing import NamedTuple

import numpy as np

from ..model.network import Dropout, network_backward, network_forward
from ..model.parameters import array_pieces, named_arrays, zeros_like
from ..nn.bf16 import bf16_products, has_bf16
from ..text.batches import Batch, make_batch
from .adam import ALL_ROWS, Adam, clip_gradients

DROPOUT = 2  # tells the random stream of dropout from the order's (minnmt/train/loop.py)


class Share(NamedTuple):
    """What one thread computes of a batch."""

    batch: Batch
    ids: np.ndarray | list | None  # the words of its softmax, as network_forward takes them


class Update(NamedTuple):
    """What came of an update."""

    outputs: list  # (Batch, NetworkOutput) of each share: the attention weights of every pair are there
    nll: float  # of all words
    norm: float  # of the gradient, before clipping

    @property
    def n_words(self):
        return sum(int(batch.trg_mask.sum()) for batch, _ in self.outputs)

    @property
    def is_finite(self):
        return math.isfinite(self.nll) and math.isfinite(self.norm)


class Updater:
    """Sentence pairs, the parameters that learn from them, and how; minnmt/train/settings.py explains `settings`.

    `map` spreads the work over threads (minnmt/threads.py); Python's own does it here and now.
    """

    def __init__(self, params, src, trg, settings, adam=None, map=map):
        self.params, self.src, self.trg, self.settings, self.map = params, src, trg, settings, quiet(map)
        self.adam = adam or Adam.for_parameters(params)
        self.words = None  # what chooses the words of the softmax (minnmt/train/dynamic.py); None for all words
        self.grads = [zeros_like(params) for _ in range(settings.threads)]
        self.written = [{}] * settings.threads  # the rows that each object's last share used (see used_rows)

    def shares(self, chosen):
        """Pair numbers -> [Share]: as many as there are threads, but none without a pair."""
        n = min(self.settings.threads, len(chosen))
        parts = [chosen[i::n] for i in range(n)]
        words = self.words.lists(chosen, parts) if self.words else [None] * n
        batches = [make_batch([self.src[k] for k in part], [self.trg[k] for k in part]) for part in parts]
        return [Share(batch, ids) for batch, ids in zip(batches, words)]

    def update(self, shares, learning_rate):
        """Forward, backward, clip, Adam -> Update; with an infinite loss or gradient, no parameter changes."""
        grads, rows, outputs = self.gradients(shares)
        nll = sum(float(output.nll.sum()) for _, output in outputs)
        found = Update(outputs, nll, clip_gradients(grads, self.settings.clip, rows, self.spread))
        if found.is_finite:
            moved = rows if self.settings.adam == "sparse" else ALL_ROWS
            self.adam.update(self.params, grads, learning_rate, moved, self.spread)
        return found

    def gradients(self, shares):
        """-> gradients of the mean nll of all sentences, the rows used, [(Batch, NetworkOutput)] of each share."""
        n_sentences = sum(share.batch.trg_ids.shape[1] for share in shares)
        with self.products() as packed:
            if packed:
                self.spread(packed.tiles, multiplied_weights(self.params, all_words=shares[0].ids is None))
            outputs = list(self.map(self.share_gradients, range(len(shares)), shares, [n_sentences] * len(shares)))
        rows = used_rows(shares, self.params)
        self.written[: len(shares)] = [rows] * len(shares)
        self.add_up(len(shares), rows)
        return self.grads[0], rows, outputs

    def products(self):
        """Within it, products have the precision of the settings; yields what packs the weights, or None."""
        if self.settings.precision == "bf16" and has_bf16():
            return bf16_products(array for _, array in named_arrays(self.params))
        return contextlib.nullcontext()

    def share_gradients(self, i, share, n_sentences):
        """Share number i, forward and backward into its own gradient object -> (Batch, NetworkOutput)."""
        clear(self.grads[i], self.written[i])
        seed = [self.settings.seed, DROPOUT, self.adam.n_updates + 1, i]
        dropout = Dropout(self.settings.dropout, np.random.default_rng(seed))
        output, cache = network_forward(share.batch, self.params, share.ids, dropout)
        # cost: the mean of nll over all sentences of the batch
        dnll = np.full(len(output.nll), 1 / n_sentences, output.nll.dtype)
        network_backward(dnll, cache, self.params, self.grads[i])
        return share.batch, output

    def add_up(self, n, rows):
        """Add the gradients of the first n shares into the first one's."""
        total, *others = (dict(named_arrays(grads)) for grads in self.grads[:n])

        def add(piece):
            name, index = piece
            for other in others:
                total[name][index] += other[name][index]

        if others:
            self.spread(add, array_pieces(self.grads[0], rows))

    def spread(self, function, arguments):
        """Call a function on many arguments, each thread taking every n-th -> the results, in order."""
        n, results = self.settings.threads, [None] * len(arguments)
        parts = self.map(lambda i: [function(argument) for argument in arguments[i::n]], range(n))
        for i, part in enumerate(parts):
            results[i::n] = part
        return results


def multiplied_weights(params, all_words):
    """The matrices that forward and backward multiply with, as they are and transposed, the largest first.

    The output layer is among them if its softmax is over all words; else its rows are gathered first.
    """
    looked_up = {"src_embedding", "trg_embedding", *([] if all_words else ["softmax.W"])}
    matrices = [array for name, array in named_arrays(params) if array.ndim == 2 and name not in looked_up]
    return [turned for array in sorted(matrices, key=np.size, reverse=True) for turned in (array, array.T)]


def quiet(map):
    """The same map, but numpy says nothing of overflows: whoever asked for an update looks at its outcome."""

    def quiet_map(function, *arguments):
        def call(*values):
            with np.errstate(all="ignore"):  # which holds for one thread
                return function(*values)

        return map(call, *arguments)

    return quiet_map


def used_rows(shares, params):
    """The rows with a gradient, {array's name: ids, ascending}, of the arrays of which some rows have none."""
    sizes = params.sizes()
    rows = {
        "src_embedding": union([share.batch.src_ids for share in shares], sizes["src_words"]),
        "trg_embedding": union([share.batch.trg_ids[:-1] for share in shares], sizes["trg_words"]),
    }
    if shares[0].ids is not None:
        lists = [ids for share in shares for ids in (share.ids if isinstance(share.ids, list) else [share.ids])]
        rows["softmax.W"] = rows["softmax.b"] = union(lists, sizes["trg_words"])
    return rows


def union(arrays, n_words):
    """Arrays of ids -> those that occur, ascending."""
    occurs = np.zeros(n_words, bool)
    for ids in arrays:
        occurs[ids] = True
    return np.flatnonzero(occurs)


def clear(grads, rows):
    """Set to zero what an earlier batch has written; `rows` are those it used."""
    for name, array in named_arrays(grads):
        array[rows.get(name, slice(None))] = 0
