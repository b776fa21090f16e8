"""Rows without a gradient: Adam, norm and clipping leave them alone, and no batch leaves numbers in them."""

import numpy as np
import pytest

from minnmt.model import parameters
from minnmt.model.parameters import array_pieces, map_arrays, named_arrays
from minnmt.threads import threads
from minnmt.train.adam import Adam, clip_gradients, global_norm
from minnmt.train.updates import Updater
from tests.conftest import random_parameters
from tests.train.test_adam import random_like
from tests.train.toy import toy_run


def random_rows(params, rng):
    sizes = {"src_embedding": params.src_embedding, "softmax.W": params.softmax.W, "softmax.b": params.softmax.b}
    return {name: np.flatnonzero(rng.integers(0, 2, len(array))) for name, array in sizes.items()}


def only_rows(tree, rows):
    """Set every other row to zero."""
    for name, array in named_arrays(tree):
        if name in rows:
            array[np.setdiff1d(np.arange(len(array)), rows[name])] = 0
    return tree


@pytest.mark.parametrize("dtype, tolerance", [(np.float64, 1e-12), (np.float32, 1e-5)])
def test_rows_without_a_gradient_are_left_alone_and_the_others_follow_adam(rng, dtype, tolerance):
    params = random_parameters(rng, dtype=dtype)
    start, adam = map_arrays(np.copy, params), Adam.for_parameters(params)
    steps = [(random_rows(params, rng), random_like(params, rng)) for _ in range(5)]
    for rows, grads in steps:
        before = [{name: a.copy() for name, a in named_arrays(tree)} for tree in (params, adam.m, adam.v)]
        adam.update(params, only_rows(grads, rows), 0.01, rows)
        for old, tree in zip(before, (params, adam.m, adam.v)):
            for name, array in named_arrays(tree):
                idle = np.setdiff1d(np.arange(len(array)), rows.get(name, np.arange(len(array))))
                np.testing.assert_array_equal(array[idle], old[name][idle], err_msg=name)
    for name in ("src_embedding", "trg_embedding", "softmax.W", "softmax.b"):
        for i in range(len(dict(named_arrays(params))[name])):
            p, m, v = dict(named_arrays(start))[name][i].astype(float), 0.0, 0.0
            for t, (rows, grads) in enumerate(steps, start=1):
                if i in rows.get(name, [i]):
                    g = dict(named_arrays(grads))[name][i].astype(float)
                    m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
                    p = p - 0.01 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
            found = dict(named_arrays(params))[name][i]
            np.testing.assert_allclose(found, p, rtol=tolerance, atol=tolerance, err_msg=f"{name}, row {i}")


def test_norm_and_clipping_look_at_the_given_rows_alone(rng):
    params = random_parameters(rng)
    rows = random_rows(params, rng)
    grads = random_like(params, rng)
    before = map_arrays(np.copy, grads)
    expected = global_norm(only_rows(map_arrays(np.copy, grads), rows))
    assert clip_gradients(grads, 0.5, rows) == pytest.approx(expected)
    for (name, a), (_, b) in zip(named_arrays(grads), named_arrays(before)):
        chosen = rows.get(name, np.arange(len(a)))
        np.testing.assert_allclose(a[chosen], b[chosen] * 0.5 / expected)
        idle = np.setdiff1d(np.arange(len(a)), chosen)
        np.testing.assert_array_equal(a[idle], b[idle])


def test_pieces_cover_every_row_once(rng, monkeypatch):
    monkeypatch.setattr(parameters, "PIECE", 20)
    params = random_parameters(rng)
    rows = {**random_rows(params, rng), "trg_embedding": np.zeros(0, int)}
    counts = map_arrays(lambda a: np.zeros(len(a), int), params)
    for name, index in array_pieces(params, rows):
        dict(named_arrays(counts))[name][index] += 1
    for name, count in named_arrays(counts):
        expected = np.isin(np.arange(len(count)), rows.get(name, np.arange(len(count))))
        np.testing.assert_array_equal(count, expected, err_msg=name)


class Lists:
    """The softmax's words of every batch, as minnmt/train/dynamic.py would give them."""

    def __init__(self, run, mode):
        self.own = [np.unique([0, 1, 2, *trg]) for trg in run.trg]
        self.mode = mode

    def lists(self, chosen, shares):
        if self.mode == "batch":
            return [np.unique(np.concatenate([self.own[i] for i in chosen]))] * len(shares)
        return [[self.own[i] for i in share] for share in shares]


BATCHES = [([0, 1, 2], None), ([3], None), ([4, 5], "batch"), ([6], "pair"), ([7, 8], "pair"), ([9, 10], None)]


def test_no_batch_leaves_anything_behind_for_the_next(tmp_path):
    """Long and short batches, all words and lists: one object after the other against new ones for each."""
    run = toy_run(tmp_path, dropout=0.0)
    run.settings.threads = 2
    with threads(2) as map:
        updater = Updater(run.params, run.src, run.trg, run.settings, map=map)
        for number, (chosen, mode) in enumerate(BATCHES):
            updater.words = Lists(run, mode) if mode else None
            shares = updater.shares(np.array(chosen))
            grads, rows, _ = updater.gradients(shares)
            expected, _, _ = Updater(run.params, run.src, run.trg, run.settings).gradients(shares)
            assert ("softmax.W" in rows) == (mode is not None) and len(rows["src_embedding"]) < len(grads.src_embedding)
            for (name, a), (_, b) in zip(named_arrays(grads), named_arrays(expected)):
                np.testing.assert_array_equal(a, b, err_msg=f"batch {number}, {name}")
                if name in rows:
                    idle = np.setdiff1d(np.arange(len(a)), rows[name])
                    assert not a[idle].any(), f"batch {number}, {name}: a row that is not named has a gradient"
