"""What the fast engine computes between its products, stage by stage.

A row is a hypothesis; `sentence` says which sentence of the batch it belongs to. Arrays that come from products with
several weights at once (packed.py) hold several things side by side, the gates' three parts [r, u, candidate] always
in front. The compiled functions are in kernels/decoding.py. Notebook 08.
"""

import numpy as np

from ..compiled import compiled
from ..nn.gru import gru_gates


@compiled("decoding.gru_cell")
def gru_cell(inputs, products, s):
    """inputs (N,3H+) of the word or of the context, products (N,3H+) of the state s (N,H) -> the next state (N,H)."""
    H = s.shape[1]
    x_gates, x_cand = inputs[:, : 2 * H], inputs[:, 2 * H : 3 * H]
    h_gates, h_cand = products[:, : 2 * H], products[:, 2 * H : 3 * H]
    return gru_gates.plain(x_gates, x_cand, h_gates, h_cand, s)[0]  # (1) to (3), (8) to (10)


@compiled("decoding.read_sentences")
def read_sentences(inputs, lengths, u_forward, u_backward):
    """inputs (B,S,6H) of the GRU that reads forwards, then of the other; lengths (B); their Weights (P,3H,H/P).

    -> h (B,S,2H), their states side by side (3), zero beyond a sentence's end.
    """
    (B, S), H = inputs.shape[:2], inputs.shape[2] // 6
    h = np.zeros((B, S, 2 * H), inputs.dtype)
    for b, length in enumerate(lengths):
        forwards = read_sentence(inputs[b, :length, : 3 * H], u_forward)
        backwards = read_sentence(inputs[b, :length, 3 * H :][::-1], u_backward)
        h[b, :length] = np.concatenate([forwards, backwards[::-1]], axis=1)
    return h


def read_sentence(inputs, u):
    """One GRU reads one sentence: inputs (S,3H), Weights (P,3H,H/P) -> its states (S,H)."""
    H = inputs.shape[1] // 3
    U = np.concatenate(list(u.w.astype(inputs.dtype)), axis=1)[:, :H] * u.scale[:, None]  # without panels
    h = np.zeros((len(inputs) + 1, H), inputs.dtype)
    for i in range(len(inputs)):
        h[i + 1] = gru_cell.plain(inputs[i : i + 1], h[i : i + 1] @ U.T, h[i : i + 1])[0]
    return h[1:]


@compiled("decoding.attend")
def attend(products, sentence, memory, lengths, v):
    """products (N,+C) of the states, memory (B,S,C+P): each position's [hidden part, values], lengths (B), v (C).

    -> alpha (N,S), zero beyond a sentence's end, context (N,P), the weighted mean of the values.
    """
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
def readout(state, word, context):
    """state (N,E), its part; the last E of word (N,P) and of context (N,P) are theirs -> o (N,E)."""
    E = state.shape[1]
    return np.tanh(state + word[:, -E:] + context[:, -E:])  # (11)


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
