"""The decoder: at each step a GRU reads the previous word, attention looks at the source, a second cell mixes both.

    s'         = GRU(y_{t-1}, s_{t-1})   (1) to (3)
    (c, alpha) = attention(s')           (5) to (7)
    s          = context_cell(s', c)     (8) to (10)

`decoder_step_forward` serves training and search alike. Notebook 03 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..nn.attention import AttentionCache, Memory, attention_backward, attention_forward, attention_memory_backward
from ..nn.conditional_gru import (
    ContextCellCache,
    ContextCellGrads,
    context_cell_add_weight_grads,
    context_cell_backward,
    context_cell_forward,
)
from ..nn.functions import add_product, flat, multiplier
from ..nn.gru import (
    GRUStepCache,
    Recurrent,
    gru_add_weight_grads,
    gru_inputs_backward,
    gru_inputs_forward,
    gru_step_backward,
    gru_step_forward,
    states_before,
    step_of,
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


@dataclass
class EnergyGrads:
    """Gradients of attention's v and v_b, which the steps add into."""

    v: np.ndarray  # (C)
    v_b: np.ndarray  # (1)


class DecoderStepGrads(NamedTuple):
    """Per-step gradients of which the weights' gradients are made, all steps at once."""

    dx_gates: np.ndarray  # (B,2H)
    dx_cand: np.ndarray  # (B,H)
    dh_cand: np.ndarray  # (B,H)
    ds_proj: np.ndarray  # (B,C)
    dc: np.ndarray  # (B,C)
    cell: ContextCellGrads


def decoder_step_backward(ds, dc, cache, memory, p, g, dh_proj):
    """ds (B,H), dc (B,C) -> ds_prev (B,H), DecoderStepGrads; adds into g (v, v_b of attention) and dh_proj (S,B,C)."""
    # forward: s = context_cell(s1, c)
    ds1, dc_cell, cell = context_cell_backward(ds, cache.cell, p.decoder_cell)
    dc = dc + dc_cell
    # forward: c, alpha = attention(s1)
    ds1_attention, ds_proj = attention_backward(dc, cache.attention, memory, p.attention, g, dh_proj)
    ds1 += ds1_attention
    # forward: s1 = GRU(y, s_prev)
    dx_gates, dx_cand, ds_prev, dh_cand = gru_step_backward(ds1, cache.gru, p.decoder_gru)
    return ds_prev, DecoderStepGrads(dx_gates, dx_cand, dh_cand, ds_proj, dc, cell)


# All steps


class StepAttention(NamedTuple):
    """What a step needs of Attention."""

    W_s: np.ndarray  # (H,C)
    v: np.ndarray  # (C)
    v_b: np.ndarray  # (1)


class StepCell(NamedTuple):
    """ContextCell, of which a step needs everything."""

    U: np.ndarray  # (H,2H)
    b: np.ndarray  # (2H)
    Ux: np.ndarray  # (H,H)
    bx: np.ndarray  # (H)
    W: np.ndarray  # (C,2H)
    Wx: np.ndarray  # (C,H)


class StepWeights(NamedTuple):
    """What the steps need of Parameters, by the same names; matrices may be packed for products in bfloat16."""

    decoder_gru: Recurrent
    attention: StepAttention
    decoder_cell: StepCell


def step_weights(p):
    gru, attention, cell = p.decoder_gru, p.attention, p.decoder_cell
    return StepWeights(
        Recurrent(multiplier(gru.U), multiplier(gru.Ux)),
        StepAttention(multiplier(attention.W_s), attention.v, attention.v_b),
        StepCell(multiplier(cell.U), cell.b, multiplier(cell.Ux), cell.bx, multiplier(cell.W), multiplier(cell.Wx)),
    )


class DecoderCache(NamedTuple):
    y: np.ndarray  # (T,B,E)
    memory: Memory
    steps: DecoderStepCache  # its arrays with T in front


def decoder_forward(y, s0, memory, p):
    """y (T,B,E) previous words, s0 (B,H), memory -> s (T,B,H), c (T,B,C), alphas (T,S,B), cache.

    No mask: what happens after a sentence's eos has no loss and so no gradient.
    """
    y_gates, y_cand = gru_inputs_forward(y, p.decoder_gru)
    found = decoder_steps_forward(y_gates, y_cand, s0, memory, step_weights(p))
    states, gates, h_cand, h_tilde, s_proj, alphas, s1, contexts, cell_gates, s_cand, s_tilde = found
    steps = DecoderStepCache(
        GRUStepCache(states_before(s0, states), gates, h_cand, h_tilde, None),
        AttentionCache(s_proj, alphas),
        ContextCellCache(s1, contexts, cell_gates, s_cand, s_tilde),
    )
    return states, contexts, alphas, DecoderCache(y, memory, steps)


@compiled("sequences.decoder_steps")
def decoder_steps_forward(y_gates, y_cand, s0, memory, p):
    """y_gates (T,B,2H), y_cand (T,B,H), s0 (B,H), memory, p: StepWeights -> the states, then what backward needs.

    All with T in front: s, then gates, h_cand, h_tilde of the GRU, s_proj, alpha of the attention, s1, context, gates,
    s_cand, s_tilde of the cell.
    """
    (T, B, H), (S, _, C) = y_cand.shape, memory.h.shape
    sizes = [(B, H), (B, 2 * H), (B, H), (B, H), (B, C), (S, B), (B, H), (B, C), (B, 2 * H), (B, H), (B, H)]
    found, s = tuple(np.empty((T, *size), y_cand.dtype) for size in sizes), s0
    for t in range(T):
        s, _, _, step = decoder_step_forward(y_gates[t], y_cand[t], s, memory, p)
        gru = step.gru
        for array, value in zip(found, (s, gru.gates, gru.h_cand, gru.h_tilde, *step.attention, *step.cell)):
            array[t] = value
    return found


def decoder_backward(dstates, dcontexts, cache, p, g):
    """dstates (T,B,H), dcontexts (T,B,C) -> dy (T,B,E), ds0 (B,H), dh (S,B,C); adds into g."""
    y, memory, steps = cache
    ds0, dh_proj, *grads = decoder_steps_backward(
        np.ascontiguousarray(dstates), np.ascontiguousarray(dcontexts), steps, memory, step_weights(p),
        g.attention.v, g.attention.v_b,
    )  # fmt: skip
    dx_gates, dx_cand, dh_cand, ds_proj, dc, *cell_grads = grads
    # the weights serve every step: one product over all T*B rows gives each gradient
    gru_add_weight_grads(
        flat(y), flat(steps.gru.h_prev), flat(dx_gates), flat(dx_cand), flat(dh_cand), g.decoder_gru
    )
    s1 = flat(steps.cell.s1)
    cell_grads = ContextCellGrads(*(flat(d) for d in cell_grads))
    context_cell_add_weight_grads(s1, flat(steps.cell.context), cell_grads, g.decoder_cell)
    dy = gru_inputs_backward(dx_gates, dx_cand, p.decoder_gru)
    # forward: attention adds s1 W_s to the projected annotations
    add_product(g.attention.W_s, s1, flat(ds_proj))
    dh = attention_memory_backward(dh_proj, steps.attention.alpha, dc, memory, p.attention, g.attention)
    return dy, ds0, dh


@compiled("sequences.decoder_steps_backward")
def decoder_steps_backward(dstates, dcontexts, steps, memory, p, dv, dv_b):
    """dstates (T,B,H), dcontexts (T,B,C) -> ds0 (B,H), dh_proj (S,B,C), then DecoderStepGrads, with T in front.

    steps: DecoderStepCache of all steps, p: StepWeights. Adds into dv (C) and dv_b (1), of the attention.
    """
    g, dh_proj, ds = EnergyGrads(dv, dv_b), np.zeros_like(memory.h_proj), np.zeros(dstates.shape[1:], dstates.dtype)
    gates, state, context = steps.gru.gates, steps.gru.h_tilde, dcontexts
    found = tuple(np.empty_like(like) for like in (gates, state, state, context, context, gates, state, state))
    for t in reversed(range(len(dstates))):
        cache = DecoderStepCache(*(step_of(part, t) for part in steps))
        ds, grads = decoder_step_backward(dstates[t] + ds, dcontexts[t], cache, memory, p, g, dh_proj)
        for array, value in zip(found, (*grads[:-1], *grads.cell)):
            array[t] = value
    return ds, dh_proj, *found
