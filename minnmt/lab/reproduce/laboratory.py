"""The laboratory: a directory in which models are trained, counts are made and measurements are kept, each once.

    DIR/models/NAME/        a run of training, as `python cli.py train --align-from-epoch 1` makes it; for a model from
                            elsewhere, only the counts that are made here
    DIR/measurements.json   what was measured, by name; what is there is not measured again
    DIR/translations/       of the dev and the test text, with all words and with every list
    DIR/corpus/             the embedded corpus as files, for the model that translates from English

An interrupted experiment goes on where it stopped: a run from its checkpoint, measurements after the last one.
"""

import json
import zlib
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import NamedTuple

from ... import __version__
from ...errors import UsageError, UserError
from ...files import (
    make_directory,
    only_writer,
    read_bytes,
    read_lines,
    read_parallel,
    read_text,
    write_atomically,
    write_lines,
)
from ...model.directory import load_model
from ...search.unknown import Replacer
from ...tasks.aligning import word_dictionary
from ...tasks.training import start_or_resume
from ...tasks.validation import validate
from ...text.embedded import embedded_corpus, write_corpus
from ...text.parallel import Split, load_split
from ...train.loop import Limits, train
from ...train.settings import Settings
from ...train.status import Status
from ..machine import describe_machine
from .count_sources import ITERATIONS, CountSources
from .paper import BPE, TOPN, WORDS


class Given(NamedTuple):
    """A model that was trained elsewhere."""

    directory: Path
    settings: Settings


@dataclass
class Lab(CountSources):
    """One set of experiments: a text, a network, and what came of them so far."""

    directory: Path
    settings: Settings  # of the model with BPE; the others differ from it in one thing each. All count every epoch
    max_minutes: float | None = None  # of training, for each model
    n_speed: int = 100  # test sentences whose decoding is timed
    repeats: int = 10
    units: tuple = (BPE, WORDS)  # the models of Table 1
    status: Status = field(default_factory=Status)
    given: dict = field(default_factory=dict)  # {name: Given}
    also: dict = field(default_factory=dict)  # further test sets {name: (source path, target path)}
    count_pairs: int = 0  # of the text, for one more epoch and for the thresholds; 0: as many as in an epoch

    def __post_init__(self):
        self.directory = Path(self.directory)
        self.settings = replace(self.settings, align_from_epoch=1)  # the figure shows the first epoch as well
        self.main = self.units[0]  # the model of the exhibits that have only one
        make_directory(self.directory / "models")
        self.path = self.directory / "measurements.json"
        self.setup = self.describe()
        self.machines, self.found = self.load()
        machine = describe_machine("sacrebleu")
        self.machines += [machine] if machine not in self.machines else []
        for name, paths in self.also.items():
            if self.found.setdefault(f"text of {name}", checksums(paths)) != checksums(paths):
                raise UsageError(f"{name} was another test set in {self.directory}: give this one another name")
        if self.max_minutes and self.found.setdefault("minutes of training", self.max_minutes) != self.max_minutes:
            raise UsageError(f"{self.directory} holds models of other --max-minutes: choose another directory with -o")
        self.save()  # even with nothing in it: the next start with other settings is noticed
        self.models = {}

    # What was measured

    def describe(self):
        """All that decides the numbers, for JSON: of the models given, or of those that are trained here."""
        count_pairs = {"count_pairs": self.count_pairs} if self.count_pairs else {}
        if self.given:  # models that are trained beside them, --max-minutes long, may go on
            given = {name: self.describe_given(name) for name in self.given}
            return {"minnmt": __version__, **count_pairs, "given": given}
        setup = {"settings": asdict(self.settings), "max_minutes": self.max_minutes, "minnmt": __version__}
        return setup | {"crc32": checksums(texts_of(self.settings)), **count_pairs}

    def describe_given(self, name):
        directory, settings = self.given[name]
        files = [directory / "model.npz", *texts_of(settings)]
        return {"crc32": checksums(files), "epochs": self.counted_epochs(name), "settings": asdict(settings)}

    def load(self):
        """The machines that measured, and the measurements so far; those of another setup are refused."""
        if not self.path.exists():
            return [], {}
        try:
            kept = json.loads(read_text(self.path))
            setup, machines, found = kept["setup"], kept["machines"], kept["found"]
            changed = changes(setup, self.setup)
        except (ValueError, KeyError, TypeError, AttributeError):
            raise UserError(f"{self.path} is damaged, or of another version: remove it to measure again") from None
        if changed:
            raise UsageError(
                f"{self.directory} holds experiments with other settings ({', '.join(changed)}): choose another "
                "directory with -o"
            )
        if self.given:
            self.setup["given"] = setup["given"] | self.setup["given"]  # models may come one after the other
        return machines, found

    def save(self):
        kept = {"setup": self.setup, "machines": self.machines, "found": self.found}
        text = json.dumps(kept, indent=1, ensure_ascii=False, allow_nan=False)
        write_atomically(self.path, text + "\n")

    def once(self, name, measure, *arguments):
        """What measure(*arguments) gives, numbers and texts; kept on disk at once, so that it is called only once."""
        if name not in self.found:
            self.status.line(f"{name} ...")
            self.found[name] = measure(*arguments)
            self.save()
        return self.found[name]

    def keep_translations(self, name, lines):
        """Lines of a translated text, on disk -> the lines."""
        make_directory(self.directory / "translations")
        write_lines(self.translations_path(name), lines)
        return lines

    def translations(self, name):
        return read_lines(self.translations_path(name))

    def translations_path(self, name):
        return self.directory / "translations" / (name.replace(", ", ".").replace(" ", "-") + ".txt")

    # Models

    def variant(self, name):
        """The Settings of a model by its name."""
        if name in self.given:
            return self.given[name].settings
        s = self.settings
        if name == WORDS:
            return replace(s, bpe=0)
        if name in ("off", "batch", "epoch"):
            s = replace(self.variant(self.main), align_from_epoch=1)
            lists = name if name != "off" else s.dynamic_lists
            return replace(s, dynamic_vocab=0 if name == "off" else TOPN, dynamic_lists=lists)
        if name == "reversed":
            return self.reversed_text(s)
        return s

    def reversed_text(self, settings):
        """The embedded corpus from English to German: files, because a run's own corpus has one direction."""
        corpus = self.directory / "corpus"
        if not (corpus / "test.align").exists():
            write_corpus(corpus, embedded_corpus(), overwrite=True)
        names = {"": "train", "dev_": "dev", "test_": "test"}
        sides = {"src": "en", "trg": "de"}
        paths = {a + b: str((corpus / f"{names[a]}.{sides[b]}").resolve()) for a in names for b in sides}
        return replace(settings, **paths)

    def model_directory(self, name):
        return self.given[name].directory if name in self.given else self.own_directory(name)

    def own_directory(self, name):
        """Where what is made here for a model goes."""
        return self.directory / "models" / name

    def model(self, name):
        """A trained Model; trained now if it is not there yet."""
        if name not in self.models:
            self.once(f"training of {name}", self.read_log if name in self.given else self.train, name)
            self.models[name] = load_model(self.model_directory(name))
        return self.models[name]

    def train(self, name):
        """Train a model to its end, or go on where its training was interrupted -> its log."""
        directory, settings = self.model_directory(name), self.variant(name)
        with only_writer(directory):
            run = start_or_resume(directory, settings, self.status.line)
            limits = Limits(self.max_minutes and self.max_minutes - run.progress.seconds / 60)
            end = train(run, partial(validate, n_threads=settings.threads), self.status, limits)
        self.status.clear()
        for path in directory.glob("alignments.*.npz"):
            if not path.name.startswith("alignments.epoch"):
                path.unlink()  # counts of the model as it was before
        if limits.stop:
            self.status.line("the state is saved: the same command goes on from here")
            raise KeyboardInterrupt
        if not run.progress.log:
            raise UserError(
                f"training of {name} ended before its first epoch ({end}): choose more --max-minutes, and another -o"
            )
        return run.progress.log

    def read_log(self, name):
        """The log of a model that was trained elsewhere; none, if it has none."""
        path = self.model_directory(name) / "log.tsv"
        header, *rows = (line.split("\t") for line in read_lines(path)) if path.exists() else [()]
        try:
            return [{key: float(text) for key, text in zip(header, row, strict=True)} for row in rows]
        except ValueError:
            raise UserError(f"{path} is damaged: it has something other than numbers below its first line") from None

    def split(self, name, which):
        """A model's text: "train", "dev", "test", or one of the further test sets."""
        if which in self.also:
            return Split(*read_parallel(*self.also[which]), name=which)
        return load_split(self.variant(name), which)

    def replacer(self, name):
        """What puts words in the place of UNK, as in the paper: Model 1 translates the source word, or it is copied."""
        path = self.own_directory(name) / "dictionary.model1.tsv"
        if not path.exists():
            self.status.line(f"Model 1 of whole words, for the unknown words of {name}")
            found = word_dictionary(self.model(name), self.split(name, "train"), ITERATIONS, self.status)
            make_directory(path.parent)
            write_lines(path, [f"{src}\t{trg}" for src, trg in found.items()])
        return Replacer(self.model(name), dictionary=dict(line.split("\t") for line in read_lines(path)))


def changes(old, new):
    """What differs between two setups, in the words of a message; a model that joins the others is no difference."""
    if ("given" in old) != ("given" in new):
        return ["--model"]
    changed = [name for name in ("minnmt", "count_pairs", "max_minutes") if old.get(name) != new.get(name)]
    changed += ["the texts themselves"] if old.get("crc32") != new.get("crc32") else []
    settings, before = new.get("settings", {}), old.get("settings", {})
    changed += [name for name, value in settings.items() if name not in before or before[name] != value]
    models, before = new.get("given", {}), old.get("given", {})
    return changed + [f"the model {name}" for name in models if name in before and dict(before[name]) != models[name]]


def texts_of(settings):
    """The paths of its training, dev and test text."""
    return [value for name, value in asdict(settings).items() if name.endswith(("src", "trg")) and value]


def checksums(paths):
    return [zlib.crc32(read_bytes(path)) for path in paths]
