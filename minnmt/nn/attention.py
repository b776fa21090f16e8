"""Attention: how much the decoder looks at each source position, and the weighted mean of what it sees.

    e_i   = tanh(h_i W_h + b + s W_s) v + v_b            (5)  s is the decoder's s', after its first cell
    alpha = softmax over the unmasked positions i of e   (6)
    c     = sum_i alpha_i h_i                            (7)

The products h_i W_h + b are the same at every target step: `attention_memory_forward` computes them once per sentence.
Left out: attention of other forms (dot product, several heads). Notebook 03 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from .functions import add_product, flat, matmul, product


@dataclass
class Attention:
    """Parameters of the attention; C is the size of an annotation h_i and of the hidden layer inside."""

    W_h: np.ndarray  # (C,C) annotation -> hidden
    b: np.ndarray  # (C)
    W_s: np.ndarray  # (H,C) decoder state -> hidden
    v: np.ndarray  # (C) hidden -> energy
    v_b: np.ndarray  # (1); softmax cancels it, kept because stored models have it


# What the decoder may look at


class Memory(NamedTuple):
    """The source side of attention, for one batch of sentences."""

    h: np.ndarray  # (S,B,C) annotations
    h_proj: np.ndarray  # (S,B,C) h W_h + b
    mask: np.ndarray  # (S,B)


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


# Energies, weights, context


@compiled("attention.attention_energy")
def attention_energy(h_proj, s_proj, v):
    """h_proj (S,B,C), s_proj (B,C), v (C) -> energy (S,B), without its bias."""
    hidden = np.tanh(h_proj + s_proj)
    return hidden @ v  # (5)


@compiled("attention.attention_energy_backward")
def attention_energy_backward(denergy, h_proj, s_proj, v, dh_proj, dv):
    """denergy (S,B) -> ds_proj (B,C); adds into dh_proj (S,B,C) and dv (C)."""
    hidden = np.tanh(h_proj + s_proj)
    # forward: energy = hidden v
    dv += np.einsum("sb,sbc->c", denergy, hidden)
    dhidden = denergy[:, :, None] * v
    # forward: hidden = tanh(h_proj + s_proj)
    dpre = dhidden * (1 - hidden * hidden)
    dh_proj += dpre
    return dpre.sum(axis=0)


def masked_softmax(energy, mask):
    """energy (S,B), mask (S,B) -> alpha (S,B): weights that sum to 1 over the unmasked positions of each column."""
    largest = np.where(mask > 0, energy, -np.inf).max(axis=0)
    weights = np.exp(np.minimum(energy - largest, 0)) * mask
    return weights / weights.sum(axis=0)  # (6)


def masked_softmax_backward(dalpha, alpha):
    """dalpha (S,B), alpha (S,B) -> denergy (S,B), 0 at masked positions."""
    # forward: alpha_i = exp(energy_i) / sum_k exp(energy_k)
    return alpha * (dalpha - (alpha * dalpha).sum(axis=0))


@compiled("attention.attention_context")
def attention_context(alpha, h):
    """alpha (S,B), h (S,B,C) -> c (B,C)."""
    return np.einsum("sb,sbc->bc", alpha, h)  # (7)


@compiled("attention.attention_context_backward")
def attention_context_backward(dc, h):
    """dc (B,C) -> dalpha (S,B). The gradient of h is left to `attention_memory_backward`, which has all steps."""
    # forward: c = sum_i alpha_i h_i
    return np.einsum("bc,sbc->sb", dc, h)


# A step


class AttentionCache(NamedTuple):
    s_proj: np.ndarray  # (B,C) s W_s
    alpha: np.ndarray  # (S,B)


def attention_forward(s, memory, p):
    """s (B,H), memory -> c (B,C), alpha (S,B), cache."""
    s_proj = matmul(s, p.W_s)
    energy = attention_energy(memory.h_proj, s_proj, p.v) + p.v_b  # (5)
    alpha = masked_softmax(energy, memory.mask)  # (6)
    c = attention_context(alpha, memory.h)  # (7)
    return c, alpha, AttentionCache(s_proj, alpha)


def attention_backward(dc, cache, memory, p, g, dh_proj):
    """dc (B,C) -> ds (B,H), ds_proj (B,C); adds into g (v and v_b) and into dh_proj (S,B,C).

    Two gradients are left to the caller, who adds them for all steps in one product: of W_s (from s and
    ds_proj) and of h through c = sum_i alpha_i h_i (from alpha and dc).
    """
    # forward: c = attention_context(alpha, h)
    dalpha = attention_context_backward(dc, memory.h)
    # forward: alpha = masked_softmax(energy, mask)
    denergy = masked_softmax_backward(dalpha, cache.alpha)
    # forward: energy = attention_energy(h_proj, s_proj, v) + v_b
    g.v_b += denergy.sum()
    ds_proj = attention_energy_backward(denergy, memory.h_proj, cache.s_proj, p.v, dh_proj, g.v)
    # forward: s_proj = s W_s
    return matmul(ds_proj, p.W_s.T), ds_proj
