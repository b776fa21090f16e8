"""The loss of the output softmax; the equations are in minnmt/nn/softmax.py.

Both kernels work in the memory they are given: the logits of an update take hundreds of megabytes, and a row of them
stays in the CPU's cache for all that is done to it. Notebook 04 teaches the loss, 08 the kernels.
"""

import numpy as np

from .functions import ONE, softmax
from .jit import kernel


@kernel
def softmax_nll(scores, b, targets):
    """Fast because
    - each row is read from memory once and written once;
    - exp is vectorised.
    """
    N, K = scores.shape
    nll = np.empty(N, np.float32)
    for n in range(N):
        row = scores[n]
        largest = row[0] + b[0]
        for k in range(K):
            row[k] += b[k]
            largest = max(largest, row[k])
        target_logit = row[targets[n]] - largest
        nll[n] = np.log(softmax(row, largest)) - target_logit
    return nll, scores


@kernel
def softmax_nll_backward(dnll, probs, targets):
    """Fast as softmax_nll is."""
    N, K = probs.shape
    db = np.zeros(K, np.float32)
    for n in range(N):
        row, d = probs[n], dnll[n]
        row[targets[n]] -= ONE
        for k in range(K):
            row[k] *= d
            db[k] += row[k]
    return probs, db
