"""The fast engine: the network's steps with packed weights (packed.py), one row for each live hypothesis.

It computes what minnmt/model/network.py computes, in float32 to its rounding, in 8 bits approximately: scores then
differ in the third digit or so. Either way a row's numbers do not depend on the other rows. Rows of one sentence are
neighbours and share its annotations and its list of words. Left out: which hypotheses go on (batch_beam.py).
Notebook 08.
"""

import functools
import threading

import numpy as np

from ..text.batches import pad
from .desks import ALONE, cleared, reading_desk, step_desk
from .packed import fastest_precision, finer_rows, instruction, make_rows, pack, product, shared_product
from .stages import Source, State, annotate, decoder_step

WORD_BUDGET = 32 * 1024 * 1024  # numbers of projected words that are kept of a side (128 MB), and
LEAST_WORDS = 4096  # how many words at least
WORTH_HELP = 1 << 21  # bytes of weights that a step reads: below, threads would meet more than they work


class FastEngine:
    """A network made ready for decoding, in int8 or float32; several threads may use one."""

    def __init__(self, params, precision=None, packed=None):
        self.packed = packed or pack(params, precision)
        self.src_words = ProjectedWords(self.packed.src_embedding, self.packed.encoder.word)
        self.trg_words = ProjectedWords(self.packed.trg_embedding, self.packed.step.word)
        self._screened, self._finer, self._lock = (None, None), None, threading.Lock()

    @property
    def name(self):
        """ "float32", or "int8" and the instruction that it runs on."""
        by = instruction() or "by no instruction of its own"
        return f"int8 ({by})" if self.packed.precision == "int8" else "float32"

    @functools.cached_property
    def preview(self):
        """Rows of the output layer in 8 bits, if the engine's are not, and 8 bits are faster; else None."""
        rows = self.packed.softmax
        if rows.levels or rows.w.dtype != np.float32 or fastest_precision() != "int8":
            return None
        return make_rows(rows.w, rows.bias, "int8")

    @property
    def finer_preview(self):
        """What rounding has left of the preview's weights, as finer_rows gives it; made when first asked for."""
        with self._lock:
            if self._finer is None:
                self._finer = finer_rows(self.preview, self.packed.softmax.w)
            return self._finer

    def listed_once(self, screen):
        """A Screen (screen.py) -> Output of its groups' words, and their ids (G,M); made when first asked for."""
        with self._lock:
            if self._screened[0] is not screen:
                lists = screen.lists
                ids = np.zeros((len(lists), max(map(len, lists))), np.int64)
                for group, words in enumerate(lists):
                    ids[group, : len(words)] = words
                self._screened = screen, (self.packed.softmax.listed(lists), ids)
            return self._screened[1]

    def forget_words(self):
        """Project all words anew when they are met, as a new engine does."""
        self.src_words.forget()
        self.trg_words.forget()


class ProjectedWords:
    """The products of a side's words with all that is multiplied with them, made when a word is first met, and kept.

    When the table is full it is emptied.
    """

    def __init__(self, embedding, weights):
        V, P = len(embedding), len(weights.bias)
        capacity = min(V + 1, max(LEAST_WORDS, WORD_BUDGET // P))
        self.embedding, self.weights = embedding, weights
        self.table = np.empty((capacity, P), embedding.dtype)
        self.slots = np.full(V + 1, -1)  # the last is for "no word", which -1 finds: its embedding is zero
        self.n = 0
        self.lock = threading.Lock()

    def __call__(self, words, desk=None):
        """words (N) -> (N,P); the word -1 comes before the first. Threads that help at the desk help here, too."""
        if len(words) > len(self.table):
            return self._project(words, desk)  # a batch so large that the table might not hold all its words
        with self.lock:
            slots = self.slots[words]
            if (slots < 0).any():
                self._add(np.unique(words[slots < 0]), words, desk)
                slots = self.slots[words]
            return self.table[slots]

    def _project(self, words, desk):
        y = self.embedding[words]
        y[words < 0] = 0
        return shared_product(y, self.weights, desk) if desk else product(y, self.weights)

    def forget(self):
        self.slots[:] = -1
        self.n = 0

    def _add(self, missing, words, desk):
        if self.n + len(missing) > len(self.table):
            self.forget()
            missing = np.unique(words)
        self.table[self.n : self.n + len(missing)] = self._project(missing, desk)
        self.slots[missing] = np.arange(self.n, self.n + len(missing))
        self.n += len(missing)


class FastSteps:
    """One batch on its way: its encoded sentences and the states of its hypotheses.

    sentences: B lists of source ids without eos; lists: B arrays of target ids, or None; beam: at most so many
    hypotheses of a sentence, and the best words of each that are looked at; team: threads that may help.
    """

    def __init__(self, engine, sentences, lists, beam, team=ALONE):
        self.p, self.trg_words, self.team = engine.packed, engine.trg_words, team
        read = [self.p.step.middle, self.p.step.state, *([] if lists else [self.p.softmax.tiles])]
        if sum(weights.w.nbytes for weights in read) < WORTH_HELP or self.p.v.dtype != np.float32:
            self.team = ALONE
        memory, lengths, s0 = self.encode(sentences, engine.src_words)
        self.source = Source(memory, lengths, self.p.v)
        self.n = beam
        self.go_on_from(s0)
        self.choose_words(lists)

    def choose_words(self, lists):
        """From now on each sentence has the words of its list; None: all words."""
        B = len(self.source.lengths)
        if lists is None:
            self.ids, self.output = None, self.p.softmax.all_words(B)
        else:
            self.ids, self.output = np.zeros((B, max(map(len, lists))), np.int64), self.p.softmax.listed(lists)
            for b, words in enumerate(lists):
                self.ids[b, : len(words)] = words
        given = self.state, self.source, self.p.step, self.output, self.team.n_threads
        self.desk = step_desk(self.n * B, self.n, *given)

    def go_on_from(self, s):
        """The next step continues these states (N,H), a row each."""
        self.state = State(s, product(s, self.p.step.state))

    def encode(self, sentences, src_words):
        """B lists of source ids -> what attention looks at (B,S,C+3H+E), lengths (B), s_0 (B,H)."""
        src_ids, src_mask = pad(sentences)
        lengths = src_mask.sum(axis=0).astype(np.int64)
        inputs = np.empty((*src_ids.T.shape, len(self.p.encoder.word.bias)), self.p.v.dtype)
        desk = reading_desk(inputs, self.p.encoder, self.team.n_threads)
        given = inputs, lengths, self.p.encoder, desk
        with self.team.helping("reading.help_reading", *given):
            inputs[:] = src_words(src_ids.T.reshape(-1), desk).reshape(inputs.shape)
            h, memory = annotate(*given)
        mean = h.sum(axis=1) / lengths[:, None].astype(h.dtype)
        return memory, lengths, np.tanh(product(mean, self.p.start))  # (4)

    def helped(self):
        """Within it, the team helps with the steps."""
        self.desk = cleared(self.desk)
        return self.team.helping("decoding.help_steps", self.source, self.p.step, self.output, self.desk)

    def step(self, sentence, parents, words, ending):
        """Take the hypotheses one word further and look at what could follow.

        sentence (N), ascending, of each row; parents (N), the row it continues, of the step before (of the batch's
        sentences, at the first step); words (N) chosen then, -1 at the first; ending (N), which rows may only end.
        -> the n best words (N,n) of each row, best first, their log-probabilities (N,n), attention weights (N,S): they
        are good until the next step, and so are self.state and self.o, the readouts (N,E).
        """
        before = State(*(array[parents] for array in self.state))
        given = before, sentence, self.source, self.p.step, self.output, ending, self.n, self.desk
        *state, self.o, alpha, places, logps = decoder_step(self.trg_words(words, self.desk), *given)
        self.state = State(*state)
        return places if self.ids is None else self.ids[sentence[:, None], places], logps, alpha
