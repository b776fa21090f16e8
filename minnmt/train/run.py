"""One training run: its directory, its data, and where it stands, new or resumed."""

import zlib
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path

import numpy as np

from .. import __version__
from ..align.accumulator import Accumulator, add_counts
from ..align.counts import Counts
from ..errors import UsageError, UserError
from ..files import make_directory, remove_leftovers, write_atomically
from ..model.directory import FILES, Model, counts_files, load_config, load_pipelines, save_config
from ..model.npz import save_parameters
from ..model.parameters import Parameters, init_parameters, map_arrays, named_arrays
from ..ranks import ALONE, Alone
from ..text.parallel import Split, encode_pairs, load_split
from ..text.pipeline import learn_pipelines
from ..text.vocab import EOS
from .adam import Adam
from .checkpoint import Progress, load_checkpoint, save_checkpoint
from .settings import Settings
from .slices import slice_of

MAKING = ".making"  # there while a run is set up


@dataclass
class Run:
    """Everything the loop needs."""

    directory: Path
    settings: Settings
    model: Model  # the parameters are those under training
    adam: Adam
    progress: Progress
    src: list  # training pairs as ids
    trg: list
    dev: Split
    test: Split
    ranks: Alone = ALONE  # rank 0 alone reads and writes files
    attention: Accumulator = field(init=False)  # the counts of the epoch under way

    def __post_init__(self):
        self.start_counting()

    @property
    def params(self) -> Parameters:
        return self.model.params

    @property
    def owned(self):
        """The Slice of the parameters that this rank looks after; None for all of them."""
        return slice_of(self.params, self.ranks)

    def save(self):
        """Write a checkpoint: for all ranks to call."""
        if self.owned:
            self.owned.collect(self.adam)
        if self.ranks.is_first:
            save_checkpoint(self.directory, self.params, self.adam, self.progress, self.attention.counts())
        self.ranks.meet()  # nobody goes on, perhaps to an error that ends all, before it is written

    def start_counting(self):
        """An empty matrix for the next epoch's attention."""
        sizes = self.params.sizes()
        self.attention = Accumulator(sizes["src_words"], sizes["trg_words"], self.settings.align_threshold)

    def count(self, found):
        """Note what an Update gave: its words, its loss, its attention."""
        if self.counts_attention:
            self.attention.add_all(((output.alphas, batch) for batch, output in found.outputs), self.ranks)
        self.progress.position += 1
        self.progress.n_updates += 1
        self.progress.epoch_nll += found.nll
        self.progress.epoch_words += found.n_words

    @property
    def counts_attention(self):
        """Whether the attention of the epoch under way is counted."""
        return 0 < self.settings.align_from_epoch <= self.progress.epoch

    def save_counts(self):
        """Write the epoch's counts, alignments.epochN.npz, and the sum of all epochs, alignments.npz.

        A run that is killed after this may come here a second time.
        """
        if not self.ranks.is_first:
            return
        epoch = self.progress.epoch
        info = {"method": "attention", "threshold": self.settings.align_threshold, "pairs": len(self.src)}
        self.attention.counts({**info, "epochs": [epoch]}).save(self.counts_path(epoch))
        self.start_counting()
        total, epochs = self.counts_so_far(epoch)
        total.info = {**info, "epochs": epochs}
        total.save(self.directory / "alignments.npz")

    def counts_so_far(self, epoch):
        """The sum of the epochs' files up to this one -> Counts, which epochs; `align` may replace alignments.npz."""
        sizes = self.params.sizes()
        epochs = [e for e in range(1, epoch + 1) if self.counts_path(e).exists()]
        parts = (Counts.load(self.counts_path(e), sizes["src_words"], sizes["trg_words"]) for e in epochs)
        return add_counts(parts), epochs

    def counts_path(self, epoch):
        return self.directory / f"alignments.epoch{epoch}.npz"

    def save_best(self):
        if self.ranks.is_first:
            save_parameters(self.directory / "model.npz", self.params)

    def save_log(self):
        """log.tsv: one row per validation."""
        if not self.ranks.is_first:
            return
        rows = self.progress.log
        lines = ["\t".join(rows[0])] + ["\t".join(f"{value:.6g}" for value in row.values()) for row in rows]
        write_atomically(self.directory / "log.tsv", "\n".join(lines) + "\n")


def new_run(directory, settings, say=print, overwrite=False):
    """Read the text, learn BPE and vocabularies, draw the first parameters, and write the run's directory.

    `say` is told what goes on.
    """
    directory = Path(directory)
    there = [name for name in FILES if (directory / name).exists()]
    there += [path.name for path in counts_files(directory)]
    if there and not overwrite and not half_made(directory):
        raise UsageError(
            f"{directory} already holds a run ({there[0]}): continue it with --resume, replace it with --overwrite, "
            "or choose another directory with -o"
        )
    say("reading the parallel text" if settings.src else "reading the embedded corpus")
    train, dev = load_split(settings, "train"), load_split(settings, "dev")
    test = load_split(settings, "test") if settings.test_src or not settings.src else dev
    say(f"{len(train.src):,} training pairs; learning " + ("BPE and " if settings.bpe else "") + "vocabularies")
    src_pipeline, trg_pipeline = learn_pipelines(
        train.src, train.trg, settings.bpe, settings.vocab_size, settings.shared, settings.pretokenized
    )
    src, trg = encode_pairs(train, src_pipeline, trg_pipeline, settings.max_train_length)
    if len(src) < len(train.src):
        left_out = len(train.src) - len(src)
        say(f"{left_out:,} pairs are left out: blank, or longer than {settings.max_train_length} units")
    params = first_parameters(settings, src_pipeline, trg_pipeline, trg)
    make_directory(directory)
    (directory / MAKING).touch()
    remove_leftovers(directory, (*FILES, "alignments*.npz"))
    for path in [*(directory / name for name in FILES), *counts_files(directory)]:
        path.unlink(missing_ok=True)
    src_pipeline.save(directory, "src")
    trg_pipeline.save(directory, "trg")
    config = {"minnmt": __version__, "settings": asdict(settings), "data": fingerprint(src, trg)}
    save_config(directory, config)
    (directory / MAKING).unlink()
    say(describe(params))
    model = Model(params, src_pipeline, trg_pipeline, config)
    progress = Progress(learning_rate=settings.learning_rate)
    return Run(directory, settings, model, Adam.for_parameters(params), progress, src, trg, dev, test)


def resume_run(directory, changes=None):
    """Continue a run where its last checkpoint stands, with some settings changed (train_command.py says which)."""
    directory = Path(directory)
    if half_made(directory):
        raise UserError(f"{directory} was interrupted while it was set up: start it again without --resume")
    if not (directory / "config.json").exists():
        raise UserError(f"{directory} holds no run to resume: start one without --resume")
    config = load_config(directory)
    if "threads" in (changes or {}) and not config["settings"].get("shares"):
        config["settings"]["shares"] = config["settings"]["threads"]  # a batch is cut as before
    config["settings"].update(changes or {})
    settings = Settings.from_config(config)
    if "-" in (settings.src, settings.trg, settings.dev_src, settings.dev_trg, settings.test_src, settings.test_trg):
        raise UserError(f"{directory} was trained on text from standard input, which is gone: it cannot be resumed")
    (directory / MAKING).unlink(missing_ok=True)  # config.json is there, so all that comes before it is
    remove_leftovers(directory, (*FILES, "alignments*.npz"))
    pipelines = load_pipelines(directory, config["settings"])
    train, dev = load_split(settings, "train"), load_split(settings, "dev")
    test = load_split(settings, "test")
    src, trg = encode_pairs(train, *pipelines, settings.max_train_length)
    if fingerprint(src, trg) != config["data"]:
        raise UserError(
            f"the training text is not the one that {directory} was started with: put the old files back, "
            "or start a new run"
        )
    counts = None
    if (directory / "checkpoint.npz").exists():
        params, adam, progress, counts = load_checkpoint(directory, sizes(settings, *pipelines))
    else:  # stopped before its first checkpoint: begin again with the same numbers
        params = first_parameters(settings, *pipelines, trg)
        adam, progress = Adam.for_parameters(params), Progress(learning_rate=settings.learning_rate)
    if changes and "learning_rate" in changes:
        progress.learning_rate = settings.learning_rate
    save_config(directory, config)
    run = Run(directory, settings, Model(params, *pipelines, config), adam, progress, src, trg, dev, test)
    if counts is not None:
        run.attention.add(counts)
    return run


def share_run(run, ranks):
    """Rank 0's Run (elsewhere None) -> that Run on all ranks."""
    if ranks.size == 1:
        return run
    rest = None
    if run:
        rest = run.directory, run.settings, run.model.src, run.model.trg, run.model.config, run.dev, run.test
    directory, settings, src_pipeline, trg_pipeline, config, dev, test = ranks.share(rest)
    progress = ranks.share(run and run.progress)
    src, trg = (share_ids(side, ranks) for side in ((run.src, run.trg) if run else (None, None)))
    params = share_parameters(run and run.params, ranks)
    adam = run.adam if run else Adam.for_parameters(params)
    adam.n_updates = progress.n_updates
    slice_of(params, ranks).deal(adam)
    model = Model(params, src_pipeline, trg_pipeline, config)
    shared = Run(directory, settings, model, adam, progress, src, trg, dev, test, ranks)
    if run:
        shared.attention = run.attention
    return shared


def share_ids(sentences, ranks):
    """Rank 0's lists of ids, on all ranks; they travel as two arrays."""
    lengths = ranks.share(sentences and np.array([len(s) for s in sentences], np.int64))
    ids = np.fromiter((i for s in sentences or () for i in s), np.int32) if sentences else None
    ids = np.empty(lengths.sum(), np.int32) if ids is None else ids
    ranks.share_arrays([ids])
    if sentences:
        return sentences
    ends = np.cumsum(lengths).tolist()
    return [ids[start:end].tolist() for start, end in zip([0, *ends], ends)]


def share_parameters(params, ranks):
    """Rank 0's Parameters, on all ranks."""
    shapes = ranks.share(params and map_arrays(lambda a: (a.shape, a.dtype), params))
    if params is None:
        params = map_arrays(lambda shape: np.empty(*shape), shapes)
    ranks.share_arrays([array for _, array in named_arrays(params)])
    return params


def half_made(directory):
    """Was the set-up of this run interrupted? Its config.json is written last; then there is nothing to lose."""
    return (directory / MAKING).exists() and not (directory / "config.json").exists()


def first_parameters(settings, src_pipeline, trg_pipeline, trg):
    """The parameters that a run starts from, drawn from its seed; `trg` are its target sentences.

    With "unigram" the softmax's bias begins with how often each word occurs. Otherwise the readout learns it first:
    it becomes nearly the same for every word, and with a large vocabulary it may stay so, at the ends of its tanh, for
    good.
    """
    rng, style = np.random.default_rng(settings.seed), "glorot" if settings.init == "unigram" else settings.init
    params = init_parameters(**sizes(settings, src_pipeline, trg_pipeline), rng=rng, style=style)
    if settings.init == "unigram":
        params.softmax.b[:] = log_shares(trg, len(params.softmax.b))
    return params


def log_shares(sentences, n_words):
    """Lists of ids -> (n_words) the logarithm of each word's share, one eos per sentence.

    Every word is counted half a time more, so that none has a share of 0.
    """
    n = np.bincount(np.fromiter(chain.from_iterable(sentences), np.int64), minlength=n_words) + 0.5
    n[EOS] += len(sentences)
    return np.log(n / n.sum()).astype(np.float32)


def sizes(settings, src_pipeline, trg_pipeline):
    """The dimensions of a run's network, as Parameters.sizes gives them."""
    words = {"src_words": len(src_pipeline.vocab), "trg_words": len(trg_pipeline.vocab)}
    return {**words, "embedding": settings.embedding, "hidden": settings.hidden}


def fingerprint(src, trg):
    """A checksum of the training ids, to notice text that has changed between a stop and a resume."""
    checksum = 0
    for sentence in (*src, *trg):
        checksum = zlib.crc32(np.array([*sentence, -1], np.int64).tobytes(), checksum)
    return f"{len(src)} pairs, crc32 {checksum:08x}"


def describe(params):
    """The network in a line."""
    n_numbers = sum(array.size for _, array in named_arrays(params))
    text = "{src_words:,} source and {trg_words:,} target units, embedding {embedding}, hidden {hidden}"
    return f"{text.format(**params.sizes())}: {n_numbers:,} parameters"
