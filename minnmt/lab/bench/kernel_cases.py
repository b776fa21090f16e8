"""Each kernel that decoding and training call, with arguments of the yardstick's shapes and the work it has to do.

Operations: a multiplication or addition is one, a tanh counts as 20 and an exp as 15. Bytes: what must be read and
written when every array passes through memory once. The aligners' kernels are not here: `count` measures them at work.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...align.accumulator import add_links, find_links
from ...align.candidates import best_cells
from ...align.selector import sentence_lists
from ...nn.attention import (
    attention_context,
    attention_context_backward,
    attention_energy,
    attention_energy_backward,
)
from ...nn.bf16 import add_bf16_product, add_bf16_rows, bf16_product, bf16_softmax_nll, bf16_tiles, upper_half
from ...nn.functions import add_rows
from ...nn.gru import gru_gates, gru_gates_backward
from ...nn.softmax import softmax_nll, softmax_nll_backward
from ...search.batch_beam import best_extensions
from ...search.checking import best_of_all
from ...search.desks import check_desk, estimating_desk, reading_desk, step_desk
from ...search.estimating import MORE_WORDS, MOST_ROWS, Layer, Listed, beyond_lists
from ...search.packed import (
    PRECISIONS,
    EncoderWeights,
    StepWeights,
    fill_tiles,
    finer_rows,
    make_rows,
    product,
    shared_product,
)
from ...search.stages import (
    Source,
    State,
    annotate,
    attend,
    best_words,
    decoder_step,
    gru_cell,
    readout,
    word_logits,
)
from ...text.batches import Batch
from ...train.adam import adam, adam_rows
from .sequence_cases import decoder_cases, gru_cases
from .yardstick import LIST_WORDS, Size, random_list

TANH, EXP = 20, 15
CELL = 3 * TANH + 15  # operations of a GRU for each of its hidden units
BEAM, TOPN = 5, 100
SHARE = 40  # sentences of an update that one thread has
LOSS_ROWS = 512
ADAM_NUMBERS = 1 << 24  # beyond the cache, as a whole network's are


class KernelCase(NamedTuple):
    """One line of the table."""

    kernel: Callable
    shape: str  # in words
    arguments: tuple
    flops: float
    nbytes: float
    precision: str = "float32"


CHECKED = 40  # rows


class Maker:
    """Random arrays, and the sizes that the cases share."""

    def __init__(self, size: Size):
        self.rng = np.random.default_rng(5)
        self.E, self.H, self.C, self.V = size.embedding, size.hidden, 2 * size.hidden, size.vocabularies[0]
        self.src_words, self.S = size.src_words, size.length + 1
        self.P = 3 * self.H + self.E  # what the context adds to the second cell and to the readout

    def floats(self, *shape):
        return self.rng.standard_normal(shape, dtype=np.float32)

    def weights(self, N, E):
        """Random Weights of N outputs -> of each precision."""
        W, b = self.floats(N, E), self.floats(N)
        return {precision: make_rows(W, b, precision) for precision in PRECISIONS}

    def products(self):
        """Rows against packed weights."""
        for name, M, N, E in (
            ("softmax, a beam of 5", BEAM, self.V, self.E),
            ("state, a beam of 5", BEAM, 3 * self.H + self.E, self.H),
            ("state, 16 beams", 16 * BEAM, 3 * self.H + self.E, self.H),
        ):
            x = self.floats(M, E)
            for precision, rows in self.weights(N, E).items():
                work = 2 * M * N * E, size_of(x, *rows.tiles[:3]) + 4 * M * N
                yield KernelCase(product, f"{name}, {N:,} x {E:,}", (x, rows.tiles), *work, precision)
        M, everything = LIST_WORDS * TOPN + 2, self.weights(self.V, self.E)["int8"]
        ids = random_list(self.rng, M - 2, self.V)
        tiles = everything.listed([ids]).weights.w.view(np.int32)
        arguments = (everything.w.view(np.int32), ids, np.arange(M), tiles)
        yield KernelCase(fill_tiles, f"a list of {M:,} words", arguments, 0, 2 * tiles.nbytes)

    def decoding(self):
        """Reading a sentence, and a step, whole and in parts."""
        H, C, E, S, P = self.H, self.C, self.E, self.S, self.P
        inputs, M = self.floats(1, S, 6 * H), LIST_WORDS * TOPN + 2
        s, word, context = self.floats(BEAM, H), self.floats(BEAM, P), self.floats(BEAM, P)
        middle, products = self.floats(BEAM, 3 * H + C), self.floats(BEAM, P)
        sentence, source = np.zeros(BEAM, int), Source(self.floats(1, S, C + P), np.array([S]), self.floats(C))
        in_attention = BEAM * S * (C * (TANH + 3) + 2 * P), size_of(source.memory, context) + BEAM * C * 4
        shapes = (6 * H, E), (3 * H, H), (C + P, C), (P, E), (3 * H + C, H), (P, H), (M, E)
        kinds = [self.weights(*shape) for shape in shapes]
        for precision in PRECISIONS:
            of_source, u, annotation, of_target, to_middle, to_state, words = (kind[precision] for kind in kinds)
            weights = EncoderWeights(of_source.tiles, u.tiles, u.tiles, annotation.tiles)
            nbytes = inputs.nbytes + 4 * S * (2 * C + P) + S * 2 * u.w.nbytes + annotation.w.nbytes
            flops = 4 * S * 3 * H * H + S * C * CELL + 2 * S * annotation.w.size
            arguments = (inputs, np.array([S]), weights, reading_desk(inputs, weights))
            yield KernelCase(annotate, f"{S} words", arguments, flops, nbytes, precision)
            output = words.all_words(1)
            o, logits = self.floats(BEAM, E), (2 * BEAM * M * E, size_of(words.w) + 4 * BEAM * (E + M))
            yield KernelCase(word_logits, f"a beam of 5, {M:,} words", (o, sentence, output), *logits, precision)
            weights = StepWeights(of_target.tiles, to_middle.tiles, to_state.tiles)
            state = State(s, products)
            desk = step_desk(BEAM, BEAM, state, source, weights, output)
            arguments = (word, state, sentence, source, weights, output, np.zeros(BEAM, bool), BEAM, desk)
            flops = 2 * BEAM * (3 * H + C + P) * H + logits[0] + in_attention[0]
            nbytes = size_of(to_middle.w, to_state.w) + logits[1] + in_attention[1]
            yield KernelCase(decoder_step, f"a beam of 5, {M:,} words", arguments, flops, nbytes, precision)
            y = self.floats(BEAM, E)
            arguments, work = (y, weights.word, desk), (2 * BEAM * P * E, size_of(*weights.word[:3]) + 4 * BEAM * P)
            yield KernelCase(shared_product, f"{BEAM} new words", arguments, *work, precision)
        yield KernelCase(gru_cell, "a beam of 5", (word, middle, s), s.size * CELL, 8 * s.nbytes)
        yield KernelCase(attend, f"a beam of 5, {S} positions", (middle, sentence, source), *in_attention)
        work = BEAM * E * (TANH + 2), 16 * BEAM * E
        yield KernelCase(readout, "a beam of 5", (products, word, context, H), *work)

    def choosing(self):
        """The best words of a beam, the lists of sentences."""
        for M in (self.V, LIST_WORDS * TOPN + 2):
            logits = self.floats(BEAM, M)
            arguments = (logits, np.full(BEAM, M), np.zeros(BEAM, bool), BEAM)
            yield KernelCase(best_words, f"a beam of 5, {M:,} words", arguments, logits.size * (EXP + 3), logits.nbytes)
        more, words, everybody = self.floats(BEAM, BEAM), np.zeros((BEAM, BEAM), int), np.zeros(BEAM, int)
        arguments = (more, words, np.zeros(BEAM), everybody, np.array([BEAM]))
        yield KernelCase(best_extensions, f"a beam of {BEAM}", arguments, 0, 2 * words.nbytes)
        M, o = self.V, self.floats(CHECKED, self.E)
        for precision, rows in self.weights(M, self.E).items():
            output = rows.all_words(1)
            arguments = (o, np.zeros(CHECKED, bool), output, BEAM, check_desk(CHECKED, BEAM, output))
            flops, nbytes = 2 * CHECKED * M * self.E, size_of(rows.w) + 4 * CHECKED * M
            yield KernelCase(best_of_all, f"{CHECKED} rows, {M:,} words", arguments, flops, nbytes, precision)
        yield self.estimating(o[:MOST_ROWS], self.floats(M, self.E))
        rows, cells, B = 2000, 2 * TOPN, 16
        scores, indptr = np.abs(self.floats(rows * cells)), np.arange(rows + 1) * cells
        nbytes = size_of(scores) + 8 * (rows * TOPN + rows + 1)
        yield KernelCase(best_cells, f"{rows:,} rows of {cells}", (scores, indptr, TOPN, 0.0), 0, nbytes)
        indices = np.concatenate([random_list(self.rng, TOPN - 2, self.V) for _ in range(rows)]).astype(np.int32)
        src_ids, mask = self.rng.integers(rows, size=(self.S, B)), np.ones((self.S, B), np.float32)
        batch = Batch(src_ids, mask, np.zeros((0, B), np.int64), mask[:0])
        arguments = (indices, np.arange(rows + 1) * TOPN, batch, np.arange(2, dtype=np.int32), self.V)
        yield KernelCase(sentence_lists, f"{B} sentences, top-{TOPN}", arguments, 0, src_ids.size * TOPN * (4 + 8))

    def estimating(self, o, w):
        """Readouts (R,E) of one sentence whose list holds nearly all, w (V,E): nothing is multiplied twice."""
        (R, M), bias, ids = (len(o), len(w)), self.floats(len(w)), np.arange(LIST_WORDS * TOPN)[None] % len(w)
        rows, inside = make_rows(w, bias, "int8"), np.full(R, -60, np.float32)
        listed = Listed(np.zeros(R, int), ids, np.array([ids.size]), np.zeros(R, int), inside)
        (finer, longest), n = finer_rows(rows, w), min(MORE_WORDS, M)
        layer = Layer(w, bias, rows.all_words(1), finer.all_words(1), longest)
        arguments = (o, listed, layer, n, estimating_desk(R, n, layer.rough, self.E))
        flops, nbytes = 2 * R * M * self.E, size_of(rows.w) + 4 * R * M
        return KernelCase(beyond_lists, f"{R} rows, {M:,} words", arguments, flops, nbytes, "int8")

    def gates(self):
        """The cells of training; both layers have the same kernels."""
        B, H = SHARE, self.H
        shape, n = f"{B} sentences", B * H
        wide, one = (lambda: self.floats(B, 2 * H)), (lambda: self.floats(B, H))
        arguments = (wide(), one(), wide(), one(), one())
        yield KernelCase(gru_gates, shape, arguments, n * CELL, size_of(*arguments) + 16 * n)
        arguments = (one(), wide(), one(), one(), one())
        yield KernelCase(gru_gates_backward, shape, arguments, n * 25, size_of(*arguments) + 20 * n)

    def training_products(self):
        """In bfloat16, of all words of a share at once."""
        M, K, N = SHARE * self.S, self.H, 2 * self.H
        a, b, total = self.floats(M, K), self.floats(K, N), np.zeros((K, N), np.float32)
        yield KernelCase(bf16_tiles, f"{K:,} x {N:,}", (b,), 0, b.nbytes + b.nbytes // 2)
        work = 2 * M * K * N, size_of(a, b) + 4 * M * N
        yield KernelCase(bf16_product, f"{M:,} x {K:,} x {N:,}", (a, bf16_tiles(b), N), *work, "bf16")
        grads = self.floats(M, N)
        work = 2 * M * K * N, size_of(a, grads) + 2 * total.nbytes
        yield KernelCase(add_bf16_product, f"{M:,} x {K:,} x {N:,}", (total, a, grads), *work, "bf16")
        N, E, V = LOSS_ROWS, self.E, self.V
        o, W, b = self.floats(N, E), self.floats(V, E), self.floats(V)
        arguments, work = (o, bf16_tiles(W.T), b, self.rng.integers(V, size=N)), 2 * N * E * V + N * V * (EXP + 5)
        nbytes = W.nbytes // 2 + 2 * N * V
        yield KernelCase(bf16_softmax_nll, f"{N} words of {V:,}", arguments, work, nbytes, "bf16")
        errors = upper_half(self.floats(N, V))
        yield KernelCase(add_bf16_rows, f"{N} words of {V:,}", (b, o[:, 0].copy(), errors), 2 * N * V, errors.nbytes)

    def sequences(self):
        """All steps of the encoder's GRU and of the decoder."""
        shape = f"{SHARE} sentences of {self.S}"
        for cases in (gru_cases(self, SHARE, CELL), decoder_cases(self, SHARE, CELL, TANH + 5)):
            for function, arguments, flops, nbytes in cases:
                yield KernelCase(function, shape, arguments, flops, nbytes, "bf16")

    def attention(self):
        """Attention in training."""
        S, B, C = self.S, SHARE, self.C
        shape, n = f"{B} sentences of {S}", S * B * C
        h, s, v, energy = self.floats(S, B, C), self.floats(B, C), self.floats(C), self.floats(S, B)
        yield KernelCase(attention_energy, shape, (h, s, v), n * (TANH + 3), size_of(h, s, v, energy))
        arguments = (energy, h, s, v, np.zeros_like(h), np.zeros_like(v))
        work = n * (TANH + 10), size_of(*arguments, s) + h.nbytes
        yield KernelCase(attention_energy_backward, shape, arguments, *work)
        yield KernelCase(attention_context, shape, (energy, h), 2 * n, size_of(energy, h, s))
        yield KernelCase(attention_context_backward, shape, (s, h), 2 * n, size_of(energy, h, s))

    def loss(self):
        """Softmax and loss over all words."""
        N, V = LOSS_ROWS, self.V
        scores, b, targets = self.floats(N, V), self.floats(V), self.rng.integers(V, size=N)
        shape = f"{N} words of {V:,}"
        yield KernelCase(softmax_nll, shape, (scores, b, targets), N * V * (EXP + 5), 2 * scores.nbytes)
        arguments = (np.ones(N, np.float32), scores, targets)
        yield KernelCase(softmax_nll_backward, shape, arguments, 2 * N * V, 2 * scores.nbytes)

    def updates(self):
        """Adam, and the gradient of looked-up rows."""
        constants, E, N = (1e-3, 0.9, 0.999, 1e-8), self.E, ADAM_NUMBERS
        p, g, m, v = (np.full(N, 0.1, np.float32) for _ in range(4))
        yield KernelCase(adam, f"{N:,} numbers", (p, g, m, v, *constants), 12 * N, 7 * p.nbytes)
        ids = np.sort(self.rng.permutation(self.V)[:1000])
        tables = [np.full((self.V, E), 0.1, np.float32) for _ in range(4)]
        n = len(ids) * E
        yield KernelCase(adam_rows, f"{len(ids):,} rows of {E}", (*tables, ids, *constants), 12 * n, 28 * n)
        rows = self.floats(SHARE * self.S, E)
        ids = self.rng.integers(self.V, size=len(rows))
        yield KernelCase(add_rows, f"{len(rows):,} rows of {E}", (rows, ids, tables[0]), rows.size, 3 * rows.nbytes)

    def counting(self):
        """Attention into counts."""
        S, B, rows, V = self.S, SHARE, self.src_words, self.V
        alphas = self.rng.dirichlet(np.full(S, 0.1), (S, B)).transpose(0, 2, 1).astype(np.float32)
        mask = np.ones((S, B), np.float32)
        batch = Batch(self.rng.integers(rows, size=(S, B)), mask, self.rng.integers(V, size=(S, B)), mask)
        arguments = (np.ascontiguousarray(alphas), batch, 0.1)
        yield KernelCase(find_links, f"{B} sentences of {S}", arguments, 0, alphas.nbytes)
        n = 100_000
        ids = (self.rng.integers(size, size=n, dtype=np.int32) for size in (rows, V))
        links, matrix = (np.abs(self.floats(n)), *ids), random_matrix(self.rng, rows, V)
        nbytes = size_of(*links) + 2 * size_of(*matrix) + 8 * n
        yield KernelCase(add_links, f"{n:,} links", (*links, *matrix, V), 0, nbytes)

    def cases(self):
        """All of them, one after the other: the arrays of a case may go when it is done."""
        for part in (self.products, self.decoding, self.choosing, self.training_products, self.sequences):
            yield from part()
        yield from self.gates()
        yield from self.attention()
        yield from self.loss()
        yield from self.updates()
        yield from self.counting()


def size_of(*arrays):
    return sum(array.nbytes for array in arrays)


def random_matrix(rng, n_rows, n_columns):
    """Ten cells a row: data, indices, indptr."""
    columns = rng.integers(n_columns // 10, size=(n_rows, 10)) + np.arange(10) * (n_columns // 10)
    indices = columns.reshape(-1).astype(np.int32)
    return np.ones(len(indices), np.float32), indices, np.arange(n_rows + 1) * 10
