"""Sentence pairs as padded id arrays: sorted by length within a pool, shuffled anew each epoch from the seed.

Notebook 04.
"""

from typing import NamedTuple

import numpy as np

from .vocab import EOS

LARGEST_BATCH = 64 * 32 * 32  # source words times target words, for batches_by_length


class Batch(NamedTuple):
    """Time first: ids (S,B) and (T,B), masks of the same shapes (1 = a real word, eos included)."""

    src_ids: np.ndarray
    src_mask: np.ndarray
    trg_ids: np.ndarray
    trg_mask: np.ndarray


def pad(sentences):
    """B lists of ids without eos -> ids (S,B), mask (S,B); every sentence ends in eos, unmasked."""
    length = max(map(len, sentences)) + 1
    ids = np.full((length, len(sentences)), EOS, np.int64)
    mask = np.zeros(ids.shape, np.float32)
    for b, sentence in enumerate(sentences):
        ids[: len(sentence), b] = sentence
        mask[: len(sentence) + 1, b] = 1
    return ids, mask


def make_batch(src, trg):
    """Lists of source and target id lists -> Batch."""
    return Batch(*pad(src), *pad(trg))


def epoch_order(src, trg, batch_size, pool, rng, pairs=None):
    """One epoch's batches as lists of pair numbers: of all pairs, or of `pairs`, shuffled already.

    The pairs are shuffled and cut into pools of `pool` batches; within a pool they are sorted by length, so that a
    batch pads little; then the batches are shuffled.
    """
    order = rng.permutation(len(src)) if pairs is None else pairs
    lengths = np.array([len(s) + len(t) for s, t in zip(src, trg)])
    batches = []
    for start in range(0, len(order), pool * batch_size):
        chunk = order[start : start + pool * batch_size]
        chunk = chunk[np.argsort(lengths[chunk], kind="stable")]
        batches += [chunk[i : i + batch_size] for i in range(0, len(chunk), batch_size)]
    return [batches[i] for i in rng.permutation(len(batches))]


def batches_by_length(src, trg, batch_size):
    """Batches of similar length in a fixed order, for validation: yields (pair numbers, Batch)."""
    for chosen in numbers_by_length(src, trg, batch_size):
        yield chosen, make_batch([src[i] for i in chosen], [trg[i] for i in chosen])


def numbers_by_length(src, trg, batch_size):
    """The pair numbers of such batches, longest first.

    Attention holds a value for every source and target word, so batches of long sentences are smaller.
    """
    lengths = np.array([max(len(s), len(t)) + 1 for s, t in zip(src, trg)])
    order = np.argsort(-lengths, kind="stable")
    while len(order):
        n = min(batch_size, max(1, LARGEST_BATCH // lengths[order[0]] ** 2))
        yield order[:n]
        order = order[n:]
