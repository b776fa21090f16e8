"""What attention does with every source position and hidden unit: the costliest loops of a step.

The equations are in minnmt/nn/attention.py. Notebook 08.
"""

import numpy as np

from .functions import ONE, ZERO, tanh
from .jit import device_function, kernel


@kernel
def attention_energy(h_proj, s_proj, v):
    """Fast because the hidden layer (S,B,C) is never written to memory, and tanh is vectorised."""
    S, B, _ = h_proj.shape
    energies = np.empty((S, B), np.float32)
    for i in range(S):
        for b in range(B):
            energies[i, b] = energy(h_proj[i, b], s_proj[b], v)
    return energies


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
    S, B, C = h_proj.shape
    ds_proj = np.zeros((B, C), np.float32)
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
    return ds_proj


@kernel
def attention_context(alpha, h):
    """Fast because each row of c stays in the cache while all positions are added to it."""
    S, B, C = h.shape
    c = np.zeros((B, C), np.float32)
    for b in range(B):
        for i in range(S):
            add_scaled(alpha[i, b], h[i, b], c[b])
    return c


@device_function
def add_scaled(scale, x, out):
    """out += scale * x."""
    for k in range(len(out)):
        out[k] += scale * x[k]


@kernel
def attention_context_backward(dc, h):
    """Fast because it is one pass over h, without a transposed copy."""
    S, B, C = h.shape
    dalpha = np.empty((S, B), np.float32)
    for i in range(S):
        for b in range(B):
            total = ZERO
            for k in range(C):
                total += dc[b, k] * h[i, b, k]
            dalpha[i, b] = total
    return dalpha
