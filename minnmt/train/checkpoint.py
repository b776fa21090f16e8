"""The state of a run on disk, complete enough to continue to the very same bits.

checkpoint.npz holds the parameters, Adam's moments, the counters and the attention counts of the epoch under
way. Random numbers need no state: the order of an epoch is drawn from (seed, epoch) and the dropout of an update from
(seed, update), so both can be drawn again.
"""

import math
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path

from ..align.counts import Counts
from ..arrays import ArrayFile, as_json_array, save_arrays
from ..errors import UserError
from ..model.npz import read_parameters, to_stored
from ..model.parameters import Parameters
from .adam import Adam
from .settings import MOST, Range

TREES = ("param", "adam_m", "adam_v")


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
    arrays.update(counts.arrays("counts."))
    arrays["progress"] = as_json_array(asdict(progress))
    save_arrays(Path(directory) / "checkpoint.npz", arrays)


def load_checkpoint(directory, sizes) -> tuple[Parameters, Adam, Progress, Counts]:
    """Read checkpoint.npz back; `sizes` of the network as Parameters.sizes gives them."""
    path = Path(directory) / "checkpoint.npz"
    if not path.exists():
        raise UserError(f"{path} does not exist: there is nothing to resume in {directory}")
    with ArrayFile(path, "train again, or put an older checkpoint back") as file:
        progress = read_progress(file)
        params, m = (read_parameters(file, sizes, f"{tree}.") for tree in TREES[:2])
        v = read_parameters(file, sizes, f"{TREES[2]}.", least=0)
        counts = Counts.read(file, sizes["src_words"], sizes["trg_words"], prefix="counts.")
    return params, Adam(m, v, progress.n_updates), progress, counts


def read_progress(file):
    """The Progress in an ArrayFile; numbers that no run can have are refused."""
    record = file.read_json("progress")
    rows = record.pop("log", None)
    if not (are_sound(record, PROGRESS) and isinstance(rows, list) and all(are_sound(row, LOG) for row in rows)):
        raise UserError(f"{file.path}: its progress is damaged or of another version of minnmt; {file.remedy}")
    return Progress(**record, log=rows)


COUNT, NUMBER = Range(int, 0, MOST), Range(float, 0)
PROGRESS = {f.name: COUNT if type(f.default) is int else NUMBER for f in fields(Progress) if f.name != "log"}
PROGRESS |= {"epoch": Range(int, 1, MOST), "best_bleu": Range(float, -1)}
LOG = {name: COUNT for name in ("epoch", "updates")}
LOG |= {name: NUMBER for name in ("train_loss", "dev_perplexity", "dev_bleu", "learning_rate", "seconds")}


def are_sound(record, limits):
    """Does a record have these numbers and no others, each within its limits? A perplexity may be infinite."""
    return (
        isinstance(record, dict)
        and record.keys() == limits.keys()
        and all(
            limits[name].holds(value) or (value == math.inf and name.endswith("perplexity"))
            for name, value in record.items()
        )
    )
