"""The loop: learning, plateaus, patience, pauses, and what happens when numbers go wrong."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from minnmt.errors import UserError
from minnmt.model.npz import load_parameters
from minnmt.model.parameters import named_arrays
from minnmt.tasks.validation import validate
from minnmt.train import loop, updates
from minnmt.train.checkpoint import Progress, load_checkpoint
from minnmt.train.loop import Limits, train
from tests.train.toy import Watcher, saved_state, scripted, toy_run


def same_arrays(a, b):
    return all(np.array_equal(x, y) for (_, x), (_, y) in zip(named_arrays(a), named_arrays(b)))


def test_a_small_network_learns_a_toy_language(tmp_path):
    run = toy_run(tmp_path, n_pairs=120, embedding=16, hidden=24, dropout=0.0, epochs=20, patience=20)
    train(run, validate, Watcher(), Limits())
    first, last = run.progress.log[0], run.progress.log[-1]
    assert last["train_loss"] < 0.1 < 1.0 < first["train_loss"]
    assert max(row["dev_bleu"] for row in run.progress.log) > 90


def test_the_learning_rate_is_halved_on_a_plateau_and_patience_ends_the_run(tmp_path):
    run = toy_run(tmp_path, learning_rate=0.008, epochs=50, patience=5, halve_after=2)
    end = train(run, scripted(10, 20, 20, 19, 30, 1, 1, 1, 1, 1, 99), Watcher(), Limits())
    rates = [row["learning_rate"] for row in run.progress.log]  # the rate that the epoch was trained with
    assert rates == [0.008] * 4 + [0.004] * 3 + [0.002] * 2 + [0.001]
    assert "5 epochs" in end and run.progress.epoch == 11


def test_model_npz_is_the_best_epoch_not_the_last(tmp_path):
    run = toy_run(tmp_path, epochs=3)
    seen = []

    def validate_and_remember(dev, model):
        seen.append({name: a.copy() for name, a in named_arrays(model.params)})
        return {"perplexity": 1.0, "bleu": [10, 30, 20][len(seen) - 1]}

    train(run, validate_and_remember, Watcher(), Limits())
    kept = load_parameters(tmp_path / "model.npz")
    assert all(np.array_equal(a, seen[1][name]) for name, a in named_arrays(kept))


def test_log_has_a_row_per_validation(tmp_path):
    train(toy_run(tmp_path, epochs=3), scripted(1, 2, 3), Watcher(), Limits())
    header, *rows = [line.split("\t") for line in (tmp_path / "log.tsv").read_text().splitlines()]
    assert header[:2] == ["epoch", "updates"] and [row[:2] for row in rows] == [["1", "8"], ["2", "16"], ["3", "24"]]
    assert [row[header.index("dev_bleu")] for row in rows] == ["1", "2", "3"]


def test_a_pause_in_mid_epoch_leaves_no_trace_in_the_numbers(tmp_path):
    (tmp_path / "through").mkdir()
    (tmp_path / "paused").mkdir()
    through = toy_run(tmp_path / "through", dropout=0.2)
    train(through, scripted(10, 5, 20), Watcher(), Limits())

    paused = toy_run(tmp_path / "paused", dropout=0.2)
    train(paused, scripted(10, 15), Watcher(), Limits(max_updates=11))  # in the second epoch, at a better BLEU
    assert paused.progress.n_updates == 11
    fresh = toy_run(tmp_path / "paused", dropout=0.2)
    fresh.model.params, fresh.adam, fresh.progress, counts = saved_state(tmp_path / "paused")
    fresh.attention.add(counts)
    train(fresh, scripted(5, 20), Watcher(), Limits())

    assert same_arrays(through.params, fresh.params)
    assert same_arrays(through.adam.v, fresh.adam.v)
    for name in ("alignments.npz", "alignments.epoch2.npz", "alignments.epoch3.npz"):
        assert (tmp_path / "paused" / name).read_bytes() == (tmp_path / "through" / name).read_bytes()
    assert not (tmp_path / "through" / "alignments.epoch1.npz").exists()


def test_the_best_model_is_the_same_with_and_without_a_pause(tmp_path):
    """A model kept at a pause must not outlive a run that, uninterrupted, would have kept another."""
    for name in ("through", "paused"):
        (tmp_path / name).mkdir()
    train(toy_run(tmp_path / "through", epochs=2), scripted(10, 5), Watcher(), Limits())

    train(toy_run(tmp_path / "paused", epochs=2), scripted(10, 15), Watcher(), Limits(max_updates=11))
    resumed = toy_run(tmp_path / "paused", epochs=2)
    resumed.model.params, resumed.adam, resumed.progress, _ = saved_state(tmp_path / "paused")
    train(resumed, scripted(5), Watcher(), Limits())
    kept = [load_parameters(tmp_path / name / "model.npz") for name in ("through", "paused")]
    assert same_arrays(*kept)


def finite(params):
    return all(np.isfinite(a).all() for _, a in named_arrays(params))


def test_a_bad_gradient_stops_with_its_update_and_keeps_the_state_before(tmp_path, monkeypatch):
    run = toy_run(tmp_path, epochs=1)
    states = {}
    real = updates.clip_gradients

    def clip(grads, *arguments):
        states[run.progress.n_updates] = {name: a.copy() for name, a in named_arrays(run.params)}
        return math.nan if run.progress.n_updates == 5 else real(grads, *arguments)

    monkeypatch.setattr(updates, "clip_gradients", clip)
    with pytest.raises(UserError, match="update 6 .*nan"):
        train(run, scripted(1), Watcher(), Limits(save_every=2))
    params, _, progress, _ = saved_state(tmp_path)
    assert progress.n_updates == 5
    assert all(np.array_equal(a, states[5][name]) for name, a in named_arrays(params))


def test_a_poisoned_parameter_stops_with_its_update_and_keeps_a_finite_checkpoint(tmp_path):
    run = toy_run(tmp_path, epochs=1)

    def poison():
        if run.progress.n_updates == 5:
            run.params.attention.v[1] = np.nan

    with pytest.raises(UserError, match="update 6"):
        train(run, scripted(1), Watcher(poison), Limits(save_every=2))
    params, adam, progress, _ = saved_state(tmp_path)
    assert finite(params) and finite(adam.m) and finite(adam.v)
    assert progress.n_updates == 4


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_an_exploding_learning_rate_leaves_no_broken_numbers_on_disk(tmp_path):
    run = toy_run(tmp_path, epochs=3, learning_rate=1e38, clip=0.0)
    with pytest.raises(UserError, match="update"):
        train(run, scripted(1), Watcher(), Limits(save_every=1))
    assert not (tmp_path / "checkpoint.npz").exists() or finite(saved_state(tmp_path)[0])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_gradient_that_overflows_is_one_sentence(tmp_path, monkeypatch, n_threads):
    real = updates.network_backward

    def overflow(dnll, cache, params, grads):
        real(dnll, cache, params, grads)
        grads.readout.W_s[:] = 1e30

    monkeypatch.setattr(updates, "network_backward", overflow)
    with pytest.raises(UserError, match="update 1 .*a gradient norm of inf"):
        train(toy_run(tmp_path, threads=n_threads), scripted(1), Watcher(), Limits())


def test_checkpoint_round_trip(tmp_path):
    run = toy_run(tmp_path)
    train(run, scripted(3.3), Watcher(), Limits(max_updates=11))
    run.save()
    params, adam, progress, _ = saved_state(tmp_path)
    for ours, theirs in ((run.params, params), (run.adam.m, adam.m), (run.adam.v, adam.v)):
        assert same_arrays(ours, theirs)
    assert adam.n_updates == run.adam.n_updates == 11
    assert progress == run.progress and progress.position == 3 and progress.log


def test_a_checkpoint_without_its_parts_is_refused(tmp_path):
    with pytest.raises(UserError, match="nothing to resume"):
        saved_state(tmp_path)
    np.savez(tmp_path / "checkpoint.npz", progress=np.frombuffer(json.dumps({}).encode(), np.uint8))
    with pytest.raises(UserError, match="checkpoint.npz: its progress is damaged"):
        load_checkpoint(tmp_path, {"src_words": 3, "trg_words": 3, "embedding": 2, "hidden": 2})


def test_parameters_that_are_finite_and_far_too_large_are_not_saved(tmp_path):
    run = toy_run(tmp_path, epochs=1)
    with pytest.raises(UserError, match="(gives no number|gave a loss of)"):
        run.progress.learning_rate = 1e38
        train(run, scripted(1), Watcher(), Limits(max_updates=1))
    assert not (tmp_path / "checkpoint.npz").exists()


def test_limits_say_why(monkeypatch):
    assert Limits().reached(10**9) == ""
    assert "--max-updates 5" in Limits(max_updates=5).reached(5)
    assert Limits(max_updates=5).reached(4) == ""
    limits = Limits(max_minutes=2)
    assert limits.reached(1) == ""
    limits.started -= 121
    assert "--max-minutes 2" in limits.reached(1)


def test_finished():
    settings = toy_run("unused").settings
    assert loop.finished(settings, Progress(epoch=settings.epochs)) == ""
    assert loop.finished(settings, Progress(epoch=settings.epochs + 1))
    assert loop.finished(settings, Progress(epochs_since_best=settings.patience))


def test_a_pause_does_not_save_broken_numbers_either(tmp_path):
    run = toy_run(tmp_path, epochs=1)

    def poison():
        if run.progress.n_updates == 5:
            run.params.attention.v[1] = np.nan

    with pytest.raises(UserError, match="update 5 .*NaN"):
        train(run, scripted(1), Watcher(poison), Limits(max_updates=5, save_every=2))
    assert saved_state(tmp_path)[2].n_updates == 4 and not (tmp_path / "model.npz").exists()


def test_an_epoch_of_some_pairs_goes_on_where_the_last_one_ended(tmp_path):
    settings = replace(toy_run(tmp_path).settings, epoch_pairs=24, batch_size=8)
    sentences = [[2] * (1 + k % 5) for k in range(40)]
    orders = [loop.seeded_order(sentences, sentences, settings, epoch) for epoch in range(1, 6)]
    assert [len(order) for order in orders] == [3] * 5
    stream = [sorted(np.concatenate(order)) for order in orders]
    seen = np.bincount(np.concatenate(stream), minlength=40)
    assert (seen == 3).all()  # five epochs of 24 pairs are three passes over 40
    assert len(set(np.concatenate(stream[:1]))) == 24  # within a pass, no pair twice
    again = loop.seeded_order(sentences, sentences, settings, 3)
    assert all(np.array_equal(a, b) for a, b in zip(orders[2], again))


def test_an_epoch_of_more_pairs_than_there_are_passes_over_the_text_again(tmp_path):
    settings = replace(toy_run(tmp_path).settings, epoch_pairs=25, batch_size=5)
    order = loop.seeded_order([[2]] * 10, [[2]] * 10, settings, 2)
    assert sorted(np.bincount(np.concatenate(order))) == [2] * 5 + [3] * 5


def test_a_run_with_such_epochs_ends_after_them(tmp_path):
    run = toy_run(tmp_path, epoch_pairs=16, epochs=3)
    train(run, scripted(1, 2, 3), Watcher(), Limits())
    assert [row["updates"] for row in run.progress.log] == [2, 4, 6]
