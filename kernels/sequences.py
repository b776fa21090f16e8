"""All steps of a recurrent layer in one compiled call: of a GRU, and of the decoder, forward and backward.

Between the steps there is no Python, which at small sizes takes longer than the products. The parts of a step are those
of gates.py and attention.py. The plain functions, which go step by step, are in minnmt/nn/gru.py and
minnmt/model/decoder.py. Notebook 08.
"""

import numpy as np

from .attention import add_contexts, add_energies_backward, fill_contexts_backward, fill_energies
from .functions import LOW, ZERO, exp
from .gates import fill_state, fill_state_backward
from .jit import device_function, kernel
from .weights import multiply, multiply_turned


@device_function
def add(x, out):
    """out (B,N) += x (B,N)."""
    for b in range(len(out)):
        for k in range(out.shape[1]):
            out[b, k] += x[b, k]


@device_function
def add_bias(bias, out):
    """out (B,N) += bias (N)."""
    for b in range(len(out)):
        for k in range(len(bias)):
            out[b, k] += bias[k]


@device_function
def add_turned(x, w, product, out):
    """out += x times w^T; the product is used up."""
    multiply_turned(x, w, product)
    add(product, out)


# A GRU


@kernel
def gru_steps(x_gates, x_cand, h0, mask, p):
    """Fast because Python is asked once for all steps."""
    S, B, H = x_cand.shape
    h, h_cand, c = np.empty((S, B, H), np.float32), np.empty((S, B, H), np.float32), np.empty((S, B, H), np.float32)
    gates, h_gates = np.empty((S, B, 2 * H), np.float32), np.empty((B, 2 * H), np.float32)
    h_prev = h0
    for t in range(S):
        multiply(h_prev, p.U, h_gates)
        multiply(h_prev, p.Ux, h_cand[t])
        fill_state(x_gates[t], x_cand[t], h_gates, h_cand[t], h_prev, h[t], gates[t], c[t])
        for b in range(B):
            if mask[t, b] == ZERO:
                h[t, b] = h_prev[b]
        h_prev = h[t]
    return h, gates, h_cand, c


@kernel
def gru_steps_backward(dh, steps, p):
    """Fast as gru_steps is."""
    S, B, H = dh.shape
    dx_gates, dx_cand = np.empty((S, B, 2 * H), np.float32), np.empty((S, B, H), np.float32)
    dh_cand, dh_prev = np.empty((S, B, H), np.float32), np.zeros((B, H), np.float32)
    dh_new, kept, product = np.empty((B, H), np.float32), np.empty((B, H), np.float32), np.empty((B, H), np.float32)
    for t in range(S - 1, -1, -1):
        for b in range(B):
            for k in range(H):
                d = dh[t, b, k] + dh_prev[b, k]
                dh_new[b, k] = steps.mask[t, b, 0] * d
                kept[b, k] = d - dh_new[b, k]
        gates, c, h_cand, h_prev = steps.gates[t], steps.h_tilde[t], steps.h_cand[t], steps.h_prev[t]
        fill_state_backward(dh_new, gates, c, h_cand, h_prev, dx_gates[t], dx_cand[t], dh_cand[t], dh_prev)
        add_turned(dx_gates[t], p.U, product, dh_prev)
        add_turned(dh_cand[t], p.Ux, product, dh_prev)
        add(kept, dh_prev)
    return dx_gates, dx_cand, dh_cand, dh_prev


# The decoder


@kernel
def decoder_steps(y_gates, y_cand, s0, memory, p):
    """Fast because Python is asked once for all steps."""
    (T, B, H), (S, _, C) = y_cand.shape, memory.h.shape
    gru, attention, cell = p.decoder_gru, p.attention, p.decoder_cell
    s, h_cand, c = np.empty((T, B, H), np.float32), np.empty((T, B, H), np.float32), np.empty((T, B, H), np.float32)
    s1, s_cand, g = np.empty((T, B, H), np.float32), np.empty((T, B, H), np.float32), np.empty((T, B, H), np.float32)
    gates, cell_gates = np.empty((T, B, 2 * H), np.float32), np.empty((T, B, 2 * H), np.float32)
    s_proj, contexts = np.empty((T, B, C), np.float32), np.zeros((T, B, C), np.float32)
    alphas = np.empty((T, S, B), np.float32)
    inner, outer, outer_cand = np.empty((B, 2 * H), np.float32), np.empty((B, 2 * H), np.float32), np.empty_like(s0)
    s_prev = s0
    for t in range(T):
        multiply(s_prev, gru.U, inner)
        multiply(s_prev, gru.Ux, h_cand[t])
        fill_state(y_gates[t], y_cand[t], inner, h_cand[t], s_prev, s1[t], gates[t], c[t])  # (1) to (3)
        multiply(s1[t], attention.W_s, s_proj[t])
        fill_energies(memory.h_proj, s_proj[t], attention.v, alphas[t])  # (5); its bias makes no difference
        masked_softmax(alphas[t], memory.mask)  # (6)
        add_contexts(alphas[t], memory.h, contexts[t])  # (7)
        multiply(s1[t], cell.U, inner)
        add_bias(cell.b, inner)
        multiply(s1[t], cell.Ux, s_cand[t])
        add_bias(cell.bx, s_cand[t])
        multiply(contexts[t], cell.W, outer)
        multiply(contexts[t], cell.Wx, outer_cand)
        fill_state(outer, outer_cand, inner, s_cand[t], s1[t], s[t], cell_gates[t], g[t])  # (8) to (10)
        s_prev = s[t]
    return s, gates, h_cand, c, s_proj, alphas, s1, contexts, cell_gates, s_cand, g


@device_function
def masked_softmax(energy, mask):
    """energy (S,B), in place."""
    S, B = energy.shape
    for b in range(B):
        largest, total = LOW, ZERO
        for i in range(S):
            if mask[i, b] > ZERO:
                largest = max(largest, energy[i, b])
        for i in range(S):
            energy[i, b] = exp(min(energy[i, b] - largest, ZERO)) * mask[i, b]
            total += energy[i, b]
        for i in range(S):
            energy[i, b] /= total


@kernel
def decoder_steps_backward(dstates, dcontexts, steps, memory, p, dv, dv_b):
    """Fast as decoder_steps is."""
    (T, B, H), (S, _, C) = dstates.shape, memory.h.shape
    cell, first, look = steps.cell, steps.gru, steps.attention
    dx_gates, dgates = np.empty((T, B, 2 * H), np.float32), np.empty((T, B, 2 * H), np.float32)
    dx_cand, dh_cand = np.empty((T, B, H), np.float32), np.empty((T, B, H), np.float32)
    dc_cand, ds_cand = np.empty((T, B, H), np.float32), np.empty((T, B, H), np.float32)
    ds_proj, dc = np.zeros((T, B, C), np.float32), dcontexts.copy()
    ds, ds1, product = np.zeros((B, H), np.float32), np.empty((B, H), np.float32), np.empty((B, H), np.float32)
    dcontext, dalpha, dh_proj = np.empty((B, C), np.float32), np.empty((S, B), np.float32), np.zeros_like(memory.h_proj)
    for t in range(T - 1, -1, -1):
        add(dstates[t], ds)
        # forward: s = context_cell(s1, c)
        fill_state_backward(
            ds, cell.gates[t], cell.s_tilde[t], cell.s_cand[t], cell.s1[t], dgates[t], dc_cand[t], ds_cand[t], ds1
        )
        add_turned(dgates[t], p.decoder_cell.U, product, ds1)
        add_turned(ds_cand[t], p.decoder_cell.Ux, product, ds1)
        add_turned(dgates[t], p.decoder_cell.W, dcontext, dc[t])
        add_turned(dc_cand[t], p.decoder_cell.Wx, dcontext, dc[t])
        # forward: c, alpha = attention(s1)
        fill_contexts_backward(dc[t], memory.h, dalpha)
        dv_b[0] += masked_softmax_backward(dalpha, look.alpha[t])
        add_energies_backward(dalpha, memory.h_proj, look.s_proj[t], p.attention.v, dh_proj, dv, ds_proj[t])
        add_turned(ds_proj[t], p.attention.W_s, product, ds1)
        # forward: s1 = GRU(y, s_prev)
        fill_state_backward(
            ds1, first.gates[t], first.h_tilde[t], first.h_cand[t], first.h_prev[t],
            dx_gates[t], dx_cand[t], dh_cand[t], ds,
        )  # fmt: skip
        add_turned(dx_gates[t], p.decoder_gru.U, product, ds)
        add_turned(dh_cand[t], p.decoder_gru.Ux, product, ds)
    return ds, dh_proj, dx_gates, dx_cand, dh_cand, ds_proj, dc, dgates, dc_cand, ds_cand


@device_function
def masked_softmax_backward(dalpha, alpha):
    """dalpha (S,B) becomes denergy -> its sum."""
    total = ZERO
    for b in range(dalpha.shape[1]):
        mean = ZERO
        for i in range(len(dalpha)):
            mean += alpha[i, b] * dalpha[i, b]
        for i in range(len(dalpha)):
            dalpha[i, b] = alpha[i, b] * (dalpha[i, b] - mean)
            total += dalpha[i, b]
    return total
