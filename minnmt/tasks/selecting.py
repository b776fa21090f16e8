"""Making what selectors need, from a model and its text: counts of phrases, the neural selector's layer, a screen."""

from dataclasses import replace
from functools import partial

import numpy as np

from ..align.counts import Counts
from ..align.phrases import PhraseAccumulator
from ..errors import OVERFLOW, UserError
from ..model.network import readouts
from ..model.parameters import zeros_like
from ..nn.functions import add_rows
from ..nn.selection import Selection, needed_loss, selection_backward, selection_forward
from ..nn.softmax import log_softmax
from ..search.neural_selector import annotations
from ..search.screen import Screen, nearest
from ..text.batches import make_batch
from ..text.parallel import encode_pairs
from ..text.vocab import EOS
from ..threads import threads
from ..train.adam import Adam
from ..train.attention_pass import frozen_counts
from ..train.loop import seeded_order

LEARNING_RATE = 0.002
EPOCHS = 3
BATCH = 16  # sentences: the scores of all words at all their positions are in memory, one sentence per thread
SHARES = 4  # of a batch, which threads take over; always as many, so that the sums do not depend on the threads
WEIGHT = 5.0  # of a word that is needed
READOUTS = 200_000  # that a screen is made from
GROUPS, ROUNDS = 100, 15  # of them, and of k-means
BEST = 5  # words of a readout that its group should have
BLOCK = 500  # readouts whose logits are in memory


def count_phrases(model, split, settings, status):
    """One pass over the text, forward only -> PhraseCounts."""
    src, trg = encode_pairs(split, model.src, model.trg, settings.max_train_length)
    phrases = PhraseAccumulator(len(model.src.vocab), len(model.trg.vocab))
    try:
        frozen_counts(model.params, src, trg, settings, [phrases], status)
    finally:
        status.clear()
    return phrases.counts({"method": "attention of phrases", "threshold": phrases.threshold, "pairs": len(src)})


def train_selection(model, split, settings, status, epochs=EPOCHS):
    """Train the layer on the text, the model as it is -> Selection, the loss of each epoch."""
    src, trg = encode_pairs(split, model.src, model.trg, settings.max_train_length)
    layer = first_selection(model.params, trg, np.random.default_rng(settings.seed))
    adam, losses = Adam.for_parameters(layer), []
    with threads(settings.threads) as spread:
        for epoch in range(1, epochs + 1):
            order = list(seeded_order(src, trg, replace(settings, batch_size=BATCH), epoch))
            status.start_epoch(epoch, epochs, len(order))
            total = 0.0
            for chosen in order:
                parts = [chosen[i::SHARES] for i in range(min(SHARES, len(chosen)))]
                batches = [make_batch([src[i] for i in part], [trg[i] for i in part]) for part in parts]
                loss, grads = shared_gradient(batches, model.params, layer, spread)
                if not np.isfinite(loss):
                    raise UserError(OVERFLOW)
                adam.update(layer, grads, LEARNING_RATE / (1 + len(losses)))
                total += loss
                status.update(loss, int(sum(batch.trg_mask.sum() for batch in batches)))
            losses.append(total / len(src))
            status.clear()
            status.line(f"epoch {epoch}: loss {losses[-1]:.2f} per sentence")
    return layer, losses


def first_selection(params, trg, rng):
    """A Selection that begins with how many sentences a word is in."""
    (V, E), C = params.softmax.W.shape, len(params.attention.v)
    n_with = np.bincount(np.concatenate([np.unique([*ids, EOS]) for ids in trg]).astype(int), minlength=V)
    share = (n_with + 0.5) / (len(trg) + 1)
    limit = np.sqrt(6 / (C + E))
    P = rng.uniform(-limit, limit, (C, E)).astype(np.float32)
    return Selection(P, np.zeros(E, np.float32), np.log(share / (1 - share)).astype(np.float32))


def shared_gradient(batches, params, layer, spread):
    """Batches, a map that may use threads -> the loss, summed over all sentences; the gradient of its mean."""
    losses, found = zip(*spread(partial(selection_gradient, params=params, layer=layer), batches))
    n_sentences = sum(batch.src_ids.shape[1] for batch in batches)
    grads = Selection(*(sum(arrays) / np.float32(n_sentences) for arrays in zip(*(vars(g).values() for g in found))))
    return sum(losses), grads


def selection_gradient(batch, params, layer):
    """A Batch -> the loss, summed over its sentences, and its gradient, a Selection."""
    h = annotations(batch.src_ids, batch.src_mask, params)
    z, cache = selection_forward(h, batch.src_mask, params.softmax.W, layer)
    needed = np.zeros_like(z)
    for b in range(len(z)):
        needed[b, batch.trg_ids[batch.trg_mask[:, b] > 0, b]] = 1
    loss, dz = needed_loss(z, needed, WEIGHT)
    grads = zeros_like(layer)
    selection_backward(dz, cache, params.softmax.W, grads)
    return float(loss.sum()), grads


# A screen


def make_screen(model, split, settings, status, n_groups=GROUPS):
    """Readouts of the text, grouped, and the words that the full softmax finds best for them -> Screen."""
    params, rng = model.params, np.random.default_rng(settings.seed)
    o = some_readouts(model, split, settings, rng, status)
    centres = k_means(o, min(n_groups, len(o)), rng)
    screen = Screen(centres, Counts.empty(len(centres), len(params.softmax.b)), np.zeros(len(centres), np.int64))
    groups = screen.groups(o)
    best = np.concatenate([best_of(log_softmax(part, params.softmax)) for part in blocks(o)])
    pairs = np.stack([np.repeat(groups, best.shape[1]), best.reshape(-1)])
    cells, n = np.unique(pairs, axis=1, return_counts=True)
    counts = Counts.from_cells(*cells, n, len(centres), len(params.softmax.b))
    return replace(screen, counts=counts, n_readouts=np.bincount(groups, minlength=len(centres)))


def some_readouts(model, split, settings, rng, status):
    """-> o (N,E), of sentences drawn from the text."""
    src, trg = encode_pairs(split, model.src, model.trg, settings.max_train_length)
    order, found, n = rng.permutation(len(src)), [], 0
    status.start_epoch(1, 1, len(range(0, len(order), settings.batch_size)))
    for start in range(0, len(order), settings.batch_size):
        chosen = order[start : start + settings.batch_size]
        batch = make_batch([src[i] for i in chosen], [trg[i] for i in chosen])
        found.append(readouts(batch, model.params)[batch.trg_mask > 0])
        status.update(None, len(found[-1]))
        n += len(found[-1])
        if n >= READOUTS:
            break
    status.clear()
    o = np.concatenate(found)[:READOUTS]
    if not np.isfinite(o).all():
        raise UserError(OVERFLOW)
    return o


def k_means(o, n_groups, rng):
    """o (N,E) -> centres (G,E): each is the mean of the rows that it is nearest to, or nearly so."""
    centres = o[rng.choice(len(o), n_groups, replace=False)]
    for _ in range(ROUNDS):
        groups = nearest(o, centres)
        n = np.bincount(groups, minlength=n_groups)
        sums = np.zeros_like(centres)
        add_rows(o, groups, sums)
        lost = n == 0  # a centre that nothing is near to begins anew
        centres = np.where(lost[:, None], o[rng.choice(len(o), n_groups)], sums / np.maximum(n, 1)[:, None])
        centres = centres.astype(o.dtype)
    return centres


def best_of(logp):
    """logp (N,V) -> (N,BEST), the words with the highest; fewer if there are no more."""
    n = min(BEST, logp.shape[1])
    return np.argpartition(-logp, n - 1)[:, :n].copy()  # or all of it would stay in memory


def blocks(rows):
    return (rows[i : i + BLOCK] for i in range(0, len(rows), BLOCK))
