"""The gradient of one batch, computed by several threads that share the batch's sentences among them.

Each thread runs the network on its own sentences into its own gradient object, and the objects are added up in a
fixed order, so the result depends on the number of threads but never on their timing. Of the embeddings, and of a
softmax over lists, only the rows that the batch uses are ever looked at: the others stay zero.
"""

import gc

import numpy as np

from ..model.network import Dropout, network_backward, network_forward
from ..model.parameters import named_arrays, portions, zeros_like
from ..text.batches import make_batch
from ..threads import keep_freed_memory, thread_pool

DROPOUT = 2  # tells the random stream of dropout from the order's (minnmt/train/loop.py)


class Workers:
    """A pool of threads with a gradient object each."""

    def __init__(self, params, n_threads):
        keep_freed_memory(huge=True)  # the probabilities of a full softmax take hundreds of megabytes
        self.grads = [zeros_like(params) for _ in range(n_threads)]
        self.written = [{}] * n_threads  # the rows that each object's last batch used (see used_rows)
        self.pool = thread_pool(n_threads)

    def __enter__(self):
        gc.freeze()  # the corpus is here to stay: Python's collector need not look at its lists again and again
        return self

    def __exit__(self, *exception):
        gc.unfreeze()
        self.pool.shutdown()

    def gradients(self, run, chosen, number):
        """The pairs `chosen` -> gradients of their mean nll, the rows used, [(Batch, NetworkOutput)], one per thread.

        `number` of the update seeds the dropout.
        """
        n = min(len(self.grads), len(chosen))
        shares = [chosen[i::n] for i in range(n)]
        words = run.words.lists(chosen, shares) if run.words else [None] * n

        def work(i):
            _clear(self.grads[i], self.written[i])
            seed = [run.settings.seed, DROPOUT, number, i]
            return _share(run, shares[i], words[i], len(chosen), seed, self.grads[i])

        outputs = list(self.pool.map(work, range(n)))
        rows = used_rows([batch for batch, _ in outputs], words, run.params)
        self.written[:n] = [rows] * n
        self._add_up(n, rows)
        return self.grads[0], rows, outputs

    def _add_up(self, n, rows):
        """Add the gradients of the first n threads into the first one's."""
        total, *others = (dict(named_arrays(grads)) for grads in self.grads[:n])

        def add(portion):
            name, index = portion
            for other in others:
                total[name][index] += other[name][index]

        if others:
            self.map(add, portions(self.grads[0], rows))

    def map(self, function, arguments):
        """Call a function on many arguments, the threads taking turns."""
        n = len(self.grads)

        def work(i):
            return [function(argument) for argument in arguments[i::n]]

        results = [None] * len(arguments)
        for i, part in enumerate(self.pool.map(work, range(n))):
            results[i::n] = part
        return results


def used_rows(batches, words, params):
    """The rows with a gradient, {array's name: ids, ascending}, of the arrays of which some rows have none.

    `words` of the softmax as network_forward takes them, for each batch.
    """
    sizes = params.sizes()
    rows = {
        "src_embedding": union([batch.src_ids for batch in batches], sizes["src_words"]),
        "trg_embedding": union([batch.trg_ids[:-1] for batch in batches], sizes["trg_words"]),
    }
    if words[0] is not None:
        lists = [ids for share in words for ids in (share if isinstance(share, list) else [share])]
        rows["softmax.W"] = rows["softmax.b"] = union(lists, sizes["trg_words"])
    return rows


def union(arrays, n_words):
    """Arrays of ids -> those that occur, ascending."""
    occurs = np.zeros(n_words, bool)
    for ids in arrays:
        occurs[ids] = True
    return np.flatnonzero(occurs)


def _clear(grads, rows):
    """Set to zero what an earlier batch has written; `rows` are those it used."""
    for name, array in named_arrays(grads):
        array[rows.get(name, slice(None))] = 0


def _share(run, chosen, ids, n_sentences, seed, grads):
    """One thread's part: adds into grads, returns its Batch and NetworkOutput."""
    batch = make_batch([run.src[i] for i in chosen], [run.trg[i] for i in chosen])
    dropout = Dropout(run.settings.dropout, np.random.default_rng(seed))
    with np.errstate(all="ignore"):  # the loop looks at the outcome and says what is wrong
        output, cache = network_forward(batch, run.params, ids, dropout)
        # cost: the mean over all the batch's sentences
        network_backward(np.full(len(chosen), 1 / n_sentences, np.float32), cache, run.params, grads)
    return batch, output
