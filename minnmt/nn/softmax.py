"""The output softmax and its cross-entropy, over the whole vocabulary or over a given list of target ids.

    p   = softmax(o W^T + b)   (12)  o W^T + b are the logits
    nll = -log p[target]       (13)

W has one row per word, so a list of candidates is a choice of rows (21). Which words compete is data (`ids`), never a
property of the layer: None means all of them. Taught in notebook 04.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.loss import softmax_loss, softmax_loss_gradient
from kernels.rows import add_rows

from .functions import add_product

MOST_LOGITS = 1 << 27  # that are in memory at a time (512 MB); if there are more, the way back computes them again


@dataclass
class Softmax:
    """Parameters of the output layer, one row per target word."""

    W: np.ndarray  # (V,E)
    b: np.ndarray  # (V)


class SoftmaxCache(NamedTuple):
    """Of N rows, the R that are not padding."""

    rows: np.ndarray  # (R) their numbers
    o: np.ndarray  # (R,E)
    probs: np.ndarray | None  # (R,K), or None if they are too many to keep
    columns: np.ndarray  # (R) the target's column in probs
    W: np.ndarray  # (K,E) the rows of W that take part
    b: np.ndarray  # (K)
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
    nll, row_nll = np.zeros(len(mask), o.dtype), np.empty(len(rows), o.dtype)
    parts = slices(len(rows), len(W))
    for part in parts:
        probs = o[part] @ W.T  # logits until the next line
        softmax_loss(probs, b, columns[part], row_nll[part])
    nll[rows] = row_nll
    return nll, SoftmaxCache(rows, o, probs if len(parts) == 1 else None, columns, W, b, ids)


def softmax_loss_backward(dnll, cache, p, g):
    """dnll (N) -> do (N,E); adds into g. Uses up the cache: its probabilities become the logits' gradient."""
    rows, o, probs, columns, W, b, ids = cache
    do, db = np.zeros((len(dnll), o.shape[1]), o.dtype), np.zeros(len(W), o.dtype)
    for part in slices(len(rows), len(W)):
        dlogits = probs
        if probs is None:
            dlogits = o[part] @ W.T
            softmax_loss(dlogits, b, columns[part], np.empty(len(dlogits), o.dtype))
        # forward: nll = -log softmax(logits + b)[target]
        softmax_loss_gradient(dlogits, columns[part], dnll[rows[part]], db)
        # forward: logits = o W^T, with the rows `ids` of W and b
        do[rows[part]] = dlogits @ W
        if ids is None:
            add_product(g.W, dlogits, o[part])
        else:
            add_rows(dlogits.T @ o[part], ids, g.W)
    if ids is None:
        g.b += db
    else:
        g.b[ids] += db
    return do


def slices(n_rows, n_words):
    """Cut rows into slices of which each has at most MOST_LOGITS logits: a single empty one for no rows."""
    size = max(1, MOST_LOGITS // max(n_words, 1))
    return [slice(i, i + size) for i in range(0, max(n_rows, 1), size)]
