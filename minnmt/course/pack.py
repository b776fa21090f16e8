"""The lessons' model in one small file: packed from a run, unpacked into a model directory.

    python cli.py course pack runs/default

writes lesson_model.npz, which is part of the package. Its weights have seven bits: a row of a matrix is 63 steps to
either side of 0, and a scale; what is unpacked is float32 again, but no finer. Counts are kept by their logarithm, in
steps of 6 %; of the counts of single epochs only cells above half a count.
"""

import hashlib
import zipfile
from pathlib import Path

import numpy as np

from ..align.counts import Counts
from ..align.sparse import offsets
from ..arrays import ArrayFile, as_json_array, save_arrays
from ..errors import UserError
from ..files import write_atomically, write_bytes
from ..model.directory import load_model
from ..model.npz import save_parameters
from ..model.parameters import from_named, named_arrays

PACKED = Path(__file__).with_name("lesson_model.npz")
MARK = "unpacked"  # the last file of the directory; it holds the checksum of what was unpacked
TEXTS = ("config.json", "log.tsv", "vocab.src.json", "vocab.trg.json", "bpe.src.codes", "bpe.trg.codes")
EPOCHS = (2, 3, 5, 12)  # whose counts are packed, too
STEPS = 63  # of a weight, to either side of 0
FINENESS = 16  # steps of a count's logarithm while it grows e times
SMALLEST = 0.1  # count; no attention weight below it is counted


def pack(run, path=PACKED):
    """A run's directory -> one file: weights, vocabularies, codes, settings, learning curve, counts."""
    run, arrays = Path(run), {}
    for name, array in named_arrays(load_model(run).params):
        arrays.update(pack_weights(name, array))
    for name in TEXTS:
        if not (run / name).exists():
            raise UserError(f"{run} has no {name}: only a run that was trained with BPE can be packed")
        arrays[f"text.{name}"] = np.frombuffer((run / name).read_bytes(), np.uint8)
    names = {"alignments": 0.0} | {f"alignments.epoch{epoch}": 0.5 for epoch in EPOCHS}
    for name, least in names.items():
        if (run / f"{name}.npz").exists():
            counts = Counts.load(run / f"{name}.npz")
            arrays.update(pack_counts(f"counts.{name}.npz", counts.select(counts.data > least)))
    save_arrays(path, arrays, zipfile.ZIP_LZMA)


def unpack(path, directory):
    """The file -> a model directory; the mark comes last, when everything else is there."""
    directory = Path(directory)
    with ArrayFile(path, "install minnmt again") as file:
        weights = {name.removeprefix("weights."): unpack_weights(file, name) for name in named(file, "weights.")}
        save_parameters(directory / "model.npz", from_named(weights))
        for name in named(file, "text."):
            write_bytes(directory / name.removeprefix("text."), file.read(name, np.uint8, (None,)).tobytes())
        for name in named(file, "counts."):
            unpack_counts(file, name).save(directory / name.removeprefix("counts."))
    write_atomically(directory / MARK, checksum(path))


def unpacked(path, directory):
    """Is the directory what this very file holds?"""
    mark = Path(directory) / MARK
    return mark.exists() and mark.read_text() == checksum(path)


def checksum(path):
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def named(file, start):
    """The arrays of a kind, without what belongs to them (NAME:part)."""
    return [name for name in file.names if name.startswith(start) and ":" not in name]


# Weights


def pack_weights(name, array):
    """A matrix as int8 with a scale per row; a vector as float16."""
    if array.ndim < 2:
        return {f"weights.{name}": array.astype(np.float16)}
    scale = (np.abs(array).max(axis=1, keepdims=True) / STEPS).astype(np.float16)
    steps = np.round(array / np.maximum(scale, np.finfo(np.float16).tiny).astype(np.float32))
    return {f"weights.{name}": np.clip(steps, -STEPS, STEPS).astype(np.int8), f"weights.{name}:scale": scale}


def unpack_weights(file, name):
    shape, _ = file.member(name)
    if len(shape) < 2:
        return file.read(name, np.float16, shape).astype(np.float32)
    scale = file.read(f"{name}:scale", np.float16, (shape[0], 1))
    return file.read(name, np.int8, shape) * scale.astype(np.float32)


# Counts


def pack_counts(name, counts):
    """Per row how many cells; per cell how far its target id is from that before, and the logarithm of its count."""
    ids = counts.indices.astype(np.int64)
    steps = np.diff(ids, prepend=0)
    starts = counts.indptr[:-1][np.diff(counts.indptr) > 0]
    steps[starts] = ids[starts]
    logarithms = np.round(FINENESS * np.log(counts.data / SMALLEST))
    return {
        name: as_json_array({**counts.info, "n_trg": counts.n_trg}),
        f"{name}:lengths": np.diff(counts.indptr).astype(np.uint16),
        f"{name}:steps": np.stack(np.divmod(steps, 256)).astype(np.uint8),  # high bytes, then low ones: packs better
        f"{name}:logarithms": np.clip(logarithms, 0, 255).astype(np.uint8),
    }


def unpack_counts(file, name):
    info = file.read_json(name)
    indptr = offsets(file.read(f"{name}:lengths", np.uint16, (None,)))
    high, low = file.read(f"{name}:steps", np.uint8, (2, int(indptr[-1]))).astype(np.int64)
    reached = np.cumsum(256 * high + low)
    before = np.concatenate([[0], reached])[indptr[:-1]]  # what the rows above add up to
    indices = (reached - np.repeat(before, np.diff(indptr))).astype(np.int32)
    logarithms = file.read(f"{name}:logarithms", np.uint8, (len(indices),))
    weights = (SMALLEST * np.exp(logarithms / FINENESS)).astype(np.float32)
    return Counts(indptr, indices, weights, info.pop("n_trg"), info)
