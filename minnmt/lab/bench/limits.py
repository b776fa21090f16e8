"""The machine and its limits: how fast it multiplies matrices, in float32 and in few bits, and reads memory."""

import contextlib
from functools import partial

import numpy as np

from ...compiled import compiled
from ...nn.bf16 import bf16_product, bf16_tiles, has_bf16
from ...search.cost import Limits
from ...search.packed import instruction
from ...threads import threads
from ..machine import describe_machine
from ..tables import Table
from ..timing import calls_for, interleave, spread

PRODUCT = 1024  # rows and columns
MEMORY = 1 << 26  # 256 MB of float32, beyond every cache
LANES, DOTS, REPEATED = 16, 10, 100_000  # of many_dots
ROUND = 0.1  # seconds
LEAST_REPEATS = 5  # everything else is compared with them


def measure_limits(bench):
    """-> Limits for 1 thread and for all, Table."""
    numbers, repeats = sorted({1, bench.n_threads}), max(bench.n_repeats(), LEAST_REPEATS)
    about = describe_machine("torch" if bench.torch else None)
    versions = ("python", "minnmt", "numpy", "numba", "torch")
    names = ", ".join(f"{name} {about[name]}" for name in versions if name in about)
    table = Table(
        "machine", f"{about['cpu']}, {about['usable_processors']} cores; {names}",
        ("limit", "threads", "speed", "unit"),
        (
            "Medians, with quartiles in brackets, here and below. Shares of a limit are shares of its fastest repeat.",
            f"8-bit products: {instruction() or 'this CPU has no known instruction for them: decoding uses float32'}.",
        ),
    )  # fmt: skip
    fastest, kinds = [], [("sgemm", "GFLOP/s", sgemm), ("memory read", "GB/s", reads), ("int8", "GOP/s", dots)]
    if has_bf16():
        kinds.append(("bf16", "GFLOP/s", bf16_gemm))
    for limit, unit, work in kinds:
        found = in_turns(numbers, repeats, *work())
        for n, (amount, seconds) in found.items():
            speeds = amount / np.array(seconds)
            record = {"limit": limit, "threads": n, "seconds": seconds, "per_second": speeds.tolist()}
            table.add(record, limit, n, spread(speeds / 1e9), unit)
        fastest.append({n: amount / min(seconds) for n, (amount, seconds) in found.items()})
    return Limits(*fastest), table


def in_turns(numbers, repeats, amount, work):
    """work(i), of thread i, does so much -> {threads: (what all threads do in a round, seconds)}."""
    n_calls = calls_for(ROUND, partial(work, 0))

    def again(i):
        for _ in range(n_calls):
            work(i)

    with contextlib.ExitStack() as stack:
        each = {n: stack.enter_context(threads(n)) for n in numbers}
        found = interleave({n: lambda n=n: each[n](again, range(n)) for n in numbers}, repeats)
    return {n: (amount * n_calls * n, timed.seconds) for n, timed in found.items()}


def sgemm():
    """Square products -> operations of one, a function of the thread."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((PRODUCT, PRODUCT), dtype=np.float32) for _ in range(2))
    return 2 * PRODUCT**3, lambda i: a @ b


def bf16_gemm():
    """The same in bfloat16, by the products of training."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((PRODUCT, PRODUCT), dtype=np.float32) for _ in range(2))
    tiles = bf16_tiles(b)
    return 2 * PRODUCT**3, lambda i: bf16_product(a, tiles, PRODUCT)


def reads():
    """Sums of a large array, which every thread begins elsewhere -> bytes, a function of the thread."""
    floats = np.ones(MEMORY, np.float32)
    half = MEMORY // 2

    def read(i):
        first, second = (floats[:half], floats[half:])[:: -1 if i % 2 else 1]
        add_up(first)
        add_up(second)

    return floats.nbytes, read


def dots():
    """Nothing but products in 8 bits -> operations, a function of the thread."""
    w, x = np.ones(4 * LANES, np.int8), np.ones(4, np.int8)
    return 2 * 4 * LANES * DOTS * REPEATED, lambda i: many_dots(w, x, REPEATED)


@compiled("limits.add_up")
def add_up(numbers):
    """numbers (N), N a multiple of 4 -> their sum."""
    return numbers.sum()


@compiled("limits.many_dots")
def many_dots(w, x, n):
    """w (64) int8, read as unsigned; x (4) int8 -> (10,16): n times the products of each four of w with x."""
    sums = (w.view(np.uint8).astype(np.int64).reshape(LANES, 4) * x).sum(axis=1)
    return np.tile(n * sums, (DOTS, 1)).astype(np.float32)
