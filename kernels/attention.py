"""What attention does with every source position and hidden unit: the costliest loops of a step.

The equations are in minnmt/nn/attention.py. Notebook 08.
"""

import numpy as np

from .functions import ONE, ZERO, tanh
from .jit import device_function, kernel


@kernel
def attention_energy(h_proj, s_proj, v):
    """Fast because the hidden layer (S,B,C) is never written to memory, and tanh is vectorised."""
    energies = np.empty(h_proj.shape[:2], np.float32)
    fill_energies(h_proj, s_proj, v, energies)
    return energies


@device_function
def fill_energies(h_proj, s_proj, v, energies):
    for i in range(len(h_proj)):
        for b in range(len(s_proj)):
            energies[i, b] = energy(h_proj[i, b], s_proj[b], v)


@device_function
def energy(h_proj, s_proj, v):
    """Of one position."""
    total = ZERO
    for k in range(len(v)):
        total += tanh(h_proj[k] + s_proj[k]) * v[k]
    return total


@kernel
def attention_energy_backward(denergy, h_proj, s_proj, v, dh_proj, dv):
    """Fast because
    - the hidden layer is computed again: to keep it for all steps would take (T,S,B,C) numbers;
    - padding is passed over.
    """
    ds_proj = np.zeros(s_proj.shape, np.float32)
    add_energies_backward(denergy, h_proj, s_proj, v, dh_proj, dv, ds_proj)
    return ds_proj


@device_function
def add_energies_backward(denergy, h_proj, s_proj, v, dh_proj, dv, ds_proj):
    S, B, C = h_proj.shape
    for b in range(B):
        for i in range(S):
            d = denergy[i, b]
            if d == ZERO:  # padding
                continue
            for k in range(C):
                hidden = tanh(h_proj[i, b, k] + s_proj[b, k])
                dpre = d * v[k] * (ONE - hidden * hidden)
                dh_proj[i, b, k] += dpre
                ds_proj[b, k] += dpre
                dv[k] += d * hidden


@kernel
def attention_context(alpha, h):
    """Fast because each row of c stays in the cache while all positions are added to it."""
    c = np.zeros(h.shape[1:], np.float32)
    add_contexts(alpha, h, c)
    return c


@device_function
def add_contexts(alpha, h, c):
    for b in range(len(c)):
        for i in range(len(h)):
            add_scaled(alpha[i, b], h[i, b], c[b])


@device_function
def add_scaled(scale, x, out):
    """out += scale * x."""
    for k in range(len(out)):
        out[k] += scale * x[k]


@kernel
def attention_context_backward(dc, h):
    """Fast because it is one pass over h, without a transposed copy."""
    dalpha = np.empty(h.shape[:2], np.float32)
    fill_contexts_backward(dc, h, dalpha)
    return dalpha


@device_function
def fill_contexts_backward(dc, h, dalpha):
    S, B, C = h.shape
    for i in range(S):
        for b in range(B):
            total = ZERO
            for k in range(C):
                total += dc[b, k] * h[i, b, k]
            dalpha[i, b] = total
