"""The fast engine: the network's steps with packed weights (packed.py), one row for each live hypothesis.

It computes what minnmt/model/network.py computes, to the rounding of float32 (of large networks, unless they shall be
exact, to the rounding of their weights to 16 bits). Rows of one sentence are neighbours and share its annotations and
its list of words. Left out: which hypotheses go on (batch_beam.py). Notebook 08.
"""

import threading

import numpy as np

from ..nn.list_softmax import gather_lists, list_logits
from ..text.batches import pad
from .packed import Product, pack
from .stages import attend, best_words, gru_cell, read_sentences, readout

WORD_BUDGET = 32 * 1024 * 1024  # numbers of projected words that are kept of a side (128 MB), and
LEAST_WORDS = 4096  # how many words at least
FEW_SENTENCES = 8  # up to so many, the encoder reads one after the other, each as fast as memory allows


class FastEngine:
    """A network made ready for decoding; several threads may use one. `exact`: no weights in 16 bits."""

    def __init__(self, params, packed=None, exact=False):
        self.packed = packed or pack(params, exact)
        self.src_words = ProjectedWords(self.packed.src_embedding, self.packed.src_word)
        self.trg_words = ProjectedWords(self.packed.trg_embedding, self.packed.trg_word)

    def forget_words(self):
        """Project all words anew when they are met, as a new engine does."""
        self.src_words.forget()
        self.trg_words.forget()


class ProjectedWords:
    """The products of a side's words with all that is multiplied with them, made when a word is first met, and kept.

    When the table is full it is emptied.
    """

    def __init__(self, embedding, product):
        V, P = len(embedding), len(product.b)
        capacity = min(V + 1, max(LEAST_WORDS, WORD_BUDGET // P))
        self.embedding, self.product = embedding, product
        self.table = np.empty((capacity, P), embedding.dtype)
        self.slots = np.full(V + 1, -1)  # the last is for "no word", which -1 finds: its embedding is zero
        self.n = 0
        self.lock = threading.Lock()

    def __call__(self, words):
        """words (N) -> (N,P); the word -1 comes before the first."""
        if len(words) > len(self.table):
            return self._project(words)  # a batch so large that the table might not hold all its words
        with self.lock:
            slots = self.slots[words]
            if (slots < 0).any():
                self._add(np.unique(words[slots < 0]), words)
                slots = self.slots[words]
            return self.table[slots]

    def _project(self, words):
        y = self.embedding[words]
        y[words < 0] = 0
        return self.product(y)

    def forget(self):
        self.slots[:] = -1
        self.n = 0

    def _add(self, missing, words):
        if self.n + len(missing) > len(self.table):
            self.forget()
            missing = np.unique(words)
        self.table[self.n : self.n + len(missing)] = self._project(missing)
        self.slots[missing] = np.arange(self.n, self.n + len(missing))
        self.n += len(missing)


class FastSteps:
    """One batch on its way: its encoded sentences and the states of its hypotheses.

    sentences: B lists of source ids without eos; lists: B arrays of target ids, or None.
    """

    def __init__(self, engine, sentences, lists):
        self.p, self.trg_words = engine.packed, engine.trg_words
        h, self.s = self.encode(sentences, engine.src_words)
        self.memory = self.attention_memory(h)
        softmax = self.p.softmax
        self.listed = None if lists is None else gather_lists(lists, softmax)
        self.all_words = Product(softmax.W[None], softmax.b)

    def encode(self, sentences, src_words):
        """B lists of source ids -> annotations h (B,S,C) (3), zero beyond a sentence's end; s_0 (B,H)."""
        src_ids, src_mask = pad(sentences)
        self.lengths = src_mask.sum(axis=0).astype(np.int64)
        inputs = src_words(src_ids.T.reshape(-1)).reshape(*src_ids.T.shape, -1)
        u_forward, u_backward = self.p.u_forward, self.p.u_backward
        if len(inputs) <= FEW_SENTENCES:
            h = read_sentences(inputs, self.lengths, u_forward.weights, u_backward.weights)
        else:
            h = read_together(inputs, self.lengths, u_forward, u_backward)
        return h, np.tanh(self.p.start(h.sum(axis=1) / self.lengths[:, None].astype(h.dtype)))  # (4)

    def attention_memory(self, h):
        """h (B,S,C) -> memory (B,S,C+3H+E): each position's part of attention's hidden layer, and its values (24)."""
        B, S, C = h.shape
        return self.p.annotation(h.reshape(B * S, C)).reshape(B, S, -1)

    def step(self, sentence, parents, words, ending, n):
        """Take the hypotheses one word further and look at what could follow.

        sentence (N), ascending, of each row; parents (N), the row it continues, of the step before (of the batch's
        sentences, at the first step); words (N) chosen then, -1 at the first; ending (N), which rows may only end.
        -> the n best words (N,n) of each row, best first, their log-probabilities (N,n), attention weights (N,S).
        """
        word = self.trg_words(words)
        middle, products = self.first_cell(word, self.s[parents])
        alpha, context = attend(products, sentence, self.memory, self.lengths, self.p.v)  # (6), (24)
        self.s = gru_cell(context, products, middle)  # (10)
        o = self.readout(word, context)
        return *self.choose(o, sentence, ending, n), alpha

    def first_cell(self, word, s):
        """-> s' (N,H) (3), and what is multiplied with it (N,3H+C)."""
        middle = gru_cell(word, self.p.state(s), s)
        return middle, self.p.middle(middle)

    def readout(self, word, context):
        """-> o (N,E) (11)."""
        return readout(self.p.readout(self.s), word, context)

    def choose(self, o, sentence, ending, n):
        """o (N,E) -> the n best words (N,n) of each row and their log-probabilities (12), (21)."""
        listed = self.listed
        if listed is None:
            logits = self.all_words(o)
            return best_words(logits, np.full(len(o), logits.shape[1]), ending, n)
        begins, ends = listed.begins[sentence], listed.ends[sentence]
        logits = list_logits(o, listed.W, listed.b, begins, ends)
        places, logps = best_words(logits, ends - begins, ending, n)
        return listed.ids[sentence[:, None], places], logps


def read_together(inputs, lengths, u_forward, u_backward):
    """What read_sentences does, for many sentences side by side; the GRUs' recurrent weights are Products (3H,H).

    The longest come first, so that the sentences which have a word at position i are the first of them.
    """
    (B, S), H = inputs.shape[:2], inputs.shape[2] // 6
    order, h = np.argsort(-lengths, kind="stable"), np.zeros((B, S, 2 * H), inputs.dtype)
    for u, x, out, positions in (
        (u_forward, inputs[:, :, : 3 * H], h[:, :, :H], range(S)),
        (u_backward, inputs[:, :, 3 * H :], h[:, :, H:], reversed(range(S))),
    ):
        state = np.zeros((B, H), inputs.dtype)
        for i in positions:
            rows = order[lengths[order] > i]
            before = state[: len(rows)]
            out[rows, i] = state[: len(rows)] = gru_cell(x[rows, i], u(before), before)
    return h
