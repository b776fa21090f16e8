"""What decoding does between the products: the two cells, attention over each row's own sentence, readout, best words.

A row is a hypothesis; `sentence` says which sentence of the batch it belongs to. Arrays that come from fused products
hold several things side by side, the gates' three parts [r, u, candidate] always in front. The plain functions, with
their shapes and equations, are in minnmt/search/stages.py. Notebook 08.
"""

import numba
import numpy as np

from .attention import add_scaled, energy
from .functions import LOW, ZERO, exp, softmax, tanh
from .gates import gated
from .jit import device_function, kernel
from .products import add_one_row


@kernel
def gru_cell(inputs, products, s):
    """One pass over memory, where numpy takes a dozen."""
    out = np.empty(s.shape, np.float32)
    for n in range(len(s)):
        cell(inputs[n], products[n], s[n], out[n])
    return out


@device_function
def cell(x, y, s, out):
    """One row of gru_cell."""
    H = len(s)
    for j in range(H):
        out[j] = gated(x[j], y[j], x[H + j], y[H + j], x[2 * H + j], y[2 * H + j], s[j])[0]


@kernel(parallel=True)
def read_sentences(inputs, lengths, u_forward, u_backward):
    """A task is one sentence in one direction; its weights are read once for each word, and nothing else is."""
    B, S, H = inputs.shape[0], inputs.shape[1], inputs.shape[2] // 6
    h = np.empty((B, S, 2 * H), np.float32)
    for task in numba.prange(2 * B):
        b = task // 2
        if task % 2 == 0:
            read(inputs[b, :, : 3 * H], lengths[b], u_forward, h[b, :, :H], False)
        else:
            read(inputs[b, :, 3 * H :], lengths[b], u_backward, h[b, :, H:], True)
    return h


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
    h[length:] = ZERO


@kernel(parallel=True)
def attend(products, sentence, memory, lengths, v):
    """The energies of all rows and positions first: threads that share the kernel have equal parts of them."""
    N, S = len(products), memory.shape[1]
    C, first = len(v), products.shape[1] - len(v)
    alpha, context = np.empty((N, S), np.float32), np.empty((N, memory.shape[2] - C), np.float32)
    for task in numba.prange(N * S):
        n, i = task // S, task % S
        b = sentence[n]
        if i < lengths[b]:
            alpha[n, i] = energy(memory[b, i, :C], products[n, first:], v)
    for n in numba.prange(N):
        b = sentence[n]
        length = lengths[b]
        softmax(alpha[n, :length], alpha[n, :length].max())
        alpha[n, length:] = ZERO
        out = context[n]
        out[:] = ZERO
        for i in range(length):
            add_scaled(alpha[n, i], memory[b, i, C:], out)
    return alpha, context


@kernel
def readout(state, word, context):
    """One pass over memory."""
    N, E = state.shape
    o = np.empty((N, E), np.float32)
    for n in range(N):
        x, y, out = word[n, word.shape[1] - E :], context[n, context.shape[1] - E :], o[n]
        for e in range(E):
            out[e] = tanh(state[n, e] + x[e] + y[e])
    return o


@kernel(parallel=True)
def best_words(logits, sizes, ending, n):
    """The n best are kept while the largest is looked for; then one more pass, and no probability is written."""
    N = len(sizes)
    words, logps = np.empty((N, n), np.int64), np.empty((N, n), np.float32)
    for i in numba.prange(N):
        row = logits[i, : sizes[i]]
        words[i] = 0
        logps[i] = LOW
        keep_best(row, words[i], logps[i])
        largest = logps[i, 0]
        total = ZERO
        for j in range(len(row)):
            total += exp(row[j] - largest)
        if ending[i]:
            words[i] = 0
            logps[i] = LOW
            logps[i, 0] = row[0]
        shift = np.log(total)
        for k in range(n):
            logps[i, k] = (logps[i, k] - largest) - shift
    return words, logps


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
