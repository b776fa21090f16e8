"""Training as a user sees it: train, then score the best model on the test set."""

from functools import partial

from ..model.directory import load_model
from ..train.loop import finished, train
from .validation import test_report, validate


def run_training(run, status, limits):
    """Train, then score the best model on the test set; returns the exit code."""
    threads = run.settings.threads
    try:
        end = train(run, partial(validate, n_threads=threads), status, limits)
    finally:
        status.clear()  # an error's sentence should not stand behind a progress bar
    resume = f"python cli.py train -o {run.directory} --resume"
    complete = finished(run.settings, run.progress)
    if limits.stop and not complete:
        status.line(f"interrupted after update {run.progress.n_updates}; the state is saved. Continue with: {resume}")
        return 130
    status.line(f"training ended: {end}")
    if not complete:
        status.line(f"continue with: {resume}")
    status.line("scores of the best model on the test set:")
    status.line(test_report(run.test, load_model(run.directory), threads))
    status.line(f"the model is in {run.directory}; translate with: python cli.py decode -m {run.directory}")
    return 0
