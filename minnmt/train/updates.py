"""One update of the parameters: the gradient of a batch, clipping, Adam. Notebook 04.

A batch is cut into shares (`--shares`), which threads and ranks (minnmt/ranks.py) take over. Each share runs through
the network into a gradient object of its own, and the objects are added up in a fixed order: the result depends on the
number of shares, never on timing, threads or ranks. Of the embeddings, and of a softmax over lists, only the rows that
the batch uses are ever looked at: the others stay zero.

Shares are added up two by two, then their sums two by two, as in a tournament: shares 0 and 1, 2 and 3, then these two,
and so on. A rank that has some shares in a row can begin with its own; together, ranks end in the same bits as one
process that has all shares.
"""

import contextlib
import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..model.network import Dropout, network_backward, network_forward
from ..model.parameters import array_pieces, named_arrays, zeros_like
from ..nn.bf16 import bf16_products, has_bf16
from ..text.batches import Batch, make_batch
from ..text.vocab import EOS
from .adam import ALL_ROWS, Adam, clip_gradients

DROPOUT = 2  # tells the random stream of dropout from the order's (minnmt/train/loop.py)


class Share(NamedTuple):
    """What one thread computes of a batch."""

    number: int
    batch: Batch
    ids: np.ndarray | list | None  # the words of its softmax, as network_forward takes them


class Shares(NamedTuple):
    """A batch, cut up."""

    own: list  # the Shares of this rank
    n: int  # of all ranks
    n_sentences: int  # in all of them
    rows: dict  # with a gradient (see used_rows)


class Update(NamedTuple):
    """What came of an update."""

    outputs: list  # (Batch, NetworkOutput) of each share of this rank: the attention weights of its pairs are there
    nll: float  # of all words
    n_words: int
    norm: float  # of the gradient, before clipping

    @property
    def is_finite(self):
        return math.isfinite(self.nll) and math.isfinite(self.norm)


class Gradient:
    """A gradient object, and which rows of it an earlier batch has written."""

    def __init__(self, params):
        self.tree = zeros_like(params)
        self.arrays = dict(named_arrays(self.tree))
        self.written = {}

    def clear(self, rows):
        """Set to zero what was written; now `rows` ({array's name: ids}), and other arrays as a whole, will be."""
        for name, array in self.arrays.items():
            array[self.written.get(name, slice(None))] = 0
        self.written = rows


class Sum(NamedTuple):
    """The sum of some shares in a row."""

    first: int  # of them
    n: int
    value: Any


def add_share(sums, share, add):
    """Add a Sum to those before it, in place: add(a, b) adds b to a. Two that are halves of a larger one become it."""
    sums.append(share)
    while len(sums) > 1 and are_halves(*sums[-2:]):
        join_last(sums, add)


def are_halves(left, right):
    return left.n == right.n and left.first % (2 * left.n) == 0


def join_last(sums, add):
    left, right = sums[-2:]
    add(left.value, right.value)
    sums[-2:] = [Sum(left.first, left.n + right.n, left.value)]


def total(sums, add):
    """Sums of all shares, in order -> the value of all of them together; they are used up."""
    found = []
    for each in sums:
        add_share(found, each, add)
    while len(found) > 1:
        join_last(found, add)
    return found[0].value


class Updater:
    """Sentence pairs, the parameters that learn from them, and how; minnmt/train/settings.py explains `settings`.

    `map` spreads the work over threads (minnmt/threads.py); Python's own does it here and now. `owned` is the Slice of
    the parameters (slices.py) that this rank looks after, if there are several.
    """

    def __init__(self, params, src, trg, settings, adam=None, map=map, owned=None):
        self.params, self.src, self.trg, self.settings, self.map = params, src, trg, settings, quiet(map)
        self.adam = adam or Adam.for_parameters(params)
        self.can_round = has_bf16()
        self.words = None  # what chooses the words of the softmax (minnmt/train/dynamic.py); None for all words
        self.owned, self.n_shares = owned, settings.shares or settings.threads
        self.idle = []  # Gradients that wait for a share

    def shares(self, chosen):
        """Pair numbers, sorted by length -> Shares, none without a pair, all with as many words (but for a percent)."""
        n = min(self.n_shares, len(chosen))
        parts = [chosen[i::n] for i in range(n)]
        words = self.words.lists(chosen, parts) if self.words else [None] * n
        own = []
        for i in self.owned.ranks.part(n) if self.owned else range(n):
            batch = make_batch([self.src[k] for k in parts[i]], [self.trg[k] for k in parts[i]])
            own.append(Share(i, batch, words[i]))
        return Shares(own, n, len(chosen), self.used_rows(chosen, words))

    def used_rows(self, chosen, lists):
        """The rows with a gradient, {array's name: ids, ascending}, of the arrays of which some rows have none.

        Every rank knows those of the others, because it knows all pairs and lists.
        """
        sizes = self.params.sizes()
        rows = {
            "src_embedding": union([[EOS], *(self.src[k] for k in chosen)], sizes["src_words"]),
            "trg_embedding": union([[EOS], *(self.trg[k] for k in chosen)], sizes["trg_words"]),
        }
        if lists[0] is not None:
            different = lists[:1] if lists[0] is lists[-1] else lists
            each = [ids for share in different for ids in as_lists(share)]
            rows["softmax.W"] = rows["softmax.b"] = union(each, sizes["trg_words"])
        return rows

    def update(self, shares, learning_rate):
        """Forward, backward, clip, Adam -> Update; with an infinite loss or gradient, no parameter changes."""
        grads, rows, outputs = self.gradients(shares)
        found = [(float(output.nll.sum()), int(batch.trg_mask.sum())) for batch, output in outputs]
        nlls, n_words = zip(*(self.owned.ranks.all_in_order(found) if self.owned else found))
        norm = clip_gradients(grads, self.settings.clip, rows, self.spread, self.owned)
        found = Update(outputs, sum(nlls), sum(n_words), norm)
        if found.is_finite:
            moved = rows if self.settings.adam == "sparse" else ALL_ROWS
            self.adam.update(self.params, grads, learning_rate, moved, self.spread, self.owned)
            if self.owned:
                self.owned.gather_parameters(moved)
        return found

    def gradients(self, shares):
        """-> gradients of the mean nll of all sentences, the rows used, [(Batch, NetworkOutput)] of this rank's shares.

        With several ranks the gradients are complete in the slice that this one owns.
        """
        sums, outputs, n = [], [], self.settings.threads

        def add(left, right):
            self.spread(partial(add_piece, left.arrays, right.arrays), array_pieces(self.params, shares.rows))
            self.idle.append(right)

        with self.products() as packed:
            if packed and shares.own:
                self.spread(packed.tiles, multiplied_weights(self.params, all_words=shares.own[0].ids is None))
            for i in range(0, len(shares.own), n):
                some = shares.own[i : i + n]
                gradients = [self.idle.pop() if self.idle else Gradient(self.params) for _ in some]
                outputs += self.map(self.share_gradients, some, gradients, [shares] * len(some))
                for share, gradient in zip(some, gradients):
                    add_share(sums, Sum(share.number, 1, gradient), add)
        done = self.sum_of_ranks(sums, shares) if self.owned else total(sums, add)
        self.idle.append(done)
        return done.tree, shares.rows, outputs

    def sum_of_ranks(self, sums, shares):
        """The Sums of this rank's Gradients -> one of them that is complete in the slice."""
        if not sums:
            sums = [Sum(0, 0, self.idle.pop() if self.idle else Gradient(self.params))]
            sums[0].value.clear(shares.rows)
        first, *others = (each.value for each in sums)
        arrays = [each._replace(value=each.value.arrays) for each in sums]
        self.owned.sum_up(arrays, shares.n, shares.rows, self.spread)
        self.idle += others
        return first

    def products(self):
        """Within it, products have the precision of the settings; yields what packs the weights, or None."""
        if self.settings.precision == "bf16" and self.can_round:
            return bf16_products(array for _, array in named_arrays(self.params))
        return contextlib.nullcontext()

    def share_gradients(self, share, gradient, shares):
        """One share, forward and backward into its own Gradient -> (Batch, NetworkOutput)."""
        gradient.clear(shares.rows)
        seed = [self.settings.seed, DROPOUT, self.adam.n_updates + 1, share.number]
        dropout = Dropout(self.settings.dropout, np.random.default_rng(seed))
        output, cache = network_forward(share.batch, self.params, share.ids, dropout)
        # cost: the mean of nll over all sentences of the batch
        dnll = np.full(len(output.nll), 1 / shares.n_sentences, output.nll.dtype)
        network_backward(dnll, cache, self.params, gradient.tree)
        return share.batch, output

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


def add_piece(into, others, piece):
    name, index = piece
    into[name][index] += others[name][index]


def as_lists(ids):
    """A share's words, one array for all its sentences or one for each -> arrays."""
    return ids if isinstance(ids, list) else [ids]


def union(lists, n_words):
    """Lists or arrays of ids -> those that occur, ascending."""
    occurs = np.zeros(n_words, bool)
    for ids in lists:
        occurs[ids] = True
    return np.flatnonzero(occurs)
