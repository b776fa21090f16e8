"""The gated recurrent unit: one step, and a whole sequence.

    [r, u] = sigmoid(x W + b + h U)        (1)  reset and update gates
    h~     = tanh(x Wx + bx + r * (h Ux))  (2)  candidate; the reset comes after the product
    h'     = u * h + (1 - u) * h~          (3)  u keeps the old state

The products x W + b and x Wx + bx need no earlier state: `gru_inputs_forward` computes them for all steps at once.
In code h~ is h_tilde. Left out: the variant of the GRU that resets before the product. Notebook 02 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from .functions import add_product, flat, halves, matmul, multiplier, product, sigmoid


@dataclass
class GRU:
    """Parameters of one GRU; the gate matrices hold r in their first half, u in their second."""

    W: np.ndarray  # (E,2H) input -> gates
    b: np.ndarray  # (2H)
    U: np.ndarray  # (H,2H) state -> gates
    Wx: np.ndarray  # (E,H) input -> candidate
    bx: np.ndarray  # (H)
    Ux: np.ndarray  # (H,H) state -> candidate


# The products of the input


def gru_inputs_forward(x, p):
    """x (...,E) -> x_gates (...,2H), x_cand (...,H): the part of (1) and (2) that needs no earlier state."""
    x_gates = product(x, p.W)
    x_gates += p.b
    x_cand = product(x, p.Wx)
    x_cand += p.bx
    return x_gates, x_cand


def gru_inputs_backward(dx_gates, dx_cand, p):
    """dx_gates (...,2H), dx_cand (...,H) -> dx (...,E). The weights' part is in `gru_add_weight_grads`."""
    # forward: x_gates = x W + b
    dx = product(dx_gates, p.W.T)
    # forward: x_cand = x Wx + bx
    dx += product(dx_cand, p.Wx.T)
    return dx


# The gates: everything between the products


@compiled("gates.gated_state")
def gru_gates(x_gates, x_cand, h_gates, h_cand, h_prev):
    """x_gates, h_gates (B,2H), x_cand, h_cand, h_prev (B,H) -> h (B,H), gates (B,2H), h_tilde (B,H)."""
    gates = sigmoid(x_gates + h_gates)  # (1)
    r, u = halves(gates)
    h_tilde = np.tanh(x_cand + r * h_cand)  # (2)
    h = u * h_prev + (1 - u) * h_tilde  # (3)
    return h, gates, h_tilde


@compiled("gates.gated_state_backward")
def gru_gates_backward(dh, gates, h_tilde, h_cand, h_prev):
    """dh (B,H) -> dgates (B,2H), dx_cand, dh_cand, dh_prev (B,H).

    dgates is the gradient before the sigmoid, of x_gates and of h_gates alike; dh_prev is the part that (3) gives.
    """
    r, u = halves(gates)
    # forward: h = u * h_prev + (1 - u) * h_tilde
    du = dh * (h_prev - h_tilde)
    dh_prev = dh * u
    dh_tilde = dh * (1 - u)
    # forward: h_tilde = tanh(x_cand + r * h_cand)
    dx_cand = dh_tilde * (1 - h_tilde * h_tilde)
    dr = dx_cand * h_cand
    dh_cand = dx_cand * r
    # forward: gates = sigmoid(x_gates + h_gates), gates = [r, u]
    dgates = np.concatenate([dr * r * (1 - r), du * u * (1 - u)], axis=1)
    return dgates, dx_cand, dh_cand, dh_prev


# A step


class GRUStepCache(NamedTuple):
    h_prev: np.ndarray  # (B,H)
    gates: np.ndarray  # (B,2H) r and u
    h_cand: np.ndarray  # (B,H) h_prev Ux
    h_tilde: np.ndarray  # (B,H)
    mask: np.ndarray | None  # (B,1)


def gru_step_forward(x_gates, x_cand, h_prev, mask, p):
    """x_gates (B,2H), x_cand (B,H), h_prev (B,H), mask (B) or None -> h (B,H), cache.

    Where the mask is 0, at padding, the old state is kept.
    """
    h_gates = matmul(h_prev, p.U)
    h_cand = matmul(h_prev, p.Ux)
    h, gates, h_tilde = gru_gates(x_gates, x_cand, h_gates, h_cand, h_prev)  # (1) to (3)
    if mask is not None:
        mask = mask[:, None]
        h = mask * h + (1 - mask) * h_prev
    return h, GRUStepCache(h_prev, gates, h_cand, h_tilde, mask)


def gru_step_backward(dh, cache, p):
    """dh (B,H) -> dx_gates (B,2H), dx_cand (B,H), dh_prev (B,H), dh_cand (B,H).

    The gradients of U and Ux are left to the caller, who adds them for all steps in one product: U's needs
    dx_gates, Ux's needs dh_cand.
    """
    h_prev, gates, h_cand, h_tilde, mask = cache
    # forward: h = mask * h + (1 - mask) * h_prev, its first half
    dh_new = dh if mask is None else mask * dh
    # forward: h, gates, h_tilde = gru_gates(x_gates, x_cand, h_gates, h_cand, h_prev)
    dx_gates, dx_cand, dh_cand, dh_prev = gru_gates_backward(dh_new, gates, h_tilde, h_cand, h_prev)
    # forward: h_gates = h_prev U
    dh_prev += matmul(dx_gates, p.U.T)
    # forward: h_cand = h_prev Ux
    dh_prev += matmul(dh_cand, p.Ux.T)
    # forward: h = mask * h + (1 - mask) * h_prev, its second half
    if mask is not None:
        dh_prev += dh - dh_new
    return dx_gates, dx_cand, dh_prev, dh_cand


# A sequence


class Recurrent(NamedTuple):
    """What a step multiplies the state with: arrays, or packed for products in bfloat16."""

    U: np.ndarray  # (H,2H)
    Ux: np.ndarray  # (H,H)


class GRUSequenceCache(NamedTuple):
    x: np.ndarray  # (S,B,E)
    all_steps: GRUStepCache  # its arrays with S in front

    @property
    def steps(self):
        """S times GRUStepCache."""
        return [step_of(self.all_steps, t) for t in range(len(self.x))]


def step_of(all_steps, t):
    """A cache whose arrays have the steps in front -> that of step t."""
    return type(all_steps)(*(None if array is None else array[t] for array in all_steps))


def gru_sequence_forward(x, h0, mask, p):
    """x (S,B,E), h0 (B,H), mask (S,B) -> h (S,B,H), cache."""
    x_gates, x_cand = gru_inputs_forward(x, p)
    mask = np.ascontiguousarray(mask)
    weights = Recurrent(multiplier(p.U), multiplier(p.Ux))
    h, gates, h_cand, h_tilde = gru_steps_forward(x_gates, x_cand, h0, mask, weights)
    return h, GRUSequenceCache(x, GRUStepCache(states_before(h0, h), gates, h_cand, h_tilde, mask[:, :, None]))


def states_before(h0, h):
    """h0 (B,H), h (S,B,H) -> (S,B,H): the state that each step began with."""
    return np.concatenate([h0[None], h[:-1]])


@compiled("sequences.gru_steps")
def gru_steps_forward(x_gates, x_cand, h0, mask, p):
    """x_gates (S,B,2H), x_cand (S,B,H), h0 (B,H), mask (S,B), p: Recurrent -> h, gates, h_cand, h_tilde, all steps."""
    h, gates, h_cand, h_tilde = [np.empty_like(like) for like in (x_cand, x_gates, x_cand, x_cand)]
    h_prev = h0
    for t in range(len(x_gates)):
        h_prev, step = gru_step_forward(x_gates[t], x_cand[t], h_prev, mask[t], p)
        h[t], gates[t], h_cand[t], h_tilde[t] = h_prev, step.gates, step.h_cand, step.h_tilde
    return h, gates, h_cand, h_tilde


def gru_sequence_backward(dh, cache, p, g):
    """dh (S,B,H) -> dx (S,B,E), dh0 (B,H); adds into g."""
    x, steps = cache
    dh = np.ascontiguousarray(dh)
    dx_gates, dx_cand, dh_cand, dh0 = gru_steps_backward(dh, steps, Recurrent(multiplier(p.U), multiplier(p.Ux)))
    gru_add_weight_grads(flat(x), flat(steps.h_prev), flat(dx_gates), flat(dx_cand), flat(dh_cand), g)
    return gru_inputs_backward(dx_gates, dx_cand, p), dh0


@compiled("sequences.gru_steps_backward")
def gru_steps_backward(dh, steps, p):
    """dh (S,B,H), steps: GRUStepCache of all steps, p: Recurrent -> dx_gates, dx_cand, dh_cand, dh0 (B,H)."""
    dx_gates, dx_cand, dh_cand = (np.empty_like(like) for like in (steps.gates, dh, dh))
    dh_prev = np.zeros(dh.shape[1:], dh.dtype)
    for t in reversed(range(len(dh))):
        grads = gru_step_backward(dh[t] + dh_prev, step_of(steps, t), p)
        dx_gates[t], dx_cand[t], dh_prev, dh_cand[t] = grads
    return dx_gates, dx_cand, dh_cand, dh_prev


def gru_add_weight_grads(x, h_prev, dx_gates, dx_cand, dh_cand, g):
    """Add the gradients of a GRU's weights into g, one product each for the N rows of all time steps.

    x (N,E), h_prev (N,H), dx_gates (N,2H), dx_cand (N,H), dh_cand (N,H).
    """
    # forward: x_gates = x W + b, and h_gates = h_prev U is added to it
    add_product(g.W, x, dx_gates)
    g.b += dx_gates.sum(axis=0)
    add_product(g.U, h_prev, dx_gates)
    # forward: x_cand = x Wx + bx
    add_product(g.Wx, x, dx_cand)
    g.bx += dx_cand.sum(axis=0)
    # forward: h_cand = h_prev Ux
    add_product(g.Ux, h_prev, dh_cand)
