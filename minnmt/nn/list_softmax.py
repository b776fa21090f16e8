"""The output softmax where every sentence has its own list of words.

    p = softmax(o W[list]^T + b[list])   (21)  the list chosen outside, before the first word

Training runs the layer of softmax.py once for each sentence. Decoding gathers the rows of W once for each sentence and
uses them at every step. Taught in notebook 07.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from .softmax import softmax_loss_backward, softmax_loss_forward


class ListedWords(NamedTuple):
    """The words that each of A sentences may use, with their rows of the output layer."""

    ids: np.ndarray  # (A,M) ascending, filled up with 0
    W: np.ndarray  # (L,E) the rows of all lists, one list after the other
    b: np.ndarray  # (L)
    begins: np.ndarray  # (A) where a sentence's rows begin in W
    ends: np.ndarray  # (A)


def gather_lists(lists, p):
    """lists: A arrays of ids, ascending -> ListedWords."""
    lengths = np.array([len(ids) for ids in lists])
    ends = np.cumsum(lengths)
    padded = np.zeros((len(lists), lengths.max()), np.int64)
    padded[np.arange(lengths.max()) < lengths[:, None]] = np.concatenate(lists)
    together = np.concatenate(lists)
    return ListedWords(padded, p.W[together], p.b[together], ends - lengths, ends)


@compiled("softmax.list_logits")
def list_logits(o, W, b, begins, ends):
    """o (N,E), W (L,E), b (L), begins (N), ends (N) -> logits (N,M), M words in the longest list.

    Row n has its words begins[n] to ends[n] of W in the first columns, and -inf in the others.
    """
    logits = np.full((len(o), (ends - begins).max(initial=0)), -np.inf, o.dtype)
    for n, (begin, end) in enumerate(zip(begins, ends)):
        logits[n, : end - begin] = W[begin:end] @ o[n] + b[begin:end]
    return logits


def list_log_softmax(o, words):
    """o (A*K,E), K rows a sentence -> log-probabilities (A*K,M) over each sentence's list, -inf beyond its end."""
    K = len(o) // max(len(words.begins), 1)
    begins, ends = np.repeat(words.begins, K), np.repeat(words.ends, K)
    logits = list_logits(np.ascontiguousarray(o), words.W, words.b, begins, ends)
    logits -= logits.max(axis=1, keepdims=True)
    logits -= np.log(np.exp(logits).sum(axis=1, keepdims=True))  # (21)
    return logits


def list_softmax_loss_forward(o, targets, mask, p, lists):
    """o (T*B,E), targets (T*B), mask (T*B), B lists of ids, ascending -> nll (T*B), caches.

    Every unmasked target must be in its sentence's list.
    """
    B = len(lists)
    nll, caches = np.empty(len(o), o.dtype), []
    for b, ids in enumerate(lists):
        nll[b::B], cache = softmax_loss_forward(o[b::B], targets[b::B], mask[b::B], p, ids)
        caches.append(cache)
    return nll, caches


def list_softmax_loss_backward(dnll, caches, p, g):
    """dnll (T*B) -> do (T*B,E); adds into g. Uses up the caches, as softmax_loss_backward does."""
    B = len(caches)
    do = np.empty((len(dnll), p.W.shape[1]), p.W.dtype)
    # forward: nll[b::B] = softmax loss of sentence b over its list
    for b, cache in enumerate(caches):
        do[b::B] = softmax_loss_backward(dnll[b::B], cache, p, g)
    return do
