"""Training as a user sees it: train, then score the best model on the test set."""

from functools import partial

from ..errors import UserError, call
from ..model.directory import load_model
from ..model.parameters import named_arrays
from ..train.loop import finished, train
from ..train.run import new_run, resume_run
from .validation import test_report, validate


def start_or_resume(directory, settings, say=print):
    """A Run in this directory: the one that was interrupted, or a new one. Its settings must be these."""
    if not (directory / "config.json").exists():
        return new_run(directory, settings, say, overwrite=True)
    run = resume_run(directory)
    if run.settings != settings:
        raise UserError(f"{directory} has a model of other settings: remove it, or choose another directory")
    return run


def run_training(run, status, limits):
    """Train, then score the best model on the test set; returns the exit code."""
    threads = run.settings.threads
    resume = call(f"train -o {run.directory} --resume")
    run.ranks.tell(f"Go on with: {resume}")
    if run.progress.n_updates:
        status.line(f"continuing {run.directory} in epoch {run.progress.epoch}, after update {run.progress.n_updates}")
    try:
        end = train(run, partial(validate, n_threads=threads, ranks=run.ranks), status, limits)
    except KeyboardInterrupt:
        status.line(f"stopped at once; continue from the last checkpoint with: {resume}")
        if run.ranks.size > 1:
            raise  # the others wait for this one: the job is ended
        return 130
    finally:
        status.clear()  # an error's sentence should not stand behind a progress bar
    complete = finished(run.settings, run.progress)
    if end == "interrupted" and not complete:  # on this rank or another
        status.line(f"interrupted after update {run.progress.n_updates}; the state is saved. Continue with: {resume}")
        return 130
    status.line(f"training ended: {end}")
    if not complete:
        status.line(f"continue with: {resume}")
    has_test = run.settings.test_src or not run.settings.src
    status.line(f"scores of the best model on the {'test set' if has_test else 'dev text (no test text was given)'}:")
    best = load_model(run.directory) if run.ranks.is_first else run.model
    run.ranks.share_arrays([array for _, array in named_arrays(best.params)])
    status.line(test_report(run.test, best, threads, run.ranks))
    lists = " --topn 100" if run.ranks.is_first and (run.directory / "alignments.npz").exists() else ""
    status.line(f"the model is in {run.directory}; translate with: {call(f'decode -m {run.directory}{lists}')}")
    return 0
