"""The state of a run on disk, complete enough to continue to the very same bits.

checkpoint.npz holds the parameters, Adam's moments, the counters and the attention counts of the epoch under
way. Random numbers need no state: the order of an epoch is drawn from (seed, epoch) and the dropout of an update from
(seed, update), so both can be drawn again.
"""

import json
import math
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np

from ..align.counts import Counts
from ..arrays import load_arrays, save_arrays
from ..errors import UserError
from ..model.npz import STORED_NAMES, from_stored, to_stored
from ..model.parameters import Parameters
from .adam import Adam

TREES = ("param", "adam_m", "adam_v")
CSR = ("indptr", "indices", "data")


@dataclass
class Progress:
    """Where a run stands."""

    epoch: int = 1  # the epoch under way, from 1
    position: int = 0  # batches of it that are done
    n_updates: int = 0
    learning_rate: float = 0.0
    best_bleu: float = -1.0
    best_perplexity: float = math.inf
    epochs_since_best: int = 0
    epoch_nll: float = 0.0  # sums over this epoch
    epoch_words: int = 0
    seconds: float = 0.0
    log: list = field(default_factory=list)  # one dictionary per validation


def save_checkpoint(directory, params, adam, progress, counts):
    """Write checkpoint.npz; an interrupted write leaves the one before in place."""
    arrays = {}
    for tree_name, tree in zip(TREES, (params, adam.m, adam.v)):
        arrays.update({f"{tree_name}.{name}": a for name, a in to_stored(tree).items()})
    arrays.update({f"counts.{name}": getattr(counts, name) for name in CSR})
    arrays["progress"] = np.frombuffer(json.dumps(asdict(progress)).encode(), np.uint8)
    save_arrays(Path(directory) / "checkpoint.npz", arrays)


def load_checkpoint(directory) -> tuple[Parameters, Adam, Progress, Counts]:
    """Read checkpoint.npz back."""
    path = Path(directory) / "checkpoint.npz"
    if not path.exists():
        raise UserError(f"{path} does not exist: there is nothing to resume in {directory}")
    arrays = load_arrays(path)
    try:
        progress = Progress(**json.loads(arrays["progress"].tobytes()))
        params, m, v = (from_stored({n: arrays[f"{tree}.{n}"] for n in STORED_NAMES}) for tree in TREES)
        sizes = len(params.src_embedding), len(params.trg_embedding)
        counts = Counts.empty(*sizes)
        if "counts.indptr" in arrays:
            counts = Counts(*(arrays[f"counts.{name}"] for name in CSR), sizes[1])
            counts.check(path, *sizes)
        return params, Adam(m, v, progress.n_updates), progress, counts
    except (KeyError, TypeError, ValueError) as error:
        raise UserError(f"{path} is not a checkpoint of this version of minnmt ({error}): train again") from None
