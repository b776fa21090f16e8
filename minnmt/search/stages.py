"""A step of the fast engine, stage by stage: the decoder's equations on packed weights (packed.py).

A row is a hypothesis; `sentence` says which sentence of the batch it belongs to. Arrays that come from products with
several weights at once hold several things side by side, the gates' three parts [r, u, candidate] always in front. The
compiled functions are in kernels/decoding.py, where that of `decoder_step` is the whole step, and kernels/reading.py.
Notebook 08.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..nn.gru import gru_gates
from .packed import TILE, from_tiles, product, round_rows


class State(NamedTuple):
    """Of the hypotheses, before their next word."""

    s: np.ndarray  # (N,H)
    products: np.ndarray  # (N,3H+E) what s is multiplied with: the first cell's gates and candidate, the readout


class Source(NamedTuple):
    """What attention looks at."""

    memory: np.ndarray  # (B,S,C+3H+E) of each position [its part of attention's hidden layer, values (24)]
    lengths: np.ndarray  # (B)
    v: np.ndarray  # (C)


@compiled("decoding.decoder_step")
def decoder_step(word, state, sentence, source, weights, output, ending, n, desk=None):
    """Take N hypotheses one word further and look at what could follow.

    word (N,3H+E), what the last word adds; State; sentence (N), ascending; Source; StepWeights; Output; ending (N),
    which rows may only end -> s (N,H) and its products (N,3H+E), readout (N,E), alpha (N,S), the n best places (N,n) in
    each row's list, their log-probabilities (N,n). The desk is for the compiled step, whose results lie on it until the
    next.
    """
    s1 = gru_cell(word, state.products, state.s)  # (3)
    middle = product(s1, weights.middle)
    alpha, context = attend(middle, sentence, source)  # (5) to (7), (24)
    s = gru_cell(context, middle, s1)  # (10)
    products = product(s, weights.state)
    o = readout(products, word, context, s.shape[1])  # (11)
    logits = word_logits(o, sentence, output)
    places, logps = best_words(logits, output.sizes[sentence], ending, n)  # (12), (21)
    return s, products, o, alpha, places, logps


@compiled("decoding.gru_cell")
def gru_cell(inputs, products, s):
    """inputs (N,3H+) of the word or of the context, products (N,3H+) of the state s (N,H) -> the next state (N,H)."""
    H = s.shape[1]
    x_gates, x_cand = inputs[:, : 2 * H], inputs[:, 2 * H : 3 * H]
    h_gates, h_cand = products[:, : 2 * H], products[:, 2 * H : 3 * H]
    return gru_gates.plain(x_gates, x_cand, h_gates, h_cand, s)[0]  # (1) to (3), (8) to (10)


@compiled("decoding.attend")
def attend(products, sentence, source):
    """products (N,+C) of the states -> alpha (N,S), zero beyond a sentence's end, context (N,P), its mean value."""
    memory, lengths, v = source
    N, S, C = len(products), memory.shape[1], len(v)
    alpha, context = np.zeros((N, S), products.dtype), np.zeros((N, memory.shape[2] - C), products.dtype)
    for n, b in enumerate(sentence):
        positions = memory[b, : lengths[b]]
        energy = np.tanh(positions[:, :C] + products[n, -C:]) @ v  # (5)
        weights = np.exp(energy - energy.max())
        weights /= weights.sum()  # (6)
        alpha[n, : lengths[b]] = weights
        context[n] = weights @ positions[:, C:]  # (7), (24)
    return alpha, context


@compiled("decoding.readout")
def readout(products, word, context, H):
    """What state, word and context add behind the cell's 3H: (N,3H+E) each -> o (N,E)."""
    return np.tanh(products[:, 3 * H :] + word[:, 3 * H :] + context[:, 3 * H :])  # (11)


@compiled("decoding.word_logits")
def word_logits(o, sentence, output):
    """o (N,E) -> logits (N,M), M words in the longest list; row n has the words of its list, then -inf."""
    weights, begins, sizes = output
    logits = np.full((len(o), sizes.max(initial=0)), -np.inf, o.dtype)
    rounded, scale = round_rows(o, weights.levels)
    W = from_tiles(weights)[:, : o.shape[1]].astype(o.dtype)
    for n, b in enumerate(sentence):
        words = slice(TILE * begins[b], TILE * begins[b] + sizes[b])
        logits[n, : sizes[b]] = scale[n] * weights.scale[words] * (W[words] @ rounded[n]) + weights.bias[words]
    return logits


@compiled("decoding.best_words")
def best_words(logits, sizes, ending, n):
    """logits (N,M), of which the first sizes[i] of a row count -> its n best words (N,n), log-probabilities (N,n).

    Best first, ties to the lower word. Rows that are `ending` have no choice but word 0; places without a word have
    a log-probability of -inf.
    """
    words, logps = np.zeros((len(sizes), n), np.int64), np.full((len(sizes), n), -np.inf, logits.dtype)
    for i, size in enumerate(sizes):
        row = logits[i, :size] - logits[i, :size].max()
        row -= np.log(np.exp(row).sum())  # (12), its logarithm
        best = np.zeros(1, int) if ending[i] else np.argsort(-row, kind="stable")[:n]
        words[i, : len(best)], logps[i, : len(best)] = best, row[best]
    return words, logps


@compiled("reading.annotate")
def annotate(inputs, lengths, weights, desk=None):
    """Read B sentences: inputs (B,S,6H) of the GRU that reads forwards, then of the other; lengths; EncoderWeights.

    -> h (B,S,C), their states side by side (3), zero beyond a sentence's end; what attention looks at (B,S,C+3H+E).
    """
    (B, S), H = inputs.shape[:2], inputs.shape[2] // 6
    h = np.zeros((B, S, 2 * H), inputs.dtype)
    for b, length in enumerate(lengths):
        forwards = read_sentence(inputs[b, :length, : 3 * H], weights.u_forward)
        backwards = read_sentence(inputs[b, :length, 3 * H :][::-1], weights.u_backward)
        h[b, :length] = np.concatenate([forwards, backwards[::-1]], axis=1)
    return h, product(h.reshape(B * S, 2 * H), weights.annotation).reshape(B, S, -1)


def read_sentence(inputs, u):
    """One GRU reads one sentence: inputs (S,3H), Weights (3H,H) -> its states (S,H)."""
    h = np.zeros((len(inputs) + 1, inputs.shape[1] // 3), inputs.dtype)
    for i in range(len(inputs)):
        h[i + 1] = gru_cell(inputs[i : i + 1], product(h[i : i + 1], u), h[i : i + 1])[0]
    return h[1:]
