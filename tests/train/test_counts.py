"""The counts of training: which files, what is in them, and that breaks and threads leave no trace."""

import shutil

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.errors import UserError
from minnmt.train import updates
from minnmt.train.loop import Limits, train
from minnmt.train.run import Run
from tests.align.test_accumulator import cells, plain_sums
from tests.conftest import TINY, run_cli, write_toy_text
from tests.train.toy import Watcher, saved_state, scripted, toy_run


def files(directory):
    return sorted(path.name for path in directory.glob("alignments*"))


def trained(directory, **settings):
    """Three epochs of 8 updates, unless the settings say otherwise -> the Run."""
    directory.mkdir(exist_ok=True)
    run = toy_run(directory, **settings)
    train(run, scripted(1, 2, 3), Watcher(), Limits())
    return run


@pytest.fixture
def seen(monkeypatch):
    """What every update gave, [(Batch, NetworkOutput)] in order."""
    outputs = []
    real = updates.network_forward

    def forward(batch, *arguments):
        output, cache = real(batch, *arguments)
        outputs.append((batch, output))
        return output, cache

    monkeypatch.setattr(updates, "network_forward", forward)
    return outputs


@pytest.mark.parametrize("threshold", [0.1, 0.3])
def test_a_file_for_each_epoch_holds_its_attention(tmp_path, seen, threshold):
    trained(tmp_path, align_from_epoch=2, align_threshold=threshold)
    assert files(tmp_path) == ["alignments.epoch2.npz", "alignments.epoch3.npz", "alignments.npz"]
    for epoch in (2, 3):
        counts = Counts.load(tmp_path / f"alignments.epoch{epoch}.npz")
        updates = [(output.alphas, batch) for batch, output in seen[8 * (epoch - 1) : 8 * epoch]]
        assert cells(counts) == pytest.approx(plain_sums(updates, threshold), rel=1e-5)
        assert counts.data.min() > threshold
        assert counts.info == {"method": "attention", "threshold": threshold, "pairs": 64, "epochs": [epoch]}


def test_alignments_is_the_sum_of_the_epochs(tmp_path):
    trained(tmp_path, align_from_epoch=1)
    total = Counts.load(tmp_path / "alignments.npz")
    sums = {}
    for epoch in (1, 2, 3):
        for cell, weight in cells(Counts.load(tmp_path / f"alignments.epoch{epoch}.npz")).items():
            sums[cell] = sums.get(cell, 0.0) + weight
    assert cells(total) == pytest.approx(sums, rel=1e-6)
    assert total.info["epochs"] == [1, 2, 3] and total.info["pairs"] == 64 and total.info["threshold"] == 0.1


@pytest.mark.parametrize("start, expected", [(0, []), (3, ["alignments.epoch3.npz", "alignments.npz"])])
def test_from_which_epoch(tmp_path, start, expected):
    trained(tmp_path, align_from_epoch=start)
    assert files(tmp_path) == expected


def test_counting_does_not_change_the_training(tmp_path):
    with_counts, without = (trained(tmp_path / str(start), align_from_epoch=start) for start in (1, 0))
    assert with_counts.params.softmax.W.tobytes() == without.params.softmax.W.tobytes()


def test_two_threads_count_what_one_does(tmp_path):
    """Up to rounding; without dropout, which is drawn by each thread for itself."""
    settings = dict(dropout=0.0, align_from_epoch=1, epochs=1, precision="float32")
    one, two = (trained(tmp_path / str(n), threads=n, **settings) for n in (1, 2))
    ours, theirs = (Counts.load(run.directory / "alignments.npz") for run in (one, two))
    np.testing.assert_array_equal(ours.indptr, theirs.indptr)
    np.testing.assert_array_equal(ours.indices, theirs.indices)
    np.testing.assert_allclose(ours.data, theirs.data, rtol=1e-5)


# Breaks


class Killed(BaseException):
    """Stands for kill -9: nothing may be done on the way out."""


def resumed(directory, **settings):
    """The run in the directory as its last checkpoint has it."""
    run = toy_run(directory, **settings)
    run.model.params, run.adam, run.progress, counts = saved_state(directory)
    run.attention.add(counts)
    return run


@pytest.mark.parametrize(
    "cls, moment, epochs, settings",
    [
        (Counts, "save", [1], {}),
        (Run, "save_log", [1, 2], {}),
        (Run, "save", [1, 2], {"dynamic_vocab": 2, "dynamic_lists": "epoch"}),
    ],
)
def test_killed_between_the_counts_and_the_checkpoint(tmp_path, monkeypatch, cls, moment, epochs, settings):
    """The second epoch's counts are on disk, but the run does not know: they must not be added twice."""
    settings = {"align_from_epoch": 1, **settings}
    through = trained(tmp_path / "through", **settings)
    (tmp_path / "killed").mkdir()
    run = toy_run(tmp_path / "killed", **settings)
    real = getattr(cls, moment)

    def kill(*arguments):
        if (tmp_path / "killed" / "alignments.epoch2.npz").exists():
            raise Killed
        real(*arguments)

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(cls, moment, kill)
        train(run, scripted(1, 2, 3), Watcher(), Limits())
    assert Counts.load(tmp_path / "killed" / "alignments.npz").info["epochs"] == epochs
    again = resumed(tmp_path / "killed", **settings)
    assert again.progress.epoch == 2
    train(again, scripted(2, 3), Watcher(), Limits())
    assert again.params.softmax.W.tobytes() == through.params.softmax.W.tobytes()
    for name in files(tmp_path / "through"):
        assert (tmp_path / "killed" / name).read_bytes() == (tmp_path / "through" / name).read_bytes(), name


def test_the_checkpoint_of_a_pause_holds_the_counts_so_far(tmp_path, seen):
    run = toy_run(tmp_path, align_from_epoch=2)
    train(run, scripted(1, 2, 3), Watcher(), Limits(max_updates=11))
    assert files(tmp_path) == []
    counts = saved_state(tmp_path)[3]
    assert cells(counts) == pytest.approx(plain_sums([(o.alphas, batch) for batch, o in seen[8:11]]), rel=1e-5)


# On the command line


@pytest.fixture
def model(tiny_run, tmp_path):
    return shutil.copytree(tiny_run, tmp_path / "model")


def test_the_default_starts_with_the_second_epoch(tiny_run):
    assert files(tiny_run) == [*(f"alignments.epoch{n}.npz" for n in (2, 3, 4)), "alignments.npz"]
    info = Counts.load(tiny_run / "alignments.npz").info
    assert info["epochs"] == [2, 3, 4] and info["threshold"] == 0.1 and info["pairs"] == 160


def test_none_on_request(tmp_path):
    text = write_toy_text(tmp_path, n_train=20, n_dev=3)
    options = [*TINY, "--bpe", 0, "--epochs", 2, "--align-from-epoch", 0]
    assert run_cli("train", *text, "-o", tmp_path / "run", *options).code == 0
    assert files(tmp_path / "run") == []


def test_a_new_run_in_the_same_place_removes_the_old_counts(model, tmp_path):
    shutil.copy(model / "alignments.npz", model / "alignments.model1.npz")
    text = write_toy_text(tmp_path, n_train=20, n_dev=3)
    assert run_cli("train", *text, "-o", model, *TINY, "--bpe", 0, "--epochs", 1, "--overwrite").code == 0
    assert files(model) == []


def test_more_epochs_add_to_the_counts(model):
    before = Counts.load(model / "alignments.npz")
    assert run_cli("train", "-o", model, "--resume", "--epochs", 5).code == 0
    after = Counts.load(model / "alignments.npz")
    assert after.info["epochs"] == [2, 3, 4, 5]
    new = Counts.load(model / "alignments.epoch5.npz").data.sum(dtype=float)
    assert after.data.sum(dtype=float) == pytest.approx(before.data.sum(dtype=float) + new, rel=1e-5)


def test_more_epochs_after_align_has_replaced_the_counts(model):
    assert run_cli("align", "-m", model, "--frozen", "--overwrite").code == 0
    assert run_cli("train", "-o", model, "--resume", "--epochs", 5).code == 0
    assert Counts.load(model / "alignments.npz").info["epochs"] == [2, 3, 4, 5]


def test_counts_of_another_model_in_the_way(tmp_path):
    run = toy_run(tmp_path, align_from_epoch=2, epochs=2)
    sizes = run.params.sizes()
    foreign = Counts.empty(sizes["src_words"] + 3, sizes["trg_words"] + 3, {"epochs": []})
    foreign.save(tmp_path / "alignments.epoch1.npz")
    with pytest.raises(UserError, match="alignments.epoch1.npz counts"):
        train(run, scripted(1), Watcher(), Limits())
