"""Counts for a model that is already trained: one epoch over parallel text, with or without updates.

The paper learns them while training goes on for one more epoch; a frozen model shows the same attention for less.
Notebook 06 teaches the counts.
"""

import numpy as np

from ..errors import OVERFLOW, UserError
from ..model.network import attention_weights
from ..ranks import ALONE
from ..text.batches import make_batch, numbers_by_length
from ..threads import threads
from .loop import is_finite, seeded_order

AHEAD = 4  # batches that wait for each thread; more would only fill memory with attention weights


def continued_counts(updater, attention, learning_rate, status, ranks=ALONE):
    """One epoch of updates, counting into the Accumulator `attention` (of rank 0) -> the mean nll of a word."""
    order = seeded_order(updater.src, updater.trg, updater.settings, epoch=1)
    status.start_epoch(1, 1, len(order))
    nll, n_words = 0.0, 0
    for number, chosen in enumerate(order, start=1):
        found = updater.update(updater.shares(chosen), learning_rate)
        if not found.is_finite:
            raise UserError(
                f"update {number} gave a loss of {found.nll} and a gradient norm of {found.norm}: "
                "try a smaller --learning-rate, or --frozen"
            )
        attention.add_all(((output.alphas, batch) for batch, output in found.outputs), ranks)
        nll, n_words = nll + found.nll, n_words + found.n_words
        status.update(found.nll, found.n_words)
    if not is_finite(updater.params):
        raise UserError("the epoch made parameters infinite or NaN: try a smaller --learning-rate, or --frozen")
    return nll / n_words


def frozen_counts(params, src, trg, settings, accumulators, status, ranks=ALONE):
    """One pass over the pairs, forward only and without the softmax, counting into Accumulators of any thresholds.

    Ranks take turns with batches, and what they find is added up by rank 0 in the order of batches.
    """
    batches = list(numbers_by_length(src, trg, settings.batch_size))
    status.start_epoch(1, 1, len(batches))

    def work(chosen):
        batch = make_batch([src[i] for i in chosen], [trg[i] for i in chosen])
        with np.errstate(all="ignore"):
            alphas = attention_weights(batch, params)
        if not np.isfinite(alphas).all():
            raise UserError(OVERFLOW)
        return alphas, batch

    window = AHEAD * ranks.share(settings.threads) * ranks.size  # the first one's threads: all cut alike
    with threads(settings.threads) as map:
        for start in range(0, len(batches), window):
            some = batches[start : start + window]
            found = map(work, [some[i] for i in ranks.part(len(some))])
            for attention in accumulators:
                attention.add_all(found, ranks)
            for chosen in some:
                status.update(None, sum(len(trg[i]) + 1 for i in chosen))
