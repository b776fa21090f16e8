"""The output softmax and its cross-entropy, over the whole vocabulary or over a given list of target ids.

    logits = o W^T + b,   nll = -log softmax(logits)[target]

W has one row per word, so a list of candidates is a choice of rows. Which words compete is data (`ids`), never a
property of the layer: None means all of them. Taught in notebook 04.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.softmax import add_rows


@dataclass
class Softmax:
    """Parameters of the output layer, one row per target word."""

    W: np.ndarray  # (V,E)
    b: np.ndarray  # (V)


class SoftmaxCache(NamedTuple):
    o: np.ndarray  # (N,E)
    probs: np.ndarray  # (N,K)
    columns: np.ndarray  # (N) the target's column in probs
    mask: np.ndarray  # (N)
    ids: np.ndarray | None  # (K) ascending, or None for the whole vocabulary


def shifted_logits(o, p, ids=None):
    """o (N,E), ids (K) or None -> logits (N,K) over the words `ids`, or (N,V) over all; each row's maximum is 0."""
    W, b = (p.W, p.b) if ids is None else (p.W[ids], p.b[ids])
    logits = o @ W.T
    logits += b
    logits -= logits.max(axis=1, keepdims=True)
    return logits


def log_softmax(o, p, ids=None):
    """o (N,E), ids (K) or None -> log-probabilities (N,K) over the words `ids`, or (N,V) over all."""
    logits = shifted_logits(o, p, ids)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits


def softmax_loss_forward(o, targets, mask, p, ids=None):
    """o (N,E), targets (N), mask (N), ids (K) ascending or None -> nll (N), cache.

    Every unmasked target must be among `ids`.
    """
    columns = targets if ids is None else np.minimum(np.searchsorted(ids, targets), len(ids) - 1)
    logits = shifted_logits(o, p, ids)
    target_logits = logits[np.arange(len(o)), columns]
    probs = np.exp(logits, out=logits)
    sums = probs.sum(axis=1)
    probs /= sums[:, None]
    return (np.log(sums) - target_logits) * mask, SoftmaxCache(o, probs, columns, mask, ids)


def softmax_loss_backward(dnll, cache, p, g):
    """dnll (N) -> do (N,E); adds into g. Uses up the cache: its probabilities become the logits' gradient."""
    # forward: nll = -log softmax(logits)[target] * mask
    scale = dnll * cache.mask
    dlogits = cache.probs
    dlogits[np.arange(len(dlogits)), cache.columns] -= 1
    dlogits *= scale[:, None]
    # forward: logits = o W^T + b, with the rows `ids` of W and b
    if cache.ids is None:
        g.W += dlogits.T @ cache.o
        g.b += dlogits.sum(axis=0)
        return dlogits @ p.W
    add_rows(dlogits.T @ cache.o, cache.ids, g.W)
    g.b[cache.ids] += dlogits.sum(axis=0)
    return dlogits @ p.W[cache.ids]
