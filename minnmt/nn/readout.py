"""The deep output: state, previous word and context become one vector of the embedding's size.

    o = tanh(s W_s + b_s + y W_y + b_y + c W_c + b_c)   (11)

It has no recurrence, so training computes it for all time steps at once. Notebook 03 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .functions import add_product, matmul


@dataclass
class Readout:
    """Parameters of the readout; three biases where one would do, because stored models have them."""

    W_s: np.ndarray  # (H,E) decoder state
    b_s: np.ndarray  # (E)
    W_y: np.ndarray  # (E,E) previous word
    b_y: np.ndarray  # (E)
    W_c: np.ndarray  # (C,E) context
    b_c: np.ndarray  # (E)


class ReadoutCache(NamedTuple):
    s: np.ndarray  # (N,H)
    y: np.ndarray  # (N,E)
    c: np.ndarray  # (N,C)
    o: np.ndarray  # (N,E)


def readout_forward(s, y, c, p):
    """s (N,H), y (N,E), c (N,C) -> o (N,E), cache."""
    pre = matmul(s, p.W_s)
    pre += matmul(y, p.W_y)
    pre += matmul(c, p.W_c)
    pre += p.b_s + p.b_y + p.b_c
    o = np.tanh(pre)  # (11)
    return o, ReadoutCache(s, y, c, o)


def readout_backward(do, cache, p, g):
    """do (N,E) -> ds (N,H), dy (N,E), dc (N,C); adds into g."""
    # forward: o = tanh(pre)
    dpre = do * (1 - cache.o * cache.o)
    # forward: pre = s W_s + b_s + y W_y + b_y + c W_c + b_c
    add_product(g.W_s, cache.s, dpre)
    add_product(g.W_y, cache.y, dpre)
    add_product(g.W_c, cache.c, dpre)
    db = dpre.sum(axis=0)
    g.b_s += db
    g.b_y += db
    g.b_c += db
    return matmul(dpre, p.W_s.T), matmul(dpre, p.W_y.T), matmul(dpre, p.W_c.T)
