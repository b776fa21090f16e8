"""What attention does with every source position and hidden unit: the costliest loops of a step."""

import numpy as np

from .functions import tanh
from .jit import kernel

ONE = np.float32(1)
ZERO = np.float32(0)


def attention_energy_numpy(h_proj, s_proj, v, energy):
    """h_proj (S,B,C), s_proj (B,C), v (C) -> fills energy = tanh(h_proj + s_proj) v (S,B)."""
    energy[:] = np.tanh(h_proj + s_proj) @ v


@kernel(twin=attention_energy_numpy)
def attention_energy(h_proj, s_proj, v, energy):
    S, B, C = h_proj.shape
    for i in range(S):
        for b in range(B):
            total = ZERO
            for k in range(C):
                total += tanh(h_proj[i, b, k] + s_proj[b, k]) * v[k]
            energy[i, b] = total


def attention_energy_backward_numpy(denergy, h_proj, s_proj, v, dh_proj, ds_proj, dv):
    """denergy (S,B), h_proj (S,B,C), s_proj (B,C), v (C) -> fills ds_proj (B,C); adds into dh_proj (S,B,C), dv (C).

    The tanh is computed again: to keep it would take (T,S,B,C) numbers, and writing and reading them costs more.
    """
    hidden = np.tanh(h_proj + s_proj)
    # forward: energy = hidden v
    dv += hidden.reshape(denergy.size, len(v)).T @ denergy.reshape(-1)
    # forward: hidden = tanh(h_proj + s_proj)
    dpre = denergy[:, :, None] * v * (1 - hidden * hidden)
    dh_proj += dpre
    ds_proj[:] = dpre.sum(axis=0)


@kernel(twin=attention_energy_backward_numpy)
def attention_energy_backward(denergy, h_proj, s_proj, v, dh_proj, ds_proj, dv):
    S, B, C = h_proj.shape
    for b in range(B):
        for k in range(C):
            ds_proj[b, k] = ZERO
        for i in range(S):
            d = denergy[i, b]
            if d == ZERO:  # padding
                continue
            for k in range(C):
                value = tanh(h_proj[i, b, k] + s_proj[b, k])
                dpre = d * v[k] * (ONE - value * value)
                dh_proj[i, b, k] += dpre
                ds_proj[b, k] += dpre
                dv[k] += d * value


def attention_context_numpy(alpha, h, c):
    """alpha (S,B), h (S,B,C) -> fills c (B,C) = sum_i alpha_i h_i."""
    c[:] = np.einsum("sb,sbc->bc", alpha, h)


@kernel(twin=attention_context_numpy)
def attention_context(alpha, h, c):
    S, B, C = h.shape
    for b in range(B):
        for k in range(C):
            c[b, k] = ZERO
        for i in range(S):
            for k in range(C):
                c[b, k] += alpha[i, b] * h[i, b, k]


def attention_context_backward_numpy(dc, h, dalpha):
    """dc (B,C), h (S,B,C) -> fills dalpha (S,B). The gradient of h is left to minnmt/nn/attention.py."""
    # forward: c = sum_i alpha_i h_i
    dalpha[:] = np.einsum("bc,sbc->sb", dc, h)


@kernel(twin=attention_context_backward_numpy)
def attention_context_backward(dc, h, dalpha):
    S, B, C = h.shape
    for i in range(S):
        for b in range(B):
            total = ZERO
            for k in range(C):
                total += dc[b, k] * h[i, b, k]
            dalpha[i, b] = total
