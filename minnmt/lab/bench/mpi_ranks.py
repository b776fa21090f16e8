"""What each rank of `bench mpi` does: updates by all ranks, in turns with the same updates by rank 0 alone.

    mpiexec -n 2 python -m mpi4py -m minnmt.lab.bench.mpi_ranks SIZE REPEATS THREADS SHARES PRECISION

Rank 0 prints what it has measured as JSON. An update of ranks has three parts: computing; waiting for the slowest; and
exchange, in which gradients and parameters travel and are added up.
"""

import json
import os
import sys
import time
import zlib
from contextlib import contextmanager

import numpy as np

from ... import ranks
from ...model.parameters import map_arrays, named_arrays
from ...text.vocab import EOS
from ...threads import threads, tuned
from ...train.settings import Settings
from ...train.slices import Slice
from ...train.updates import Updater
from .train_speed import BATCH_LIST, FULL, Words, random_pairs
from .yardstick import SIZES, make_network

NAP = 0.002  # seconds; a rank that is asleep leaves its core to others
LEARNING_RATE = 5e-4


class TimedSlice(Slice):
    """A Slice that notes how long it has waited, and exchanged."""

    waiting = exchange = 0.0

    @contextmanager
    def timed(self):
        began = time.perf_counter()
        meet(self.ranks)
        met = time.perf_counter()
        yield
        self.waiting += met - began
        self.exchange += time.perf_counter() - met

    def sum_up(self, *arguments):
        with self.timed():
            return super().sum_up(*arguments)

    def gather_parameters(self, *arguments):
        with self.timed():
            super().gather_parameters(*arguments)


def meet(several, nap=0.0):
    """Wait for all ranks; with a nap, asleep."""
    request = several.comm.Ibarrier()
    while not request.Test():
        time.sleep(nap)


def measure(several, size, repeats, settings, n_alone):
    """Updates by all ranks and by rank 0 alone with n_alone threads -> {softmax: a record}, on rank 0."""
    params = make_network(size, size.vocabularies[0])
    params.softmax.b[EOS] = 0
    pairs, cores, records = random_pairs(size, size.vocabularies[0]), os.sched_getaffinity(0), {}
    with tuned(huge=True), threads(n_alone if several.is_first else 1) as map_alone:
        alone = None
        if several.is_first:
            given = map_arrays(np.copy, params), pairs.src, pairs.trg, Settings(**settings, threads=n_alone)
            alone = Updater(*given, map=map_alone)
            alone.map(abs, range(n_alone))  # its threads are on their cores
        n_threads = several.threads()
        with threads(n_threads) as map:
            owned = TimedSlice(params, several)
            given = params, pairs.src, pairs.trg, Settings(**settings, threads=n_threads)
            together = Updater(*given, map=map, owned=owned)
            for name, words in {FULL: None, BATCH_LIST: Words(pairs.lists, True)}.items():
                together.words = words
                if alone:
                    alone.words = words
                records[name] = take_turns(alone, together, several, repeats)
        os.sched_setaffinity(0, cores)
    return records


def take_turns(alone, together, several, repeats):
    """The same update by rank 0 alone, then by all; the first repeat does not count -> what it took, and sent."""
    owned, chosen = together.owned, np.arange(len(together.src))
    record = {"alone": [], "seconds": [], "exchange": [], "waiting": []}
    for _ in range(repeats + 1):
        meet(several, NAP)
        if alone:
            record["alone"].append(seconds_of(alone, chosen))
        meet(several, NAP)
        several.bytes_sent, owned.exchange, owned.waiting = 0, 0.0, 0.0
        record["seconds"].append(seconds_of(together, chosen))
        record["exchange"].append(owned.exchange)
        record["waiting"].append(owned.waiting)
    found = {name: values[1:] for name, values in record.items()}
    rows = {name: len(ids) for name, ids in together.shares(chosen).rows.items()}
    same = alone and checksum(alone.params) == checksum(together.params)
    return {**found, "bytes": several.bytes_sent, "rows": rows, "same_bits": same}


def seconds_of(updater, chosen):
    """How long an update takes."""
    began = time.perf_counter()
    updater.update(updater.shares(chosen), LEARNING_RATE)
    return time.perf_counter() - began


def checksum(params):
    """Of all parameters."""
    found = 0
    for _, array in named_arrays(params):
        found = zlib.crc32(array.tobytes(), found)
    return found


def main(size, repeats, n_alone, shares, precision):
    ranks.begin(["train"])
    several = ranks.current()
    settings = {"shares": int(shares), "precision": precision}
    records = measure(several, SIZES[size], int(repeats), settings, int(n_alone))
    if several.is_first:
        print(json.dumps(records), flush=True)
    several.end()


if __name__ == "__main__":
    main(*sys.argv[1:])
