"""The decoder's second cell, which lets the context c into the state s' that the first GRU made:

    [r, u] = sigmoid(s' U + b + c W)         (8)
    g      = tanh((s' Ux + bx) * r + c Wx)   (9)  here the bias is inside the reset
    s      = u * s' + (1 - u) * g            (10)

Together with a plain GRU before it and the attention between, this is dl4mt's conditional GRU (see
minnmt/model/decoder.py). What lies between the products is in kernels/gates.py. Taught in notebook 03.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.gates import context_gates, context_gates_backward

from .functions import add_product


@dataclass
class ContextCell:
    """Parameters of the second cell; r is the first half of the gates, u the second."""

    U: np.ndarray  # (H,2H) state -> gates
    b: np.ndarray  # (2H)
    Ux: np.ndarray  # (H,H) state -> candidate
    bx: np.ndarray  # (H)
    W: np.ndarray  # (C,2H) context -> gates
    Wx: np.ndarray  # (C,H) context -> candidate


class ContextCellCache(NamedTuple):
    s1: np.ndarray  # (B,H) the state s' that comes in
    context: np.ndarray  # (B,C)
    gates: np.ndarray  # (B,2H)
    s_cand: np.ndarray  # (B,H) s' Ux + bx
    cand: np.ndarray  # (B,H) g of the equations


class ContextCellGrads(NamedTuple):
    """Gradients of the products inside one step, kept so that the weights' gradients take one product each."""

    dgates: np.ndarray  # (B,2H) before the sigmoid
    dpre: np.ndarray  # (B,H) before the tanh
    ds_cand: np.ndarray  # (B,H)


def context_cell_forward(s1, context, p):
    """s1 (B,H), context (B,C) -> s (B,H), cache."""
    s_gates, s_cand = s1 @ p.U + p.b, s1 @ p.Ux + p.bx
    c_gates, c_cand = context @ p.W, context @ p.Wx
    gates, cand, s = np.empty_like(s_gates), np.empty_like(s1), np.empty_like(s1)
    # gates = sigmoid(s_gates + c_gates); cand = tanh(s_cand * r + c_cand); s = u * s1 + (1 - u) * cand
    context_gates(s_gates, c_gates, s_cand, c_cand, s1, gates, cand, s)
    return s, ContextCellCache(s1, context, gates, s_cand, cand)


def context_cell_backward(ds, cache, p):
    """ds (B,H) -> ds1 (B,H), dcontext (B,C), ContextCellGrads (for `context_cell_add_weight_grads`)."""
    s1, _, gates, s_cand, cand = cache
    dgates = np.empty_like(gates)
    dpre, ds_cand, ds1 = np.empty_like(ds), np.empty_like(ds), np.empty_like(ds)
    # forward: context_gates, everything between the products
    context_gates_backward(ds, gates, cand, s_cand, s1, dgates, dpre, ds_cand, ds1)
    # forward: s_gates = s1 U + b, s_cand = s1 Ux + bx
    ds1 += dgates @ p.U.T
    ds1 += ds_cand @ p.Ux.T
    # forward: c_gates = context W, c_cand = context Wx
    dcontext = dgates @ p.W.T
    dcontext += dpre @ p.Wx.T
    return ds1, dcontext, ContextCellGrads(dgates, dpre, ds_cand)


def context_cell_add_weight_grads(s1, context, grads, g):
    """Add the gradients of the cell's weights into g, one product each for all rows.

    s1 (N,H), context (N,C), grads: ContextCellGrads of (N,...) arrays, N = T*B rows.
    """
    # forward: s1 U + b + context W
    add_product(g.U, s1, grads.dgates)
    g.b += grads.dgates.sum(axis=0)
    add_product(g.W, context, grads.dgates)
    # forward: s_cand = s1 Ux + bx
    add_product(g.Ux, s1, grads.ds_cand)
    g.bx += grads.ds_cand.sum(axis=0)
    # forward: context Wx
    add_product(g.Wx, context, grads.dpre)


