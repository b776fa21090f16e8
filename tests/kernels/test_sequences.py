"""All steps in one call, against the plain functions that go step by step; with weights as arrays, and packed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import reading_mode
from minnmt.model.decoder import (
    DecoderStepCache,
    StepAttention,
    StepCell,
    StepWeights,
    decoder_steps_backward,
    decoder_steps_forward,
)
from minnmt.nn.attention import AttentionCache, Memory
from minnmt.nn.bf16 import Packed, bf16_tiles
from minnmt.nn.conditional_gru import ContextCellCache
from minnmt.nn.gru import GRUStepCache, Recurrent, gru_steps_backward, gru_steps_forward
from tests.kernels.compared import both, compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

SIZES = dict(
    S=st.integers(1, 5), B=st.integers(0, 5) | st.just(140), H=st.integers(1, 21) | st.just(40),
    rounded=st.booleans(), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip


class Draw:
    """Random arrays, and weights in one of both forms."""

    def __init__(self, seed, rounded):
        self.rng, self.rounded = np.random.default_rng(seed), rounded

    def __call__(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def gate(self, *shape):
        return self.rng.random(shape).astype(np.float32)

    def value(self, *shape):
        return self.rng.uniform(-1, 1, shape).astype(np.float32)

    def weight(self, K, N):
        W = self(K, N) / np.sqrt(np.float32(K))  # steps that neither forget nor amplify
        return Packed(bf16_tiles(W), bf16_tiles(W.T), N, K) if self.rounded else W

    def mask(self, S, B):
        """1 up to the end of each sentence, which has a word at least."""
        return (np.arange(S)[:, None] < self.rng.integers(1, S + 1, B)).astype(np.float32)


def assert_alike(ours, theirs, rounded):
    """bfloat16 may round the other way where sums differ in their last bit, and later steps start from there."""
    assert len(ours) == len(theirs)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.dtype == np.float32 and a.shape == b.shape, i
        scale = np.abs(b).max(initial=1.0)
        if rounded:
            assert np.abs(a - b).max(initial=0) < 0.02 * scale and np.abs(a - b).sum() <= 1e-3 * scale * a.size, i
        else:
            np.testing.assert_allclose(a, b, rtol=5e-4, atol=5e-4 * scale, err_msg=str(i))


@compares(gru_steps_forward, gru_steps_backward)
@settings(max_examples=40, deadline=None)
@given(**SIZES)
def test_the_steps_of_a_gru(S, B, H, rounded, seed):
    draw = Draw(seed, rounded)
    p, mask = Recurrent(draw.weight(H, 2 * H), draw.weight(H, H)), draw.mask(S, B)
    given = draw(S, B, 2 * H), draw(S, B, H), draw.value(B, H), mask, p
    assert_alike(*(function(*given) for function in both(gru_steps_forward)), rounded)
    steps = GRUStepCache(
        draw.value(S, B, H), draw.gate(S, B, 2 * H), draw(S, B, H), draw.value(S, B, H), mask[:, :, None]
    )
    dh = draw(S, B, H)
    assert_alike(*(function(dh, steps, p) for function in both(gru_steps_backward)), rounded)


def decoder_case(draw, T, S, B, H):
    C = 2 * H
    mask = draw.mask(S, B)
    p = StepWeights(
        Recurrent(draw.weight(H, 2 * H), draw.weight(H, H)),
        StepAttention(draw.weight(H, C), draw(C), draw(1)),
        StepCell(
            draw.weight(H, 2 * H), draw(2 * H), draw.weight(H, H), draw(H), draw.weight(C, 2 * H), draw.weight(C, H)
        ),
    )
    return p, Memory(draw(S, B, C), draw(S, B, C), mask)


@compares(decoder_steps_forward)
@settings(max_examples=40, deadline=None)
@given(T=st.integers(0, 4), **SIZES)
def test_the_steps_of_the_decoder(T, S, B, H, rounded, seed):
    draw = Draw(seed, rounded)
    p, memory = decoder_case(draw, T, S, B, H)
    given = draw(T, B, 2 * H), draw(T, B, H), draw.value(B, H), memory, p
    ours, theirs = (function(*given) for function in both(decoder_steps_forward))
    assert_alike(ours, theirs, rounded)
    alphas = ours[5]
    np.testing.assert_allclose(alphas.sum(axis=1), 1, rtol=1e-5)
    assert not alphas[:, memory.mask == 0].any()


@compares(decoder_steps_backward)
@settings(max_examples=40, deadline=None)
@given(T=st.integers(0, 4), **SIZES)
def test_the_steps_of_the_decoder_backward(T, S, B, H, rounded, seed):
    draw = Draw(seed, rounded)
    p, memory = decoder_case(draw, T, S, B, H)
    C = 2 * H
    alphas = draw.gate(T, S, B) * memory.mask
    steps = DecoderStepCache(
        GRUStepCache(draw.value(T, B, H), draw.gate(T, B, 2 * H), draw(T, B, H), draw.value(T, B, H), None),
        AttentionCache(draw(T, B, C), alphas / alphas.sum(axis=1, keepdims=True)),
        ContextCellCache(
            draw.value(T, B, H), draw(T, B, C), draw.gate(T, B, 2 * H), draw(T, B, H), draw.value(T, B, H)
        ),
    )
    dstates, dcontexts, before = draw(T, B, H), draw(T, B, C), (draw(C), draw(1))
    found, biases = [], []
    for function in both(decoder_steps_backward):
        dv, dv_b = (array.copy() for array in before)
        found.append((*function(dstates, dcontexts, steps, memory, p, dv, dv_b), dv))
        biases.append(dv_b)
    assert_alike(*found, rounded)
    np.testing.assert_allclose(*biases, atol=1e-2)  # numbers that cancel: softmax does not see this bias
