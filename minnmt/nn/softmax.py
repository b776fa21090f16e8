"""The output softmax and its cross-entropy, over the whole vocabulary or over a candidate list.

    p   = softmax(o W^T + b)               (12)  o W^T + b are the logits
    nll = -log p[target]                   (13)
    p   = softmax(o W[list]^T + b[list])   (21)  the list chosen outside, before the first word

W has one row per word, so a candidate list is a choice of rows. Which words compete is data (`ids`), never a property
of the layer: None means all of them. Notebook 04 teaches this file, notebook 07 the lists.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from . import bf16
from .functions import add_product, add_rows, in_bf16, matmul


@dataclass
class Softmax:
    """Parameters of the output layer, one row per target word."""

    W: np.ndarray  # (V,E)
    b: np.ndarray  # (V)

    def rows(self, ids):
        """W (K,E), b (K) of the words `ids`; of all words for None."""
        return (self.W, self.b) if ids is None else (self.W[ids], self.b[ids])

    def first(self, n):
        """The layer of the first n words; nothing is copied."""
        return Softmax(self.W[:n], self.b[:n])


def log_softmax(o, p, ids=None):
    """o (N,E), ids (K) or None -> log-probabilities (N,K) of the words `ids` (21), or (N,V) of all words (12)."""
    W, b = p.rows(ids)
    return log_normalised(matmul(o, W.T) + b)


def log_normalised(logits):
    """logits (N,K) -> log-probabilities (N,K)."""
    logits = logits - logits.max(axis=1, keepdims=True)  # the same probabilities, and exp cannot overflow
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))
    return logits


# The loss


@compiled("loss.softmax_nll")
def softmax_nll(scores, b, targets):
    """scores (N,K) = o W^T, b (K), targets (N): columns -> nll (N), probs (N,K). The scores are used up."""
    logp = log_normalised(scores + b)
    probs = np.exp(logp)  # (12)
    nll = -logp[np.arange(len(logp)), targets]  # (13)
    return nll, probs


@compiled("loss.softmax_nll_backward")
def softmax_nll_backward(dnll, probs, targets):
    """dnll (N), probs (N,K), targets (N) -> dscores (N,K), db (K). The probabilities are used up."""
    # forward: nll = -log softmax(scores + b)[target]
    onehot = np.zeros_like(probs)
    onehot[np.arange(len(probs)), targets] = 1
    dlogits = (probs - onehot) * dnll[:, None]
    return dlogits, dlogits.sum(axis=0)


class SoftmaxCache(NamedTuple):
    o: np.ndarray  # (N,E)
    probs: np.ndarray  # (N,K); with products in bfloat16 the errors, p - onehot, rounded
    columns: np.ndarray  # (N) the target's column in probs
    W: np.ndarray  # (K,E) the rows of W that take part
    ids: np.ndarray | None  # (K) which they are, ascending, or None for the whole vocabulary


def softmax_loss_forward(o, targets, p, ids=None):
    """o (N,E), targets (N), ids (K) ascending or None -> nll (N), cache. Every target must be among `ids`."""
    W, b = p.rows(ids)
    columns = targets if ids is None else np.searchsorted(ids, targets)
    assert ids is None or np.array_equal(ids.take(columns, mode="clip"), targets), "a target is not on the list"
    if in_bf16(o):
        nll, probs = bf16.softmax_nll_of(o, W, b, columns)
    else:
        nll, probs = softmax_nll(matmul(o, W.T), b, columns)
    return nll, SoftmaxCache(o, probs, columns, W, ids)


def softmax_loss_backward(dnll, cache, g):
    """dnll (N) -> do (N,E); adds into g. Uses up the cache."""
    o, probs, columns, W, ids = cache
    # forward: nll, probs = softmax_nll(scores, b, columns)
    if probs.dtype == np.uint16:  # errors, rounded already: dnll goes to the other side of their products
        assert in_bf16(probs), "forward was in bfloat16, backward is not"
        dscores, db, scale = probs, np.zeros(len(W), o.dtype), dnll[:, None]
        bf16.add_bf16_rows(db, dnll, dscores)
    else:
        (dscores, db), scale = softmax_nll_backward(dnll, probs, columns), 1.0
    # forward: scores = o W^T, with the rows `ids` of W and b
    if ids is None:
        add_product(g.W, dscores, scale * o)
        g.b += db
    else:
        dW = np.zeros_like(W)
        add_product(dW, dscores, scale * o)
        add_rows(dW, ids, g.W)
        g.b[ids] += db
    return scale * matmul(dscores, W)
