"""The network in float64 agrees with numbers from an independent automatic differentiation, to 1e-9."""

import numpy as np
import pytest

from minnmt.model.network import encode, network_backward, network_forward
from minnmt.model.npz import STORED_NAMES, from_stored, to_stored
from minnmt.model.parameters import zeros_like
from minnmt.nn.readout import readout_forward
from minnmt.nn.softmax import log_softmax
from minnmt.text.batches import Batch


def largest_difference(name, ours, theirs):
    difference = np.abs(ours - theirs).max()
    assert ours.shape == theirs.shape and difference < 1e-9, (
        f"{name}: largest difference {difference:.2e}, ours {ours.ravel()[:4]}, expected {theirs.ravel()[:4]}"
    )


@pytest.fixture
def params(golden):
    return from_stored({name: golden[f"param.{name}"] for name in STORED_NAMES})


@pytest.fixture
def batch(golden):
    return Batch(golden["x"], golden["x_mask"], golden["y"], golden["y_mask"])


def test_every_golden_array_is_compared(golden):
    known = {"x", "x_mask", "y", "y_mask", "candidates", "encoder_states", "alpha"}
    known |= {f"param.{name}" for name in STORED_NAMES}
    for case in ("full", "restricted"):
        known |= {f"{case}.sentence_nll", f"{case}.logp"} | {f"{case}.grad.{name}" for name in STORED_NAMES}
    assert set(golden) == known


def test_encoder_states(golden, params, batch):
    _, memory, _ = encode(batch.src_ids, batch.src_mask, params)
    largest_difference("encoder_states", memory.h, golden["encoder_states"])


@pytest.mark.parametrize("case", ["full", "restricted"])
def test_forward_and_every_gradient(case, golden, params, batch):
    ids = golden["candidates"] if case == "restricted" else None
    output, cache = network_forward(batch, params, ids)
    largest_difference("alpha", output.alphas, golden["alpha"])
    largest_difference("sentence_nll", output.nll, golden[f"{case}.sentence_nll"])
    o, _ = readout_forward(cache.readout.s, cache.readout.y, cache.readout.c, params.readout)
    logp = log_softmax(o, params.softmax, ids).reshape(golden[f"{case}.logp"].shape)
    largest_difference("logp", logp, golden[f"{case}.logp"])

    grads = zeros_like(params)
    B = batch.src_ids.shape[1]
    network_backward(np.full(B, 1 / B), cache, params, grads)
    for name, grad in to_stored(grads).items():
        largest_difference(name, grad, golden[f"{case}.grad.{name}"])
