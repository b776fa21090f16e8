"""What decoding does between the products: the two cells, attention over each row's own sentence, readout, best words.

A row is a hypothesis; `sentence` says which sentence of the batch it belongs to. Arrays that come from fused products
hold several things side by side, the gates' three parts [r, u, candidate] always in front.
"""

import numba
import numpy as np

from .functions import exp, sigmoid, tanh
from .jit import device_function, kernel
from .products import add_one_row

ONE = np.float32(1)
ZERO = np.float32(0)
LOW = np.float32(-np.inf)


def gru_cell_numpy(inputs, products, s, out):
    """inputs (N,3H+) of the word or of the context, products (N,3H+) of the state s (N,H) -> fills out (N,H).

    The r and u parts are added up before the sigmoid; the candidate is tanh(input + r * product).
    """
    H = s.shape[1]
    gates = 0.5 * np.tanh(0.5 * (inputs[:, : 2 * H] + products[:, : 2 * H])) + 0.5
    r, u = gates[:, :H], gates[:, H:]
    candidate = np.tanh(inputs[:, 2 * H : 3 * H] + r * products[:, 2 * H : 3 * H])
    out[:] = u * s + (1 - u) * candidate


@kernel(twin=gru_cell_numpy)
def gru_cell(inputs, products, s, out):
    for n in range(len(s)):
        cell(inputs[n], products[n], s[n], out[n])


@device_function
def cell(x, y, s, out):
    """One row of gru_cell."""
    H = len(s)
    for j in range(H):
        r = sigmoid(x[j] + y[j])
        u = sigmoid(x[H + j] + y[H + j])
        out[j] = u * s[j] + (ONE - u) * tanh(x[2 * H + j] + r * y[2 * H + j])


def read_sentences_numpy(inputs, lengths, u_forward, u_backward, h):
    """inputs (B,S,6H), of the GRU that reads forwards, then of the other; lengths (B), their Weights (P,3H,H/P).

    Fills h (B,S,2H), their states side by side; beyond a sentence's length h stays as it is.
    """
    H = h.shape[2] // 2
    for b, length in enumerate(lengths):
        for x, u, part, positions in (
            (inputs[b, :, : 3 * H], u_forward, h[b, :, :H], range(length)),
            (inputs[b, :, 3 * H :], u_backward, h[b, :, H:], reversed(range(length))),
        ):
            matrix = np.concatenate(list(u.w.astype(h.dtype)), axis=1)[:, :H] * u.scale[:, None]
            state = np.zeros((1, H), h.dtype)
            for i in positions:
                gru_cell_numpy(x[i : i + 1], state @ matrix.T, state, part[i : i + 1])
                state = part[i : i + 1]


@kernel(twin=read_sentences_numpy, parallel=True)
def read_sentences(inputs, lengths, u_forward, u_backward, h):
    H = h.shape[2] // 2
    for task in numba.prange(2 * len(h)):
        b = task // 2
        if task % 2 == 0:
            read(inputs[b, :, : 3 * H], lengths[b], u_forward, h[b, :, :H], False)
        else:
            read(inputs[b, :, 3 * H :], lengths[b], u_backward, h[b, :, H:], True)


@device_function
def read(inputs, length, u, h, from_end):
    """One sentence: inputs (S,3H), Weights u (P,3H,H/P) -> fills h (S,H)."""
    H = h.shape[1]
    P, size = u.w.shape[0], u.w.shape[2]
    products, state = np.empty(3 * H, np.float32), np.zeros((P, size), np.float32)
    flat = state.reshape(P * size)[:H]  # the panels side by side, less what fills up the last
    for step in range(length):
        i = length - 1 - step if from_end else step
        products[:] = ZERO
        for panel in range(P):
            add_one_row(state[panel], u.w[panel], products)
        products *= u.scale
        cell(inputs[i], products, flat, h[i])
        flat[:] = h[i]


def attend_numpy(products, sentence, memory, lengths, v, alpha, context):
    """products (N,+C) of the states, memory (B,S,C+P): each position's [hidden part, values], lengths (B), v (C).

    Fills alpha (N,S), zero beyond a sentence's length, and context (N,P), the weighted mean of the values.
    """
    C = len(v)
    alpha[:] = 0
    for n, b in enumerate(sentence):
        positions = memory[b, : lengths[b]]
        energy = np.tanh(positions[:, :C] + products[n, -C:]) @ v
        weights = np.exp(energy - energy.max())
        weights /= weights.sum()
        alpha[n, : lengths[b]] = weights
        context[n] = weights @ positions[:, C:]


@kernel(twin=attend_numpy, parallel=True)
def attend(products, sentence, memory, lengths, v, alpha, context):
    N, S = alpha.shape
    C, first = len(v), products.shape[1] - len(v)
    for task in numba.prange(N * S):
        n, i = task // S, task % S
        b = sentence[n]
        if i < lengths[b]:
            alpha[n, i] = energy(memory[b, i, :C], products[n, first:], v)
    for n in numba.prange(N):
        b = sentence[n]
        length = lengths[b]
        softmax(alpha[n, :length])
        alpha[n, length:] = ZERO
        out = context[n]
        out[:] = ZERO
        for i in range(length):
            add_scaled(alpha[n, i], memory[b, i, C:], out)


@device_function
def energy(hidden, s, v):
    total = ZERO
    for j in range(len(v)):
        total += tanh(hidden[j] + s[j]) * v[j]
    return total


@device_function
def softmax(x):
    """In place."""
    largest = x.max()
    total = ZERO
    for i in range(len(x)):
        x[i] = exp(x[i] - largest)
        total += x[i]
    for i in range(len(x)):
        x[i] /= total


@device_function
def add_scaled(scale, x, out):
    for j in range(len(out)):
        out[j] += scale * x[j]


def readout_numpy(o, word, context):
    """o (N,E), which holds the state's part; the last E of word (N,P) and context (N,P) are added -> tanh, in place."""
    E = o.shape[1]
    o += word[:, -E:]
    o += context[:, -E:]
    np.tanh(o, out=o)


@kernel(twin=readout_numpy)
def readout(o, word, context):
    N, E = o.shape
    for n in range(N):
        x, y, out = word[n, word.shape[1] - E :], context[n, context.shape[1] - E :], o[n]
        for e in range(E):
            out[e] = tanh(out[e] + x[e] + y[e])


def best_words_numpy(logits, sizes, ending, words, logps):
    """logits (N,M), of which the first sizes[n] of a row count -> fills words (N,K) and logps (N,K), best first.

    Ties go to the lower word. Rows that are `ending` have no choice but word 0; places without a word get -inf.
    """
    words[:] = 0
    logps[:] = -np.inf
    for n, size in enumerate(sizes):
        row = logits[n, :size] - logits[n, :size].max()
        row -= np.log(np.exp(row).sum())
        best = np.argsort(-row, kind="stable")[: words.shape[1]]
        if ending[n]:
            best = np.zeros(1, int)
        words[n, : len(best)], logps[n, : len(best)] = best, row[best]


@kernel(twin=best_words_numpy, parallel=True)
def best_words(logits, sizes, ending, words, logps):
    for n in numba.prange(len(sizes)):
        row = logits[n, : sizes[n]]
        words[n] = 0
        logps[n] = LOW
        keep_best(row, words[n], logps[n])
        largest = logps[n, 0]
        total = ZERO
        for j in range(len(row)):
            total += exp(row[j] - largest)
        if ending[n]:
            words[n] = 0
            logps[n] = LOW
            logps[n, 0] = row[0]
        shift = np.log(total)
        for k in range(len(logps[n])):
            logps[n, k] = (logps[n, k] - largest) - shift


@device_function
def keep_best(row, words, values):
    """The best of a row, best first, into words and values, whose values are all -inf before."""
    K = len(words)
    for j in range(len(row)):
        if row[j] > values[K - 1]:
            k = K - 1
            while k > 0 and row[j] > values[k - 1]:
                words[k], values[k] = words[k - 1], values[k - 1]
                k -= 1
            words[k], values[k] = j, row[j]
