"""A model directory: parameters, vocabularies, BPE codes and config.json, loaded as one object.

FILES names what a directory may hold; tutorials/using.md says what each is.
"""

import json
from dataclasses import dataclass
from pathlib import Path

from ..errors import UserError, call
from ..files import read_text, write_atomically
from ..text.pipeline import Pipeline
from ..text.tokenizer import JOINER
from ..text.vocab import Vocab
from .npz import load_parameters, stored_sizes
from .parameters import Parameters

FILES = ("config.json", "model.npz", "checkpoint.npz", "log.tsv") + tuple(
    f"{name}.{side}.{ending}" for name, ending in (("vocab", "json"), ("bpe", "codes")) for side in ("src", "trg")
)  # of a model directory, its counts apart


def counts_files(directory):
    """The counts beside a model: alignments.npz and alignments.NAME.npz."""
    return sorted(path for name in ("alignments.npz", "alignments.*.npz") for path in Path(directory).glob(name))


@dataclass
class Model:
    """Everything needed to translate."""

    params: Parameters
    src: Pipeline
    trg: Pipeline
    config: dict


def load_model(directory):
    """Read a model directory written by training."""
    directory = Path(directory)
    config, src, trg = load_text_side(directory)
    if not (directory / "model.npz").exists():
        raise UserError(
            f"{directory} has no model.npz yet: training keeps its first model after the first epoch; "
            f"continue it with {call(f'train -o {directory} --resume')}"
        )
    npz, vocabs = directory / "model.npz", (directory / "vocab.src.json", directory / "vocab.trg.json")
    check_sizes(stored_sizes(npz), src, trg, npz, *vocabs)
    return Model(load_parameters(npz), src, trg, config)


def load_text_side(directory):
    """A model directory without its parameters -> config, source and target Pipelines."""
    directory = Path(directory)
    if not (directory / "config.json").exists():
        raise UserError(
            f"{directory} is not a model directory (it has no config.json): train one with "
            f"{call(f'train -o {directory}')}"
        )
    config = load_config(directory)
    return config, *load_pipelines(directory, config["settings"])


def load_npz_model(npz, vocab_src, vocab_trg, bpe_src=None, bpe_trg=None, pretokenized=False, any_vocab_size=False):
    """A single .npz of dl4mt or Nematus with its two JSON vocabularies (and BPE codes, if it used them)."""
    src, trg = load_npz_text_side(vocab_src, vocab_trg, bpe_src, bpe_trg, pretokenized)
    sizes = stored_sizes(npz)
    if any_vocab_size:
        src.vocab, trg.vocab = src.vocab.resized(sizes["src_words"]), trg.vocab.resized(sizes["trg_words"])
    check_sizes(sizes, src, trg, npz, vocab_src, vocab_trg, "; --any-vocab-size reads them as Nematus does")
    return Model(load_parameters(npz), src, trg, {})


def load_npz_text_side(vocab_src, vocab_trg, bpe_src=None, bpe_trg=None, pretokenized=False):
    """The source and target Pipelines of such a model.

    A vocabulary without minnmt's joiner marks is of a model that was trained on text tokenized elsewhere: then the
    text is taken as pretokenized.
    """
    pretokenized = pretokenized or not any(JOINER in word for word in Vocab.load(vocab_src).words)
    return Pipeline.load(vocab_src, bpe_src, pretokenized), Pipeline.load(vocab_trg, bpe_trg, pretokenized)


def check_sizes(sizes, src, trg, npz, vocab_src, vocab_trg, remedy=""):
    """The embedding tables must have one row per word of the vocabularies; looked at before they are read."""
    for path, vocab, n_rows in (
        (vocab_src, src.vocab, sizes["src_words"]), (vocab_trg, trg.vocab, sizes["trg_words"]),
    ):  # fmt: skip
        if len(vocab) != n_rows:
            raise UserError(
                f"{path} has {len(vocab)} words but {npz} was made for {n_rows}: "
                f"the vocabulary does not belong to this model{remedy}"
            )


def load_pipelines(directory, settings):
    """The source and target pipelines of a model directory; `settings` (a dictionary) says whether it uses BPE."""
    pipelines = []
    for side in ("src", "trg"):
        codes = Path(directory) / f"bpe.{side}.codes" if settings["bpe"] else None
        pipelines.append(Pipeline.load(Path(directory) / f"vocab.{side}.json", codes, settings["pretokenized"]))
    return pipelines


def save_config(directory, config):
    """Names of files may hold bytes that are no text, which JSON can escape and UTF-8 cannot."""
    write_atomically(Path(directory) / "config.json", json.dumps(config, indent=2) + "\n")


def load_config(directory):
    path = Path(directory) / "config.json"
    try:
        config = json.loads(read_text(path))
        settings = config["settings"]
        sound = isinstance(config["data"], str) and isinstance(settings["pretokenized"], bool)
        if not sound or type(settings["bpe"]) is not int:
            raise ValueError
        return config
    except (ValueError, KeyError, TypeError, RecursionError):  # also of nesting, or of numbers, without end
        raise UserError(f"{path} is damaged or not minnmt's: restore it or train again") from None
