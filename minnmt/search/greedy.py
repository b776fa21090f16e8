"""Greedy search for one sentence, in the plainest form: the reference that beam search with one hypothesis equals.

Notebook 05 starts here.
"""

import numpy as np

from ..model.decoder import decoder_step_forward
from ..model.network import encode
from ..nn.gru import gru_inputs
from ..nn.readout import readout_forward
from ..nn.softmax import log_softmax
from ..text.batches import pad
from ..text.vocab import EOS


def greedy_search(src, params, max_length):
    """src: the ids of one sentence, without eos -> (ids without eos, sum of log-probabilities)."""
    src_ids, src_mask = pad([src])
    s, memory, _ = encode(src_ids, src_mask, params)
    y = np.zeros((1, params.trg_embedding.shape[1]), np.float32)
    words, score = [], 0.0
    while True:
        s, c, _, _ = decoder_step_forward(*gru_inputs(y, params.decoder_gru), s, memory, params)
        o, _ = readout_forward(s, y, c, params.readout)
        logp = log_softmax(o, params.softmax)[0]
        word = int(logp.argmax()) if len(words) < max_length else EOS
        score += float(logp[word])
        if word == EOS:
            return words, score
        words.append(word)
        y = params.trg_embedding[[word]]
