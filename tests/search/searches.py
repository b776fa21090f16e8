"""The two beam searches under one signature, and the best of all translations by looking at each."""

import itertools

import numpy as np

from minnmt.model.network import network_forward
from minnmt.search.batch_beam import batch_beam_search
from minnmt.search.beam import beam_search
from minnmt.search.fast import FastEngine
from minnmt.text.batches import make_batch
from minnmt.text.vocab import EOS


def plain_search(sentences, params, settings, lists=None):
    """Sentences one by one -> a list of Hypothesis for each."""
    lists = lists or [None] * len(sentences)
    return [beam_search(src, params, settings, ids) for src, ids in zip(sentences, lists)]


def fast_search(sentences, params, settings, lists=None):
    """All sentences in one array program -> a list of Hypothesis for each."""
    return batch_beam_search(sentences, FastEngine(params, "float32"), settings, lists)


def next_word_logps(src, prefixes, params):
    """n prefixes of one length t -> log-probabilities (n,V) of the word that follows, from the training network."""
    _, cache = network_forward(make_batch([src] * len(prefixes), prefixes), params)
    probs = cache.loss.parts[0].cache.probs.reshape(len(prefixes[0]) + 1, len(prefixes), -1)
    return np.log(probs[-1])


def every_translation(src, params, max_length, penalty):
    """All translations of up to max_length words -> [(score, ids)], best first."""
    words = [w for w in range(len(params.trg_embedding)) if w != EOS]
    found = []
    for length in range(max_length + 1):
        translations = [list(ids) for ids in itertools.product(words, repeat=length)]
        output, _ = network_forward(make_batch([src] * len(translations), translations), params)
        found += [(-float(nll) / (length + 1) ** penalty, ids) for nll, ids in zip(output.nll, translations)]
    return sorted(found, key=lambda item: -item[0])
