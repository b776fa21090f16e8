"""Several ranks: what an update takes with two of them, and what many machines would make of it.

The jobs run under mpiexec (mpi_ranks.py). Two ranks share this machine's cores, and take turns with one process that
has them all; more ranks than cores show that the bits stay the same, and nothing about speed. What many machines would
do is calculated from that.
"""

import json
import os
import shutil
import subprocess
import sys
from itertools import product
from pathlib import Path

import numpy as np

from ...errors import UserError
from ...model.parameters import named_arrays
from ...nn.bf16 import has_bf16
from ...ranks import NOT_INSTALLED
from ...train.slices import DENSE
from ..tables import Table
from ..timing import median, number, ratios, spread
from .train_speed import BATCH_LIST, FULL
from .yardstick import SIZES

REPEATS = 3
CROWDS = (4, 8)  # more ranks than cores
NODES = (2, 4, 8, 16, 32, 64)
LINKS = (10, 25, 100)  # Gbit/s
CORPUS = 3_900_000  # pairs: the paper's
HOME = Path(__file__).parents[3]


def measure_mpi(bench):
    """Yields Tables: updates by ranks, crowds, the plan for many machines."""
    n, repeats = max(2, bench.n_threads), bench.n_repeats(REPEATS)
    precisions = ("float32", "bf16") if has_bf16() else ("float32",)
    found = {each: run_ranks(2, size_name(bench.size), repeats, n, n, each) for each in precisions}
    yield update_table(bench, found, n)
    default = precisions[-1]
    yield crowd_table({crowd: run_ranks(crowd, "small", 1, 1, 8, default) for crowd in CROWDS})
    yield plan_table(bench, found[default], FULL, n, default)
    yield plan_table(bench, found[default], BATCH_LIST, n, default)


def size_name(size):
    return next(name for name, each in SIZES.items() if each == size)


def find_mpiexec():
    """The mpiexec beside this Python, or else the first in the path."""
    here = str(Path(sys.executable).parent)
    found = shutil.which("mpiexec", path=os.pathsep.join([here, os.environ.get("PATH", "")]))
    try:
        import mpi4py  # noqa: F401
    except ImportError:
        found = None
    if not found:
        raise UserError(NOT_INSTALLED)
    return found


def run_ranks(n, *arguments):
    """A job of n ranks -> what its rank 0 has printed."""
    command = [find_mpiexec(), "-n", n, sys.executable, "-m", "mpi4py", "-m", "minnmt.lab.bench.mpi_ranks", *arguments]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(HOME), os.environ.get("PYTHONPATH", "")])}
    result = subprocess.run([*map(str, command)], env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL)
    if result.returncode:
        raise UserError(f"the job of {n} ranks ended with exit code {result.returncode}: its own words are above")
    return json.loads(result.stdout.splitlines()[-1])


def update_table(bench, found, n):
    size = bench.size
    title = (
        f"embedding {size.embedding}, hidden {size.hidden:,}, {size.vocabularies[0]:,} words, updates of {size.batch} "
        f"pairs of {size.length} words: 1 process with {n} threads, then 2 ranks with {n // 2}, in turns"
    )
    notes = (
        "Waiting: for the slower rank, before gradients and parameters travel; exchange: they travel, and are summed.",
        "Sent: by one rank per update, without unused rows; all: with every row of every array.",
    )
    headings = (
        "softmax", "products", "1 process, s", "2 ranks, s", "of its speed", "exchange, s", "waiting, s",
        "sent, MB", "all, MB", "same bits",
    )  # fmt: skip
    table = Table("mpi", title, headings, notes)
    for name, precision in product((FULL, BATCH_LIST), found):
        record = {
            "softmax": name, "precision": precision, "threads": n, **found[precision][name], "all_bytes": n_bytes(bench)
        }  # fmt: skip
        cells = [spread(record[part]) for part in ("alone", "seconds")]
        cells.append(spread(ratios(record["alone"], record["seconds"])))
        cells += [spread(record[part]) for part in ("exchange", "waiting")]
        cells += [number(record[part] / 1e6) for part in ("bytes", "all_bytes")]
        table.add(record, name, precision, *cells, "yes" if record["same_bits"] else "NO")
    return table


def n_bytes(bench):
    """Of all parameters: what each of two ranks sends, half of the gradients and half of the parameters."""
    return sum(array.nbytes for _, array in named_arrays(bench.params))


def crowd_table(found):
    headings = ("ranks", "softmax", "same bits as one process")
    notes = ("More ranks than cores, small network, 8 shares: it shows that they are right, not how fast they are.",)
    table = Table("mpi", "crowds of ranks", headings, notes)
    for n, records in found.items():
        for name, record in records.items():
            table.add({"ranks": n, "softmax": name, **record}, n, name, "yes" if record["same_bits"] else "NO")
    return table


def plan_table(bench, found, softmax, n, precision):
    """What machines like this one would do, a rank each, every one with a batch of its own."""
    size, record = bench.size, found[softmax]
    alone, local = median(record["alone"]), median(record["exchange"]) + median(record["waiting"])
    title = f"calculated: machines with {n} cores like these, {size.batch} pairs each, softmax: {softmax}, {precision}"
    notes = (
        f"Seconds of an update = {number(alone)} (one process) + {number(local)} (exchange and waiting of 2 ranks over "
        "memory) + bytes that a machine sends / speed of the link. Efficiency: 100 % if the exchange took no time.",
        f"Hours: for {CORPUS:,} pairs of {size.length} words. The batch grows with the machines: {NODES[-1]} of them "
        f"update with {NODES[-1] * size.batch:,} pairs at once; what that does to learning is another question.",
    )
    headings = ("machines", "sent, MB", *(f"{link} Gbit/s: words/s, efficiency, hours" for link in LINKS))
    table = Table("mpi", title, headings, notes)
    for nodes in NODES:
        sent = sent_bytes(bench, softmax, nodes)
        plans = [plan(nodes * size.batch * size.length, alone, local + sent / (link * 1e9 / 8), size) for link in LINKS]
        cells = [f"{number(words)}, {100 * efficiency:.0f} %, {number(hours)}" for words, efficiency, hours in plans]
        record = {"machines": nodes, "softmax": softmax, "bytes": sent, "plans": dict(zip(LINKS, plans))}
        table.add(record, nodes, number(sent / 1e6), *cells)
    return table


def plan(n_words, computing, exchange, size):
    """An update of n_words -> words per second, efficiency, hours for the paper's corpus."""
    words = n_words / (computing + exchange)
    return words, computing / (computing + exchange), CORPUS * size.length / words / 3600


def sent_bytes(bench, softmax, nodes):
    """What one of `nodes` ranks sends in an update: gradients of used rows to their owners, its parameters to all."""
    size, n_words = bench.size, bench.size.batch * bench.size.length * nodes
    V = size.vocabularies[0]
    tables = [(size.src_words, drawn(size.src_words, n_words)), (V, drawn(size.train_words, n_words))]
    if softmax == BATCH_LIST:
        tables.append((V, drawn(size.train_words, size.batch * size.train_list * nodes)))
    saved = sum(4 * size.embedding * (rows - used) for rows, used in tables if used < DENSE * rows)
    return (2 * n_bytes(bench) - saved) * (nodes - 1) / nodes


def drawn(n_words, n):
    """How many of n_words are expected among n that are drawn at random."""
    return n_words * -np.expm1(n * np.log1p(-1 / n_words))
