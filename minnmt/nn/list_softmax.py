"""The output softmax where every sentence has its own list of words.

    p = softmax(o W[list]^T + b[list])   (21)  the list chosen outside, before the first word

Decoding gathers the rows of W once for each sentence and uses them at every step. Training runs the layer of softmax.py
once for each sentence (minnmt/model/network.py). Notebook 07 teaches this file.
"""

from typing import NamedTuple

import numpy as np

from .softmax import log_normalised


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


def list_logits(o, words):
    """o (A*K,E), K rows per sentence -> logits (A*K,M): in a row the words of its sentence's list, then -inf."""
    K = len(o) // max(len(words.begins), 1)
    logits = np.full((len(o), words.ids.shape[1]), -np.inf, o.dtype)
    for a, (begin, end) in enumerate(zip(words.begins, words.ends)):
        rows = slice(a * K, (a + 1) * K)
        logits[rows, : end - begin] = o[rows] @ words.W[begin:end].T + words.b[begin:end]
    return logits


def list_log_softmax(o, words):
    """o (A*K,E), K rows per sentence -> log-probabilities (A*K,M) over each sentence's list, -inf beyond its end."""
    return log_normalised(list_logits(o, words))  # (21)
