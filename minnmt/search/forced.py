"""Forced decoding: what the network thinks of a given translation, word by word, each given the words before it.

It takes the same steps as a search, so its numbers are those that a search for this translation would have seen.
A reference may need words that its sentence's list lacks. What becomes of them is a choice: "add" them to that
sentence's list, read each of them as "unk", or "refuse". Notebook 05 looks for search errors with it.
"""

import numpy as np

from ..errors import OVERFLOW, UserError
from ..model.network import encode, next_word, previous_words
from ..nn.list_softmax import gather_lists
from ..text.batches import batches_by_length, pad
from ..text.vocab import UNK
from ..threads import threads

BATCH = 32
OUTSIDE = ("add", "unk", "refuse")


def score_translations(src_lines, trg_lines, model, selector=None, outside="add", n_threads=1):
    """Raw lines of both sides -> ln p(translation | source) of each pair, eos counted, under the selector's lists."""
    src, trg = [model.src.ids(line) for line in src_lines], [model.trg.ids(line) for line in trg_lines]
    lists = [selector.lists(*pad([sentence]))[0] for sentence in src] if selector else None
    spell = model.trg.vocab.words.__getitem__
    with np.errstate(all="ignore"):
        found = forced_log_probs(src, trg, model.params, lists, outside, n_threads, spell)
    if not all(np.isfinite(logps).all() for logps in found):
        raise UserError(OVERFLOW)
    return [float(logps.sum()) for logps in found]


def forced_steps(batch, params, words=None):
    """Yields for every target position the log-probabilities (B,V) of the word there, or (B,M) with ListedWords."""
    s, memory, _ = encode(batch.src_ids, batch.src_mask, params)
    for y in previous_words(batch.trg_ids, params.trg_embedding):
        s, logp, _ = next_word(y, s, memory, params, words)
        yield logp


def each_batch(work, src, trg, n_threads=1):
    """Call work(pair numbers, Batch) until all pairs are done, in batches of similar length."""
    batches = list(batches_by_length(src, trg, BATCH))
    with threads(min(n_threads, len(batches))) as each:
        each(lambda numbered: work(*numbered), batches)


def at_each_step(look, src, trg, params, n_threads=1):
    """Force id lists through the full softmax -> for each pair k: [look(k, logp (V)) of every step, eos's too]."""
    found = [[] for _ in trg]

    def work(chosen, batch):
        for t, logp in enumerate(forced_steps(batch, params)):
            for b, k in enumerate(chosen):
                if t <= len(trg[k]):
                    found[k].append(look(k, logp[b]))

    each_batch(work, src, trg, n_threads)
    return found


def forced_log_probs(src_sentences, trg_sentences, params, lists=None, outside="add", n_threads=1, spell=str):
    """Ids of both sides, without eos -> for each sentence the log-probabilities (T) of its words and of eos, float64.

    With `lists`, an array of ids for each sentence, ascending, with eos and UNK, its softmax runs over these alone.
    `spell` makes a word of an id, for an error.
    """
    trg = list(trg_sentences)
    if lists is not None:
        trg, lists = fit_to_lists(trg, lists, outside, spell)
    found = [None] * len(trg)

    def work(chosen, batch):
        B = len(chosen)
        words, columns = None, batch.trg_ids
        if lists is not None:
            own = [lists[i] for i in chosen]
            words = gather_lists(own, params.softmax)
            columns = np.stack([np.searchsorted(ids, batch.trg_ids[:, b]) for b, ids in enumerate(own)], axis=1)
        steps = zip(columns, forced_steps(batch, params, words))
        logps = np.array([logp[np.arange(B), column] for column, logp in steps], np.float64)  # a sum should not round
        for b, i in enumerate(chosen):
            found[i] = logps[: len(trg[i]) + 1, b]

    each_batch(work, src_sentences, trg, n_threads)
    return found


def fit_to_lists(trg_sentences, lists, outside, spell=str):
    """Make every target word one of its sentence's list -> (target sentences, lists).

    A word that is read as UNK is also fed back as UNK: the sum is the probability of what the list can write.
    """
    if outside not in OUTSIDE:
        raise ValueError(f"outside must be one of {OUTSIDE}, not {outside!r}")
    fitted_trg, fitted_lists = [], []
    for number, (trg, ids) in enumerate(zip(trg_sentences, lists), start=1):
        listed = set(ids.tolist())
        missing = [word for word in trg if word not in listed]
        if missing and outside == "refuse":
            raise UserError(
                f"line {number}: the word {spell(missing[0])} of the reference is not in the list: add such words "
                "to the lists with --outside add, or read them as unknown words with --outside unk"
            )
        if missing and outside == "add":
            ids = np.union1d(ids, missing)
        if missing and outside == "unk":
            trg = [word if word in listed else UNK for word in trg]
        fitted_trg.append(trg)
        fitted_lists.append(ids)
    return fitted_trg, fitted_lists
