"""The accumulator against a plain dictionary of sums; what it counts and what not; how much memory it takes."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import minnmt
from minnmt.align.accumulator import BUFFER, Accumulator, add_counts
from minnmt.align.counts import Counts
from minnmt.compiled import reading_mode
from minnmt.text.batches import Batch, make_batch
from minnmt.text.vocab import EOS
from tests.align.sound import assert_sound

ROOT = Path(minnmt.__file__).parent.parent
N_SRC, N_TRG = 6, 5
JUST_ABOVE = np.nextafter(np.float32(0.1), np.float32(1))


def draw_batch(rng, T, S, B):
    """Random weights, many of them at or near the threshold, and masks with holes anywhere -> alphas, Batch."""
    alphas = rng.choice(np.float32([0, 0.05, 0.1, JUST_ABOVE, 0.3, 0.7, 1]), (T, S, B))
    alphas *= rng.choice(np.float32([1, 1, 0.999]), alphas.shape)
    src_ids, trg_ids = rng.integers(0, N_SRC, (S, B)), rng.integers(0, N_TRG, (T, B))
    src_mask, trg_mask = (rng.integers(0, 2, ids.shape).astype(np.float32) for ids in (src_ids, trg_ids))
    return alphas, Batch(src_ids, src_mask, trg_ids, trg_mask)


def plain_sums(batches, threshold=0.1):
    """[(alphas, Batch)] -> {(source id, target id): sum}, cell by cell in Python."""
    sums = {}
    for alphas, batch in batches:
        T, S, B = alphas.shape
        for t, i, b in np.ndindex(T, S, B):
            if batch.src_mask[i, b] and batch.trg_mask[t, b] and alphas[t, i, b] > np.float32(threshold):
                cell = int(batch.src_ids[i, b]), int(batch.trg_ids[t, b])
                sums[cell] = sums.get(cell, 0.0) + float(alphas[t, i, b])
    return sums


def cells(counts):
    return dict(zip(zip(counts.rows.tolist(), counts.indices.tolist()), counts.data.tolist()))


def accumulate(batches, **options):
    accumulator = Accumulator(N_SRC, N_TRG, **options)
    for alphas, batch in batches:
        accumulator.add_attention(alphas, batch)
    return accumulator.counts()


def assert_same_bits(found, expected):
    for name in ("indptr", "indices", "data"):
        ours, theirs = getattr(found, name), getattr(expected, name)
        assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes(), (name, ours, theirs)


shapes = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 5), st.integers(1, 4)), max_size=5)


@settings(max_examples=40, deadline=None)
@given(
    shapes=shapes, buffer=st.sampled_from([1, 3, 20, 100, 1000]), threshold=st.sampled_from([0.0, 0.1, 0.5]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_equals_a_dictionary_of_sums(shapes, buffer, threshold, seed):
    """The smallest buffers are smaller than a batch, and even than one step of it; 1000 links never fill up."""
    rng = np.random.default_rng(seed)
    batches = [draw_batch(rng, *shape) for shape in shapes]
    found = accumulate(batches, threshold=threshold, buffer=buffer)
    assert cells(found) == pytest.approx(plain_sums(batches, threshold), rel=1e-6)
    assert_sound(found)
    assert (found.n_src, found.n_trg) == (N_SRC, N_TRG)
    for row in range(N_SRC):
        ids, _ = found.row(row)
        assert (np.diff(ids) > 0).all(), f"row {row} is not ascending: {ids}"
    assert_same_bits(found, accumulate(batches, threshold=threshold, buffer=10**4))


def test_the_buffer_decides_nothing_even_after_many_links(rng):
    """So many links in few cells that every sum is rounded again and again."""
    batches = [draw_batch(rng, 9, 7, 5) for _ in range(60)]
    whole = accumulate(batches)
    assert whole.data.max() > 50
    for buffer in (1, 34, 35, 36, 500, BUFFER):
        assert_same_bits(accumulate(batches, buffer=buffer), whole)


@pytest.mark.parametrize("buffer", range(5, 20))
def test_not_a_link_is_lost_at_the_end_of_a_buffer(buffer):
    """Every weight is a link, 6 of them a step, so that a buffer may be filled to its last place."""
    ids = np.arange(6).reshape(3, 2), np.zeros((2, 2), int)
    batch = Batch(ids[0], np.ones((3, 2), np.float32), ids[1], np.ones((2, 2), np.float32))
    found = accumulate([(np.ones((2, 3, 2), np.float32), batch)] * 4, buffer=buffer)
    assert cells(found) == {(i, 0): 8 for i in range(6)}


def one_pair(weights, threshold=0.1):
    """weights (T,S) of one sentence pair with different words -> counts."""
    T, S = np.shape(weights)
    batch = make_batch([list(range(2, S + 1))], [list(range(2, T + 1))])
    accumulator = Accumulator(S + 1, T + 1, threshold)
    accumulator.add_attention(np.float32(weights)[:, :, None], batch)
    return accumulator.counts()


def test_the_threshold_itself_is_not_counted():
    at = np.float32(0.1)
    found = one_pair([[at, 1 - at], [JUST_ABOVE, np.nextafter(at, np.float32(0))]])
    assert cells(found) == {(EOS, 2): 1 - at, (2, EOS): JUST_ABOVE}


def test_a_threshold_of_0_counts_all_but_zeros():
    assert cells(one_pair([[0.0, 1.0], [1e-30, 0.5]], threshold=0.0)) == {
        (EOS, 2): 1, (2, EOS): np.float32(1e-30), (EOS, EOS): 0.5
    }  # fmt: skip


def test_eos_is_counted_on_both_sides_and_padding_on_neither():
    """Padding has eos' id too: only the mask tells them apart."""
    batch = make_batch([[2, 3], [4]], [[2], [3, 4]])
    found = Accumulator(5, 5)
    found.add_attention(np.ones((3, 3, 2), np.float32), batch)
    expected = {(s, t): 1 for s in (2, 3, EOS) for t in (2, EOS)}
    for s in (4, EOS):
        for t in (3, 4, EOS):
            expected[s, t] = expected.get((s, t), 0) + 1
    assert cells(found.counts()) == expected


def test_shards_add_up_to_the_whole(rng):
    batches = [draw_batch(rng, 6, 5, 4) for _ in range(9)]
    whole = accumulate(batches)
    shards = [accumulate(batches[i::3]) for i in range(3)]
    together = add_counts(shards)
    np.testing.assert_array_equal(together.indptr, whole.indptr)
    np.testing.assert_array_equal(together.indices, whole.indices)
    np.testing.assert_allclose(together.data, whole.data, rtol=1e-6)
    assert_sound(together)


@pytest.mark.parametrize("buffer", [1, 4, 10**4])
def test_adding_counts_between_batches(rng, buffer):
    batches = [draw_batch(rng, 4, 5, 3) for _ in range(3)]
    accumulator = Accumulator(N_SRC, N_TRG, buffer=buffer)
    accumulator.add_attention(*batches[0])
    accumulator.add(accumulate(batches[1:2]))
    accumulator.add_attention(*batches[2])
    accumulator.add(Counts.empty(N_SRC, N_TRG))
    assert cells(accumulator.counts()) == pytest.approx(plain_sums(batches), rel=1e-6)


def test_going_on_from_saved_counts_gives_the_same_bits(rng):
    """What a resumed run does: the counts so far, then the rest."""
    batches = [draw_batch(rng, 6, 5, 4) for _ in range(8)]
    resumed = Accumulator(N_SRC, N_TRG, buffer=50)
    resumed.add(accumulate(batches[:5]))
    for alphas, batch in batches[5:]:
        resumed.add_attention(alphas, batch)
    assert_same_bits(resumed.counts(), accumulate(batches))


def test_counts_are_a_picture_of_the_moment(rng):
    batches = [draw_batch(rng, 6, 5, 4) for _ in range(2)]
    accumulator = Accumulator(N_SRC, N_TRG)
    accumulator.add_attention(*batches[0])
    first = accumulator.counts({"epochs": [2]})
    before = cells(first)
    accumulator.add_attention(*batches[1])
    accumulator.counts().data[:] = -1
    assert cells(first) == before and first.info == {"epochs": [2]}
    assert cells(accumulator.counts()) == pytest.approx(plain_sums(batches), rel=1e-6)


def test_one_part_and_no_cells():
    part = Counts.from_cells(np.array([1]), np.array([2]), np.array([3.0]), N_SRC, N_TRG)
    assert cells(add_counts([part])) == {(1, 2): 3}
    assert cells(add_counts([Counts.empty(N_SRC, N_TRG)] * 2)) == {}
    assert cells(Accumulator(N_SRC, N_TRG).counts()) == {}
    assert cells(add_counts(iter([part, part]))) == {(1, 2): 6}


# Memory, seen from outside: what a kernel allocates is not seen by tracemalloc

V = 100_000  # words on each side: a dense matrix of float32 would take 40 GB
LINKS = 20_000  # buffer
PROGRAM = f"""
import sys
import numpy as np
from minnmt.align.accumulator import Accumulator
from minnmt.text.batches import Batch

def count(n_batches):
    # random words, each target word attends to one source word: nearly every link is a new cell
    rng = np.random.default_rng(1)
    T, S, B = 50, 2, 400
    alphas = np.zeros((T, S, B), np.float32)
    alphas[:, 1] = 0.9
    masks = np.ones((S, B), np.float32), np.ones((T, B), np.float32)
    accumulator = Accumulator({V}, {V}, buffer={LINKS})
    for _ in range(n_batches):
        src_ids, trg_ids = (rng.integers(0, {V}, shape, dtype=np.int32) for shape in ((S, B), (T, B)))
        accumulator.add_attention(alphas, Batch(src_ids, masks[0], trg_ids, masks[1]))
    return accumulator

def status(name):
    return next(1024 * int(line.split()[1]) for line in open("/proc/self/status") if line.startswith(name))

work, n_batches = sys.argv[1], int(sys.argv[2])
count(1).counts()  # compiles, which takes memory of its own
open("/proc/self/clear_refs", "w").write("5")  # the peak starts anew
before = status("VmRSS")
accumulator = count(n_batches)
if work == "add":
    counts = accumulator.counts()
    accumulator = Accumulator({V}, {V}, buffer={LINKS})
    accumulator.add(counts)
    n_cells = counts.n_cells
else:
    accumulator._flush()
    n_cells = len(accumulator._matrix[0])
print(status("VmHWM") - before, n_cells)
"""


def peak_bytes(work, n_batches):
    """-> the most bytes that a new process held at once for counting, and the cells it counted."""
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"}  # large arrays go back to the system at once
    arguments = [sys.executable, "-c", PROGRAM, work, str(n_batches)]
    found = subprocess.run(arguments, env=environment, cwd=ROOT, capture_output=True, text=True, check=True)
    return map(int, found.stdout.split())


@pytest.mark.skipif(reading_mode(), reason="the plain functions sort keys of all cells, which takes more")
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="memory is measured as Linux and glibc have it")
@pytest.mark.parametrize("work, each", [("count", 16), ("add", 24)])
def test_memory_is_16_bytes_a_cell_while_the_matrix_grows(work, each):
    """While counts are added, the added ones are in memory too: 8 bytes more."""
    (few_bytes, few), (many_bytes, many) = (peak_bytes(work, n) for n in (20, 120))
    assert few > 390_000 and many > 2_300_000
    found = (many_bytes - few_bytes) / (many - few)  # whatever is fixed falls out
    assert 0.8 * each < found < 1.1 * each, f"{found:.1f} bytes for every further cell"
