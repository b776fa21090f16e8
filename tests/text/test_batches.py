"""Padding, and the order of an epoch: every pair once, repeatable, different each time, little padding."""

import numpy as np
import pytest

from minnmt.text.batches import batches_by_length, epoch_order, make_batch, pad


def pairs(rng, n):
    return [[[5] * k for k in rng.integers(1, 30, size=n)] for _ in range(2)]


def order_of(src, trg, seed, batch_size=8, pool=5):
    return epoch_order(src, trg, batch_size, pool, np.random.default_rng(seed))


def test_padding_is_masked_and_eos_is_not():
    ids, mask = pad([[5, 6, 7], [8], []])
    np.testing.assert_array_equal(ids.T, [[5, 6, 7, 0], [8, 0, 0, 0], [0, 0, 0, 0]])
    np.testing.assert_array_equal(mask.T, [[1, 1, 1, 1], [1, 1, 0, 0], [1, 0, 0, 0]])
    assert mask.dtype == np.float32


def test_the_sides_of_a_batch_are_padded_apart():
    batch = make_batch([[2], [3, 4]], [[5, 6, 7], [8]])
    assert batch.src_ids.shape == batch.src_mask.shape == (3, 2)
    assert batch.trg_ids.shape == batch.trg_mask.shape == (4, 2)


@pytest.mark.parametrize("n", [1, 7, 8, 9, 40, 203])
def test_every_pair_comes_once_an_epoch(rng, n):
    batches = order_of(*pairs(rng, n), seed=1)
    assert sorted(i for batch in batches for i in batch) == list(range(n))
    assert max(map(len, batches)) <= 8 and len(batches) == -(-n // 8)


def test_the_same_seed_gives_the_same_order_and_another_a_different_one(rng):
    src, trg = pairs(rng, 200)
    first, again, other = ([list(batch) for batch in order_of(src, trg, seed)] for seed in ([1, 1], [1, 1], [1, 2]))
    assert first == again != other
    assert {frozenset(batch) for batch in first} != {
        frozenset(batch) for batch in other
    }  # not the same batches reordered


def padded_share(src, trg, batches):
    real = sum(len(src[i]) + len(trg[i]) + 2 for batch in batches for i in batch)
    masks = [make_batch([src[i] for i in b], [trg[i] for i in b]) for b in batches]
    return 1 - real / sum(m.src_mask.size + m.trg_mask.size for m in masks)


def test_sorting_within_a_pool_saves_padding(rng):
    lengths = rng.integers(1, 30, size=400)
    src, trg = ([[5] * int(k) for k in lengths + rng.integers(0, 3, size=400)] for _ in range(2))
    unsorted = padded_share(src, trg, order_of(src, trg, 1, pool=1))
    assert padded_share(src, trg, order_of(src, trg, 1, pool=50)) < 0.12 < 0.3 < unsorted


def test_batches_do_not_come_in_the_order_of_their_length(rng):
    src, trg = pairs(rng, 400)
    longest = [max(len(src[i]) for i in batch) for batch in order_of(src, trg, 1, pool=50)]
    assert longest != sorted(longest)


def test_validation_batches_hold_every_pair_once(rng):
    src, trg = pairs(rng, 50)
    seen = []
    for chosen, batch in batches_by_length(src, trg, 8):
        seen += list(chosen)
        assert [int(n) - 1 for n in batch.src_mask.sum(axis=0)] == [len(src[i]) for i in chosen]
        assert [int(n) - 1 for n in batch.trg_mask.sum(axis=0)] == [len(trg[i]) for i in chosen]
    assert sorted(seen) == list(range(50))
