"""The decoder's first state, from the mean of the source annotations:

    s_0 = tanh(mean_i(h_i) W + b)   (4)  over the unmasked positions i

Notebook 03 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .functions import add_product, matmul


@dataclass
class StartState:
    """Parameters of the first state."""

    W: np.ndarray  # (C,H)
    b: np.ndarray  # (H)


class StartCache(NamedTuple):
    mean: np.ndarray  # (B,C)
    s0: np.ndarray  # (B,H)
    mask: np.ndarray  # (S,B)


def start_state_forward(h, mask, p):
    """h (S,B,C), mask (S,B) -> s0 (B,H), cache."""
    mean = np.einsum("sb,sbc->bc", mask, h) / mask.sum(axis=0)[:, None]
    s0 = np.tanh(matmul(mean, p.W) + p.b)  # (4)
    return s0, StartCache(mean, s0, mask)


def start_state_backward(ds0, cache, p, g):
    """ds0 (B,H) -> dh (S,B,C); adds into g."""
    # forward: s0 = tanh(mean W + b)
    dpre = ds0 * (1 - cache.s0 * cache.s0)
    add_product(g.W, cache.mean, dpre)
    g.b += dpre.sum(axis=0)
    dmean = matmul(dpre, p.W.T)
    # forward: mean = sum_i mask_i h_i / sum_i mask_i
    return dmean * (cache.mask / cache.mask.sum(axis=0))[:, :, None]
