"""Where the counts of a lab's models come from: training, one more epoch, a pass with the model frozen, an aligner."""

from dataclasses import replace

import numpy as np

from ...align.accumulator import add_counts
from ...align.candidates import best_candidates
from ...align.counts import Counts
from ...align.selector import CONTROLS, Selector
from ...align.sources import make_selector
from ...errors import UserError
from ...files import make_directory
from ...model.directory import load_model
from ...tasks.aligning import frozen_attention, last_learning_rate, learn_attention, train_table, units_bitext
from ...text.split import Split
from .paper import THRESHOLDS

FIRST_COUNTED = 2  # the epoch from which counts are added up, as in the paper
ITERATIONS = 5  # of the statistical aligners


class CountSources:
    """The part of a Lab (laboratory.py) that makes counts and keeps them, and selectors from them."""

    def counts(self, name, source):
        """The counts of a model by their source: "scratch", "epochN", "continued", "frozen THRESHOLD" or an aligner."""
        model = self.model(name)
        sizes = len(model.src.vocab), len(model.trg.vocab)
        directory = self.model_directory(name) if source.startswith("epoch") else self.own_directory(name)
        path = directory / f"alignments.{source.replace(' ', '-')}.npz"
        if not path.exists():
            self.status.line(f"counting: {source}, for the model {name}")
            make_directory(directory)
            for made, counts in self.make_counts(name, source).items():
                counts.save(directory / f"alignments.{made.replace(' ', '-')}.npz")
        return Counts.load(path, *sizes)

    def counts_of_training(self, name):
        """The files whose sum is the counts of training: its epochs from the second on."""
        directory, epochs = self.model_directory(name), self.counted_epochs(name)
        if not epochs:
            if not (directory / "alignments.npz").exists():
                raise UserError(f"{directory} has no counts: train it with --align-from-epoch 1 (or 2, the default)")
            return [directory / "alignments.npz"]
        return [directory / f"alignments.epoch{e}.npz" for e in epochs if e >= FIRST_COUNTED or epochs[-1] == 1]

    def counted_epochs(self, name):
        paths = self.model_directory(name).glob("alignments.epoch*.npz")
        return sorted(int(path.name.split(".")[1].removeprefix("epoch")) for path in paths)

    def make_counts(self, name, source):
        """{source: counts} that training does not leave behind; one pass counts for all thresholds."""
        if source == "scratch":
            return {source: add_counts(map(Counts.load, self.counts_of_training(name)))}
        settings = replace(self.variant(name), epoch_pairs=0)
        if source.startswith("frozen"):
            thresholds = sorted({*THRESHOLDS, float(source.split()[1])})
            found = frozen_attention(self.model(name), self.part_to_count(name), settings, thresholds, self.status)
            return {f"frozen {threshold}": counts for threshold, counts in zip(thresholds, found)}
        if source == "continued":
            model = load_model(self.model_directory(name))  # a copy of its own: it learns
            rate = last_learning_rate(self.model_directory(name), settings)
            selector = self.selector(name, "scratch", settings.dynamic_vocab) if settings.dynamic_vocab else None
            part = self.part_to_count(name)
            return {source: learn_attention(model, part, settings, rate, False, self.status, selector)}
        bitext = units_bitext(self.model(name), self.split(name, "train"))
        return {source: train_table(source, bitext, ITERATIONS, self.status).counts}

    def part_to_count(self, name):
        """The pairs of one more epoch: the training text, or so many pairs of it, drawn at random."""
        split, n_pairs = self.split(name, "train"), self.count_pairs or self.variant(name).epoch_pairs
        if not 0 < n_pairs < len(split.src):
            return split
        chosen = np.sort(np.random.default_rng(1).permutation(len(split.src))[:n_pairs])
        return Split([split.src[i] for i in chosen], [split.trg[i] for i in chosen], name=split.name)

    def count_notes(self, name, what="One more epoch, and the pass for the thresholds"):
        """For readers, if an epoch is not the whole text; `what` was counted on a part."""
        n_pairs = self.count_pairs or self.variant(name).epoch_pairs
        return self.epoch_notes(name) + ((f"{what}: {n_pairs:,} pairs of the text.",) if n_pairs else ())

    def epoch_notes(self, name):
        n_pairs = self.variant(name).epoch_pairs
        return (f"An epoch of training is {n_pairs:,} pairs of the text.",) if n_pairs else ()

    def selector(self, name, source, topn):
        """What chooses the words of a sentence: topn candidates per source word from these counts, or a control."""
        model = self.model(name)
        if source in CONTROLS:
            return make_selector([source], None, topn, len(model.src.vocab), len(model.trg.vocab))
        return Selector(best_candidates(self.counts(name, source), topn))
