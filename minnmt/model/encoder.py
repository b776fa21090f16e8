"""The bidirectional encoder: one GRU reads the sentence forwards, one backwards, their states side by side.

Annotation h_i = [forward state i, backward state i], of size C = 2H; the states are those of (1) to (3). Notebook 03
teaches this file.
"""

from typing import NamedTuple

import numpy as np

from ..nn.gru import GRUSequenceCache, gru_sequence_backward, gru_sequence_forward


class EncoderCache(NamedTuple):
    forward: GRUSequenceCache
    backward: GRUSequenceCache


def encoder_forward(x, mask, p_forward, p_backward):
    """x (S,B,E), mask (S,B) -> h (S,B,C), cache."""
    B, H = x.shape[1], len(p_forward.bx)
    h0 = np.zeros((B, H), x.dtype)
    h_fwd, cache_fwd = gru_sequence_forward(x, h0, mask, p_forward)
    # backwards, the padding comes first: the mask keeps the zero state until the sentence begins
    h_bwd, cache_bwd = gru_sequence_forward(x[::-1], h0, mask[::-1], p_backward)
    return np.concatenate([h_fwd, h_bwd[::-1]], axis=2), EncoderCache(cache_fwd, cache_bwd)


def encoder_backward(dh, cache, p_forward, p_backward, g_forward, g_backward):
    """dh (S,B,C) -> dx (S,B,E); adds into g_forward and g_backward."""
    H = dh.shape[2] // 2
    # forward: h = [h_fwd, h_bwd reversed]
    dx_fwd, _ = gru_sequence_backward(dh[:, :, :H], cache.forward, p_forward, g_forward)
    dx_bwd, _ = gru_sequence_backward(dh[::-1, :, H:], cache.backward, p_backward, g_backward)
    return dx_fwd + dx_bwd[::-1]
