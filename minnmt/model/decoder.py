"""The decoder: at each step a GRU reads the previous word, attention looks at the source, a second cell mixes both.

    s'         = GRU(y_{t-1}, s_{t-1})   (1) to (3)
    (c, alpha) = attention(s')           (5) to (7)
    s          = context_cell(s', c)     (8) to (10)

`decoder_step_forward` serves training and search alike. Notebook 03 teaches this file.
"""

from typing import NamedTuple

import numpy as np

from ..nn.attention import AttentionCache, Memory, attention_backward, attention_forward, attention_memory_backward
from ..nn.conditional_gru import (
    ContextCellCache,
    ContextCellGrads,
    context_cell_add_weight_grads,
    context_cell_backward,
    context_cell_forward,
)
from ..nn.functions import add_product, flat
from ..nn.gru import (
    GRUStepCache,
    gru_add_weight_grads,
    gru_inputs_backward,
    gru_inputs_forward,
    gru_step_backward,
    gru_step_forward,
)


class DecoderStepCache(NamedTuple):
    gru: GRUStepCache
    attention: AttentionCache
    cell: ContextCellCache


def decoder_step_forward(y_gates, y_cand, s_prev, memory, p):
    """y_gates (B,2H), y_cand (B,H), s_prev (B,H), memory -> s (B,H), c (B,C), alpha (S,B), cache."""
    s1, gru_cache = gru_step_forward(y_gates, y_cand, s_prev, None, p.decoder_gru)
    c, alpha, attention_cache = attention_forward(s1, memory, p.attention)
    s, cell_cache = context_cell_forward(s1, c, p.decoder_cell)
    return s, c, alpha, DecoderStepCache(gru_cache, attention_cache, cell_cache)


class DecoderStepGrads(NamedTuple):
    """Per-step gradients of which the weights' gradients are made, all steps at once."""

    dx_gates: np.ndarray  # (B,2H)
    dx_cand: np.ndarray  # (B,H)
    dh_cand: np.ndarray  # (B,H)
    ds_proj: np.ndarray  # (B,C)
    dc: np.ndarray  # (B,C)
    cell: ContextCellGrads


def decoder_step_backward(ds, dc, cache, memory, p, g, dh_proj):
    """ds (B,H), dc (B,C) -> ds_prev (B,H), DecoderStepGrads; adds into g (attention's v) and dh_proj (S,B,C)."""
    # forward: s = context_cell(s1, c)
    ds1, dc_cell, cell = context_cell_backward(ds, cache.cell, p.decoder_cell)
    dc = dc + dc_cell
    # forward: c, alpha = attention(s1)
    ds1_attention, ds_proj = attention_backward(dc, cache.attention, memory, p.attention, g.attention, dh_proj)
    ds1 += ds1_attention
    # forward: s1 = GRU(y, s_prev)
    dx_gates, dx_cand, ds_prev, dh_cand = gru_step_backward(ds1, cache.gru, p.decoder_gru)
    return ds_prev, DecoderStepGrads(dx_gates, dx_cand, dh_cand, ds_proj, dc, cell)


class DecoderCache(NamedTuple):
    y: np.ndarray  # (T,B,E)
    memory: Memory
    alphas: np.ndarray  # (T,S,B)
    steps: list  # T times DecoderStepCache


def decoder_forward(y, s0, memory, p):
    """y (T,B,E) previous words, s0 (B,H), memory -> s (T,B,H), c (T,B,C), alphas (T,S,B), cache.

    No mask: what happens after a sentence's eos has no loss and so no gradient.
    """
    T, B, _ = y.shape
    S, _, C = memory.h.shape
    y_gates, y_cand = gru_inputs_forward(y, p.decoder_gru)
    states, contexts = np.empty((T, B, s0.shape[1]), y.dtype), np.empty((T, B, C), y.dtype)
    alphas = np.empty((T, S, B), y.dtype)
    steps, s = [], s0
    for t in range(T):
        s, contexts[t], alphas[t], step = decoder_step_forward(y_gates[t], y_cand[t], s, memory, p)
        states[t] = s
        steps.append(step)
    return states, contexts, alphas, DecoderCache(y, memory, alphas, steps)


def decoder_backward(dstates, dcontexts, cache, p, g):
    """dstates (T,B,H), dcontexts (T,B,C) -> dy (T,B,E), ds0 (B,H), dh (S,B,C); adds into g."""
    T = len(dstates)
    ds = np.zeros_like(dstates[0])
    dh_proj = np.zeros_like(cache.memory.h_proj)
    grads = [None] * T
    for t in reversed(range(T)):
        ds, grads[t] = decoder_step_backward(dstates[t] + ds, dcontexts[t], cache.steps[t], cache.memory, p, g, dh_proj)
    dx_gates, dx_cand, dh_cand, ds_proj, dc = (np.stack([step[i] for step in grads]) for i in range(5))
    # the weights serve every step: one product over all T*B rows gives each gradient
    s_prev = np.concatenate([step.gru.h_prev for step in cache.steps])
    gru_add_weight_grads(flat(cache.y), s_prev, flat(dx_gates), flat(dx_cand), flat(dh_cand), g.decoder_gru)
    s1 = np.concatenate([step.cell.s1 for step in cache.steps])
    contexts = np.concatenate([step.cell.context for step in cache.steps])
    cell_grads = ContextCellGrads(*(np.concatenate(parts) for parts in zip(*(step.cell for step in grads))))
    context_cell_add_weight_grads(s1, contexts, cell_grads, g.decoder_cell)
    dy = gru_inputs_backward(dx_gates, dx_cand, p.decoder_gru)
    # forward: attention adds s1 W_s to the projected annotations
    add_product(g.attention.W_s, s1, flat(ds_proj))
    dh = attention_memory_backward(dh_proj, cache.alphas, dc, cache.memory, p.attention, g.attention)
    return dy, ds, dh
