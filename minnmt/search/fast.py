"""The fast engine: the network's steps with packed weights, one row for each live hypothesis.

It computes what minnmt/search/plain.py computes, to the rounding of float32 (of large networks, unless they shall be
exact, to the rounding of their weights to 16 bits), and is compared with it in the tests.
Rows of one sentence are neighbours and share its annotations and its list of words.
"""

import threading

import numpy as np

from kernels.decoding import attend, best_words, gru_cell, read_sentences, readout
from kernels.softmax import list_logits

from ..nn.list_softmax import gather_lists
from ..profile import lap
from ..text.batches import pad
from ..threads import keep_freed_memory
from .packed import Product, pack

WORD_BUDGET = 32 * 1024 * 1024  # numbers of projected words that are kept of a side (128 MB), and
LEAST_WORDS = 4096  # how many words at least
FEW_SENTENCES = 8  # up to so many, the encoder reads one after the other, each as fast as memory allows


class FastEngine:
    """A network made ready for decoding; several threads may use one. `exact`: no weights in 16 bits."""

    def __init__(self, params, packed=None, exact=False):
        keep_freed_memory()
        self.packed = packed or pack(params, exact)
        self.src_words = ProjectedWords(self.packed.src_embedding, self.packed.src_word)
        self.trg_words = ProjectedWords(self.packed.trg_embedding, self.packed.trg_word)

    def begin(self, sentences, lists=None):
        """sentences: B lists of source ids without eos; lists: B arrays of target ids, or None -> FastSteps."""
        return FastSteps(self, sentences, lists)

    def forget_words(self):
        """Project all words anew when they are met, as a new engine does."""
        self.src_words.forget()
        self.trg_words.forget()

    def __reduce__(self):
        return FastEngine, (None, self.packed)  # the words projected so far stay behind


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
    """One batch on its way: its encoded sentences and the states of its hypotheses."""

    def __init__(self, engine, sentences, lists=None):
        self.p, self.trg_words = engine.packed, engine.trg_words
        src_ids, src_mask = pad(sentences)
        self.lengths = src_mask.sum(axis=0).astype(np.int64)
        h = self._annotations(engine.src_words(src_ids.T.reshape(-1)).reshape(*src_ids.T.shape, -1))
        B, S, C = h.shape
        lap("encoder")
        self.s = np.tanh(self.p.start(h.sum(axis=1) / self.lengths[:, None].astype(h.dtype)))
        self.memory = self.p.annotation(h.reshape(B * S, C)).reshape(B, S, -1)
        lap("attention")
        self.listed = None if lists is None else gather_lists(lists, self.p.softmax)
        lap("selection")

    def _annotations(self, inputs):
        """inputs (B,S,6H) of the two GRUs -> h (B,S,C), zero beyond a sentence's end."""
        p, H = self.p, inputs.shape[2] // 6
        h = np.zeros((*inputs.shape[:2], 2 * H), inputs.dtype)
        if len(h) <= FEW_SENTENCES:
            read_sentences(inputs, self.lengths, p.u_forward.weights, p.u_backward.weights, h)
        else:
            positions = range(inputs.shape[1])
            read_together(inputs[:, :, : 3 * H], self.lengths, p.u_forward, positions, h[:, :, :H])
            read_together(inputs[:, :, 3 * H :], self.lengths, p.u_backward, reversed(positions), h[:, :, H:])
        return h

    def step(self, sentence, parents, words, ending, n):
        """Take the hypotheses one word further and look at what could follow.

        sentence (N), ascending, of each row; parents (N), the row it continues, of the step before (of the batch's
        sentences, at the first step); words (N) chosen then, -1 at the first; ending (N), which rows may only end.
        -> the n best words (N,n) of each row, best first, their log-probabilities (N,n), attention weights (N,S).
        """
        p, s, word = self.p, self.s[parents], self.trg_words(words)
        N, S = len(s), self.memory.shape[1]
        lap("bookkeeping")
        middle, self.s = np.empty_like(s), np.empty_like(s)
        gru_cell(word, p.state(s), s, middle)
        products = p.middle(middle)
        lap("GRU")
        alpha, context = np.empty((N, S), s.dtype), np.empty_like(word)
        attend(products, sentence, self.memory, self.lengths, p.v, alpha, context)
        lap("attention")
        gru_cell(context, products, middle, self.s)
        lap("GRU")
        o = p.readout(self.s)
        readout(o, word, context)
        lap("readout")
        found = self._best(o, sentence, ending, n)
        lap("softmax")
        return *found, alpha

    def _best(self, o, sentence, ending, n):
        """o (N,E) -> the n best words of each row and their log-probabilities."""
        words, logps = np.empty((len(o), n), np.int64), np.empty((len(o), n), o.dtype)
        softmax, listed = self.p.softmax, self.listed
        if listed is None:
            sizes = np.full(len(o), len(softmax.W))
            best_words(Product(softmax.W[None], softmax.b)(o), sizes, ending, words, logps)
            return words, logps
        begins, ends = listed.begins[sentence], listed.ends[sentence]
        logits = np.empty((len(o), listed.ids.shape[1]), o.dtype)
        list_logits(o, listed.W, listed.b, begins, ends, logits)
        best_words(logits, ends - begins, ending, words, logps)
        return listed.ids[sentence[:, None], words], logps


def read_together(inputs, lengths, u, positions, h):
    """One GRU reads many sentences side by side: inputs (B,S,3H), Product u (3H,H) -> fills h (B,S,H).

    The longest come first, so that the sentences which have a word at position i are the first of them.
    """
    order = np.argsort(-lengths, kind="stable")
    state = np.zeros((len(inputs), h.shape[2]), h.dtype)
    for i in positions:
        rows = order[lengths[order] > i]
        before = state[: len(rows)]
        new = np.empty_like(before)
        gru_cell(inputs[rows, i], u(before), before, new)
        h[rows, i] = state[: len(rows)] = new
