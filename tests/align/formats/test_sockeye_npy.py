"""Sockeye's compiled lexicon: the shifted ids, and what can be wrong with an array."""

import io
import pickle

import numpy as np
import pytest

from minnmt.align.candidates import best_candidates
from minnmt.align.formats import export_candidates
from minnmt.errors import UserError
from tests.align.formats.toy import SRC, TRG, as_cells, import_text, lint_text, make_counts

PAD, UNK, BOS, EOS, HAUS = range(5)  # in Sockeye's vocabularies


def npy(array):
    file = io.BytesIO()
    np.save(file, array, allow_pickle=True)
    return file.getvalue()


def lexicon(rows, width=3, dtype=np.int32):
    """{Sockeye's source id: ids} -> an array."""
    array = np.zeros((len(SRC) + 2, width), dtype)
    for row, ids in rows.items():
        array[row, : len(ids)] = ids
    return array


def test_the_ids_are_those_of_sockeye(tmp_path):
    counts = make_counts({(2, 3): 1.0, (2, 0): 9.0, (0, 2): 1.0, (1, 1): 1.0, (6, 8): 1.0, (6, 1): 0.5})
    export_candidates("sockeye-npy", tmp_path / "lex.npy", best_candidates(counts, 9), SRC, TRG, 9)
    array = np.load(tmp_path / "lex.npy")
    assert array.dtype == np.int32
    np.testing.assert_array_equal(array, lexicon({HAUS: [EOS, 5], EOS: [4], UNK: [UNK], 8: [10, UNK]}, width=2))


def test_an_import_undoes_the_shift_and_keeps_the_order(tmp_path):
    array = lexicon({HAUS: [EOS, 5, 5], BOS: [4], PAD: [4], 8: [10, BOS, UNK]}, dtype=np.int64)
    counts, left_out = import_text("sockeye-npy", npy(array), tmp_path)
    assert as_cells(counts) == pytest.approx({(2, 0): 1.0, (2, 3): 0.5, (6, 8): 1.0, (6, 1): 1 / 3})
    assert "pad and bos, which this model does not have (3)" in left_out[0]


@pytest.mark.parametrize(
    "rows, dtype, words",
    [
        ({HAUS: [4]}, np.int64, "int64"),
        ({HAUS: [4, 0, 5]}, np.int32, "row 4: a 0 stands before an id"),
        ({HAUS: [4, 5, 4]}, np.int32, "Haus and house are together a second time"),
        ({HAUS: [4], PAD: [4]}, np.int32, "row 0: pad"),
        ({HAUS: [4], BOS: [4]}, np.int32, "row 2: bos is never in a source sentence"),
        ({HAUS: [4, BOS]}, np.int32, "row 4: bos (id 2) is never in a translation"),
        ({}, np.int32, "no candidates"),
    ],
)
def test_what_a_lint_finds_and_an_import_forgives(rows, dtype, words, tmp_path):
    data = npy(lexicon(rows, dtype=dtype))
    problems = lint_text("sockeye-npy", data, tmp_path)
    assert len(problems) == 1 and words in problems[0].text, problems
    import_text("sockeye-npy", data, tmp_path)


SOUND = npy(lexicon({HAUS: [4, 5]}))
DAMAGED = {
    "empty": (b"", "not a complete .npy"),
    "text": (b"house Haus 0.5\n", "not a complete .npy"),
    "cut": (SOUND[:-1], "not a complete .npy"),
    "too long": (SOUND + b"\0", "not a complete .npy"),
    "a huge shape": (SOUND.replace(b"(9, 3), ", b"(9, 3000000000000000), "), "more than there are target words"),
    "pickled": (npy(np.array([{1: 2}], object)), "found object"),
    "a pickle": (pickle.dumps([1]), "not a complete .npy"),
    "one axis": (npy(np.zeros(9, np.int32)), "two-dimensional"),
    "floats": (npy(np.zeros((9, 3), np.float32)), "float32"),
    "no time": (npy(np.full((9, 3), "NaT", "m8[s]")), "timedelta64"),
    "another vocabulary": (npy(np.zeros((4, 3), np.int32)), "4 rows"),
    "a negative id": (npy(lexicon({HAUS: [-1]})), "row 4, column 0: the id -1"),
    "an id too high": (npy(lexicon({HAUS: [4, len(TRG) + 2]})), "row 4, column 1: the id 11"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage(name, tmp_path):
    data, words = DAMAGED[name]
    with pytest.raises(UserError) as error:
        import_text("sockeye-npy", data, tmp_path)
    assert "file: " in str(error.value) and words in str(error.value) and "; " in str(error.value)
    assert words in lint_text("sockeye-npy", data, tmp_path)[0].text


def test_a_lexicon_without_columns(tmp_path):
    assert import_text("sockeye-npy", npy(np.zeros((9, 0), np.int32)), tmp_path)[0].n_cells == 0
    assert lint_text("sockeye-npy", npy(np.zeros((9, 0), np.int32)), tmp_path)[0].text == "it holds no candidates"
