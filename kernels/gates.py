"""The element-wise parts of the two recurrent cells, one pass over memory each.

The matrix products stay with BLAS (minnmt/nn/gru.py, minnmt/nn/conditional_gru.py); what is between them, about
fifteen numpy operations a step, is one kernel here. Gates hold r in their first half, u in their second.
"""

import numpy as np

from .functions import sigmoid, tanh
from .jit import device_function, kernel

ONE = np.float32(1)


@device_function
def gated(x_r, h_r, x_u, h_u, x_c, h_c, h_prev):
    """One number of a gated cell: the two sides of its gates and candidate, the old state -> h, r, u, c."""
    r = sigmoid(x_r + h_r)
    u = sigmoid(x_u + h_u)
    c = tanh(x_c + r * h_c)
    return u * h_prev + (ONE - u) * c, r, u, c


def gru_gates_numpy(x_gates, x_cand, h_gates, h_cand, h_prev, mask, gates, c, h):
    """One step of a GRU after its products: x_gates, h_gates (B,2H), x_cand, h_cand, h_prev (B,H), mask (B).

    Fills gates (B,2H), the candidate c (B,H) and the new state h (B,H).
    """
    H = h_prev.shape[1]
    gates[:] = 0.5 * np.tanh(0.5 * (x_gates + h_gates)) + 0.5
    r, u = gates[:, :H], gates[:, H:]
    c[:] = np.tanh(x_cand + r * h_cand)
    h[:] = u * h_prev + (1 - u) * c
    h[:] = mask[:, None] * h + (1 - mask[:, None]) * h_prev


@kernel(twin=gru_gates_numpy)
def gru_gates(x_gates, x_cand, h_gates, h_cand, h_prev, mask, gates, c, h):
    B, H = h_prev.shape
    for b in range(B):
        keep = ONE - mask[b]
        for j in range(2 * H):
            gates[b, j] = sigmoid(x_gates[b, j] + h_gates[b, j])
        for j in range(H):
            u = gates[b, H + j]
            c[b, j] = tanh(x_cand[b, j] + gates[b, j] * h_cand[b, j])
            new = u * h_prev[b, j] + (ONE - u) * c[b, j]
            h[b, j] = mask[b] * new + keep * h_prev[b, j]


def gru_gates_backward_numpy(dh, gates, c, h_cand, h_prev, mask, dx_gates, dx_cand, dh_cand, dh_prev):
    """The reverse: dh (B,H) -> fills dx_gates (B,2H), dx_cand, dh_cand, dh_prev (B,H).

    dh_prev is the part that does not pass through the matrix products.
    """
    H = dh.shape[1]
    r, u = gates[:, :H], gates[:, H:]
    # forward: h = mask * h + (1 - mask) * h_prev
    dh_new = mask[:, None] * dh
    dh_prev[:] = dh - dh_new
    # forward: h = u * h_prev + (1 - u) * c
    du = dh_new * (h_prev - c)
    dc = dh_new * (1 - u)
    dh_prev += dh_new * u
    # forward: c = tanh(x_cand + r * h_cand)
    dx_cand[:] = dc * (1 - c * c)
    dh_cand[:] = dx_cand * r
    # forward: gates = sigmoid(x_gates + h_gates)
    dx_gates[:, :H] = dx_cand * h_cand * r * (1 - r)
    dx_gates[:, H:] = du * u * (1 - u)


@kernel(twin=gru_gates_backward_numpy)
def gru_gates_backward(dh, gates, c, h_cand, h_prev, mask, dx_gates, dx_cand, dh_cand, dh_prev):
    B, H = dh.shape
    for b in range(B):
        for j in range(H):
            r, u = gates[b, j], gates[b, H + j]
            d = mask[b] * dh[b, j]
            dpre = d * (ONE - u) * (ONE - c[b, j] * c[b, j])
            dx_cand[b, j] = dpre
            dh_cand[b, j] = dpre * r
            dx_gates[b, j] = dpre * h_cand[b, j] * r * (ONE - r)
            dx_gates[b, H + j] = d * (h_prev[b, j] - c[b, j]) * u * (ONE - u)
            dh_prev[b, j] = dh[b, j] - d + d * u


def context_gates_numpy(s_gates, c_gates, s_cand, c_cand, s1, gates, cand, s):
    """The decoder's second cell after its products: s_gates, c_gates (B,2H), s_cand, c_cand, s1 (B,H).

    Fills gates (B,2H), the candidate cand (B,H) and the new state s (B,H).
    """
    H = s1.shape[1]
    gates[:] = 0.5 * np.tanh(0.5 * (s_gates + c_gates)) + 0.5
    r, u = gates[:, :H], gates[:, H:]
    cand[:] = np.tanh(s_cand * r + c_cand)
    s[:] = u * s1 + (1 - u) * cand


@kernel(twin=context_gates_numpy)
def context_gates(s_gates, c_gates, s_cand, c_cand, s1, gates, cand, s):
    B, H = s1.shape
    for b in range(B):
        for j in range(2 * H):
            gates[b, j] = sigmoid(s_gates[b, j] + c_gates[b, j])
        for j in range(H):
            u = gates[b, H + j]
            cand[b, j] = tanh(s_cand[b, j] * gates[b, j] + c_cand[b, j])
            s[b, j] = u * s1[b, j] + (ONE - u) * cand[b, j]


def context_gates_backward_numpy(ds, gates, cand, s_cand, s1, dgates, dpre, ds_cand, ds1):
    """The reverse: ds (B,H) -> fills dgates (B,2H), dpre (before the tanh), ds_cand, ds1 (B,H).

    ds1 is the part that does not pass through the matrix products.
    """
    H = ds.shape[1]
    r, u = gates[:, :H], gates[:, H:]
    # forward: s = u * s1 + (1 - u) * cand
    du = ds * (s1 - cand)
    ds1[:] = ds * u
    # forward: cand = tanh(s_cand * r + c_cand)
    dpre[:] = ds * (1 - u) * (1 - cand * cand)
    ds_cand[:] = dpre * r
    # forward: gates = sigmoid(s_gates + c_gates)
    dgates[:, :H] = dpre * s_cand * r * (1 - r)
    dgates[:, H:] = du * u * (1 - u)


@kernel(twin=context_gates_backward_numpy)
def context_gates_backward(ds, gates, cand, s_cand, s1, dgates, dpre, ds_cand, ds1):
    B, H = ds.shape
    for b in range(B):
        for j in range(H):
            r, u = gates[b, j], gates[b, H + j]
            d = ds[b, j] * (ONE - u) * (ONE - cand[b, j] * cand[b, j])
            dpre[b, j] = d
            ds_cand[b, j] = d * r
            dgates[b, j] = d * s_cand[b, j] * r * (ONE - r)
            dgates[b, H + j] = ds[b, j] * (s1[b, j] - cand[b, j]) * u * (ONE - u)
            ds1[b, j] = ds[b, j] * u
