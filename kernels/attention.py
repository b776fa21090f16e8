"""The element-wise part of attention: tanh over every source position and hidden unit, the costliest loop of a step."""

import numpy as np

from .functions import tanh
from .jit import kernel

ONE = np.float32(1)
ZERO = np.float32(0)


def attention_energy_numpy(h_proj, s_proj, v, hidden, energy):
    """h_proj (S,B,C), s_proj (B,C), v (C) -> fills hidden = tanh(h_proj + s_proj) (S,B,C), energy = hidden v (S,B)."""
    hidden[:] = np.tanh(h_proj + s_proj)
    energy[:] = hidden @ v


@kernel(twin=attention_energy_numpy)
def attention_energy(h_proj, s_proj, v, hidden, energy):
    S, B, C = h_proj.shape
    for i in range(S):
        for b in range(B):
            total = ZERO
            for k in range(C):
                value = tanh(h_proj[i, b, k] + s_proj[b, k])
                hidden[i, b, k] = value
                total += value * v[k]
            energy[i, b] = total


def attention_energy_backward_numpy(denergy, hidden, v, dh_proj, ds_proj, dv):
    """denergy (S,B), hidden (S,B,C), v (C) -> fills ds_proj (B,C); adds into dh_proj (S,B,C) and dv (C)."""
    # forward: energy = hidden v
    dv += hidden.reshape(denergy.size, len(v)).T @ denergy.reshape(-1)
    # forward: hidden = tanh(h_proj + s_proj)
    dpre = denergy[:, :, None] * v * (1 - hidden * hidden)
    dh_proj += dpre
    ds_proj[:] = dpre.sum(axis=0)


@kernel(twin=attention_energy_backward_numpy)
def attention_energy_backward(denergy, hidden, v, dh_proj, ds_proj, dv):
    S, B, C = hidden.shape
    for b in range(B):
        for k in range(C):
            ds_proj[b, k] = ZERO
        for i in range(S):
            d = denergy[i, b]
            if d == ZERO:  # padding
                continue
            for k in range(C):
                value = hidden[i, b, k]
                dpre = d * v[k] * (ONE - value * value)
                dh_proj[i, b, k] += dpre
                ds_proj[b, k] += dpre
                dv[k] += d * value
