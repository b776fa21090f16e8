"""The kernels of decoding and of products with few rows, alone and shared by threads, against their plain functions."""

import contextlib
import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.compiled import find_kernel, reading, reading_mode
from minnmt.lab.bench import limits as bench_limits
from minnmt.lab.bench.limits import add_up, many_dots
from minnmt.search import packed
from minnmt.search.desks import Team, reading_desk, step_desk
from minnmt.search.packed import (
    PRECISIONS,
    EncoderWeights,
    StepWeights,
    fill_tiles,
    make_rows,
    product,
    shared_product,
)
from minnmt.search.stages import (
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
from tests.kernels.compared import both, compares

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

from kernels.decoding import WORDS  # noqa: E402
from kernels.functions import exp  # noqa: E402  (Numba)
from kernels.team import DONE, ENDED  # noqa: E402

SEED = st.integers(0, 2**32 - 1)
N_THREADS = st.sampled_from([1, 2, 3])


def assert_like_plain(function, arguments, precision="float32", tolerance=2e-5):
    """Run both: the results agree, the compiled one's are float32, and no argument has changed.

    The plain one has float64, unless numbers are rounded to 8 bits: those half-way must be rounded alike.
    """
    exact = [copied(a, np.float64 if precision == "float32" else np.float32) for a in arguments]
    ours = as_tuple(find_kernel(function.counterpart)(*arguments))
    for array, copy in zip(leaves(arguments), leaves(exact), strict=True):
        np.testing.assert_array_equal(array, copy, err_msg="an argument was changed")
    with reading():
        theirs = as_tuple(function.plain(*exact))
    for i, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        assert a.dtype == (np.float32 if b.dtype == np.float64 else b.dtype) and a.shape == b.shape
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=f"result {i}")
    return ours


def leaves(a):
    """All that tuples and lists hold, in order."""
    return [leaf for each in a for leaf in leaves(each)] if isinstance(a, (tuple, list)) else [a]


def as_tuple(a):
    return a if isinstance(a, tuple) else (a,)


def copied(a, dtype):
    """A copy, of a named tuple's arrays too; what is not float32 keeps its type, and so do packed weights."""
    if isinstance(a, tuple):
        return type(a)(*(copied(each, dtype) for each in a))
    return a.astype(dtype if a.dtype == np.float32 else a.dtype) if isinstance(a, np.ndarray) else a


def normal(rng, *shape):
    return rng.standard_normal(shape).astype(np.float32)


def draw_weights(rng, N, E, precision):
    """Weights with random numbers, of which an output or an input may be 0 throughout."""
    W = normal(rng, N, E) * rng.integers(0, 4, (N, 1)) * rng.integers(0, 4, E)
    return make_rows(W.astype(np.float32), normal(rng, N), precision).tiles


PRECISION = st.sampled_from(PRECISIONS)


@compares(product)
@settings(max_examples=80, deadline=None)
@given(
    M=st.integers(0, 13) | st.integers(38, 90), N=st.integers(0, 70) | st.integers(500, 600), E=st.integers(1, 40),
    precision=PRECISION, seed=SEED,
)  # fmt: skip
def test_products(M, N, E, precision, seed):
    rng = np.random.default_rng(seed)
    x, weights = normal(rng, M, E), draw_weights(rng, N, E, precision)
    x[:1] = 0
    assert_like_plain(product, [x, weights], precision)


def test_products_in_8_bits_are_whole_numbers_before_they_are_scaled():
    """The extremes of both sides: 127 times 255 four times is more than 16 bits hold."""
    for sign in (-1, 1):
        W, x = np.full((40, 2048), 3.0, np.float32), np.full((7, 2048), 5.0, np.float32)
        x[:, ::2] *= sign
        W[1::2] *= -1
        found = find_kernel(product.counterpart)(x, make_rows(W, np.zeros(40, np.float32), "int8").tiles)
        np.testing.assert_allclose(found, x @ W.T, rtol=1e-6, atol=1e-2)


def test_a_nan_stays_visible_in_products():
    for precision in PRECISIONS:
        x = np.ones((3, 9), np.float32)
        x[1, 4] = np.nan
        rng = np.random.default_rng(1)
        found = find_kernel(product.counterpart)(x, draw_weights(rng, 5, 9, precision))
        assert np.isnan(found).all(axis=1).tolist() == [False, True, False]


@compares(fill_tiles)
@settings(max_examples=40, deadline=None)
@given(V=st.integers(1, 9), G=st.integers(1, 9), K=st.integers(0, 70), seed=SEED)
def test_fill_tiles(V, G, K, seed):
    rng = np.random.default_rng(seed)
    table, ids = rng.integers(-99, 99, (V, G), np.int32), rng.integers(0, V, K)
    places = rng.permutation(96)[:K]
    ours, theirs = (np.zeros((3, G, 32), np.int32) for _ in range(2))
    for function, tiles in zip(both(fill_tiles), (ours, theirs)):
        function(table, ids, places, tiles)
    np.testing.assert_array_equal(ours, theirs)


def draw_output(rng, sizes, E, precision):
    """Lists of so many words, out of 99."""
    layer = make_rows(normal(rng, 99, E), normal(rng, 99), precision)
    return layer.listed([np.sort(rng.permutation(99)[:size]) for size in sizes])


@compares(word_logits)
@settings(max_examples=80, deadline=None)
@given(
    rows=st.lists(st.integers(1, 7), min_size=1, max_size=4), E=st.integers(1, 40), longest=st.integers(1, 80),
    precision=PRECISION, seed=SEED,
)  # fmt: skip
def test_word_logits(rows, E, longest, precision, seed):
    rng = np.random.default_rng(seed)
    output = draw_output(rng, rng.integers(1, longest + 1, len(rows)), E, precision)
    sentence = np.repeat(np.arange(len(rows)), rows)
    arguments = [normal(rng, len(sentence), E), sentence, output]
    (logits,) = assert_like_plain(word_logits, arguments, precision)
    assert np.isneginf(logits).sum() == logits.size - output.sizes[sentence].sum()


@compares(gru_cell)
@settings(max_examples=40, deadline=None)
@given(N=st.integers(0, 6), H=st.integers(0, 21), more=st.integers(0, 5), seed=SEED)
def test_gru_cell(N, H, more, seed):
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, N, 3 * H + more), normal(rng, N, 3 * H), normal(rng, N, H)]
    assert_like_plain(gru_cell, inputs)


def draw_source(rng, lengths, C, P):
    memory = normal(rng, len(lengths), max(lengths) + 1, C + P)
    return Source(memory, np.array(lengths, np.int64), normal(rng, C))


@compares(attend)
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), N=st.integers(0, 6), C=st.integers(1, 20),
    P=st.integers(0, 20), seed=SEED,
)  # fmt: skip
def test_attend(lengths, N, C, P, seed):
    rng = np.random.default_rng(seed)
    inputs = [normal(rng, N, P + C), rng.integers(0, len(lengths), N), draw_source(rng, lengths, C, P)]
    alpha, _ = assert_like_plain(attend, inputs)
    np.testing.assert_allclose(alpha.sum(axis=1), 1, rtol=1e-5)


@compares(annotate)
@settings(max_examples=40, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=7), H=st.integers(1, 13), E=st.integers(1, 9),
    precision=PRECISION, n_threads=N_THREADS, seed=SEED,
)  # fmt: skip
def test_annotate(lengths, H, E, precision, n_threads, seed):
    rng = np.random.default_rng(seed)
    inputs = normal(rng, len(lengths), max(lengths), 6 * H)
    shapes = (6 * H, E), (3 * H, H), (3 * H, H), (5 * H + E, 2 * H)
    weights = EncoderWeights(*(draw_weights(rng, *shape, precision) for shape in shapes))
    given = inputs, np.array(lengths, np.int64), weights
    desk = reading_desk(inputs, weights, n_threads)
    with helped("reading.help_reading", n_threads, *given, desk):
        ours = [a.copy() for a in find_kernel(annotate.counterpart)(*given, desk)]
    theirs = annotate.plain(*given)  # of kernels
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


def draw_step_weights(rng, H, E, precision):
    P = 3 * H + E
    return StepWeights(*(draw_weights(rng, *shape, precision) for shape in ((P, E), (5 * H, H), (P, H))))


@compares(decoder_step)
@settings(max_examples=60, deadline=None)
@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4), H=st.integers(1, 70), E=st.integers(1, 20),
    K=st.integers(1, 6), precision=PRECISION, n_threads=N_THREADS, seed=SEED,
)  # fmt: skip
def test_decoder_step(lengths, H, E, K, precision, n_threads, seed):
    """The whole step is its parts, one after the other, whoever does them."""
    rng = np.random.default_rng(seed)
    P, C, B = 3 * H + E, 2 * H, len(lengths)
    sentence = np.sort(rng.integers(0, B, rng.integers(1, B * K + 1)))
    N = len(sentence)
    weights = draw_step_weights(rng, H, E, precision)
    source, output = draw_source(rng, lengths, C, P), draw_output(rng, rng.integers(1, 80, B), E, precision)
    state = State(np.tanh(normal(rng, N, H)), normal(rng, N, P))
    desk = step_desk(N, K, state, source, weights, output, n_threads)
    ending = rng.integers(0, 2, N) > 0
    given = normal(rng, N, P), state, sentence, source, weights, output, ending, K
    with helped("decoding.help_steps", n_threads, source, weights, output, desk):
        ours = [a.copy() for a in find_kernel(decoder_step.counterpart)(*given, desk)]
    theirs = decoder_step.plain(*given)  # of kernels
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(a, b)


@compares(shared_product)
@settings(max_examples=40, deadline=None)
@given(
    M=st.integers(0, 7), H=st.integers(1, 90) | st.integers(260, 280), E=st.integers(1, 20), precision=PRECISION,
    n_threads=N_THREADS, seed=SEED,
)  # fmt: skip
def test_shared_products(M, H, E, precision, n_threads, seed):
    """At either desk: the same numbers as of one thread, and no argument has changed. Large ones are shared."""
    rng = np.random.default_rng(seed)
    weights, lengths = draw_step_weights(rng, H, E, precision), [3, 4]
    source, output = draw_source(rng, lengths, 2 * H, 3 * H + E), draw_output(rng, [9, 8], E, precision)
    desk = step_desk(7, 2, State(normal(rng, 1, H), normal(rng, 1, 3 * H + E)), source, weights, output, n_threads)
    work = "decoding.help_steps", n_threads, source, weights, output, desk
    shapes = (6 * H, E), (3 * H, H), (3 * H, H), (5 * H + E, 2 * H)
    reader = EncoderWeights(*(draw_weights(rng, *shape, precision) for shape in shapes))
    inputs = normal(rng, 2, 4, 6 * H)
    other_desk = reading_desk(inputs, reader, n_threads)
    other = "reading.help_reading", n_threads, inputs, np.array(lengths, np.int64), reader, other_desk
    for word, at, helpers in ((weights.word, desk, work), (reader.word, other_desk, other)):
        x = normal(rng, M, E)
        before = x.copy()
        with helped(*helpers):
            for _ in range(2):
                ours = find_kernel(shared_product.counterpart)(x, word, at)
                np.testing.assert_array_equal(ours, shared_product.plain(x, word))  # of kernels
        np.testing.assert_array_equal(x, before)
        assert H < 260 or int(at.board[0]) >> 32 == 2  # rounds


@contextlib.contextmanager
def helped(work, n_threads, *arguments):
    """Helpers in threads, who are there before the work begins, or not."""
    team = Team(n_threads)
    with team.helping(work, *arguments):
        time.sleep(1e-3 * (n_threads - 1))
        yield
    if team.pool:
        team.pool.shutdown()  # they leave when they are told to


@compares(readout)
@settings(max_examples=40, deadline=None)
@given(N=st.integers(0, 6), E=st.integers(1, 21), H=st.integers(0, 3), seed=SEED)
def test_readout(N, E, H, seed):
    rng = np.random.default_rng(seed)
    assert_like_plain(readout, [*(normal(rng, N, 3 * H + E) for _ in range(3)), H])


@compares(best_words)
@settings(max_examples=80, deadline=None)
@given(
    sizes=st.lists(st.integers(1, 60), max_size=5), K=st.integers(1, 12), ties=st.booleans(), seed=SEED,
)  # fmt: skip
def test_best_words(sizes, K, ties, seed):
    rng = np.random.default_rng(seed)
    N = len(sizes)
    logits = 5 * normal(rng, N, max(sizes, default=1))
    logits = np.round(logits) if ties else logits
    assert_like_plain(best_words, [logits, np.array(sizes, np.int64), rng.integers(0, 2, N) > 0, K])


@compares(add_up)
@settings(max_examples=20, deadline=None)
@given(n=st.integers(0, 90), seed=SEED)
def test_reading_memory_reads_all_of_it(n, seed):
    numbers = np.random.default_rng(seed).integers(0, 9, 4 * n).astype(np.float32)
    assert [float(function(numbers)) for function in both(add_up)] == [numbers.sum()] * 2


@compares(many_dots)
@settings(max_examples=20, deadline=None)
@given(n=st.integers(0, 90), seed=SEED)
def test_many_dots(n, seed):
    rng = np.random.default_rng(seed)
    w, x = rng.integers(-128, 128, 64).astype(np.int8), rng.integers(-128, 128, 4).astype(np.int8)
    ours, theirs = (function(w, x, n) for function in both(many_dots))
    np.testing.assert_array_equal(ours, theirs)


def test_exp_is_as_exact_as_float32_allows():
    x = np.concatenate([np.linspace(-86.9, 20, 20001), -np.logspace(-8, 0, 500), [0.0]]).astype(np.float32)
    np.testing.assert_allclose([exp(value) for value in x], np.exp(x.astype(np.float64)), rtol=4e-7)
    assert 0 <= exp(np.float32(-1e30)) < 1e-37
    assert np.isnan(exp(np.float32(np.nan))) or exp(np.float32(np.nan)) > 0


def test_a_late_helper_finds_nothing_to_do():
    """It wakes up in a round that is over, when the next step has begun, with fewer rows, on the same desk."""
    rng = np.random.default_rng(1)
    H, E, K, lengths = 3, 2, 5, [4] * 6
    P, C = 3 * H + E, 2 * H
    weights = draw_step_weights(rng, H, E, "int8")
    source, output = draw_source(rng, lengths, C, P), draw_output(rng, [9] * 6, E, "int8")
    sentence = np.repeat(np.arange(6), K)
    N = len(sentence)
    state = State(np.tanh(normal(rng, N, H)), normal(rng, N, P))
    desk = step_desk(N, K, state, source, weights, output, 2)
    given = normal(rng, N, P), state, sentence, source, weights, output, np.zeros(N, bool), K
    find_kernel(decoder_step.counterpart)(*given, desk)
    assert desk.board[0] & 15 == WORDS  # the last round that was shared
    desk.sentence[:12] = np.repeat(np.arange(6), 2)  # as the next step does first
    desk.board[DONE], before = 0, desk.logits.copy()
    find_kernel("decoding.help_steps")(source, weights, output, desk, 1, 2)
    assert desk.board[DONE] == 0
    np.testing.assert_array_equal(desk.logits, before)


def test_both_sides_have_the_same_constants():
    """Reading mode must not import kernels/, so they stand twice."""
    for name in ("TILE", "ZERO_POINT", "TINY"):
        assert np.float32(getattr(packed, name)) == np.float32(find_kernel(f"products.{name}"))
    assert bench_limits.LANES == find_kernel("intrinsics.LANES")


def test_helpers_come_late_leave_early_and_change_nothing():
    """The leader takes what nobody else does; a helper that is not needed leaves by itself."""
    rng = np.random.default_rng(1)
    inputs, lengths = normal(rng, 2, 3, 12), np.array([3, 2])
    weights = EncoderWeights(*(draw_weights(rng, *shape, "int8") for shape in ((12, 1), (6, 2), (6, 2), (11, 4))))
    desk = reading_desk(inputs, weights, 2)
    find_kernel("reading.help_reading")(inputs, lengths, weights, desk, 1, 2)  # nothing happens: it returns
    expected = [a.copy() for a in find_kernel(annotate.counterpart)(inputs, lengths, weights, desk)]
    desk.board[ENDED] = 1
    find_kernel("reading.help_reading")(inputs, lengths, weights, desk, 1, 2)
    for a, b in zip((desk.h, desk.memory), expected):
        np.testing.assert_array_equal(a, b)
