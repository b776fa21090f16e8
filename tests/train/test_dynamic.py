"""Dynamic vocabulary selection: when it starts, which words compete, that it can be as good as the full softmax."""

import numpy as np
import pytest

from minnmt.align.candidates import best_candidates
from minnmt.align.counts import Counts
from minnmt.align.selector import Selector
from minnmt.model.parameters import named_arrays
from minnmt.text.vocab import EOS, UNK
from minnmt.train import dynamic, updates
from minnmt.train.dynamic import BatchWords, EpochWords
from minnmt.train.loop import Limits, train
from tests.cli.test_bad_input import refused
from tests.conftest import TINY, run_cli, write_toy_text
from tests.train.toy import Watcher, saved_state, scripted, toy_run

MODES = ["batch", "epoch"]


def ids_lists(lists):
    return [ids.tolist() for ids in lists]


def same_bits(a, b):
    return all(x.tobytes() == y.tobytes() for (_, x), (_, y) in zip(named_arrays(a), named_arrays(b)))


@pytest.fixture
def seen(monkeypatch):
    """The words of every softmax of training, [(Batch, ids)] in order."""
    calls = []
    real = updates.network_forward

    def forward(batch, params, ids, *more):
        calls.append((batch, ids))
        return real(batch, params, ids, *more)

    monkeypatch.setattr(updates, "network_forward", forward)
    return calls


# Which words

SRC = [[2, 3], [4], [3, 3]]
TRG = [[5, 6], [7, 5], [9]]


@pytest.fixture
def selector():
    """Source 2 -> 10, 3 -> 11 and 12, 4 -> nothing, eos -> 13, UNK -> 14."""
    src, trg = np.array([2, 3, 3, EOS, UNK]), np.array([10, 11, 12, 13, 14])
    return Selector(best_candidates(Counts.from_cells(src, trg, np.ones(5), 5, 20), 5))


def test_a_batch_has_one_list(selector):
    words = BatchWords(selector, SRC, TRG)
    both = [EOS, UNK, 5, 6, 7, 10, 11, 12, 13]
    assert ids_lists(words.lists([0, 1], [[0, 1]])) == [both]
    assert ids_lists(words.lists([0, 1], [[0], [1]])) == [both, both]  # however threads share it
    assert ids_lists(words.lists([1], [[1]])) == [[EOS, UNK, 5, 7, 13]]


def test_a_pair_has_its_own_list(selector):
    words = EpochWords(selector, SRC, TRG)
    own = [[EOS, UNK, 5, 6, 10, 11, 12, 13], [EOS, UNK, 5, 7, 13], [EOS, UNK, 9, 11, 12, 13]]
    assert [ids_lists(share) for share in words.lists([0, 1, 2], [[0, 2], [1]])] == [[own[0], own[2]], [own[1]]]
    assert [ids_lists(share) for share in words.lists([2, 0], [[2, 0]])] == [[own[2], own[0]]]


def test_pairs_are_cut_into_chunks_without_losing_any(selector, monkeypatch):
    whole = ids_lists(EpochWords(selector, SRC * 3, TRG * 3).own)
    monkeypatch.setattr(dynamic, "CHUNK", 2)
    assert ids_lists(EpochWords(selector, SRC * 3, TRG * 3).own) == whole and len(whole) == 9


# In training


@pytest.mark.parametrize("align_from, first, mode", [(1, 2, "batch"), (2, 3, "epoch")])
def test_it_starts_with_the_epoch_after_the_first_with_counts(tmp_path, seen, align_from, first, mode):
    run = toy_run(tmp_path, align_from_epoch=align_from, dynamic_vocab=2, dynamic_lists=mode)
    train(run, scripted(1, 2, 3), Watcher(), Limits())
    assert len(seen) == 24
    for number, (_, ids) in enumerate(seen):
        assert (ids is None) == (number // 8 + 1 < first), f"update {number + 1}"


@pytest.mark.parametrize("mode, threads", [("batch", 1), ("batch", 2), ("epoch", 2)])
def test_lists_in_training(tmp_path, seen, mode, threads):
    """Each holds the targets, eos, UNK and the best candidates of the counts so far, and nothing else."""
    run = toy_run(tmp_path, align_from_epoch=1, dynamic_vocab=1, dynamic_lists=mode, epochs=2, threads=threads)
    train(run, scripted(1, 2), Watcher(), Limits())
    first = best_candidates(Counts.load(tmp_path / "alignments.epoch1.npz"), 1)
    restricted = [(batch, ids) for batch, ids in seen if ids is not None]
    assert len(restricted) == 8 * threads

    def words(batch, columns):
        src, trg = (
            {int(i) for i in ids[:, columns][mask[:, columns] > 0]}
            for ids, mask in ((batch.src_ids, batch.src_mask), (batch.trg_ids, batch.trg_mask))
        )
        return trg | {EOS, UNK} | {int(i) for word in src for i in first.row(word)[0]}

    for batch, ids in restricted:
        B = batch.src_ids.shape[1]
        if mode == "epoch":
            assert ids_lists(ids) == [sorted(words(batch, [b])) for b in range(B)]
        elif threads == 1:
            assert ids.tolist() == sorted(words(batch, list(range(B))))
        else:  # the list of a batch serves both threads
            assert set(ids.tolist()) >= words(batch, list(range(B)))


def test_the_table_is_made_anew_from_all_epochs(tmp_path, monkeypatch):
    tables = []
    real = dynamic.best_candidates

    def best(counts, n):
        tables.append((counts.data.sum(dtype=float), n))
        return real(counts, n)

    monkeypatch.setattr(dynamic, "best_candidates", best)
    run = toy_run(tmp_path, align_from_epoch=1, dynamic_vocab=3)
    train(run, scripted(1, 2, 3), Watcher(), Limits())
    weights = [Counts.load(tmp_path / f"alignments.epoch{e}.npz").data.sum(dtype=float) for e in (1, 2)]
    assert tables == [(pytest.approx(weights[0]), 3), (pytest.approx(sum(weights)), 3)]


@pytest.mark.parametrize("mode, threads", [("batch", 1), ("epoch", 1), ("epoch", 2)])
def test_with_lists_of_all_words_it_is_the_full_softmax(tmp_path, seen, mode, threads):
    """One epoch from a table that has seen every word with every other.

    attention.v_b moves all scores of a softmax alike: its gradient is rounding alone, which Adam blows up.
    """
    runs = []
    for n in (0, 10**6):
        directory = tmp_path / str(n)
        directory.mkdir()
        run = toy_run(
            directory, align_from_epoch=1, dynamic_vocab=n, dynamic_lists=mode, dropout=0.2, epochs=2, threads=threads
        )
        run.progress.epoch = 2
        n_src, n_trg = (len(side.vocab) for side in (run.model.src, run.model.trg))
        src, trg = (array.reshape(-1) for array in np.indices((n_src, n_trg)))
        counts = Counts.from_cells(src, trg, np.ones(len(src)), n_src, n_trg, {"epochs": [1]})
        counts.save(directory / "alignments.epoch1.npz")
        train(run, scripted(1), Watcher(), Limits())
        runs.append(run)
    full, listed = runs
    assert full.progress.n_updates == listed.progress.n_updates == 8
    assert all((ids is None) == (n < len(seen) // 2) for n, (_, ids) in enumerate(seen))
    for (name, ours), (_, theirs) in zip(named_arrays(full.params), named_arrays(listed.params)):
        if name != "attention.v_b":
            np.testing.assert_allclose(ours, theirs, atol=2e-5, err_msg=name)
    assert full.progress.log[0]["train_loss"] == pytest.approx(listed.progress.log[0]["train_loss"], abs=1e-5)
    counts = [Counts.load(run.directory / "alignments.epoch2.npz") for run in runs]
    np.testing.assert_array_equal(counts[0].indices, counts[1].indices)
    np.testing.assert_allclose(counts[0].data, counts[1].data, rtol=1e-4)


@pytest.mark.parametrize("mode", MODES)
def test_fewer_rivals_make_the_loss_smaller(tmp_path, mode):
    """In the first update under lists, from the same parameters."""
    losses = {}
    for n in (0, 1):
        (tmp_path / str(n)).mkdir()
        run = toy_run(tmp_path / str(n), align_from_epoch=1, dynamic_vocab=n, dynamic_lists=mode, dropout=0.0)
        train(run, scripted(1, 2), Watcher(), Limits(max_updates=9))
        losses[n] = run.progress.epoch_nll / run.progress.epoch_words
    assert losses[1] < losses[0] - 0.01


@pytest.mark.parametrize("mode", MODES)
def test_pauses_leave_no_trace(tmp_path, mode):
    """At the end of an epoch, just after it, and in the middle; before and after lists begin."""
    settings = {"align_from_epoch": 1, "dynamic_vocab": 1, "dynamic_lists": mode, "dropout": 0.2}
    for name in ("through", "paused", "full"):
        (tmp_path / name).mkdir()
    through = toy_run(tmp_path / "through", **settings)
    train(through, scripted(10, 5, 20), Watcher(), Limits())
    full = toy_run(tmp_path / "full", **{**settings, "dynamic_vocab": 0})
    train(full, scripted(10, 5, 20), Watcher(), Limits())
    assert not same_bits(through.params, full.params)  # or lists do nothing

    bleus = {1: 10, 2: 5, 3: 20}
    for stop in (8, 11, 16, 17, None):
        run = toy_run(tmp_path / "paused", **settings)
        if (tmp_path / "paused" / "checkpoint.npz").exists():
            run.model.params, run.adam, run.progress, counts = saved_state(tmp_path / "paused")
            run.attention.add(counts)
        to_come = [bleus[epoch] for epoch in range(run.progress.epoch, 4)]
        train(run, scripted(*to_come), Watcher(), Limits(max_updates=stop))
        assert run.progress.n_updates == (stop or 24)
    assert same_bits(through.params, run.params)
    assert same_bits(through.adam.m, run.adam.m) and same_bits(through.adam.v, run.adam.v)
    names = sorted(path.name for path in (tmp_path / "through").glob("alignments*"))
    assert len(names) == 4
    for name in [*names, "model.npz"]:
        assert (tmp_path / "paused" / name).read_bytes() == (tmp_path / "through" / name).read_bytes(), name


# On the command line


@pytest.fixture
def text(tmp_path):
    return write_toy_text(tmp_path, n_train=40, n_dev=3)


def test_resumed_from_the_command_line(text, tmp_path):
    options = [*TINY, *"--bpe 0 --epochs 3 --align-from-epoch 1 --dynamic-vocab 1 --dynamic-lists epoch".split()]
    assert run_cli("train", *text, "-o", tmp_path / "through", *options).code == 0
    assert run_cli("train", *text, "-o", tmp_path / "paused", *options, "--max-updates", 8).code == 0
    assert run_cli("train", "-o", tmp_path / "paused", "--resume").code == 0
    for name in ("model.npz", "alignments.npz"):
        assert (tmp_path / "through" / name).read_bytes() == (tmp_path / "paused" / name).read_bytes()
    for name in ("through", "paused"):
        result = run_cli("decode", "-m", tmp_path / name, "--topn", 3, stdin=b"eins zwei.\n")
        assert result.code == 0 and result.out.count("\n") == 1


@pytest.mark.parametrize(
    "options, words",
    [
        (["--dynamic-vocab", 5, "--align-from-epoch", 0], ["--dynamic-vocab", "--align-from-epoch 0"]),
        (["--dynamic-vocab", 5, "--epochs", 2], ["--dynamic-vocab", "2", "--epochs 2"]),
        (["--dynamic-vocab", 5, "--epochs", 3, "--align-from-epoch", 4], ["--dynamic-vocab", "4", "--epochs 3"]),
        (["--dynamic-vocab", -1], ["--dynamic-vocab"]),
        (["--dynamic-vocab", "many"], ["--dynamic-vocab"]),
        (["--dynamic-lists", "sentence"], ["--dynamic-lists", "batch", "epoch"]),
    ],
)
def test_wrong_usage(text, tmp_path, options, words):
    refused(2, *words, arguments=["train", *text, "-o", tmp_path / "run", *TINY, *options])
    assert not (tmp_path / "run").exists()


def test_it_cannot_change_in_the_middle(text, tmp_path):
    assert run_cli("train", *text, "-o", tmp_path / "run", *TINY, "--bpe", 0, "--max-updates", 1).code == 0
    for option in (["--dynamic-vocab", 5], ["--dynamic-lists", "epoch"]):
        refused(2, option[0], "--resume", arguments=["train", "-o", tmp_path / "run", "--resume", *option])


def test_counts_that_have_gone_are_named(text, tmp_path):
    options = [*TINY, "--bpe", 0, "--epochs", 3, "--align-from-epoch", 1, "--dynamic-vocab", 1, "--max-updates", 7]
    assert run_cli("train", *text, "-o", tmp_path / "run", *options).code == 0
    (tmp_path / "run" / "alignments.epoch1.npz").unlink()
    refused(1, "alignments.epoch1.npz", arguments=["train", "-o", tmp_path / "run", "--resume"])


def test_counts_of_align_do_not_change_a_run(text, tmp_path):
    """`align` may replace alignments.npz while a run is paused: its lists come from its own epochs."""
    options = [*TINY, "--bpe", 0, "--epochs", 2, "--align-from-epoch", 1, "--dynamic-vocab", 2]
    for name in ("through", "paused"):
        pause = ["--max-updates", 7] if name == "paused" else []
        assert run_cli("train", *text, "-o", tmp_path / name, *options, *pause).code == 0
    run = tmp_path / "paused"
    assert run_cli("align", "-m", run, "--method", "cooc", "-o", run / "alignments.npz", "--overwrite").code == 0
    assert run_cli("train", "-o", run, "--resume").code == 0
    assert (run / "model.npz").read_bytes() == (tmp_path / "through" / "model.npz").read_bytes()
