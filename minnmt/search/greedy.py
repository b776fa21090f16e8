"""Greedy search for one sentence, in the plainest form: what beam search with one hypothesis equals.

Left out: lists of words, and all but the best translation (beam.py). Notebook 05 starts here.
"""

import numpy as np

from ..model.network import encode, next_word
from ..text.batches import pad
from ..text.vocab import EOS


def greedy_search(src, params, max_length):
    """src: the ids of one sentence, without eos -> (ids without eos, sum of log-probabilities)."""
    s, memory, _ = encode(*pad([src]), params)
    y = np.zeros_like(params.trg_embedding[:1])
    words, score = [], 0.0
    while True:
        s, logps, _ = next_word(y, s, memory, params)
        logp = logps[0]
        word = int(logp.argmax()) if len(words) < max_length else EOS
        score += float(logp[word])
        if word == EOS:
            return words, score
        words.append(word)
        y = params.trg_embedding[[word]]
