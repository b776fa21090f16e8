"""What a run starts from: drawn from its seed, the softmax at the frequencies of the words."""

import numpy as np
import pytest

from minnmt.model.network import network_forward
from minnmt.model.parameters import named_arrays
from minnmt.text.batches import make_batch
from minnmt.text.vocab import EOS
from minnmt.train.run import log_shares
from tests.train.toy import toy_run


def loss_per_word(run):
    batch = make_batch(run.src, run.trg)
    return float(network_forward(batch, run.params)[0].nll.sum() / batch.trg_mask.sum())


def test_a_run_starts_at_the_loss_of_the_words_frequencies(tmp_path):
    run = toy_run(tmp_path, n_pairs=200)
    run.params.softmax.W[:] = 0  # what the drawn weights add to it
    words = np.concatenate([*run.trg, [EOS] * len(run.trg)]).astype(int)
    shares = np.bincount(words) / len(words)
    entropy = -(shares[shares > 0] * np.log(shares[shares > 0])).sum()
    assert loss_per_word(run) == pytest.approx(entropy, abs=0.01)
    assert entropy < np.log(len(run.params.softmax.b)) - 0.05  # of a bias of zeros


def test_only_the_bias_is_another_than_with_glorot(tmp_path):
    unigram, glorot = (dict(named_arrays(toy_run(tmp_path, init=init).params)) for init in ("unigram", "glorot"))
    differ = [name for name in glorot if not np.array_equal(unigram[name], glorot[name])]
    assert differ == ["softmax.b"] and not glorot["softmax.b"].any()


def test_shares_of_words():
    shares = np.exp(log_shares([[3, 3], [3]], 5))  # and two eos; 0.5 more of each
    np.testing.assert_allclose(shares, np.array([2.5, 0.5, 0.5, 3.5, 0.5]) / 7.5, rtol=1e-6)
    assert log_shares([[3]], 5).dtype == np.float32
