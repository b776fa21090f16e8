"""Sockeye's compiled lexicon (sockeye-translate --restrict-lexicon): an int32 array in a .npy file.

(Vs,k): the ids of a source word's candidates in its row, best first, then 0 up to the end of the row.

Sockeye's vocabularies begin with pad 0, unk 1, bos 2, eos 3, then come the words by frequency. So eos is 3, UNK is 1
and every other id i of ours is i + 2, in rows and in cells, both when writing and when reading. The Sockeye model's
vocabularies must have our words in our order.
"""

import io
import math
from itertools import repeat

import numpy as np

from ...arrays import read_npy_header
from ...files import write_bytes
from ...text.vocab import EOS, UNK
from .scan import rank_weight

PAD, SOCKEYE_UNK, BOS, SOCKEYE_EOS = range(4)
SHIFT = 2  # there are two more special words


def to_sockeye(ids):
    """Our ids -> Sockeye's."""
    ids = np.asarray(ids, np.int64)
    return np.where(ids == EOS, SOCKEYE_EOS, np.where(ids == UNK, SOCKEYE_UNK, ids + SHIFT))


def from_sockeye(ids):
    """Sockeye's ids -> ours; pad and bos, which we do not have, become -1."""
    ids = np.asarray(ids, np.int64)
    ours = np.where(ids == SOCKEYE_EOS, EOS, np.where(ids == SOCKEYE_UNK, UNK, ids - SHIFT))
    return np.where((ids == PAD) | (ids == BOS), -1, ours)


def write(path, candidates, src, trg, **_):
    """Write a lexicon as wide as its longest list. It can hold every candidate."""
    rows = candidates.rows
    places = np.arange(len(rows)) - candidates.indptr[rows]
    lexicon = np.zeros((candidates.n_src + SHIFT, places.max(initial=0) + 1), np.int32)
    lexicon[to_sockeye(rows), places] = to_sockeye(candidates.ids)
    file = io.BytesIO()
    np.save(file, lexicon, allow_pickle=False)
    write_bytes(path, file.getvalue())
    return 0


def scan(file, found):
    """Yields the cells of a lexicon; the weights fall from the left to the right."""
    lexicon = _load(file, found)
    _lint(lexicon, found)
    rows, places = np.nonzero(lexicon)
    src_ids, trg_ids = from_sockeye(rows), from_sockeye(lexicon[rows, places])
    ours = (src_ids >= 0) & (trg_ids >= 0)
    found.skipped["entries of pad and bos, which this model does not have"] += int((~ours).sum())
    # Counts keep the last of several cells for two words: from the right, that is the better place
    backwards = np.flatnonzero(ours)[::-1]
    columns = src_ids, trg_ids, rank_weight(places)
    yield from zip(repeat(0), *(column[backwards].tolist() for column in columns))


def _load(file, found):
    """An open file -> an array of the right form, with ids that are in the vocabulary."""
    damaged = "it is not a complete .npy file of plain numbers", "copy it again or export it again"
    remedy = "export it again with this model's vocabularies"
    try:
        shape, dtype = read_npy_header(file)
    except Exception:  # numpy meets damaged bytes with errors of every kind
        found.refuse(*damaged)
    if len(shape) != 2 or dtype.kind not in "iu":  # to numpy, spans of time are integers too
        found.refuse(f"expected a two-dimensional array of int32, found {dtype} {shape}", remedy)
    if shape[0] != len(found.src) + SHIFT:
        text = f"it has {shape[0]:,} rows, not one for each of {len(found.src):,} source words, pad and bos"
        found.refuse(text, remedy)
    if shape[1] > len(found.trg) + SHIFT:
        found.refuse(f"it has {shape[1]:,} columns, more than there are target words", remedy)
    size = math.prod(shape) * dtype.itemsize
    data = file.read(size + 1)
    if len(data) != size:
        found.refuse(*damaged)
    lexicon = np.frombuffer(data, dtype).reshape(shape)
    outside = np.argwhere((lexicon < 0) | (lexicon >= len(found.trg) + SHIFT))
    if len(outside):
        row, column = outside[0]
        text = f"row {row}, column {column}: the id {lexicon[row, column]} is outside Sockeye's target vocabulary"
        found.refuse(f"{text}, which has {len(found.trg) + SHIFT:,} words ({len(outside):,} such ids)", remedy)
    return lexicon


def _lint(lexicon, found):
    """What a sound file may still have wrong."""
    if lexicon.dtype != np.int32:
        found.wrong(0, f"its numbers are {lexicon.dtype}, Sockeye writes int32")
    for row in np.flatnonzero(((lexicon[:, :-1] == 0) & (lexicon[:, 1:] != 0)).any(axis=1)).tolist():
        found.wrong(0, f"row {row}: a 0 stands before an id; the ids come first")
    for row, word in ((PAD, "pad"), (BOS, "bos")):
        if lexicon[row].any():
            found.wrong(0, f"row {row}: {word} is never in a source sentence, it needs no candidates")
    for row in np.flatnonzero((lexicon == BOS).any(axis=1)).tolist():
        found.wrong(0, f"row {row}: bos (id {BOS}) is never in a translation")
