"""All steps of the recurrent layers in training, as cases of kernel_cases.py: one share of a batch, weights packed."""

import numpy as np

from ...model.decoder import (
    DecoderStepCache,
    StepAttention,
    StepCell,
    StepWeights,
    decoder_steps_backward,
    decoder_steps_forward,
)
from ...nn.attention import AttentionCache, Memory
from ...nn.bf16 import Packed, bf16_tiles
from ...nn.conditional_gru import ContextCellCache
from ...nn.gru import GRUStepCache, Recurrent, gru_steps_backward, gru_steps_forward, states_before


def gru_cases(maker, B, cell_flops):
    """-> (function, arguments, operations, bytes), forward and backward."""
    S, H = maker.S, maker.H
    p, mask, h0 = Recurrent(weight(maker, H, 2 * H), weight(maker, H, H)), np.ones((S, B), np.float32), np.zeros((B, H))
    forward = maker.floats(S, B, 2 * H), maker.floats(S, B, H), h0.astype(np.float32), mask, p
    flops, nbytes = S * B * H * (6 * H + cell_flops), S * B * H * 4 * 8
    yield gru_steps_forward, forward, flops, nbytes
    h, gates, h_cand, c = gru_steps_forward(*forward)
    steps = GRUStepCache(states_before(forward[2], h), gates, h_cand, c, mask[:, :, None])
    yield gru_steps_backward, (maker.floats(S, B, H), steps, p), flops, nbytes


def decoder_cases(maker, B, cell_flops, attention_flops):
    """The same of the decoder; attention_flops for each unit of each source position."""
    S, H, C = maker.S, maker.H, maker.C
    p = StepWeights(
        Recurrent(weight(maker, H, 2 * H), weight(maker, H, H)),
        StepAttention(weight(maker, H, C), maker.floats(C), maker.floats(1)),
        StepCell(
            weight(maker, H, 2 * H), maker.floats(2 * H), weight(maker, H, H), maker.floats(H),
            weight(maker, C, 2 * H), weight(maker, C, H),
        ),
    )  # fmt: skip
    memory = Memory(maker.floats(S, B, C), maker.floats(S, B, C), np.ones((S, B), np.float32))
    forward = maker.floats(S, B, 2 * H), maker.floats(S, B, H), np.zeros((B, H), np.float32), memory, p
    products = 2 * (H * 3 * H + H * C + (H + C) * 3 * H)
    flops = S * B * (products + 2 * H * cell_flops + S * C * attention_flops)
    nbytes = 4 * S * B * (12 * H + 2 * C + 2 * S * C)
    yield decoder_steps_forward, forward, flops, nbytes
    s, gates, h_cand, c, s_proj, alphas, *cell = decoder_steps_forward(*forward)
    steps = DecoderStepCache(
        GRUStepCache(states_before(forward[2], s), gates, h_cand, c, None),
        AttentionCache(s_proj, alphas), ContextCellCache(*cell),
    )  # fmt: skip
    backward = maker.floats(S, B, H), maker.floats(S, B, C), steps, memory, p, maker.floats(C), maker.floats(1)
    yield decoder_steps_backward, backward, flops, nbytes


def weight(maker, K, N):
    W = 0.01 * maker.floats(K, N)
    return Packed(bf16_tiles(W), bf16_tiles(W.T), N, K)
