"""The gated recurrent unit, one step and a whole sequence, as in dl4mt (DESIGN equations of the encoder):

    [r, u] = sigmoid(x W + b + h U)        (1)  reset and update gates
    c      = tanh(x Wx + bx + r * (h Ux))  (2)  candidate; the reset comes after the product
    h'     = u * h + (1 - u) * c           (3)  u keeps the old state

The input products x W + b and x Wx + bx need no earlier state, so the sequence computes them for all steps at
once and the step receives them ready. What lies between the products is element by element: kernels/gates.py has
it in numpy and, beside it, compiled. Taught in notebook 02.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.gates import gru_gates, gru_gates_backward

from .functions import add_product, flat, product


@dataclass
class GRU:
    """Parameters of one GRU; the gate matrices hold r in their first half, u in their second."""

    W: np.ndarray  # (E,2H) input -> gates
    b: np.ndarray  # (2H)
    U: np.ndarray  # (H,2H) state -> gates
    Wx: np.ndarray  # (E,H) input -> candidate
    bx: np.ndarray  # (H)
    Ux: np.ndarray  # (H,H) state -> candidate


class GRUStepCache(NamedTuple):
    h_prev: np.ndarray  # (B,H)
    gates: np.ndarray  # (B,2H) r and u
    h_cand: np.ndarray  # (B,H) h_prev Ux
    c: np.ndarray  # (B,H)
    mask: np.ndarray  # (B)


def gru_inputs(x, p):
    """x (...,E) -> x_gates (...,2H), x_cand (...,H): the part of a step that needs no earlier state."""
    x_gates, x_cand = product(x, p.W), product(x, p.Wx)
    x_gates += p.b
    x_cand += p.bx
    return x_gates, x_cand


def gru_inputs_gradient(dx_gates, dx_cand, p):
    """dx_gates (...,2H), dx_cand (...,H) -> dx (...,E)."""
    # forward: x_gates = x W + b, x_cand = x Wx + bx
    dx = product(dx_gates, p.W.T)
    dx += product(dx_cand, p.Wx.T)
    return dx


def gru_step_forward(x_gates, x_cand, h_prev, mask, p):
    """x_gates (B,2H), x_cand (B,H), h_prev (B,H), mask (B) -> h (B,H), cache."""
    h_gates = h_prev @ p.U
    h_cand = h_prev @ p.Ux
    gates, c, h = np.empty_like(h_gates), np.empty_like(h_cand), np.empty_like(h_prev)
    # gates = sigmoid(x_gates + h_gates); c = tanh(x_cand + r * h_cand); h = u * h_prev + (1 - u) * c
    gru_gates(x_gates, x_cand, h_gates, h_cand, h_prev, mask, gates, c, h)
    return h, GRUStepCache(h_prev, gates, h_cand, c, mask)


def gru_step_backward(dh, cache, p):
    """dh (B,H) -> dx_gates (B,2H), dx_cand (B,H), dh_prev (B,H), dh_cand (B,H).

    The gradients of U and Ux are left to the caller, who adds them for all steps in one product: U's needs
    dx_gates, Ux's needs dh_cand.
    """
    dx_gates = np.empty_like(cache.gates)
    dx_cand, dh_cand, dh_prev = np.empty_like(dh), np.empty_like(dh), np.empty_like(dh)
    # forward: gru_gates, everything between the products
    _, gates, h_cand, c, mask = cache
    gru_gates_backward(dh, gates, c, h_cand, cache.h_prev, mask, dx_gates, dx_cand, dh_cand, dh_prev)
    # forward: h_gates = h_prev U and h_cand = h_prev Ux
    dh_prev += dx_gates @ p.U.T
    dh_prev += dh_cand @ p.Ux.T
    return dx_gates, dx_cand, dh_prev, dh_cand


class GRUSequenceCache(NamedTuple):
    x: np.ndarray  # (S,B,E)
    steps: list  # S times GRUStepCache


def gru_sequence_forward(x, h0, mask, p):
    """x (S,B,E), h0 (B,H), mask (S,B) -> h (S,B,H), cache."""
    x_gates, x_cand = gru_inputs(x, p)
    h = np.empty((*x.shape[:2], h0.shape[1]), x.dtype)
    steps, h_prev = [], h0
    for t in range(len(x)):
        h[t], step = gru_step_forward(x_gates[t], x_cand[t], h_prev, mask[t], p)
        steps.append(step)
        h_prev = h[t]
    return h, GRUSequenceCache(x, steps)


def gru_sequence_backward(dh, cache, p, g):
    """dh (S,B,H) -> dx (S,B,E), dh0 (B,H); adds into g."""
    S, B, H = dh.shape
    dx_gates = np.empty((S, B, 2 * H), dh.dtype)
    dx_cand, dh_cand = np.empty_like(dh), np.empty_like(dh)
    dh_prev = np.zeros_like(dh[0])
    for t in reversed(range(S)):
        grads = gru_step_backward(dh[t] + dh_prev, cache.steps[t], p)
        dx_gates[t], dx_cand[t], dh_prev, dh_cand[t] = grads
    gru_add_weight_grads(cache.x, [step.h_prev for step in cache.steps], dx_gates, dx_cand, dh_cand, g)
    return gru_inputs_gradient(dx_gates, dx_cand, p), dh_prev


def gru_add_weight_grads(x, h_prev, dx_gates, dx_cand, dh_cand, g):
    """Add the gradients of one GRU's weights into g, one product each for all time steps.

    x (T,B,E), h_prev T times (B,H), dx_gates (T,B,2H), dx_cand (T,B,H), dh_cand (T,B,H).
    """
    x, h_prev = flat(x), np.concatenate(h_prev)
    # forward: x_gates = x W + b, and h_prev U is added to it
    add_product(g.W, x, flat(dx_gates))
    g.b += flat(dx_gates).sum(axis=0)
    add_product(g.U, h_prev, flat(dx_gates))
    # forward: x_cand = x Wx + bx, h_cand = h_prev Ux
    add_product(g.Wx, x, flat(dx_cand))
    g.bx += flat(dx_cand).sum(axis=0)
    add_product(g.Ux, h_prev, flat(dh_cand))
