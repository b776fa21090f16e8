"""The machine and its limits: how fast it multiplies matrices and reads memory."""

import numba
import numpy as np

from kernels.jit import kernel, team

from ...search.cost import Limits
from ...threads import thread_pool
from ..machine import describe_machine
from ..tables import Table
from ..timing import calls_for, interleave, many_calls, spread

PRODUCT = 1024  # rows and columns
MEMORY = 1 << 26  # 256 MB of float32, beyond every cache
PARTS = 16  # of it, shared out among the threads
ROUND = 0.1  # seconds
LEAST_REPEATS = 5  # everything else is compared with them
ZERO = np.float32(0)


def measure_limits(bench):
    """-> Limits for 1 thread and for all, Table."""
    threads = sorted({1, bench.n_threads})
    repeats = max(bench.n_repeats(), LEAST_REPEATS)
    products, reads = interleave_products(threads, repeats), interleave_reads(threads, repeats)
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


def interleave_products(threads, repeats):
    """Square products, each thread its own, as minnmt works -> {threads: (operations of a round, seconds)}."""
    rng = np.random.default_rng(1)
    a, b = (rng.standard_normal((PRODUCT, PRODUCT), dtype=np.float32) for _ in range(2))
    outs = [np.empty_like(a) for _ in range(max(threads))]
    n_calls = calls_for(ROUND, lambda: np.matmul(a, b, out=outs[0]))

    def multiply(i):
        for _ in range(n_calls):
            np.matmul(a, b, out=outs[i])

    pools = {n: thread_pool(n) for n in threads}
    found = interleave({n: lambda n=n: list(pools[n].map(multiply, range(n))) for n in threads}, repeats)
    for pool in pools.values():
        pool.shutdown()
    return {n: (2 * PRODUCT**3 * n_calls * n, timed.seconds) for n, timed in found.items()}


def interleave_reads(threads, repeats):
    """Sums of a large array: every number is read once -> {threads: (bytes of a round, seconds)}."""
    numbers, sums = np.ones(MEMORY, np.float32), np.empty(PARTS, np.float32)

    def read(n):
        with team(n):
            add_up(numbers, sums)

    n_calls = calls_for(ROUND, lambda: read(1))
    found = interleave({n: many_calls(lambda n=n: read(n), n_calls) for n in threads}, repeats)
    return {n: (numbers.nbytes * n_calls, timed.seconds) for n, timed in found.items()}


def add_up_numpy(numbers, sums):
    """numbers (N), N a multiple of 64 -> fills sums (16) with those of its parts."""
    sums[:] = numbers.reshape(PARTS, -1).sum(axis=1)


@kernel(twin=add_up_numpy, parallel=True)
def add_up(numbers, sums):
    size = len(numbers) // PARTS
    for part in numba.prange(PARTS):
        # four streams: with one, a thread does not reach what memory can deliver
        quarter, first = size // 4, part * size
        a, b = numbers[first : first + quarter], numbers[first + quarter : first + 2 * quarter]
        c, d = numbers[first + 2 * quarter : first + 3 * quarter], numbers[first + 3 * quarter : first + size]
        total_a = total_b = total_c = total_d = ZERO
        for i in range(quarter):
            total_a += a[i]
            total_b += b[i]
            total_c += c[i]
            total_d += d[i]
        sums[part] = total_a + total_b + total_c + total_d
