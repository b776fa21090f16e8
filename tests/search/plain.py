"""Searches in their plainest form, without caching or early stopping, for the tests to compare with."""

import itertools

import numpy as np

from minnmt.model.network import network_forward
from minnmt.text.batches import make_batch
from minnmt.text.vocab import EOS


def next_word_logps(src, prefixes, params):
    """n prefixes of one length t -> log-probabilities (n,V) of the word that follows, from the training network."""
    _, cache = network_forward(make_batch([src] * len(prefixes), prefixes), params)
    probs = cache.softmax.probs.reshape(len(prefixes[0]) + 1, len(prefixes), -1)
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


def plain_beam(src, params, beam, max_length, penalty):
    """Beam search that goes on until every place is taken by a finished hypothesis -> [(score, ids)], best first."""
    live, ended = [(0.0, [])], []
    for t in range(max_length + 1):
        logps = next_word_logps(src, [ids for _, ids in live], params)
        extended = [
            (logp + float(more), [*ids, word])
            for (logp, ids), row in zip(live, logps)
            for word, more in enumerate(row)
            if word == EOS or t < max_length
        ]
        best = sorted(extended, key=lambda item: -item[0])[: beam - len(ended)]
        ended += [(logp / (t + 1) ** penalty, ids[:-1]) for logp, ids in best if ids[-1] == EOS]
        live = [item for item in best if item[1][-1] != EOS]
        if not live:
            break
    return sorted(ended, key=lambda item: -item[0])
