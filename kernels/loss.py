"""The loss of the output softmax: from logits to probabilities and on to the logits' gradient, in place.

A row of logits stays in the processor's cache for all that is done to it, so that memory is read and written once.
"""

import numpy as np

from .functions import exp
from .jit import kernel

ONE = np.float32(1)
ZERO = np.float32(0)


def softmax_loss_numpy(logits, b, columns, nll):
    """logits (N,K) without their bias b (K), columns (N) of the targets -> fills nll (N) = -log p(target).

    The logits become the probabilities.
    """
    logits += b
    logits -= logits.max(axis=1, keepdims=True, initial=-np.inf)
    target_logits = logits[np.arange(len(logits)), columns]
    np.exp(logits, out=logits)
    sums = logits.sum(axis=1)
    logits /= sums[:, None]
    nll[:] = np.log(sums) - target_logits


@kernel(twin=softmax_loss_numpy)
def softmax_loss(logits, b, columns, nll):
    N, K = logits.shape
    for n in range(N):
        row = logits[n]
        largest = row[0] + b[0]
        for k in range(K):
            row[k] += b[k]
            largest = max(largest, row[k])
        target_logit = row[columns[n]] - largest
        total = ZERO
        for k in range(K):
            row[k] = exp(row[k] - largest)
            total += row[k]
        scale = ONE / total
        for k in range(K):
            row[k] *= scale
        nll[n] = np.log(total) - target_logit


def softmax_loss_gradient_numpy(probs, columns, dnll, db):
    """probs (N,K), columns (N), dnll (N) -> adds into db (K). The probabilities become the logits' gradient."""
    # forward: nll = -log softmax(logits + b)[column]
    probs[np.arange(len(probs)), columns] -= 1
    probs *= dnll[:, None]
    db += probs.sum(axis=0)


@kernel(twin=softmax_loss_gradient_numpy)
def softmax_loss_gradient(probs, columns, dnll, db):
    N, K = probs.shape
    for n in range(N):
        row, d = probs[n], dnll[n]
        row[columns[n]] -= ONE
        for k in range(K):
            row[k] *= d
            db[k] += row[k]
