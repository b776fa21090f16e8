"""Damage: functions (something sound, rng) -> something broken, for bytes, arrays, JSON and text.

Every operator draws from a numpy Generator, so a seed repeats it. `mutations(kind)` has those that fit a kind of file.
"""

import gzip
import io
import json
import warnings
import zipfile

import numpy as np

from minnmt.align.formats import marian_bin

# Bytes


def flip_bits(data, rng):
    """Some bits of the file, few or many."""
    changed = np.frombuffer(data, np.uint8).copy()
    for _ in range(int(rng.choice([1, 1, 2, 8, 64])) if len(changed) else 0):
        changed[rng.integers(len(changed))] ^= 1 << rng.integers(8)
    return changed.tobytes()


def cut_end(data, rng):
    return data[: rng.integers(len(data) + 1)]


def cut_out(data, rng):
    start, end = _range(data, rng)
    return data[:start] + data[end:]


def insert(data, rng):
    place = rng.integers(len(data) + 1)
    return data[:place] + rng.bytes(rng.integers(1, 200)) + data[place:]


def overwrite(data, rng):
    start, end = _range(data, rng)
    filling = rng.bytes(end - start) if rng.random() < 0.5 else bytes([rng.choice([0, 32, 48, 255])]) * (end - start)
    return data[:start] + filling + data[end:]


def swap_blocks(data, rng):
    size = int(rng.integers(1, max(len(data) // 3, 2)))
    a = int(rng.integers(max(len(data) - 2 * size, 0) + 1))
    b = int(rng.integers(a + size, max(len(data) - size, a + size) + 1))
    return data[:a] + data[b : b + size] + data[a + size : b] + data[a : a + size] + data[b + size :]


def zero_header(data, rng):
    n = int(rng.choice([1, 4, 8, 16, 64]))
    return bytes(min(n, len(data))) + data[n:]


def repeat_block(data, rng):
    start, end = _range(data, rng)
    return data[:end] + data[start:end] * int(rng.integers(1, 5)) + data[end:]


def replace_number(data, rng):
    """A little-endian number of 4 or 8 bytes, as headers hold them, becomes an extreme one."""
    n = int(rng.choice([4, 8]))
    value = int(rng.choice([0, 1, 2**31 - 1, 2**31, 2**32 - 1])) if n == 4 else int(
        rng.choice(np.array([0, 1, 2**31, 2**32, 2**62, 2**63, 2**64 - 1], np.uint64))
    )  # fmt: skip
    place = int(rng.integers(max(len(data) // n, 1))) * n if rng.random() < 0.5 else int(rng.integers(8)) * n
    return data[:place] + value.to_bytes(n, "little") + data[place + n :]


def nothing_left(data, rng):
    return b""


def _range(data, rng):
    """Where a piece of any size starts and ends."""
    start = int(rng.integers(len(data) + 1))
    return start, min(len(data), start + int(rng.choice([1, 2, 8, 100, 1000, len(data) + 1])))


BYTES = (
    flip_bits, cut_end, cut_out, insert, overwrite, swap_blocks, zero_header, repeat_block, replace_number,
    nothing_left,
)  # fmt: skip

# Archives of arrays; they are written anew, so that checksums are right


def read_members(data):
    """An .npz -> [(name, array)]."""
    with np.load(io.BytesIO(data)) as file:
        return [(name, file[name]) for name in file.files]


def write_members(members, compressed=False):
    """[(name, array, or the bytes of a .npy file)] -> an .npz."""
    file = io.BytesIO()
    packing = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
    with warnings.catch_warnings(), zipfile.ZipFile(file, "w", packing) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, member in members:
            archive.writestr(zipfile.ZipInfo(name + ".npy"), member if isinstance(member, bytes) else npy(member))
    return file.getvalue()


def npy(array):
    file = io.BytesIO()
    np.lib.format.write_array(file, np.asanyarray(array), allow_pickle=True)
    return file.getvalue()


EXTREMES = (
    np.nan, np.inf, -np.inf, -1, -0.0, 0, 1e30, -1e30, 3e38, 1e-45, 1e300, 2**31 - 1, 2**31, -(2**31), 2**62, -(2**63),
)  # fmt: skip


def other_values(array, rng):
    """Some numbers, or all, become an extreme one."""
    changed = array.copy()
    with np.errstate(all="ignore"):
        value = np.asarray(rng.choice(EXTREMES)).astype(array.dtype)
    where = rng.random(array.shape) < rng.choice([0.001, 0.1, 2])
    if array.size:
        where.flat[rng.integers(array.size)] = True
    changed[where] = value
    return changed


def larger_values(array, rng):
    with np.errstate(all="ignore"):
        return (array * rng.choice([-1, 1e3, 1e10, 1e20, 1e38])).astype(array.dtype)


def other_shape(array, rng):
    shapes = [array[..., None], array[None], array.ravel(), array[:-1], array[:0], np.concatenate([array, array])]
    return [*shapes, array.T, np.zeros((), array.dtype), np.zeros((0,) * 33 if rng.random() < 0.1 else (0, 5))][
        rng.integers(len(shapes) + 3)
    ]


def other_dtype(array, rng):
    kinds = ["f2", "f4", "f8", "i1", "i4", "i8", "u1", "u4", "u8", "c8", "?", "S3", "U2", "m8[s]", "M8[s]", "O", "V4"]
    kind = rng.choice([*kinds, "i4,f4"])
    try:
        with np.errstate(all="ignore"):
            return array.astype(kind)
    except (TypeError, ValueError):
        return np.zeros(array.shape, kind)


def other_byte_order(array, rng):
    return array.astype(array.dtype.newbyteorder(">")) if rng.random() < 0.5 else array.byteswap()


def other_order(array, rng):
    return np.asfortranarray(array) if rng.random() < 0.5 else rng.permutation(array.ravel()).reshape(array.shape)


def wraps_around(array, rng):
    """Numbers whose differences overflow, as offsets of rows."""
    changed = array.copy().ravel()
    low, high = (0, 2**62) if array.dtype.kind != "i" else (np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
    with np.errstate(all="ignore"):
        changed[rng.integers(changed.size, size=2) if changed.size else []] = np.array(low).astype(array.dtype)
        changed[rng.integers(changed.size, size=1) if changed.size else []] = np.array(high).astype(array.dtype)
    return changed.reshape(array.shape)


def one_step(array, rng):
    """One number is one more or one less: offsets and ids that are almost right."""
    changed = array.copy()
    if changed.size and changed.dtype.kind in "iuf":
        with np.errstate(all="ignore"):
            changed.flat[rng.integers(changed.size)] += np.array(rng.choice([-1, 1])).astype(changed.dtype)
    return changed


def lying_header(array, rng):
    """The header claims another shape than there are numbers for."""
    shape = ["(2**40,)", "(1099511627776,)", "(-1,)", "(4611686018427387904, 4)", "(3.5,)", "(True,)", "()", "(0,)"]
    header = f"{{'descr': '{array.dtype.str}', 'fortran_order': False, 'shape': {rng.choice(shape)}, }}\n".encode()
    version = rng.choice([b"\x01\x00", b"\x02\x00", b"\x03\x00", b"\x09\x00"])
    length = len(header).to_bytes(2 if version == b"\x01\x00" else 4, "little")
    return b"\x93NUMPY" + version + length + header + array.tobytes()


ARRAYS = (
    other_values, larger_values, other_shape, other_dtype, other_byte_order, other_order, wraps_around, one_step,
    lying_header,
)  # fmt: skip


def members(data, rng):
    """Change what one member (or a few) holds; JSON members as JSON."""
    found = read_members(data)
    for i in rng.choice(len(found), min(len(found), int(rng.choice([1, 1, 1, 3]))), replace=False):
        name, array = found[i]
        if array.dtype == np.uint8 and rng.random() < 0.8:
            record = pick(JSON + BYTES, rng)(array.tobytes(), rng)
            found[i] = name, np.frombuffer(record, np.uint8)
        else:
            found[i] = name, pick(ARRAYS, rng)(array, rng)
    return write_members(found)


def special_members(data, rng):
    """Change a member of which there is no second: offsets, ids, progress and the like."""
    found = read_members(data)
    special = [i for i, (_, array) in enumerate(found) if array.dtype.kind in "iu"] or range(len(found))
    i = int(rng.choice(special))
    name, array = found[i]
    change = pick(JSON if array.dtype == np.uint8 else ARRAYS, rng)
    changed = change(array.tobytes() if array.dtype == np.uint8 else array, rng)
    found[i] = name, np.frombuffer(changed, np.uint8) if array.dtype == np.uint8 else changed
    return write_members(found)


def list_of_members(data, rng):
    """Members that are missing, there twice, too many, renamed, exchanged, in another order, packed."""
    found = read_members(data)
    i, j = rng.integers(len(found), size=2)
    (name, array), (other, second) = found[i], found[j]
    change = rng.integers(7)
    if change == 0:
        del found[i]
    elif change == 1:
        found.append((name, second))
    elif change == 2:
        found.append((str(rng.choice(["extra", "../escape", "decoder_gamma1", "", "a" * 5000, "Wemb2"])), array))
    elif change == 3:
        found[i] = (name.upper(), array)
    elif change == 4:
        found[i], found[j] = (name, second), (other, array)
    elif change == 5:
        found = [found[k] for k in rng.permutation(len(found))]
    return write_members(found, compressed=change == 6)


def single_array(data, rng):
    """The same for a .npy file."""
    changed = pick(ARRAYS, rng)(np.load(io.BytesIO(data)), rng)
    return changed if isinstance(changed, bytes) else npy(changed)


ARCHIVES = (members, special_members, special_members, list_of_members)

# JSON

VALUES = (
    None, True, False, 0, 1, -1, 2, 0.5, -0.5, 1e308, 10**30, 10**400, -(10**400), 2**31, 2**63, float("inf"),
    float("-inf"), float("nan"), "", "0", "-", "\u0000", "\ud800", "x" * 10_000, "/dev/null", "/", ".", [], {}, [[]],
    [1, "2"], {"a": {}},
)  # fmt: skip


def places(record, path=()):
    """The paths of all values in a record."""
    items = record.items() if isinstance(record, dict) else enumerate(record) if isinstance(record, list) else ()
    for key, value in items:
        yield (*path, key)
        yield from places(value, (*path, key))


def json_values(data, rng):
    """One value, or a few, of another type or size; or gone, under another name, there twice, one more."""
    record = json.loads(data)
    for _ in range(int(rng.choice([1, 1, 2, 4]))):
        paths = list(places(record))
        if not paths:
            break
        *way, key = paths[rng.integers(len(paths))]
        parent = record
        for step in way:
            parent = parent[step]
        _change_item(parent, key, rng)
    return encode_json(record)


def _change_item(parent, key, rng):
    change = rng.random()
    if change < 0.6:
        parent[key] = VALUES[rng.integers(len(VALUES))]
    elif change < 0.75:
        del parent[key]
    elif isinstance(parent, dict):
        parent[str(rng.choice([f"{key}2", "", str(key).upper(), "\ud800", "\t", "a\nb"]))] = parent[key]
    else:
        parent.append(parent[key])


def json_shape(data, rng):
    """Not the record at all: another type, nested without end, a number without end, the same key twice."""
    depth = int(rng.choice([10, 2000, 200_000]))
    texts = [
        b"[]", b"null", b"3", b'"x"', b"[" * depth + b"]" * depth, b'{"a":' * depth + b"1" + b"}" * depth,
        b"1" * depth, b'{"settings": 1' + b"0" * depth + b"}", data + data, b"[" + data + b"]", data[:-1],
        data.replace(b":", b": " + data + b"}", 1), b"\xff\xfe" + data, b"\xef\xbb\xbf" + data,
        data.rstrip()[:-1] + b"," + data.lstrip()[1:],
    ]  # fmt: skip
    return texts[rng.integers(len(texts))]


def encode_json(record):
    return json.dumps(record, ensure_ascii=True).encode()


JSON = (json_values, json_values, json_values, json_shape)

# Text

WORDS = (
    b"\xff", b"\xc3", b"\xed\xa0\x80", b"\x00", b"\t", b"\t\t", b" ", b"\r", b"\x0b", b"\x85", b"\xe2\x80\xa8", b"\n",
    b"\n\n", b"NaN", b"-inf", b"1e999", b"-1", b"0", b"1_0", b"\xd9\xa1", b"<eps>", b"NULL", b"</s>", b"<unk>", b"@@",
    b"</w>", b"eos", b"\xef\xbf\xad", b"\xf0\x9f\x8f\xb4", b"\xcc\x81" * 50, b"a" * 5000, b"1 " * 2000, b"|||",
)  # fmt: skip


def odd_bytes(data, rng):
    """Odd words and bytes, at any place or instead of a column."""
    for _ in range(int(rng.choice([1, 1, 3, 20]))):
        place = int(rng.integers(len(data) + 1))
        data = data[:place] + pick(WORDS, rng) + data[place:]
    return data


def odd_columns(data, rng):
    """A column of some lines is another word."""
    lines = data.split(b"\n")
    for i in rng.integers(len(lines), size=int(rng.choice([1, 3]))):
        separator = b"\t" if b"\t" in lines[i] and rng.random() < 0.7 else b" "
        columns = lines[i].split(separator)
        change = rng.integers(4)
        k = int(rng.integers(len(columns)))
        if change < 2:
            columns[k] = pick(WORDS, rng)
        elif change == 2:
            del columns[k]
        else:
            columns.insert(k, columns[k])
        lines[i] = separator.join(columns)
    return b"\n".join(lines)


def odd_lines(data, rng):
    """Lines twice, gone, blank, shuffled, without an end, with other ends."""
    lines = data.split(b"\n")
    i = int(rng.integers(len(lines)))
    changed = [
        lines[:i] + lines[i : i + 1] * 3 + lines[i + 1 :], lines[:i] + lines[i + 1 :], lines[:i] + [b""] + lines[i:],
        [lines[k] for k in rng.permutation(len(lines))], lines[i:], [b"".join(lines)], lines * 50,
    ]  # fmt: skip
    ends = [b"\n", b"\n", b"\n", b"\r\n", b"\r", b"\xe2\x80\xa8"]
    return pick(ends, rng).join(changed[rng.integers(len(changed))])


TEXT = (odd_bytes, odd_columns, odd_columns, odd_lines)

# Marian's binary shortlist


def right_checksum(data, rng):
    """Damage the file, then put its checksum right."""
    for _ in range(int(rng.choice([1, 1, 3]))):
        data = pick((replace_number, flip_bits, cut_end, repeat_block, swap_blocks, one_offset), rng)(data, rng)
    body = data[16:]
    return data[:8].ljust(8, b"\0") + marian_bin.checksum(body).to_bytes(8, "little") + body


def one_offset(data, rng):
    """An offset or an id becomes an extreme one, or almost the right one."""
    words = np.frombuffer(data[48 : 48 + (len(data) - 48) // 4 * 4], "<u4").copy()
    if not len(words):
        return data
    place = rng.integers(len(words))
    words[place] = rng.choice([0, 2**31, 2**32 - 1, (int(words[place]) + 1) % 2**32, (int(words[place]) - 1) % 2**32])
    return data[:48] + words.tobytes()


# Packed files


def inside_gzip(data, rng):
    """Damage the text, then pack it."""
    return gzip.compress(pick(TEXT + BYTES, rng)(gzip.decompress(data), rng), mtime=0)


def odd_gzip(data, rng):
    """Several members, something behind the end, packed twice or not at all."""
    twice = gzip.compress(data, mtime=0)
    return pick([data + data, data + b"rubbish", twice, gzip.decompress(data), data + bytes(100)], rng)


def large_gzip(data, rng):
    """A small file that unpacks to a large one, without a newline."""
    return gzip.compress(bytes(int(rng.choice([10**6, 5 * 10**7]))), mtime=0)


KINDS = {
    "npz": ARCHIVES + ARCHIVES + BYTES, "json": JSON + JSON + BYTES, "text": TEXT + TEXT + BYTES,
    "npy": (single_array,) * 10 + BYTES, "marian-bin": (right_checksum,) * 10 + BYTES,
    "gz": (inside_gzip,) * 6 + (odd_gzip,) * 3 + (large_gzip,) + BYTES,
    "text-gz": (inside_gzip,) * 6 + (odd_gzip,) * 3 + BYTES,  # a line without end takes time without end
}  # fmt: skip


def pick(choices, rng):
    return choices[rng.integers(len(choices))]


def mutate(data, kind, rng):
    """bytes -> (changed bytes, the operator's name); rarely a second operator follows."""
    operator = pick(KINDS[kind], rng)
    changed = operator(data, rng)
    if rng.random() < 0.1:
        changed = pick(BYTES, rng)(changed, rng)
    return changed, operator.__name__
