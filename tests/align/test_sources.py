"""Where counts come from: the model's directory, names beside it, files anywhere, controls, and what is refused."""

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.align.selector import FrequentSelector
from minnmt.align.sources import load_counts, make_selector
from minnmt.errors import UsageError, UserError
from minnmt.text.batches import pad

VS, VT = 4, 9


def save(path, *cells, n_src=VS, n_trg=VT):
    """Cells (source, target, weight) -> a file of counts."""
    src, trg, weights = zip(*cells)
    Counts.from_cells(np.array(src), np.array(trg), np.array(weights, float), n_src, n_trg).save(path)


@pytest.fixture
def directory(tmp_path):
    """A model directory with counts of its own and of two epochs."""
    directory = tmp_path / "run"
    directory.mkdir()
    save(directory / "alignments.npz", (2, 3, 4.0), (2, 4, 3.0), (3, 5, 1.0))
    save(directory / "alignments.epoch2.npz", (2, 6, 1.0), (3, 5, 1.0))
    save(directory / "alignments.epoch3.npz", (2, 6, 0.5), (2, 7, 9.0))
    return directory


def load(names, directory):
    counts = load_counts(names, directory, VS, VT)
    return dict(zip(zip(counts.rows.tolist(), counts.indices.tolist()), counts.data.tolist()))


def list_of(selector, *words):
    return selector.lists(*pad([list(words)]))[0].tolist()


def test_the_model_directorys_own(directory):
    assert load((), directory) == load((), str(directory)) == {(2, 3): 4, (2, 4): 3, (3, 5): 1}


def test_a_name_beside_the_model(directory, tmp_path, monkeypatch):
    assert load(("epoch2",), directory) == {(2, 6): 1, (3, 5): 1}
    monkeypatch.chdir(tmp_path)
    save(tmp_path / "epoch2", (1, 1, 1.0))  # a file of that name does not matter
    assert load(("epoch2",), directory) == {(2, 6): 1, (3, 5): 1}
    assert load(("epoch2",), None) == {(1, 1): 1}  # unless there is no directory


def test_a_file_anywhere(directory, tmp_path):
    save(tmp_path / "other.npz", (0, 0, 2.0))
    assert load((str(tmp_path / "other.npz"),), directory) == load((str(tmp_path / "other.npz"),), None) == {(0, 0): 2}


def test_several_are_added_up(directory):
    names = ("epoch2", "epoch3", str(directory / "alignments.npz"))
    assert load(names, directory) == {(2, 3): 4, (2, 4): 3, (3, 5): 2, (2, 6): 1.5, (2, 7): 9}
    assert load(("epoch2", "epoch2"), directory) == {(2, 6): 2, (3, 5): 2}


def test_counts_that_are_not_there(directory, tmp_path):
    with pytest.raises(UserError, match=r"epoch7 does not exist.*align -m .*run.*: epoch2, epoch3$"):
        load(("epoch7",), directory)
    (directory / "alignments.npz").unlink()
    with pytest.raises(UserError, match=r"run/alignments.npz does not exist"):
        load((), directory)
    with pytest.raises(UserError, match="nowhere.npz does not exist") as caught:
        load(("nowhere.npz",), None)
    assert caught.value.exit_code == 1 and "None" not in str(caught.value)
    with pytest.raises(UsageError, match="--counts"):
        load((), None)


@pytest.mark.parametrize("n_src, n_trg", [(VS + 1, VT), (VS, VT + 1), (VS, VT - 1)])
def test_counts_of_another_model(directory, n_src, n_trg):
    save(directory / "alignments.foreign.npz", (2, 3, 1.0), n_src=n_src, n_trg=n_trg)
    for names in (("foreign",), ("epoch2", "foreign")):
        with pytest.raises(UserError, match=rf"foreign.npz counts {n_src} source and {n_trg} target .*another model"):
            load(names, directory)


def test_damaged_counts_are_named(directory):
    path = directory / "alignments.epoch3.npz"
    path.write_bytes(path.read_bytes()[:-60])
    with pytest.raises(UserError, match="epoch3.npz is damaged"):
        load(("epoch2", "epoch3"), directory)


def test_a_selector_from_counts(directory):
    assert list_of(make_selector((), directory, 1, VS, VT), 2, 3) == [0, 1, 3, 5]
    assert list_of(make_selector((), directory, 9, VS, VT), 2, 3) == [0, 1, 3, 4, 5]
    assert list_of(make_selector(("epoch2", "epoch3"), directory, 1, VS, VT), 2) == [0, 1, 7]


def test_its_options_reach_it(directory):
    save(directory / "alignments.epoch2.npz", (2, 3, 4.0), (3, 3, 8.0), (2, 4, 3.0), (2, 8, 0.1))
    names = ("epoch2",)
    assert list_of(make_selector(names, directory, 1, VS, VT), 2) == [0, 1, 3]
    assert list_of(make_selector(names, directory, 1, VS, VT, by="target"), 2) == [0, 1, 4]
    assert list_of(make_selector(names, directory, 9, VS, VT, min_prob=0.3), 2) == [0, 1, 3, 4]
    assert list_of(make_selector(names, directory, 1, VS, VT, frequent=4), 2) == [0, 1, 2, 3, 4, 5]


def test_controls_need_no_counts(tmp_path):
    frequent = make_selector(("frequent",), tmp_path, 2, VS, VT)
    assert isinstance(frequent, FrequentSelector) and list_of(frequent, 2) == [0, 1, 2, 3, 4, 5]
    one, two = (make_selector(("random",), None, 3, 50, 500, frequent=2) for _ in range(2))
    assert list_of(one, 7, 30) == list_of(two, 7, 30) and list_of(one, 7)[:4] == [0, 1, 2, 3]
    assert list_of(one, 7) != list_of(one, 8)


@pytest.mark.parametrize("names", [("frequent", "epoch2"), ("epoch2", "random"), ("frequent", "random")])
def test_controls_stand_alone(directory, names):
    with pytest.raises(UsageError, match="stand alone"):
        make_selector(names, directory, 2, VS, VT)
