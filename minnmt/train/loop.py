"""The training loop: batches in, Adam updates, a validation after every epoch, a checkpoint now and then.

What makes a run repeatable: an epoch's order comes from (seed, epoch) and an update's dropout from (seed, update),
so a run that was killed continues from its last checkpoint to the same bits. Notebook 04.
"""

import math
import signal
import time
from dataclasses import dataclass, field

import numpy as np

from ..errors import UserError, call
from ..model.network import network_forward
from ..model.parameters import named_arrays
from ..text.batches import epoch_order, make_batch
from ..threads import threads
from .dynamic import epoch_words
from .updates import Updater

ORDER, PASS = 1, 3  # tell the random streams of the order from dropout's (minnmt/train/updates.py)


@dataclass
class Limits:
    """What ends or interrupts a run from outside; none of it changes the numbers."""

    max_minutes: float | None = None
    max_updates: int | None = None
    save_every: int = 500  # updates between checkpoints
    stop: bool = False  # set by Ctrl-C
    started: float = field(default_factory=time.monotonic)

    def seconds_left(self):
        """Until --max-minutes; infinite without."""
        return math.inf if self.max_minutes is None else self.started + 60 * self.max_minutes - time.monotonic()

    def reached(self, n_updates):
        """Why training should pause now, or "" """
        if self.stop:
            return "interrupted"
        if self.max_updates is not None and n_updates >= self.max_updates:
            return f"--max-updates {self.max_updates} reached"
        if self.seconds_left() <= 0:
            return f"--max-minutes {self.max_minutes:g} reached"
        return ""


def train(run, validate, status, limits):
    """Train until the run is finished or a limit is reached; returns why it ended.

    validate(dev split, model) -> {"perplexity", "bleu"}; status is told what happens (minnmt/train/status.py).
    """
    with interruptible(limits, status), threads(run.settings.threads) as map:
        updater = Updater(run.params, run.src, run.trg, run.settings, run.adam, map)
        while not (end := finished(run.settings, run.progress)):
            end = train_epoch(run, updater, status, limits)
            if end:
                save_if_finite(run)
                if not (run.directory / "model.npz").exists():
                    run.save_best()  # paused in the first epoch: better this model than none
                return end
            save_if_finite(run)  # validation takes a while: a kill during it should cost nothing
            end_epoch(run, validate, status)
            run.save()
    return end


def finished(settings, progress):
    """Why a run is complete, or "" """
    if progress.epoch > settings.epochs:
        return f"all {settings.epochs} epochs done"
    if progress.epochs_since_best >= settings.patience:
        return f"no better dev BLEU for {settings.patience} epochs"
    return ""


def train_epoch(run, updater, status, limits):
    """Do what is left of the epoch under way; returns "" or the reason to pause before its end."""
    settings, progress = run.settings, run.progress
    order = seeded_order(run.src, run.trg, settings, progress.epoch)
    updater.words = epoch_words(run)
    if updater.words:
        status.line(f"epoch {progress.epoch}: softmax over lists, {settings.dynamic_vocab} candidates per source word")
    status.start_epoch(progress.epoch, settings.epochs, len(order), progress.position, limits)
    for chosen in order[progress.position :]:
        if pause := limits.reached(progress.n_updates):
            return pause
        began = time.monotonic()
        found = updater.update(updater.shares(chosen), progress.learning_rate)
        check_update(run, found)
        run.count(found)
        progress.seconds += time.monotonic() - began
        status.update(found.nll, found.n_words)
        if progress.n_updates % limits.save_every == 0:
            save_if_finite(run)
    return limits.reached(progress.n_updates) if limits.stop else ""


def seeded_order(src, trg, settings, epoch):
    """The batches of an epoch, always the same for a seed."""
    rng = np.random.default_rng([settings.seed, ORDER, epoch])
    pairs = part_of_text(len(src), settings, epoch) if settings.epoch_pairs else None
    return epoch_order(src, trg, settings.batch_size, settings.pool, rng, pairs)


def part_of_text(n_pairs, settings, epoch):
    """The pairs of an epoch that is not the whole text: each goes on where the one before ended, pass after pass."""
    begin, end = (epoch - 1) * settings.epoch_pairs, epoch * settings.epoch_pairs
    passes = range(begin // n_pairs, -(-end // n_pairs))
    shuffled = [np.random.default_rng([settings.seed, PASS, number]).permutation(n_pairs) for number in passes]
    return np.concatenate(shuffled)[begin - passes[0] * n_pairs :][: end - begin]


def check_update(run, found):
    """An Update with an infinite loss or gradient ends the run; the state before it is kept."""
    if found.is_finite:
        return
    if is_finite(run.params):
        run.save()
    number = run.progress.n_updates + 1
    stop_on_bad_numbers(run, number, f"gave a loss of {found.nll} and a gradient norm of {found.norm}")


def is_finite(params):
    return all(np.isfinite(array).all() for _, array in named_arrays(params))


def loss_is_finite(run):
    """Does the network still give a number for one sentence pair? Parameters can be finite and far too large."""
    with np.errstate(all="ignore"):
        output, _ = network_forward(make_batch(run.src[:1], run.trg[:1]), run.params)
    return bool(np.isfinite(output.nll).all())


def save_if_finite(run):
    """Write a checkpoint, but never one with broken numbers over a good one."""
    if not is_finite(run.params):
        stop_on_bad_numbers(run, run.progress.n_updates, "made parameters infinite or NaN")
    if not loss_is_finite(run):
        stop_on_bad_numbers(run, run.progress.n_updates, "made parameters so large that the network gives no number")
    run.save()


def stop_on_bad_numbers(run, number, what):
    """A NaN or an infinity: give up, and say where the last good state is."""
    rate = run.progress.learning_rate / 2
    if (run.directory / "checkpoint.npz").exists():
        remedy = (
            "The last good state is kept; go on from it with a smaller step: "
            + call(f"train -o {run.directory} --resume --learning-rate {rate:g}")
        )
    else:
        remedy = "No checkpoint was written yet; start again with a smaller --learning-rate"
    raise UserError(f"update {number} (epoch {run.progress.epoch}) {what}: training stopped. {remedy}")


def end_epoch(run, validate, status):
    """Validate, keep the best model, halve the learning rate on a plateau, go on to the next epoch."""
    settings, progress = run.settings, run.progress
    began = time.monotonic()
    scores = validate(run.dev, run.model)
    progress.seconds += time.monotonic() - began
    better = (scores["bleu"], -scores["perplexity"]) > (progress.best_bleu, -progress.best_perplexity)
    row = {
        "epoch": progress.epoch,
        "updates": progress.n_updates,
        "train_loss": progress.epoch_nll / max(progress.epoch_words, 1),
        "dev_perplexity": scores["perplexity"],
        "dev_bleu": scores["bleu"],
        "learning_rate": progress.learning_rate,
        "seconds": progress.seconds,
    }
    if better:
        progress.best_bleu, progress.best_perplexity = scores["bleu"], scores["perplexity"]
        progress.epochs_since_best = 0
        run.save_best()
    else:
        progress.epochs_since_best += 1
        if progress.epochs_since_best % settings.halve_after == 0:
            progress.learning_rate /= 2
    if run.counts_attention:
        run.save_counts()
    progress.log.append(row)
    run.save_log()
    progress.epoch, progress.position = progress.epoch + 1, 0
    progress.epoch_nll, progress.epoch_words = 0.0, 0
    status.end_epoch(row, better, progress.learning_rate)


class interruptible:
    """While training, Ctrl-C (and a polite kill) asks the loop to stop after the update under way.

    A second Ctrl-C stops at once.
    """

    def __init__(self, limits, status):
        self.limits, self.status = limits, status

    def __enter__(self):
        def ask(number, frame):
            if self.limits.stop:
                raise KeyboardInterrupt
            self.limits.stop = True
            self.status.line("stopping after this step and saving the state; Ctrl-C again stops at once")

        self.old = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}

    def __exit__(self, *exception):
        for number, handler in self.old.items():
            signal.signal(number, handler)
