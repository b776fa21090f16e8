"""A run on a toy language, without the command line and with a validation that the test decides."""

import io

import numpy as np

from minnmt.model.directory import Model
from minnmt.text.parallel import Split, encode_pairs
from minnmt.text.pipeline import learn_pipelines
from minnmt.train.adam import Adam
from minnmt.train.checkpoint import Progress, load_checkpoint
from minnmt.train.run import Run, first_parameters
from minnmt.train.settings import Settings
from minnmt.train.status import Status
from tests.conftest import toy_lines

SIZES = {"embedding": 8, "hidden": 10, "batch_size": 8, "threads": 1, "epochs": 3, "learning_rate": 0.01}


def toy_run(directory, n_pairs=64, seed=5, **settings):
    """A new Run of 8 updates an epoch."""
    split = Split(*toy_lines(np.random.default_rng(seed), n_pairs))
    settings = Settings(**{**SIZES, **settings})
    pipelines = learn_pipelines(split.src, split.trg)
    src, trg = encode_pairs(split, *pipelines)
    params = first_parameters(settings, *pipelines, trg)
    model = Model(params, *pipelines, {})
    progress = Progress(learning_rate=settings.learning_rate)
    return Run(directory, settings, model, Adam.for_parameters(params), progress, src, trg, split, split)


def scripted(*bleus):
    """A validation that gives these BLEU scores, one after the other, and the last one for ever."""
    scores = list(bleus)

    def validate(dev, model):
        return {"perplexity": 10.0, "bleu": scores.pop(0) if len(scores) > 1 else scores[0]}

    return validate


class Watcher(Status):
    """A silent report that calls `after_update()`."""

    def __init__(self, after_update=lambda: None):
        super().__init__(io.StringIO())
        self.after_update = after_update

    def update(self, nll, words):
        super().update(nll, words)
        self.after_update()


def saved_state(directory):
    """What checkpoint.npz holds, whatever the sizes of its network."""
    path = directory / "checkpoint.npz"
    if not path.exists():
        return load_checkpoint(directory, None)
    with np.load(path) as file:
        (src_words, embedding), trg_words = file["param.Wemb"].shape, len(file["param.Wemb_dec"])
        hidden = len(file["param.ff_state_b"])
    sizes = {"src_words": src_words, "trg_words": trg_words, "embedding": embedding, "hidden": hidden}
    return load_checkpoint(directory, sizes)
