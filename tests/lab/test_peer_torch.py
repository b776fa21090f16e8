"""The PyTorch peer does what minnmt does: same translations and scores, same losses, same updates."""

import numpy as np
import pytest

from minnmt.model.network import network_backward, network_forward
from minnmt.model.parameters import map_arrays, zeros_like
from minnmt.search.batch_beam import batch_beam_search
from minnmt.search.beam import SearchSettings
from minnmt.search.fast import FastEngine, FastSteps
from minnmt.text.batches import make_batch
from minnmt.train.adam import Adam, clip_gradients
from tests.conftest import random_parameters

pytest.importorskip("torch")

from minnmt.lab import peer_torch  # noqa: E402  (only with torch)
from minnmt.lab.peer_torch import TorchNetwork  # noqa: E402

SRC_WORDS, TRG_WORDS, MAX_LENGTH = 30, 40, 9
LENGTHS = (4, 1, 11, 4, 7, 2)


def parameters(rng, dtype=np.float32, factor=1.0, eos_bias=0.0):
    """A small network; a larger factor gives it clearer preferences."""
    params = random_parameters(rng, SRC_WORDS, TRG_WORDS, embedding=5, hidden=6, dtype=dtype)
    params = map_arrays(lambda a: factor * a, params)
    params.softmax.b[0] += eos_bias
    return params


def random_sentences(rng, n_words, lengths=LENGTHS):
    return [rng.integers(1, n_words, size=n).tolist() for n in lengths]


def random_lists(rng, sizes):
    return [np.r_[0, np.sort(rng.choice(np.arange(1, TRG_WORDS), n, replace=False))] for n in sizes]


def same_translations(params, network, sentences, beam, lists=None, max_length=MAX_LENGTH):
    """Compare the peer's best translations with minnmt's, and return their ids."""
    settings = SearchSettings(beam=beam, max_length=max_length)
    expected = [found[0] for found in batch_beam_search(sentences, FastEngine(params, "float32"), settings, lists)]
    found = network.decode(sentences, beam, max_length, lists)
    assert [ids for ids, _ in found] == [hypothesis.ids for hypothesis in expected]
    np.testing.assert_allclose([score for _, score in found], [h.score for h in expected], rtol=1e-6, atol=1e-4)
    return [ids for ids, _ in found]


@pytest.mark.parametrize("beam", [1, 5])
def test_decoding_with_all_words(rng, beam):
    lengths = []
    for _ in range(20):
        params = parameters(rng, factor=2.0, eos_bias=3.0)
        found = same_translations(params, TorchNetwork(params), random_sentences(rng, SRC_WORDS), beam)
        lengths += [len(ids) for ids in found]
    assert len(set(lengths)) > 4  # sentences leave the batch at different steps


@pytest.mark.parametrize("beam", [1, 5])
def test_decoding_up_to_the_limit(rng, beam):
    params = parameters(rng, factor=2.0, eos_bias=-1e4)
    found = same_translations(params, TorchNetwork(params), random_sentences(rng, SRC_WORDS), beam)
    assert {len(ids) for ids in found} == {MAX_LENGTH}


@pytest.mark.parametrize("sizes", [(12,) * 6, (20, 3, 39, 0, 7, 12)])
@pytest.mark.parametrize("beam", [1, 5])
def test_decoding_with_lists(rng, beam, sizes):
    for _ in range(10):
        params = parameters(rng, factor=2.0, eos_bias=1.0)
        sentences, lists = random_sentences(rng, SRC_WORDS), random_lists(rng, sizes)
        found = same_translations(params, TorchNetwork(params), sentences, beam, lists)
        assert all(set(ids) <= set(words.tolist()) for ids, words in zip(found, lists))


@pytest.mark.parametrize("beam", [1, 5])
def test_sentences_leave_the_batch_when_minnmt_lets_them_go(rng, monkeypatch, beam):
    """Comparing speeds means comparing the same number of steps, for the same number of sentences."""
    ours, theirs = [], []
    fast_step, torch_step = FastSteps.step, TorchNetwork.next_word

    def step(self, sentence, *others):
        ours.append(len(np.unique(sentence)))
        return fast_step(self, sentence, *others)

    def next_word(self, y, s, memory, listed):
        theirs.append(len(memory.mask))
        return torch_step(self, y, s, memory, listed)

    monkeypatch.setattr(FastSteps, "step", step)
    monkeypatch.setattr(TorchNetwork, "next_word", next_word)
    for _ in range(10):
        params = parameters(rng, factor=2.0, eos_bias=3.0)
        same_translations(params, TorchNetwork(params), random_sentences(rng, SRC_WORDS), beam)
    assert ours == theirs and len(set(ours)) == len(LENGTHS)


@pytest.mark.parametrize("lists", [None, [np.array([0])], [np.array([0, 3])]])
@pytest.mark.parametrize("max_length", [0, 1, 6])
def test_one_sentence_short_limits_and_lists_smaller_than_the_beam(rng, max_length, lists):
    params = parameters(rng)
    same_translations(params, TorchNetwork(params), [[5, 6]], 5, lists, max_length)


@pytest.mark.parametrize("engine", ["fbgemm", "x86"])
@pytest.mark.parametrize("with_lists", [False, True])
def test_in_8_bits_scores_are_close(rng, engine, with_lists):
    """As close to float32 as minnmt's own in 8 bits."""
    params = parameters(rng, factor=2.0, eos_bias=1.0)
    sentences = random_sentences(rng, SRC_WORDS)
    lists = random_lists(rng, (20, 3, 39, 0, 7, 12)) if with_lists else None
    network, exact = peer_torch.Int8TorchNetwork(params, engine), TorchNetwork(params)
    found, expected = (each.decode(sentences, 5, MAX_LENGTH, lists) for each in (network, exact))
    np.testing.assert_allclose([score for _, score in found], [score for _, score in expected], atol=0.1)
    assert sum(ids == other for (ids, _), (other, _) in zip(found, expected)) >= 3
    assert found != expected


def test_the_weights_are_copies(rng):
    params = parameters(rng, factor=2.0)
    network, before = TorchNetwork(params), map_arrays(np.copy, params)
    map_arrays(lambda a: a.fill(0), params)
    same_translations(before, network, [[5, 6, 7]], 5)


def random_batch(rng, ids, even=False):
    """Padded on both sides; an even batch has every target word once in each sentence, for a small gradient.

    Each source word and each target word of `ids` is met, so that rows of the tables have a gradient either at every
    update or never: then an Adam that leaves out rows without one agrees as well.
    """
    words = ids[ids > 0]
    src = [rng.permutation(np.arange(1, SRC_WORDS)).tolist() for _ in range(2)] + random_sentences(rng, SRC_WORDS)
    trg = [rng.permutation(words).tolist() for _ in src]
    if not even:
        trg[1:-1] = [rng.choice(words, size=n).tolist() for n in (3, 9, 5, 2, 2, 8)]
        trg[0] += [int(words[0])] * 20
    return make_batch(src, trg)


def update(params, adam, batch, ids):
    """An update of minnmt -> summed nll, the gradient's norm before clipping."""
    output, cache = network_forward(batch, params, ids)
    grads, n_sentences = zeros_like(params), batch.trg_ids.shape[1]
    network_backward(np.full(n_sentences, 1 / n_sentences, params.softmax.W.dtype), cache, params, grads)
    norm = clip_gradients(grads, 1.0)
    adam.update(params, grads, 5e-4)
    return float(output.nll.sum()), norm


def assert_same_weights(network, params, tolerance):
    for (name, found), expected in zip(network.named_parameters(), TorchNetwork(params).parameters()):
        np.testing.assert_allclose(found.detach(), expected, rtol=0, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("loss_rows", [512, 7])
@pytest.mark.parametrize("ids", [None, np.arange(0, TRG_WORDS, 3)], ids=["all words", "list"])
def test_updates_agree(rng, monkeypatch, ids, loss_rows):
    """In float64: Adam's first steps are as large for a gradient that is nothing but rounding as for any other."""
    monkeypatch.setattr(peer_torch, "LOSS_ROWS", loss_rows)
    params = parameters(rng, np.float64, factor=0.1)
    network, adam, norms = TorchNetwork(params), Adam.for_parameters(params), []
    for even in (False, True, False):
        batch = random_batch(rng, np.arange(TRG_WORDS) if ids is None else ids, even)
        found = network.train_step(batch, ids)
        expected, norm = update(params, adam, batch, ids)
        assert found == pytest.approx(expected, rel=1e-6)
        norms.append(norm)
    assert_same_weights(network, params, tolerance=1e-8)
    assert norms[0] > 1.1 and norms[1] < 0.9  # clipped and not clipped: Adam sees the ratio of the two gradients


def test_an_update_in_float32(rng):
    params = parameters(rng)
    network, batch = TorchNetwork(params), random_batch(rng, np.arange(TRG_WORDS))
    expected, _ = update(params, Adam.for_parameters(params), batch, None)
    assert network.train_step(batch) == pytest.approx(expected, rel=1e-5)
    params.attention.v_b[:] = network.v_b.detach()  # its gradient is nothing but rounding
    assert_same_weights(network, params, tolerance=1e-5)
    same_translations(params, network, random_sentences(rng, SRC_WORDS), 5)  # it decodes with the new weights
