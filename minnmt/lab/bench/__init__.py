"""Measurements for `python cli.py bench`: what is compared runs in one process, in turns and repeatedly.

Times depend on the machine and on what else it does: look at the ratios and their spread. A file for each section, and

    yardstick   the network, sentences and lists that all sections share
    variants    ways to decode
    peer        the same network in PyTorch

Beside this folder, for other reports too: timing (running things in turns, medians and quartiles) and tables.
"""

from ..machine import describe_machine
from ..tables import format_table
from .count_speed import measure_counting
from .decode_speed import measure_decoding
from .growth import measure_growth
from .kernel_speed import measure_kernels
from .limits import measure_limits
from .mpi_speed import measure_mpi
from .peer_speed import load_torch
from .train_speed import measure_training
from .verify_speed import measure_verifying
from .yardstick import SIZES, Bench

MEASURES = {
    "kernels": measure_kernels,
    "decode": measure_decoding,
    "train": measure_training,
    "count": measure_counting,
    "verify": measure_verifying,
    "growth": measure_growth,
    "mpi": measure_mpi,
}


def run_benchmarks(sections, size, repeats, n_threads, peer=None, texts=None):
    """Yields a Table for each measurement that is done; the machine's limits come first, whatever the sections.

    size: a name of SIZES; repeats: None for the sections' own; texts: None, or two tokenized files for the aligner.
    """
    bench = Bench(SIZES[size], [name for name in MEASURES if name in sections], repeats, n_threads, texts=texts)
    if peer:
        bench.torch = load_torch(n_threads)
    bench.limits, table = measure_limits(bench)
    yield table
    for name in bench.sections:
        yield from MEASURES[name](bench)


def bench_record(tables, settings, peer=None):
    """All that was measured, for JSON."""
    return {"machine": describe_machine(peer), "settings": settings, "tables": [table.record() for table in tables]}


__all__ = ["MEASURES", "SIZES", "bench_record", "format_table", "run_benchmarks"]
