"""Marian's binary shortlist, as bergamot uses it; little-endian.

    u64   magic, checksum, first, best, Vs + 1, n_ids
    u64   offsets[Vs + 1]
    u32   ids[n_ids]           source word i: ids[offsets[i] : offsets[i + 1]], ascending

Marian always includes the words with ids below `first`: eos and UNK among them, because vocabularies agree (a Marian
vocabulary made from our JSON has the same ids). The order within a list is not kept. Marian refuses a file in which
the last source word has no candidates; eos, which costs nothing, is given to it.
"""

import struct
from itertools import repeat

import numpy as np

from ...files import write_bytes
from ...text.vocab import EOS
from ..sparse import rows_of

MAGIC = 0xF11A48D5013417F5
HEADER = struct.Struct("<6Q")
MASK = 2**64 - 1


def checksum(data):
    """Over the whole u64 words of the file from byte 16 on (half a word at the end is left out, as in Marian)."""
    seed = 0
    for value in np.frombuffer(data[: len(data) // 8 * 8], "<u8").tolist():
        seed ^= (value + 0x9E3779B9 + (seed << 6) + (seed >> 2)) & MASK
    return seed


def write(path, candidates, src, trg, always=2, topn=100):
    """Write a shortlist; the first `always` ids are always included. It can hold every candidate."""
    ids = candidates.ids[np.lexsort((candidates.ids, candidates.rows))].astype("<u4")
    offsets = candidates.indptr.astype("<u8")
    if offsets[-1] == offsets[-2]:
        ids = np.append(ids, np.array([EOS], "<u4"))
        offsets[-1] += 1
    body = struct.pack("<4Q", always, topn, len(offsets), len(ids)) + offsets.tobytes() + ids.tobytes()
    write_bytes(path, struct.pack("<2Q", MAGIC, checksum(body)) + body)
    return 0


def scan(data, found):
    """Yields the cells of a shortlist's bytes; all candidates of a source word get the same weight."""
    first, offsets, ids = _parts(data, found)
    rows = rows_of(offsets)
    _lint(first, offsets, ids, rows, found)
    yield from zip(repeat(0), rows.tolist(), ids.tolist(), repeat(1.0))


def _parts(data, found):
    """bytes -> (first, offsets, ids)."""
    remedy = "copy the file again or export it again"
    if len(data) < HEADER.size or struct.unpack_from("<Q", data)[0] != MAGIC:
        found.refuse("it does not begin as a binary shortlist of Marian does", "name its format with --format")
    _, stored_checksum, first, _, n_offsets, n_ids = HEADER.unpack_from(data)
    expected = HEADER.size + 8 * n_offsets + 4 * n_ids
    if expected != len(data):
        found.refuse(f"its header asks for {expected:,} bytes, the file has {len(data):,}", remedy)
    if checksum(data[16:]) != stored_checksum:
        found.bad(0, "the checksum is wrong: the file is damaged", remedy)
    if n_offsets != len(found.src) + 1:
        text = f"it was made for {n_offsets - 1:,} source words, the vocabulary has {len(found.src):,}"
        found.refuse(text, "export it again with this model's vocabulary")
    offsets = np.frombuffer(data, "<u8", n_offsets, HEADER.size)
    ids = np.frombuffer(data, "<u4", n_ids, HEADER.size + 8 * n_offsets)
    _check(offsets, ids, found)
    return first, offsets.astype(np.int64), ids


def _check(offsets, ids, found):
    """Refuse offsets and ids that cannot be used at all."""
    if offsets[0] != 0 or offsets[-1] != len(ids) or (offsets[1:] < offsets[:-1]).any():
        found.refuse(f"the offsets do not rise from 0 to {len(ids):,}, the number of ids", "export it again")
    outside = np.flatnonzero(ids >= len(found.trg))
    if len(outside):
        source = _source(int(np.searchsorted(offsets, outside[0], "right")) - 1, found)
        text = f"the id {ids[outside[0]]} is not in the target vocabulary of {len(found.trg):,} words"
        found.refuse(f"{source}: {text}", "export it again with this model's vocabulary")


def _lint(first, offsets, ids, rows, found):
    """What a sound file may still have wrong."""
    together = rows[1:] == rows[:-1]
    for row in dict.fromkeys(rows[1:][together & (ids[1:] < ids[:-1])].tolist()):
        found.wrong(0, f"{_source(row, found)}: its ids are not ascending")
    if len(offsets) > 1 and offsets[-2] == len(ids):
        found.wrong(0, f"{_source(len(offsets) - 2, found)}: the last one has no candidates, and Marian refuses that")
    if first == 0 and EOS not in ids[: offsets[1]]:
        found.wrong(0, "eos is not always included (first is 0, and eos is no candidate of eos): decoding may not end")


def _source(row, found):
    return f"source word {row} ({found.src.spelled[row]})"
