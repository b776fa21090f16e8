"""Attention: how much the decoder looks at each source position, and the weighted mean of what it sees.

    e_i   = tanh(h_i W_h + b + s W_s) v + v_b            (5)  s is the decoder's s', after its first cell
    alpha = softmax over the unmasked positions i of e   (6)
    c     = sum_i alpha_i h_i                            (7)

The products h_i W_h + b are the same at every target step: `attention_memory_forward` computes them once per sentence.
The loop over positions and hidden units is in kernels/attention.py. Taught in notebook 03.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from kernels.attention import (
    attention_context,
    attention_context_backward,
    attention_energy,
    attention_energy_backward,
)

from .functions import add_product, flat, product


@dataclass
class Attention:
    """Parameters of the attention; C is the size of an annotation h_i and of the hidden layer inside."""

    W_h: np.ndarray  # (C,C) annotation -> hidden
    b: np.ndarray  # (C)
    W_s: np.ndarray  # (H,C) decoder state -> hidden
    v: np.ndarray  # (C) hidden -> energy
    v_b: np.ndarray  # (1); softmax cancels it, kept because stored models have it


class Memory(NamedTuple):
    """What the decoder may look at, for one batch of source sentences."""

    h: np.ndarray  # (S,B,C) annotations
    h_proj: np.ndarray  # (S,B,C) h W_h + b
    mask: np.ndarray  # (S,B)


class AttentionCache(NamedTuple):
    s_proj: np.ndarray  # (B,C) s W_s
    alpha: np.ndarray  # (S,B)


def attention_forward(s, memory, p):
    """s (B,H), memory -> c (B,C), alpha (S,B), cache."""
    s_proj = s @ p.W_s
    energy, c = np.empty(memory.mask.shape, s.dtype), np.empty_like(s_proj)
    # energy = tanh(h_proj + s W_s) v
    attention_energy(memory.h_proj, s_proj, p.v, energy)
    energy += p.v_b
    alpha = masked_softmax(energy, memory.mask)
    attention_context(alpha, memory.h, c)
    return c, alpha, AttentionCache(s_proj, alpha)


def attention_backward(dc, cache, memory, p, g, dh_proj):
    """dc (B,C) -> ds (B,H), ds_proj (B,C); adds into g (v alone) and into dh_proj (S,B,C).

    Two gradients are left to the caller, who adds them for all steps in one product: of W_s (from s and
    ds_proj) and of h through c = sum_i alpha_i h_i (from alpha and dc). See `attention_memory_backward`.
    """
    # forward: c = sum_i alpha_i h_i
    dalpha = np.empty_like(cache.alpha)
    attention_context_backward(dc, memory.h, dalpha)
    # forward: alpha = softmax(energy)
    denergy = cache.alpha * (dalpha - (cache.alpha * dalpha).sum(axis=0))
    # forward: energy = tanh(h_proj + s W_s) v + v_b
    g.v_b += denergy.sum()
    ds_proj = np.empty_like(dc)
    attention_energy_backward(denergy, memory.h_proj, cache.s_proj, p.v, dh_proj, ds_proj, g.v)
    return ds_proj @ p.W_s.T, ds_proj


def attention_memory_forward(h, mask, p):
    """h (S,B,C), mask (S,B) -> Memory, which is its own cache."""
    h_proj = product(h, p.W_h)
    h_proj += p.b
    return Memory(h, h_proj, mask)


def attention_memory_backward(dh_proj, alphas, dcs, memory, p, g):
    """dh_proj (S,B,C), alphas (T,S,B), dcs (T,B,C) -> dh (S,B,C); adds into g (W_h and b)."""
    # forward: c[t] = sum_i alpha[t, i] h_i, at every step t
    dh = (alphas.transpose(2, 1, 0) @ dcs.transpose(1, 0, 2)).transpose(1, 0, 2)
    # forward: h_proj = h W_h + b
    add_product(g.W_h, flat(memory.h), flat(dh_proj))
    g.b += flat(dh_proj).sum(axis=0)
    dh += product(dh_proj, p.W_h.T)
    return dh


def masked_softmax(energy, mask):
    """energy (S,B), mask (S,B) -> weights (S,B) that sum to 1 over the unmasked positions of each column (6)."""
    largest = np.where(mask > 0, energy, -np.inf).max(axis=0)
    weights = np.exp(np.minimum(energy - largest, 0)) * mask
    return weights / weights.sum(axis=0)
