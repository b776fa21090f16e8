"""What sentences are explored with: a model, its counts, and the counts of each of its epochs."""

import re
from dataclasses import dataclass, field
from pathlib import Path

from ...align.counts import Counts
from ...align.ranking import Ranking
from ...align.sources import load_counts
from ...compiled import reading
from ...model.directory import Model, load_model
from ...search.beam import SearchSettings

EPOCH = re.compile(r"alignments\.epoch(\d+)\.npz")


@dataclass
class Variant:
    """What sentences are translated with."""

    name: str
    model: Model
    ranking: Ranking | None = None  # counts, and how candidates are chosen; n is where the slider stands at first
    settings: SearchSettings = field(default_factory=SearchSettings)
    epochs: list = field(default_factory=list)  # (number, Counts) of single epochs

    def record(self):
        """For the page."""
        params, counts = self.model.params, self.ranking and self.ranking.counts
        E, H = params.trg_embedding.shape[1], params.start.b.shape[0]
        sizes = {"embedding": E, "hidden": H, "trg_words": len(params.softmax.b)}
        search = {"beam": self.settings.beam, "length_penalty": self.settings.length_penalty}
        chosen = None
        if self.ranking:
            chosen = {name: getattr(self.ranking, name) for name in ("n", "by", "min_prob", "frequent")}
            chosen["threshold"] = counts.info.get("threshold")
        return {"name": self.name, **sizes, **search, "lists": chosen}


@dataclass
class ListChoice:
    """How candidate lists are made; the names are those of `decode`'s options."""

    topn: int = 100
    counts: tuple = ()  # names; none: the model's own
    by: str = "source"
    min_prob: float = 0.0
    frequent: int = 0


def make_variant(name, model, directory=None, choice=None, settings=None):
    """A Model, the directory it lies in or None, a ListChoice -> Variant.

    Where no counts are named and the model has none, there are no lists.
    """
    choice, settings = choice or ListChoice(), settings or SearchSettings()
    own = Path(directory) / "alignments.npz" if directory else None
    if not choice.counts and not (own and own.exists()):
        return Variant(name, model, None, settings)
    with reading():  # counts are small beside the time that compiled functions take to load
        counts = load_counts(choice.counts, directory, len(model.src.vocab), len(model.trg.vocab))
        ranking = Ranking(counts, choice.topn, choice.by, choice.min_prob, choice.frequent)
    own_epochs = [] if choice.counts else epoch_counts(directory, counts)  # other counts did not come from them
    return Variant(name, model, ranking, settings, own_epochs)


def epoch_counts(directory, like):
    """[(number, Counts)] of the single epochs that lie beside a model, in their order."""
    paths = Path(directory).glob("alignments.epoch*.npz") if directory else ()
    numbered = sorted((int(match[1]), path) for path in paths if (match := EPOCH.fullmatch(path.name)))
    return [(number, Counts.load(path, like.n_src, like.n_trg)) for number, path in numbered]


def variant_of(model, choice=None, settings=None):
    """A model directory, or a Model without counts -> Variant."""
    if isinstance(model, (str, Path)):
        return make_variant(Path(model).name, load_model(model), model, choice, settings)
    return make_variant("the model", model, None, choice, settings)
