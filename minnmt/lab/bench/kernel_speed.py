"""Each kernel against its plain function, and against the machine's limits, on one thread."""

import numpy as np

from ...compiled import reading, reading_mode
from ..tables import Table
from ..timing import calls_for, interleave, many_calls, median, number, ratios, spread
from .kernel_cases import Maker

ROUND = 0.02  # seconds


def measure_kernels(bench):
    """Yields one Table."""
    table = Table(
        "kernels", "each kernel against its plain function, on one thread",
        ("kernel", "work", "numbers", "us", "plain, us", "x plain", "GFLOP/s", "GB/s", "limit, us", "of it, %"),
        (
            "The limit is the roofline: the time that operations (at the speed of sgemm) or bytes (at that of memory) "
            "take at least, whichever is more. Small arrays stay in the cache, which is faster than memory, so more "
            "than 100 % is possible. tanh and exp count as 20 and 15 operations. Products in 8 bits and in bfloat16 "
            "have their own limits.",
        ),
    )  # fmt: skip
    if reading_mode():
        table.notes += ("Not measured: MINNMT_KERNELS=numpy has switched the kernels off.",)
    else:
        for case in Maker(bench.size).cases():
            add_case(table, case, bench)
    yield table


def plain_call(case):
    """Also what a plain function calls is plain then."""
    with reading():
        return case.kernel.plain(*case.arguments)


def add_case(table, case, bench):
    """Measure one kernel and its plain function."""
    sides = {"kernel": lambda: case.kernel(*case.arguments), "plain": lambda: plain_call(case)}
    n_calls = {name: calls_for(ROUND, call) for name, call in sides.items()}
    found = interleave({name: many_calls(sides[name], n_calls[name]) for name in sides}, bench.n_repeats())
    kernel, plain = (np.array(found[name].seconds) / n_calls[name] for name in sides)
    limit = bench.limits.least_seconds(case.flops, case.nbytes, precision=case.precision)
    record = {
        "kernel": case.kernel.__name__, "work": case.shape, "precision": case.precision,
        "flops": case.flops, "bytes": case.nbytes,
        "seconds": kernel.tolist(), "plain_seconds": plain.tolist(), "limit_seconds": limit,
        "share_of_limit": limit / median(kernel),
    }  # fmt: skip
    table.add(
        record, case.kernel.__name__, case.shape, case.precision, spread(1e6 * kernel), spread(1e6 * plain),
        spread(ratios(plain, kernel)), number(case.flops / median(kernel) / 1e9) if case.flops else "-",
        number(case.nbytes / median(kernel) / 1e9), number(1e6 * limit), number(100 * limit / median(kernel)),
    )  # fmt: skip
