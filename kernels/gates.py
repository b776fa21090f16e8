"""The gated cell in one pass over memory: what lies between the matrix products of both recurrent layers.

The equations are in minnmt/nn/gru.py and minnmt/nn/conditional_gru.py. The two cells differ only in what is outside
the reset (products of the input, or of the context) and what is inside (products of the state), so one kernel serves
both. Gates hold r in their first half, u in their second. Notebook 02 teaches the cell, 08 the kernels.
"""

import numpy as np

from .functions import ONE, sigmoid, tanh
from .jit import device_function, kernel


@device_function
def gated(x_r, h_r, x_u, h_u, x_c, h_c, h_prev):
    """One number of a state: what is outside the reset (x) and inside (h) for r, u and c -> h, r, u, c."""
    r = sigmoid(x_r + h_r)
    u = sigmoid(x_u + h_u)
    c = tanh(x_c + r * h_c)
    return u * h_prev + (ONE - u) * c, r, u, c


@kernel
def gated_state(x_gates, x_cand, h_gates, h_cand, h_prev):
    """Fast because
    - about ten numpy operations, each a pass over memory, become one;
    - tanh is a rational function that the compiler can vectorise.
    """
    B, H = h_prev.shape
    h, gates, c = np.empty((B, H), np.float32), np.empty((B, 2 * H), np.float32), np.empty((B, H), np.float32)
    fill_state(x_gates, x_cand, h_gates, h_cand, h_prev, h, gates, c)
    return h, gates, c


@device_function
def fill_state(x_gates, x_cand, h_gates, h_cand, h_prev, h, gates, c):
    """gated_state, into the arrays h, gates and c."""
    B, H = h_prev.shape
    for b in range(B):
        x, y = x_gates[b], h_gates[b]
        for j in range(H):
            state, r, u, cand = gated(x[j], y[j], x[H + j], y[H + j], x_cand[b, j], h_cand[b, j], h_prev[b, j])
            h[b, j], gates[b, j], gates[b, H + j], c[b, j] = state, r, u, cand


@kernel
def gated_state_backward(dh, gates, c, h_cand, h_prev):
    """Fast as gated_state is."""
    B, H = dh.shape
    dgates, dx_cand = np.empty((B, 2 * H), np.float32), np.empty((B, H), np.float32)
    dh_cand, dh_prev = np.empty((B, H), np.float32), np.empty((B, H), np.float32)
    fill_state_backward(dh, gates, c, h_cand, h_prev, dgates, dx_cand, dh_cand, dh_prev)
    return dgates, dx_cand, dh_cand, dh_prev


@device_function
def fill_state_backward(dh, gates, c, h_cand, h_prev, dgates, dx_cand, dh_cand, dh_prev):
    """gated_state_backward, into the last four arrays."""
    B, H = dh.shape
    for b in range(B):
        for j in range(H):
            d, r, u, cand = dh[b, j], gates[b, j], gates[b, H + j], c[b, j]
            dpre = d * (ONE - u) * (ONE - cand * cand)
            dx_cand[b, j] = dpre
            dh_cand[b, j] = dpre * r
            dgates[b, j] = dpre * h_cand[b, j] * r * (ONE - r)
            dgates[b, H + j] = d * (h_prev[b, j] - cand) * u * (ONE - u)
            dh_prev[b, j] = d * u
