"""The gradient of one batch, computed by several threads that share the batch's sentences among them.

Each thread runs the network on its own sentences into its own gradient object, and the objects are added up in a
fixed order, so the result depends on the number of threads but never on their timing.
"""

import gc

import numpy as np

from ..model.network import Dropout, network_backward, network_forward
from ..model.parameters import named_arrays, zeros_like
from ..text.batches import make_batch
from ..threads import keep_freed_memory, thread_pool

DROPOUT = 2  # tells the random stream of dropout from the order's (minnmt/train/loop.py)


class Workers:
    """A pool of threads with a gradient object each."""

    def __init__(self, params, n_threads):
        keep_freed_memory()
        self.grads = [zeros_like(params) for _ in range(n_threads)]
        self.pool = thread_pool(n_threads)

    def __enter__(self):
        gc.freeze()  # the corpus is here to stay: Python's collector need not look at its lists again and again
        return self

    def __exit__(self, *exception):
        gc.unfreeze()
        self.pool.shutdown()

    def gradients(self, run, chosen, number):
        """The pairs `chosen` -> gradients of their mean nll, and [(Batch, NetworkOutput)], one per thread at work.

        `number` of the update seeds the dropout.
        """
        n = min(len(self.grads), len(chosen))
        shares = [chosen[i::n] for i in range(n)]
        words = run.words.lists(chosen, shares) if run.words else [None] * n

        def work(i):
            seed = [run.settings.seed, DROPOUT, number, i]
            return _share(run, shares[i], words[i], len(chosen), seed, self.grads[i])

        outputs = list(self.pool.map(work, range(n)))
        for other in self.grads[1:n]:
            for (_, total), (_, part) in zip(named_arrays(self.grads[0]), named_arrays(other)):
                total += part
        return self.grads[0], outputs

    def map(self, function, *arguments):
        """Call a function on many arguments, the threads taking turns."""
        return list(self.pool.map(function, *arguments))


def _share(run, chosen, ids, n_sentences, seed, grads):
    """One thread's part: fills grads, returns its Batch and NetworkOutput."""
    for _, array in named_arrays(grads):
        array.fill(0)
    batch = make_batch([run.src[i] for i in chosen], [run.trg[i] for i in chosen])
    dropout = Dropout(run.settings.dropout, np.random.default_rng(seed))
    with np.errstate(all="ignore"):  # the loop looks at the outcome and says what is wrong
        output, cache = network_forward(batch, run.params, ids, dropout)
        # cost: the mean over all the batch's sentences
        network_backward(np.full(len(chosen), 1 / n_sentences, np.float32), cache, run.params, grads)
    return batch, output
