"""Small functions that several layers share: the logistic function and the flattening of time and batch."""

import numpy as np


def sigmoid(x):
    """1 / (1 + exp(-x)), written with tanh because that cannot overflow (and numpy's tanh is vectorised)."""
    return 0.5 * np.tanh(0.5 * x) + 0.5


def flat(x):
    """(T,B,D) -> (T*B,D), so that one matrix product serves all time steps."""
    return x.reshape(-1, x.shape[-1])
