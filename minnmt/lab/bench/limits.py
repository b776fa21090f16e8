"""The machine and its limits: how fast it multiplies matrices and reads memory."""

import contextlib

import numpy as np

from ...compiled import compiled
from ...search.cost import Limits
from ...threads import sharing, threads
from ..machine import describe_machine
from ..tables import Table
from ..timing import calls_for, interleave, many_calls, spread

PRODUCT = 1024  # rows and columns
MEMORY = 1 << 26  # 256 MB of float32, beyond every cache
PARTS = 16  # of it, for threads that share the reading
ROUND = 0.1  # seconds
LEAST_REPEATS = 5  # everything else is compared with them


def measure_limits(bench):
    """-> Limits for 1 thread and for all, Table."""
    numbers = sorted({1, bench.n_threads})
    repeats = max(bench.n_repeats(), LEAST_REPEATS)
    products, reads = interleave_products(numbers, repeats), interleave_reads(numbers, repeats)
    about = describe_machine("torch" if bench.torch else None)
    versions = ("python", "minnmt", "numpy", "numba", "torch")
    names = ", ".join(f"{name} {about[name]}" for name in versions if name in about)
    table = Table(
        "machine", f"{about['cpu']}, {about['usable_processors']} processors; {names}",
        ("limit", "threads", "speed", "unit"),
        ("Medians, with quartiles in brackets, here and below. Shares of a limit are shares of its fastest repeat.",),
    )  # fmt: skip
    for limit, unit, found in (("sgemm", "GFLOP/s", products), ("memory read", "GB/s", reads)):
        for n, (work, seconds) in found.items():
            speeds = work / np.array(seconds)
            record = {"limit": limit, "threads": n, "seconds": seconds, "per_second": speeds.tolist()}
            table.add(record, limit, n, spread(speeds / 1e9), unit)
    fastest = ({n: work / min(seconds) for n, (work, seconds) in found.items()} for found in (products, reads))
    return Limits(*fastest), table


def interleave_products(numbers, repeats):
    """Square products, each thread its own, as minnmt works -> {threads: (operations of a round, seconds)}."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((PRODUCT, PRODUCT), dtype=np.float32) for _ in range(2))
    outs = [np.empty_like(a) for _ in range(max(numbers))]
    n_calls = calls_for(ROUND, lambda: np.matmul(a, b, out=outs[0]))

    def multiply(i):
        for _ in range(n_calls):
            np.matmul(a, b, out=outs[i])

    with contextlib.ExitStack() as stack:
        each = {n: stack.enter_context(threads(n)) for n in numbers}
        found = interleave({n: lambda n=n: each[n](multiply, range(n)) for n in numbers}, repeats)
    return {n: (2 * PRODUCT**3 * n_calls * n, timed.seconds) for n, timed in found.items()}


def interleave_reads(numbers, repeats):
    """Sums of a large array: every number is read once -> {threads: (bytes of a round, seconds)}."""
    floats = np.ones(MEMORY, np.float32)

    def read(n):
        with sharing(n):
            add_up(floats)

    n_calls = calls_for(ROUND, lambda: read(1))
    found = interleave({n: many_calls(lambda n=n: read(n), n_calls) for n in numbers}, repeats)
    return {n: (floats.nbytes * n_calls, timed.seconds) for n, timed in found.items()}


@compiled("memory.add_up")
def add_up(numbers):
    """numbers (N), N a multiple of 64 -> the sums (16) of its parts."""
    return numbers.reshape(PARTS, -1).sum(axis=1)
