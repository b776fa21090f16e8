"""What is measured of a model: translation quality with a list, speed of decoding, speed of updates."""

from functools import partial

import numpy as np

from ...report.scores import METRICS, all_scores
from ...search.beam import SearchSettings
from ...search.fast import FastEngine
from ...search.translate import Translator
from ...text.batches import epoch_order
from ...text.parallel import encode_pairs
from ...text.vocab import UNK
from ...threads import threads, tuned
from ...train.dynamic import BatchWords, EpochWords
from ...train.updates import Updater
from ..timing import interleave

BATCH = 16  # sentences, where speed in batches is measured
UPDATES = 5  # a repeat


def quality(model, split, selector, n_threads, replacer=None, metrics=tuple(METRICS)):
    """Translate the split -> {"bleu", "ter", "chrf", "signatures", "list", "candidates", "lines"}.

    "list" and "candidates", words per sentence and words per source unit, are None without a selector; "lines" are the
    translations.
    """
    settings = SearchSettings(keep_attention=replacer is not None)
    more = {"selector": selector, "replacer": replacer, "precision": "float32"}  # the same on every processor
    found = Translator(model, settings, n_threads=n_threads, **more).translate(split.src)
    lines = [t.best for t in found]
    scores = all_scores(lines, split.trg, metrics)
    result = {s.key: s.value for s in scores}
    result |= {"signatures": {s.key: s.signature for s in scores}, "lines": lines}
    real = [t for t in found if t.src_units]
    sizes = {
        "list": float(np.mean([t.list_size for t in real])),
        "candidates": float(np.mean([t.list_size / len(t.src_units) for t in real])),
    }
    return {**result, **(sizes if selector else {"list": None, "candidates": None})}


def unknown_share(split, model):
    """{"src", "trg"}: % of the words and punctuation marks of a text that the vocabularies lack."""
    found = {}
    for key, side, lines in (("src", model.src, split.src), ("trg", model.trg, split.trg)):
        ids = [i for line in lines for i in side.ids(line)]
        found[key] = 100 * ids.count(UNK) / max(len(ids), 1)
    return found


def decoding_seconds(model, lines, selectors, repeats, n_threads, replacer=None):
    """Decode the lines in turns with every selector {name: selector, or None for all words}.

    -> {name: {"alone": seconds of each repeat, "batches" and "float32": the same}}: one sentence at a time, BATCH at a
    time, and one at a time with products in float32. Choosing the lists is part of the time, and so are the products
    of words, when a run meets them first.
    """
    settings, cases = SearchSettings(keep_attention=replacer is not None), {}
    engine, exact = FastEngine(model.params), FastEngine(model.params, "float32")
    alone, together = [[line] for line in lines], [lines]

    def decode(translator, parts):
        translator.engine.forget_words()
        for part in parts:
            translator.translate(part)

    for name, selector in selectors.items():
        for how, size, own, parts in (
            ("alone", 1, engine, alone), ("batches", BATCH, engine, together), ("float32", 1, exact, alone),
        ):  # fmt: skip
            translator = Translator(model, settings, size, n_threads, selector, replacer, own)
            cases[name, how] = partial(decode, translator, parts)
    found = interleave(cases, repeats)
    return {name: {how: found[name, how].seconds for how in ("alone", "batches", "float32")} for name in selectors}


def update_words_per_second(model, settings, split, counts_selector, repeats):
    """Updates in turns with a softmax over all words, over one list per batch, over one list per pair.

    -> {"off", "batch", "epoch": target words per second of each repeat; "words per update": target words of an update
    on average}. The model's parameters change.
    """
    src, trg = encode_pairs(split, model.src, model.trg, settings.max_train_length)
    words_per_update = settings.batch_size * float(np.mean([len(ids) + 1 for ids in trg]))
    order = epoch_order(src, trg, settings.batch_size, settings.pool, np.random.default_rng(1))[:UPDATES]
    used = np.unique(np.concatenate(order))
    place = {int(k): i for i, k in enumerate(used)}
    src, trg = [src[k] for k in used], [trg[k] for k in used]
    order = [[place[int(k)] for k in chosen] for chosen in order]
    choices = {"off": lambda *_: None, "batch": BatchWords, "epoch": EpochWords}

    def updates(choose):
        updater.words = choose(counts_selector, src, trg)  # the lists of all pairs, or nothing yet
        for chosen in order:
            updater.update(updater.shares(chosen), 1e-5)

    with tuned(huge=True), threads(settings.threads) as map:
        updater = Updater(model.params, src, trg, settings, map=map)
        found = interleave({name: partial(updates, choose) for name, choose in choices.items()}, repeats)
    n_words = sum(len(trg[k]) + 1 for chosen in order for k in chosen)
    speeds = {name: (n_words / np.array(timed.seconds)).tolist() for name, timed in found.items()}
    return {**speeds, "words per update": words_per_update}
