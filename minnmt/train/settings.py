"""Every setting of a training run, with its default; config.json in the run's directory holds them."""

from dataclasses import dataclass

from ..errors import UserError


@dataclass
class Settings:
    """All that decides the outcome of training. None for `src` means the embedded corpus."""

    src: str | None = None
    trg: str | None = None
    dev_src: str | None = None
    dev_trg: str | None = None
    test_src: str | None = None
    test_trg: str | None = None
    pairs: int = 0  # the first so many pairs of every text; 0 = all

    bpe: int = 4000  # merges on each side; 0 = words
    vocab_size: int = 0  # 0 = all
    shared: bool = False
    pretokenized: bool = False
    max_train_length: int = 100  # longer pairs (in units) are left out of training

    embedding: int = 128
    hidden: int = 192
    init: str = "glorot"
    dropout: float = 0.1

    batch_size: int = 64
    pool: int = 50  # batches that are sorted by length together
    learning_rate: float = 0.002
    clip: float = 1.0
    adam: str = "dense"  # or "sparse": embeddings and listed words without a gradient rest (minnmt/train/adam.py)
    epochs: int = 5
    patience: int = 4  # epochs without a better dev BLEU before training stops
    halve_after: int = 1  # epochs without a better dev BLEU before the learning rate is halved
    seed: int = 1
    align_from_epoch: int = 2  # attention is counted from this epoch on; 0 = never
    align_threshold: float = 0.1  # only weights above it are counted
    dynamic_vocab: int = 0  # candidates a source word for the softmax of training; 0 = all words
    dynamic_lists: str = "batch"  # a list for each batch, or "epoch": one for each pair, chosen as the epoch starts
    threads: int = 2  # that share a batch; part of the settings, because rounding depends on it

    @classmethod
    def from_config(cls, config):
        """The settings in a run's config.json."""
        try:
            return cls(**config["settings"])
        except TypeError as error:
            raise UserError(
                f"config.json was written by another version of minnmt ({error}): train again, or use that version"
            ) from None
