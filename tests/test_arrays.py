"""Arrays on disk: the same bytes every time, read by numpy; damaged files are refused by name."""

import os
import zipfile

import numpy as np
import pytest

from minnmt.arrays import ArrayFile, save_arrays
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


def load_arrays(path):
    """Every array of a file, of whatever kind and shape it is."""
    with ArrayFile(path) as file:
        members = {name: file.member(name) for name in file.names}
        return {name: file.read(name, member.dtype.type, member.shape) for name, member in members.items()}


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
    """Where the writer cannot go back to fill in sizes."""
    os.mkfifo(tmp_path / "pipe")
    reader = os.popen(f"cat '{tmp_path}/pipe' > '{path}'")
    save_arrays(tmp_path / "pipe", ARRAYS)
    reader.close()
    assert_same(load_arrays(path), ARRAYS)


def test_objects_are_not_written(path):
    with pytest.raises(ValueError, match="[Oo]bject"):
        save_arrays(path, {"thing": np.array([{}])})
    assert list(path.parent.iterdir()) == []


# What is wrong with a file


def test_pickled_members_are_refused_by_name(path):
    np.savez(path, plain=np.zeros(9), thing=np.array([{}]))
    with pytest.raises(UserError, match="arrays.npz: its member thing is a pickled object"):
        load_arrays(path)


def test_a_missing_file_is_named(path):
    with pytest.raises(UserError, match="cannot read .*arrays.npz: no such file"):
        load_arrays(path)


@pytest.mark.parametrize("content", [b"", b"hello, this is text\n", b"PK\x03\x04" + b"\x00" * 90])
def test_other_files_are_refused(path, content):
    path.write_bytes(content)
    with pytest.raises(UserError, match="arrays.npz is damaged or not"):
        load_arrays(path)


def test_other_members_are_refused(path):
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("readme.txt", "hello")
    with pytest.raises(UserError, match="damaged .*in its member readme.txt"):
        load_arrays(path)


def test_a_truncated_file_is_refused_wherever_it_ends(saved):
    whole = saved.read_bytes()
    for end in range(0, len(whole), 61):
        saved.write_bytes(whole[:end])
        with pytest.raises(UserError, match="arrays.npz"):
            load_arrays(saved)


def test_damaged_headers_end_in_a_sentence_or_in_arrays(saved, rng):
    whole, noticed = saved.read_bytes(), 0
    headers = [i for i in range(len(whole)) if whole[i : i + 2] == b"PK"]
    for _ in range(300):
        damaged = bytearray(whole)
        damaged[min(rng.choice(headers) + rng.integers(0, 160), len(whole) - 1)] ^= 1 << rng.integers(8)
        saved.write_bytes(damaged)
        try:
            load_arrays(saved)
        except UserError:
            noticed += 1
    assert noticed > 100


# The gate


def test_only_what_is_asked_for_is_read(path):
    """A member of 3 GB that nobody wants, or an object, takes neither time nor memory."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        with archive.open("bomb.npy", "w", force_zip64=True) as member:
            np.lib.format.write_array_header_1_0(member, dict(shape=(1 << 28,), fortran_order=False, descr="<f4"))
            for _ in range(1 << 8):
                member.write(bytes(1 << 22))
        with archive.open("good.npy", "w") as member:
            np.lib.format.write_array(member, np.ones(3, np.float32))
    with ArrayFile(path) as file:
        assert file.read("good", np.float32, (3,)).tolist() == [1, 1, 1]
        with pytest.raises(UserError, match="damaged"):
            file.read("bomb", np.float32, (1 << 28,))  # packed beyond all belief


@pytest.mark.parametrize("array, kind, shape, least, message", [
    (np.ones(3), np.int64, (3,), None, "holds float64, expected int64"),
    (np.ones(3, int), np.floating, (3,), None, "holds int64, expected floating-point"),
    (np.ones(3), np.floating, (4,), None, r"shape \(3,\), but it must be \(4,\)"),
    (np.ones((3, 2)), np.floating, (None,), None, r"must be \(any,\)"),
    (np.array([1, np.inf]), np.floating, (2,), None, "NaN or infinity"),
    (np.array([np.nan]), np.floating, (None,), None, "NaN or infinity"),
    (np.array([-1]), np.int64, (1,), 0, "below 0"),
])  # fmt: skip
def test_an_array_of_another_kind_is_refused(path, array, kind, shape, least, message):
    save_arrays(path, {"a": array})
    with ArrayFile(path) as file, pytest.raises(UserError, match=message):
        file.read("a", kind, shape, least)


def test_two_members_of_one_name_are_refused(path):
    with pytest.warns(UserWarning), zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.npy", b"1")
        archive.writestr("a.npy", b"2")
    with pytest.raises(UserError, match="two arrays of the same name"):
        ArrayFile(path)


def test_a_pipe_in_the_place_of_a_file_is_refused(path):
    os.mkfifo(path)
    with pytest.raises(UserError, match="is not a file"):
        ArrayFile(path)
