"""Where a selector's counts come from: files beside the model, files anywhere, or nothing at all.

Selectors themselves, the controls among them, are in selector.py. Notebook 07.
"""

from pathlib import Path

from ..errors import UsageError, UserError
from .accumulator import add_counts
from .aligners import ALIGNERS
from .candidates import best_candidates
from .counts import Counts
from .selector import CONTROLS, Selector


def counts_path(name, directory):
    """"epoch3" -> DIR/alignments.epoch3.npz, if it is there; anything else is the path of a file."""
    beside = Path(directory) / f"alignments.{name}.npz" if directory else None
    return beside if beside and beside.exists() else Path(name)


def counts_paths(names, directory):
    """The files of the counts that are named; with no name, the model directory's alignments.npz."""
    for name in names:
        if name in CONTROLS:
            raise UsageError(f"--counts {name} counts nothing: it is a control, for decode and audit alone")
        if not name:
            raise UsageError("--counts: the name is empty")
    paths = [counts_path(name, directory) for name in names]
    if not paths:
        if directory is None:
            raise UsageError("a single .npz has no counts of its own: name some with --counts")
        paths = [Path(directory) / "alignments.npz"]
    for path in paths:
        if not path.exists():
            raise UserError(missing(path, directory))
    return paths


def load_counts(names, directory, n_src, n_trg):
    """The sum of the counts that are named."""
    paths = counts_paths(names, directory)
    if len(paths) == 1:
        return Counts.load(paths[0], n_src, n_trg)
    return add_counts(Counts.load(path, n_src, n_trg) for path in paths)


def missing(path, directory):
    """What to do about counts that are not there."""
    there = sorted(p.name[len("alignments.") : -len(".npz")] for p in Path(directory or ".").glob("alignments.*.npz"))
    known = f"; beside the model are: {', '.join(there)}" if directory and there else ""
    align = f"python cli.py align -m {directory}" if directory else "python cli.py align"
    if path.name in ALIGNERS:
        align += f" --method {path.name}"
    return f"{path} does not exist: counts are made by training from its second epoch on, or by {align}{known}"


def make_selector(names, directory, n, n_src, n_trg, by="source", min_prob=0.0, frequent=0):
    """The selector of n candidates per source word from the named counts, or from a control."""
    if not set(names) & set(CONTROLS):
        counts = load_counts(names, directory, n_src, n_trg)
        return Selector(best_candidates(counts, n, by, min_prob), frequent)
    if len(names) > 1:
        raise UsageError(f"--counts {' and '.join(names)}: {' and '.join(CONTROLS)} stand alone")
    if by != "source" or min_prob:
        raise UsageError(f"--by and --min-prob do not go with --counts {names[0]}, which counts nothing")
    return CONTROLS[names[0]](n, n_src, n_trg, frequent)
