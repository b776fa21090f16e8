"""Adam and clipping against plain float64 versions; float32 stays float32; threads share a batch."""

from dataclasses import replace

import numpy as np
import pytest

from minnmt.model.network import Dropout, network_backward, network_forward
from minnmt.model.parameters import init_parameters, map_arrays, named_arrays, zeros_like
from minnmt.text.batches import make_batch
from minnmt.threads import threads
from minnmt.train.adam import Adam, clip_gradients, global_norm
from minnmt.train.updates import Updater
from tests.conftest import random_parameters
from tests.train.toy import toy_run


def random_like(params, rng, scale=1.0):
    return map_arrays(lambda a: (scale * rng.standard_normal(a.shape)).astype(a.dtype), params)


def plain_adam(p, gradients, learning_rate, beta1=0.9, beta2=0.999, eps=1e-8):
    """Algorithm 1 of Kingma and Ba."""
    m = v = 0.0
    for t, g in enumerate(gradients, start=1):
        m, v = beta1 * m + (1 - beta1) * g, beta2 * v + (1 - beta2) * g**2
        p = p - learning_rate * (m / (1 - beta1**t)) / (np.sqrt(v / (1 - beta2**t)) + eps)
    return p


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_every_array_follows_the_papers_algorithm(rng, dtype, tolerance):
    params = map_arrays(lambda a: a.astype(dtype), init_parameters(9, 8, 3, 4, rng))  # as training starts
    start = map_arrays(np.copy, params)
    gradients = [random_like(params, rng, scale) for scale in (1, 0.1, 10, 1e-4)]
    adam = Adam.for_parameters(params)
    for grads in gradients:
        adam.update(params, grads, 0.01)
    for (name, ours), (_, p), *gs in zip(named_arrays(params), named_arrays(start), *map(named_arrays, gradients)):
        assert ours.dtype == dtype
        expected = plain_adam(p.astype(float), [g.astype(float) for _, g in gs], 0.01)
        np.testing.assert_allclose(ours, expected, rtol=tolerance, atol=tolerance, err_msg=name)
    assert adam.n_updates == 4


def test_clipping_scales_all_gradients_to_the_limit(rng):
    grads = random_like(random_parameters(rng), rng)
    before = np.concatenate([a.ravel() for _, a in named_arrays(grads)])
    assert clip_gradients(grads, 0.5) == pytest.approx(np.linalg.norm(before))
    after = np.concatenate([a.ravel() for _, a in named_arrays(grads)])
    np.testing.assert_allclose(after, before * 0.5 / np.linalg.norm(before))


@pytest.mark.parametrize("limit", [0, 1e6])
def test_small_gradients_and_no_limit_leave_them_alone(rng, limit):
    grads = random_like(random_parameters(rng), rng)
    before = map_arrays(np.copy, grads)
    clip_gradients(grads, limit)
    for (name, a), (_, b) in zip(named_arrays(grads), named_arrays(before)):
        np.testing.assert_array_equal(a, b, err_msg=name)


def test_clipping_zero_gradients(rng):
    grads = zeros_like(random_parameters(rng))
    assert clip_gradients(grads, 1.0) == 0
    assert all(np.isfinite(a).all() for _, a in named_arrays(grads))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_one_bad_number_shows_in_the_norm(rng, bad):
    grads = zeros_like(random_parameters(rng))
    grads.readout.b_s[1] = bad
    assert not np.isfinite(global_norm(grads))


def test_float32_stays_float32(rng):
    params = random_parameters(rng, dtype=np.float32)
    batch = make_batch([[2, 3, 4], [5]], [[2, 3], [4, 5, 6]])
    output, cache = network_forward(batch, params, dropout=Dropout(0.2, rng))
    assert {output.nll.dtype, output.alphas.dtype} == {np.dtype(np.float32)}

    grads, adam = zeros_like(params), Adam.for_parameters(params)
    network_backward(np.full(2, 0.5, np.float32), cache, params, grads)
    clip_gradients(grads, 0.1)
    adam.update(params, grads, 0.001)
    for tree in (params, grads, adam.m, adam.v):
        assert not {name: a.dtype for name, a in named_arrays(tree) if a.dtype != np.float32}


def arrays_in(value):
    """Every array inside nested tuples, lists and dictionaries, with its place."""
    if isinstance(value, np.ndarray):
        yield "", value
    elif isinstance(value, (tuple, list, dict)):
        names = getattr(value, "_fields", None) or (value if isinstance(value, dict) else range(len(value)))
        for name, inner in zip(names, value.values() if isinstance(value, dict) else value):
            yield from ((f".{name}{place}", array) for place, array in arrays_in(inner))


@pytest.mark.parametrize("ids", [None, np.arange(7), [np.arange(5), np.arange(8)]], ids=["all", "batch", "sentence"])
def test_no_float64_is_kept_for_the_backward(rng, ids):
    params = random_parameters(rng, dtype=np.float32)
    batch = make_batch([[2, 3, 4], [5]], [[2, 3], [4, 5, 6]])
    _, cache = network_forward(batch, params, ids, Dropout(0.2, rng))
    found = dict(arrays_in(cache))
    assert len(found) > 40
    assert not {place: a.dtype for place, a in found.items() if a.dtype == np.float64}


def gradients_with(run, n_threads, chosen):
    with threads(n_threads) as map:
        updater = Updater(run.params, run.src, run.trg, replace(run.settings, threads=n_threads), map=map)
        grads, _, outputs = updater.gradients(updater.shares(np.array(chosen)))
        return map_arrays(np.copy, grads), sum(float(output.nll.sum()) for _, output in outputs)


@pytest.mark.parametrize("chosen", [list(range(13)), [3], [3, 4]])
def test_two_threads_give_nearly_the_gradient_of_one(tmp_path, chosen):
    run = toy_run(tmp_path, dropout=0.0)
    (one, nll_one), (two, nll_two) = (gradients_with(run, n, chosen) for n in (1, 2))
    assert nll_one == pytest.approx(nll_two, rel=1e-5)
    for (name, a), (_, b) in zip(named_arrays(one), named_arrays(two)):
        np.testing.assert_allclose(a, b, atol=1e-5, err_msg=name)


def test_threads_repeat_their_gradient_bit_for_bit(tmp_path):
    run = toy_run(tmp_path, dropout=0.3)
    first, again = (gradients_with(run, 2, range(9))[0] for _ in range(2))
    for (name, a), (_, b) in zip(named_arrays(first), named_arrays(again)):
        np.testing.assert_array_equal(a, b, err_msg=name)
