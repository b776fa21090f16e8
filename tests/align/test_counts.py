"""Counts: a sparse matrix, its file, and files that are something else or damaged."""

import json

import numpy as np
import pytest

from minnmt.align.counts import MOST_WEIGHT, Counts
from minnmt.errors import UserError

INFO = {"method": "attention", "threshold": 0.1, "epochs": [2, 3], "pairs": 7}


@pytest.fixture
def counts():
    """Rows of 2, 0, 1 and 3 cells."""
    src, trg = np.array([0, 0, 2, 3, 3, 3]), np.array([1, 4, 0, 0, 2, 4])
    return Counts.from_cells(src, trg, np.array([0.5, 1.5, 2.0, 0.25, 3.0, 1e-9]), 4, 5, dict(INFO))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "alignments.npz"


def test_rows(counts):
    assert (counts.n_src, counts.n_trg, counts.n_cells) == (4, 5, 6)
    assert counts.rows.tolist() == [0, 0, 2, 3, 3, 3]
    assert [counts.row(i)[0].tolist() for i in range(4)] == [[1, 4], [], [0], [0, 2, 4]]
    assert counts.row(0)[1].tolist() == [0.5, 1.5]


def test_cells_may_come_in_any_order(counts, rng):
    order = rng.permutation(6)
    shuffled = Counts.from_cells(counts.rows[order], counts.indices[order], counts.data[order], 4, 5)
    for name in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(shuffled, name), getattr(counts, name))


@pytest.mark.parametrize("n_src, n_trg", [(1, 1), (4, 5)])
def test_an_empty_matrix(n_src, n_trg, path):
    no_ids = np.zeros(0, int)
    for empty in (Counts.empty(n_src, n_trg), Counts.from_cells(no_ids, no_ids, np.zeros(0), n_src, n_trg)):
        empty.save(path)
        loaded = Counts.load(path)
        assert (loaded.n_src, loaded.n_trg, loaded.n_cells, loaded.info) == (n_src, n_trg, 0, {})
        assert [len(loaded.row(i)[0]) for i in range(n_src)] == [0] * n_src and len(loaded.rows) == 0


def test_saved_and_loaded(counts, path):
    counts.save(path)
    loaded = Counts.load(path)
    for name in ("indptr", "indices", "data"):
        ours, theirs = getattr(counts, name), getattr(loaded, name)
        assert ours.dtype == theirs.dtype and ours.tobytes() == theirs.tobytes(), name
    assert loaded.n_trg == 5 and loaded.info == INFO and counts.info == INFO


def test_a_file_is_complete_or_as_it_was(counts, path):
    counts.save(path)
    before = path.read_bytes()
    counts.info["bad"] = object()  # nothing that JSON can write
    with pytest.raises(TypeError):
        counts.save(path)
    assert path.read_bytes() == before and [p.name for p in path.parent.iterdir()] == [path.name]


# Bad files: a sentence that names the file


def refuse(path, *words):
    with pytest.raises(UserError) as caught:
        Counts.load(path)
    sentence = str(caught.value)
    assert str(path) in sentence and "\n" not in sentence
    for word in words:
        assert word in sentence, sentence


def stored(counts, **changes):
    """The arrays of a file of counts, some of them changed, None to leave one out."""
    info = np.frombuffer(json.dumps({**counts.info, "n_trg": counts.n_trg}).encode(), np.uint8)
    arrays = {"indptr": counts.indptr, "indices": counts.indices, "data": counts.data, "info": info, **changes}
    return {name: array for name, array in arrays.items() if array is not None}


def test_missing_truncated_and_flipped(counts, path):
    refuse(path, "no such file")
    counts.save(path)
    data = path.read_bytes()
    for damaged in (b"", data[:-40], data[: len(data) // 2], data[:100], b"PK" + data[2:30]):
        path.write_bytes(damaged)
        refuse(path, "damaged")
    for place in (len(data) // 4, len(data) // 2):
        flipped = bytearray(data)
        flipped[place] ^= 4
        path.write_bytes(flipped)
        refuse(path, "damaged")


def test_files_of_another_kind(path):
    path.write_text("0-0 1-1\n")
    refuse(path, "not a complete .npz")
    with open(path, "wb") as file:
        np.save(file, np.zeros(3))
    refuse(path, "single array")
    np.savez(path, Wemb=np.zeros((3, 2), np.float32), ff_state_b=np.zeros(4, np.float32))
    refuse(path, "has no array info")
    path.unlink()
    path.mkdir()
    refuse(path, "is not a file")


@pytest.mark.parametrize("name", ["indptr", "indices", "data", "info"])
def test_a_missing_array(counts, path, name):
    np.savez(path, **stored(counts, **{name: None}))
    refuse(path, f"has no array {name}", "make the counts again")


def test_nothing_is_unpickled(counts, path):
    np.savez(path, **stored(counts, info=np.array([{"n_trg": 5}], object)))
    refuse(path, "info", "pickled")


def json_array(text):
    return np.frombuffer(text.encode(), np.uint8)


@pytest.mark.parametrize("text", ["", "nonsense", "{}", "5", "null", '"n_trg"'])
def test_an_info_that_is_not_ours(counts, path, text):
    np.savez(path, **stored(counts, info=json_array(text)))
    refuse(path, "holds no counts" if text == "{}" else "damaged")


@pytest.mark.parametrize("text", ["[]", "[5]"])
def test_an_info_that_is_a_list(counts, path, text):
    np.savez(path, **stored(counts, info=json_array(text)))
    refuse(path, "holds no counts" if text == "{}" else "damaged")


def test_an_info_that_is_not_text(counts, path):
    np.savez(path, **stored(counts, info=np.uint8([0xFF, 0xFE, 0x80])))
    refuse(path, "damaged")


def changed(array, place, value):
    array = array.copy()
    array[place] = value
    return array


@pytest.mark.parametrize(
    "change",
    {
        "a target id beyond the vocabulary": lambda c: {"indices": changed(c.indices, 2, 5)},
        "a negative target id": lambda c: {"indices": changed(c.indices, 2, -1)},
        "ids of 64 bits": lambda c: {"indices": c.indices.astype(np.int64)},
        "ids that are no whole numbers": lambda c: {"indices": c.indices.astype(np.float32)},
        "rows of 32 bits": lambda c: {"indptr": c.indptr.astype(np.int32)},
        "weights in float64": lambda c: {"data": c.data.astype(np.float64)},
        "weights that are whole numbers": lambda c: {"data": c.data.astype(np.int64)},
        "a weight too few": lambda c: {"data": c.data[:-1]},
        "an id too few": lambda c: {"indices": c.indices[:-1]},
        "a matrix": lambda c: {"data": c.data.reshape(2, 3)},
        "a single number": lambda c: {"data": np.float32(1)},
        "no rows at all": lambda c: {"indptr": c.indptr[:0]},
        "rows that start late": lambda c: {"indptr": changed(c.indptr, 0, 1)},
        "rows that go backwards": lambda c: {"indptr": changed(c.indptr, 1, 4)},
        "rows so far back that the difference wraps around": lambda c: {
            "indptr": np.array([0, 2**62, -(2**62) - 2, 3, 6])
        },
        "rows that end late": lambda c: {"indptr": changed(c.indptr, -1, 7)},
        "NaN": lambda c: {"data": changed(c.data, 1, np.nan)},
        "a negative weight": lambda c: {"data": changed(c.data, 1, -1.0)},
        "infinity": lambda c: {"data": changed(c.data, 1, np.inf)},
        "a size that is text": lambda c: {"info": json_array('{"n_trg": "5"}')},
        "a size that is a truth": lambda c: {"info": json_array('{"n_trg": true}')},
    }.items(),
    ids=lambda item: item[0],
)
def test_arrays_that_do_not_hold_together(counts, path, change):
    np.savez(path, **stored(counts, **change[1](counts)))
    refuse(path, "again")


@pytest.mark.parametrize("indices", [[4, 1, 0, 0, 2, 4], [1, 4, 0, 0, 2, 2]], ids=["not ascending", "a cell twice"])
def test_rows_that_are_not_ascending(counts, path, indices):
    np.savez(path, **stored(counts, indices=np.array(indices, np.int32)))
    refuse(path, "target words of its counts are damaged")


def test_numbers_of_another_byte_order_are_read(counts, path):
    np.savez(path, **stored(counts, data=counts.data.astype(">f4")))
    loaded = Counts.load(path)
    assert loaded.data.dtype == np.dtype("=f4") and loaded.data.tolist() == counts.data.tolist()


def test_an_indptr_that_asks_for_more_cells_than_there_can_be(counts, path):
    np.savez(path, **stored(counts, indptr=np.array([0, 2**62, 2**62, 2**63 - 1, 2**63 - 1])))
    refuse(path, "do not follow each other")


def test_weights_whose_sum_would_be_infinite_are_refused(tmp_path):
    """They are finite, but two epochs of them would be saved as infinity, and then be refused when they are needed."""
    Counts.from_cells([0], [1], [MOST_WEIGHT], 2, 2).save(tmp_path / "c.npz")
    assert np.isfinite(Counts.load(tmp_path / "c.npz").data).all()
    Counts.from_cells([0], [1], [3e38], 2, 2).save(tmp_path / "c.npz")
    with pytest.raises(UserError, match="holds numbers above 1e\\+30"):
        Counts.load(tmp_path / "c.npz")
