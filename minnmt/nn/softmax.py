"""The output softmax and its cross-entropy, over the whole vocabulary or over a given list of target ids.

    logits = o W^T + b,   nll = -log softmax(logits)[target]

W has one row per word, so a list of candidates is a choice of rows. Which words compete is data (`ids`), never a
property of the layer: None means all of them. Taught in notebook 04.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.loss import softmax_loss, softmax_loss_gradient
from kernels.rows import add_rows

from .functions import add_product


@dataclass
class Softmax:
    """Parameters of the output layer, one row per target word."""

    W: np.ndarray  # (V,E)
    b: np.ndarray  # (V)


class SoftmaxCache(NamedTuple):
    """Of N rows, the R that are not padding."""

    rows: np.ndarray  # (R) their numbers
    o: np.ndarray  # (R,E)
    probs: np.ndarray  # (R,K)
    columns: np.ndarray  # (R) the target's column in probs
    W: np.ndarray  # (K,E) the rows of W that take part
    ids: np.ndarray | None  # (K) which they are, ascending, or None for the whole vocabulary


def log_softmax(o, p, ids=None):
    """o (N,E), ids (K) or None -> log-probabilities (N,K) over the words `ids`, or (N,V) over all."""
    W, b = (p.W, p.b) if ids is None else (p.W[ids], p.b[ids])
    logits = o @ W.T
    logits += b
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits


def softmax_loss_forward(o, targets, mask, p, ids=None):
    """o (N,E), targets (N), mask (N), ids (K) ascending or None -> nll (N), cache.

    Every unmasked target must be among `ids`.
    """
    rows = np.flatnonzero(mask)
    o, columns = o[rows], targets[rows]
    W, b = (p.W, p.b) if ids is None else (p.W[ids], p.b[ids])
    if ids is not None:
        columns = np.minimum(np.searchsorted(ids, columns), len(ids) - 1)
    probs = o @ W.T  # logits until the next line
    nll, row_nll = np.zeros(len(mask), o.dtype), np.empty(len(rows), o.dtype)
    softmax_loss(probs, b, columns, row_nll)
    nll[rows] = row_nll
    return nll, SoftmaxCache(rows, o, probs, columns, W, ids)


def softmax_loss_backward(dnll, cache, p, g):
    """dnll (N) -> do (N,E); adds into g. Uses up the cache: its probabilities become the logits' gradient."""
    rows, o, dlogits, columns, W, ids = cache
    do, db = np.zeros((len(dnll), o.shape[1]), o.dtype), np.zeros(len(W), o.dtype)
    # forward: nll = -log softmax(logits + b)[target]
    softmax_loss_gradient(dlogits, columns, dnll[rows], db)
    # forward: logits = o W^T, with the rows `ids` of W and b
    do[rows] = dlogits @ W
    if ids is None:
        add_product(g.W, dlogits, o)
        g.b += db
    else:
        add_rows(dlogits.T @ o, ids, g.W)
        g.b[ids] += db
    return do
