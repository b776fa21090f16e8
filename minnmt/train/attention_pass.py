"""Counts for a model that is already trained: one epoch over parallel text, with or without updates.

The paper learns them while training goes on for one more epoch; a frozen model shows the same attention for less.
"""

import math

import numpy as np

from ..errors import UserError
from ..model.network import attention_weights
from ..text.batches import epoch_order, make_batch, numbers_by_length
from ..threads import thread_pool
from .gradients import Workers
from .loop import ORDER, Limits, gradient_step, is_finite

AHEAD = 4  # batches that wait for each thread; more would only fill memory with attention weights


def continued_counts(run, status):
    """One epoch of training from run.params, which change -> the counts of its attention."""
    rng = np.random.default_rng([run.settings.seed, ORDER, run.progress.epoch])
    order = epoch_order(run.src, run.trg, run.settings.batch_size, run.settings.pool, rng)
    status.start_epoch(run, len(order), Limits())
    with Workers(run.params, run.settings.threads) as workers:
        for chosen in order:
            outputs, nll, norm = gradient_step(run, chosen, workers)
            if not (math.isfinite(nll) and math.isfinite(norm)):
                raise UserError(
                    f"update {run.progress.n_updates + 1} gave a loss of {nll} and a gradient norm of {norm}: "
                    "try a smaller --learning-rate, or --frozen"
                )
            run.count(outputs, status)
    if not is_finite(run.params):
        raise UserError("the epoch made parameters infinite or NaN: try a smaller --learning-rate, or --frozen")
    return run.attention.counts()


def frozen_counts(run, status):
    """One pass over the text, forward only and without the softmax -> the counts of its attention."""
    batches = list(numbers_by_length(run.src, run.trg, run.settings.batch_size))
    status.start_epoch(run, len(batches), Limits())

    def work(chosen):
        batch = make_batch([run.src[i] for i in chosen], [run.trg[i] for i in chosen])
        return batch, attention_weights(batch, run.params)

    window = AHEAD * run.settings.threads
    with thread_pool(run.settings.threads) as pool:
        for start in range(0, len(batches), window):
            for batch, alphas in pool.map(work, batches[start : start + window]):
                run.attention.add_attention(alphas, batch)
                run.progress.position += 1
                status.update(run, None, int(batch.trg_mask.sum()))
    return run.attention.counts()
