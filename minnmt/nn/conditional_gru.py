"""The decoder's second cell, which lets the context c into the state s' that the first GRU made:

    [r, u] = sigmoid(s' U + b + c W)         (8)
    s~     = tanh((s' Ux + bx) * r + c Wx)   (9)  here the bias is inside the reset
    s      = u * s' + (1 - u) * s~           (10)  in code s~ is s_tilde

It is a GRU's cell with the context in the place of the input. Together with a GRU before it and the attention between,
this is dl4mt's conditional GRU (minnmt/model/decoder.py puts them together). Notebook 03 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from .functions import add_product, halves, matmul, sigmoid


@dataclass
class ContextCell:
    """Parameters of the second cell; r is the first half of the gates, u the second."""

    U: np.ndarray  # (H,2H) state -> gates
    b: np.ndarray  # (2H)
    Ux: np.ndarray  # (H,H) state -> candidate
    bx: np.ndarray  # (H)
    W: np.ndarray  # (C,2H) context -> gates
    Wx: np.ndarray  # (C,H) context -> candidate


# The gates: everything between the products


@compiled("gates.gated_state")
def context_gates(c_gates, c_cand, s_gates, s_cand, s1):
    """c_gates, s_gates (B,2H), c_cand, s_cand, s1 (B,H) -> s (B,H), gates (B,2H), s_tilde (B,H)."""
    gates = sigmoid(s_gates + c_gates)  # (8)
    r, u = halves(gates)
    s_tilde = np.tanh(s_cand * r + c_cand)  # (9)
    s = u * s1 + (1 - u) * s_tilde  # (10)
    return s, gates, s_tilde


@compiled("gates.gated_state_backward")
def context_gates_backward(ds, gates, s_tilde, s_cand, s1):
    """ds (B,H) -> dgates (B,2H), dc_cand, ds_cand, ds1 (B,H).

    dgates is the gradient before the sigmoid, of c_gates and of s_gates alike; ds1 is the part that (10) gives.
    """
    r, u = halves(gates)
    # forward: s = u * s1 + (1 - u) * s_tilde
    du = ds * (s1 - s_tilde)
    ds1 = ds * u
    ds_tilde = ds * (1 - u)
    # forward: s_tilde = tanh(s_cand * r + c_cand)
    dc_cand = ds_tilde * (1 - s_tilde * s_tilde)
    dr = dc_cand * s_cand
    ds_cand = dc_cand * r
    # forward: gates = sigmoid(s_gates + c_gates), gates = [r, u]
    dgates = np.concatenate([dr * r * (1 - r), du * u * (1 - u)], axis=1)
    return dgates, dc_cand, ds_cand, ds1


# The cell


class ContextCellCache(NamedTuple):
    s1: np.ndarray  # (B,H) the state s' that comes in
    context: np.ndarray  # (B,C)
    gates: np.ndarray  # (B,2H)
    s_cand: np.ndarray  # (B,H) s' Ux + bx
    s_tilde: np.ndarray  # (B,H)


class ContextCellGrads(NamedTuple):
    """Gradients of the products inside one step, kept so that the weights' gradients take one product each."""

    dgates: np.ndarray  # (B,2H) before the sigmoid
    dc_cand: np.ndarray  # (B,H)
    ds_cand: np.ndarray  # (B,H)


def context_cell_forward(s1, context, p):
    """s1 (B,H), context (B,C) -> s (B,H), cache."""
    s_gates = matmul(s1, p.U) + p.b
    s_cand = matmul(s1, p.Ux) + p.bx
    c_gates = matmul(context, p.W)
    c_cand = matmul(context, p.Wx)
    s, gates, s_tilde = context_gates(c_gates, c_cand, s_gates, s_cand, s1)  # (8) to (10)
    return s, ContextCellCache(s1, context, gates, s_cand, s_tilde)


def context_cell_backward(ds, cache, p):
    """ds (B,H) -> ds1 (B,H), dcontext (B,C), ContextCellGrads (for `context_cell_add_weight_grads`)."""
    s1, _, gates, s_cand, s_tilde = cache
    # forward: s, gates, s_tilde = context_gates(c_gates, c_cand, s_gates, s_cand, s1)
    dgates, dc_cand, ds_cand, ds1 = context_gates_backward(ds, gates, s_tilde, s_cand, s1)
    # forward: s_gates = s1 U + b, s_cand = s1 Ux + bx
    ds1 += matmul(dgates, p.U.T)
    ds1 += matmul(ds_cand, p.Ux.T)
    # forward: c_gates = context W, c_cand = context Wx
    dcontext = matmul(dgates, p.W.T)
    dcontext += matmul(dc_cand, p.Wx.T)
    return ds1, dcontext, ContextCellGrads(dgates, dc_cand, ds_cand)


def context_cell_add_weight_grads(s1, context, grads, g):
    """Add the gradients of the cell's weights into g, one product each for the N rows of all time steps.

    s1 (N,H), context (N,C), grads: ContextCellGrads of (N,...) arrays.
    """
    # forward: s_gates = s1 U + b, and c_gates = context W is added to it
    add_product(g.U, s1, grads.dgates)
    g.b += grads.dgates.sum(axis=0)
    add_product(g.W, context, grads.dgates)
    # forward: s_cand = s1 Ux + bx
    add_product(g.Ux, s1, grads.ds_cand)
    g.bx += grads.ds_cand.sum(axis=0)
    # forward: c_cand = context Wx
    add_product(g.Wx, context, grads.dc_cand)
