"""Arrays on disk: aligned, the same bytes every time, read by numpy; mapped into memory, or refused by name."""

import os
import zipfile

import numpy as np
import pytest

from minnmt.arrays import ALIGNMENT, load_arrays, map_arrays_file, save_arrays
from minnmt.errors import UserError

ARRAYS = {
    "plain": np.arange(12, dtype=np.float32).reshape(3, 4),
    "fortran": np.asfortranarray(np.arange(12.0).reshape(3, 4)),
    "strided": np.arange(40)[::3],
    "empty": np.zeros((0, 3)),
    "number": np.array(3.5),
    "text": np.array(["eins", "zwei"]),
    "flag": np.array([True, False, True]),
    "a rather long name, ünïcode": np.array([1], np.int8),
}


@pytest.fixture
def path(tmp_path):
    return tmp_path / "arrays.npz"


@pytest.fixture
def saved(path):
    save_arrays(path, ARRAYS)
    return path


def assert_same(found, expected):
    assert list(found) == list(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name, strict=True)


def test_numpy_and_we_read_what_we_write(saved):
    assert_same(load_arrays(saved), ARRAYS)
    with np.load(saved, allow_pickle=False) as file:
        assert_same({name: file[name] for name in file.files}, ARRAYS)


def test_the_same_bytes_every_time(saved):
    first = saved.read_bytes()
    save_arrays(saved, ARRAYS)
    assert saved.read_bytes() == first


def test_a_pipe_can_be_written_to(path, tmp_path):
    """Where the writer cannot go back to fill in sizes, and alignment still counts from the first byte."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.popen(f"cat '{tmp_path}/pipe' > '{path}'")
    save_arrays(tmp_path / "pipe", ARRAYS)
    reader.close()
    assert_same(load_arrays(path), ARRAYS)
    assert all(a.ctypes.data % ALIGNMENT == 0 for a in map_arrays_file(path).values())


def test_objects_are_not_written(path):
    with pytest.raises(ValueError, match="[Oo]bject"):
        save_arrays(path, {"thing": np.array([{}])})
    assert list(path.parent.iterdir()) == []


# Mapping


def test_a_mapped_array_is_a_view_into_the_file(saved):
    mapped = map_arrays_file(saved)
    assert_same(mapped, ARRAYS)
    assert all(isinstance(a.base, np.memmap) for a in mapped.values())
    assert len({id(a.base) for a in mapped.values()}) == 1  # one mapping for all
    assert mapped["fortran"].flags.f_contiguous


def test_mapped_arrays_are_aligned(saved):
    off = {name: a.ctypes.data % ALIGNMENT for name, a in map_arrays_file(saved).items()}
    assert set(off.values()) == {0}, off


def test_mapped_arrays_are_read_only(saved):
    with pytest.raises(ValueError, match="read-only"):
        map_arrays_file(saved)["plain"][0, 0] = 9


def test_a_private_copy_can_be_changed_and_the_file_stays(saved):
    mapped = map_arrays_file(saved, "c")
    mapped["plain"][0, 0] = 9
    assert mapped["plain"][0, 0] == 9
    assert_same(load_arrays(saved), ARRAYS)


def test_a_file_of_numpy_is_mapped_too(path):
    np.savez(path, **ARRAYS)
    assert_same(map_arrays_file(path), ARRAYS)


def test_compressed_members_are_refused_by_name(path):
    np.savez_compressed(path, weights=np.zeros(9))
    with pytest.raises(UserError, match=r"arrays.npz: its member weights is compressed.*numpy.savez"):
        map_arrays_file(path)


def test_pickled_members_are_refused_by_name(path):
    np.savez(path, plain=np.zeros(9), thing=np.array([{}]))
    with pytest.raises(UserError, match="arrays.npz: its member thing is a pickled object"):
        map_arrays_file(path)


def test_a_missing_file_is_named(path):
    with pytest.raises(UserError, match="cannot read .*arrays.npz: no such file"):
        map_arrays_file(path)


@pytest.mark.parametrize("content", [b"", b"hello, this is text\n", b"PK\x03\x04" + b"\x00" * 90])
def test_other_files_are_not_mapped(path, content):
    path.write_bytes(content)
    with pytest.raises(UserError, match="arrays.npz is damaged or not"):
        map_arrays_file(path)


def test_other_members_are_not_mapped(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "hello")
    with pytest.raises(UserError, match="damaged .*in its member readme.txt"):
        map_arrays_file(path)


@pytest.mark.parametrize("claimed", [b"(2, 4)", b"(4, 4)"])
def test_a_header_that_claims_another_size_is_noticed(saved, claimed):
    data = saved.read_bytes()
    place = data.index(b"(3, 4)")  # of the first array; its checksum is not looked at
    saved.write_bytes(data[:place] + claimed + data[place + 6 :])
    with pytest.raises(UserError, match="damaged .*in its member plain"):
        map_arrays_file(saved)


def test_a_truncated_file_is_refused_wherever_it_ends(saved):
    whole = saved.read_bytes()
    for end in range(0, len(whole), 61):
        saved.write_bytes(whole[:end])
        with pytest.raises(UserError, match="arrays.npz"):
            map_arrays_file(saved)


def test_damaged_headers_end_in_a_sentence_or_in_arrays_within_the_file(saved, rng):
    whole, noticed = saved.read_bytes(), 0
    headers = [i for i in range(len(whole)) if whole[i : i + 2] == b"PK"]
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[min(rng.choice(headers) + rng.integers(0, 160), len(whole) - 1)] ^= 1 << rng.integers(8)
        saved.write_bytes(damaged)
        try:
            for array in map_arrays_file(saved).values():
                array.tobytes()  # reading outside the file would end this process
        except UserError:
            noticed += 1
    assert noticed > 100
