"""The whole network for one batch: ids in, negative log-likelihoods and attention out, and back to gradients.

Attention weights leave as plain arrays, and the words the softmax runs over come in as an array of ids, so that
whatever counts alignments or chooses candidates lives outside: `ids` is None for all words, an array for one list
that serves the whole batch, or a list of arrays, one for each sentence. Notebook 04 teaches this file.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..nn.attention import attention_memory_forward
from ..nn.embedding import embedding_backward, embedding_forward
from ..nn.functions import dropout_backward, dropout_forward, flat
from ..nn.gru import gru_inputs_forward
from ..nn.list_softmax import list_log_softmax
from ..nn.readout import ReadoutCache, readout_backward, readout_forward
from ..nn.softmax import SoftmaxCache, log_softmax, softmax_loss_backward, softmax_loss_forward
from ..nn.start_state import StartCache, start_state_backward, start_state_forward
from .decoder import DecoderCache, decoder_backward, decoder_forward, decoder_step_forward
from .encoder import EncoderCache, encoder_backward, encoder_forward

MOST_LOGITS = 1 << 27  # that are in memory at a time (512 MB)


@dataclass
class Dropout:
    """Dropout while training: its rate, where random numbers come from. It hits the embeddings of both sides, the
    annotations and the readout."""

    rate: float
    rng: np.random.Generator | None = None

    def __call__(self, x):
        return dropout_forward(x, self.rate, self.rng)


NO_DROPOUT = Dropout(0.0)


class NetworkOutput(NamedTuple):
    nll: np.ndarray  # (B) negative log-likelihood of each sentence
    alphas: np.ndarray  # (T,S,B) attention weights


class LossPart(NamedTuple):
    """Words whose softmax is computed together."""

    rows: np.ndarray  # (R) which of the T*B words
    ids: np.ndarray | None  # (K) the candidates that compete; None for all words
    cache: SoftmaxCache | None  # None: too large to keep, so the way back computes it again


class WordLossCache(NamedTuple):
    o: np.ndarray  # (T*B,E)
    targets: np.ndarray  # (T*B)
    parts: list  # of LossPart


class NetworkCache(NamedTuple):
    src_ids: np.ndarray
    previous: np.ndarray  # (T-1,B) the target words that were fed back
    encoder: EncoderCache
    start: StartCache
    decoder: DecoderCache
    readout: ReadoutCache
    loss: WordLossCache
    dropped: dict  # dropout masks by place


def encode(src_ids, src_mask, params, dropout=NO_DROPOUT):
    """src_ids (S,B), src_mask (S,B) -> s0 (B,H), Memory, caches (encoder, start, dropout masks): (1) to (4)."""
    x, _ = embedding_forward(src_ids, params.src_embedding)
    x, drop_x = dropout(x)
    h, encoder_cache = encoder_forward(x, src_mask, params.encoder_forward, params.encoder_backward)
    h, drop_h = dropout(h)
    s0, start_cache = start_state_forward(h, src_mask, params.start)
    memory = attention_memory_forward(h, src_mask, params.attention)
    return s0, memory, (encoder_cache, start_cache, {"x": drop_x, "h": drop_h})


def previous_words(trg_ids, table):
    """trg_ids (T,B) -> embeddings (T,B,E) of the word before each position: zeros before the first."""
    y, _ = embedding_forward(trg_ids[:-1], table)
    return np.concatenate([np.zeros((1, *trg_ids.shape[1:], table.shape[1]), table.dtype), y])


def next_word(y, s, memory, params, words=None):
    """One step of a search: y (N,E) the words before, s (N,H) -> s (N,H), log-probabilities (N,V), alpha (S,N).

    With `words` (ListedWords) the log-probabilities (N,M) are over each sentence's own list.
    """
    s, o, alpha = next_readout(y, s, memory, params)
    logp = log_softmax(o, params.softmax) if words is None else list_log_softmax(o, words)
    return s, logp, alpha


def next_readout(y, s, memory, params):
    """The part of a step that comes before the softmax -> s (N,H), o (N,E), alpha (S,N)."""
    s, c, alpha, _ = decoder_step_forward(*gru_inputs_forward(y, params.decoder_gru), s, memory, params)
    o, _ = readout_forward(s, y, c, params.readout)
    return s, o, alpha


def attention_weights(batch, params):
    """batch -> alphas (T,S,B): the part of network_forward that comes before the readout, without dropout."""
    s0, memory, _ = encode(batch.src_ids, batch.src_mask, params)
    y = previous_words(batch.trg_ids, params.trg_embedding)
    return decoder_forward(y, s0, memory, params)[2]


def readouts(batch, params):
    """batch -> o (T,B,E): the part of network_forward that comes before the softmax, without dropout."""
    s0, memory, _ = encode(batch.src_ids, batch.src_mask, params)
    y = previous_words(batch.trg_ids, params.trg_embedding)
    states, contexts, _, _ = decoder_forward(y, s0, memory, params)
    return readout_forward(flat(states), flat(y), flat(contexts), params.readout)[0].reshape(*y.shape[:2], -1)


def network_forward(batch, params, ids=None, dropout=NO_DROPOUT):
    """batch (see minnmt/text/batches.py), ids: None, an array or a list of B arrays -> NetworkOutput, cache."""
    T, B = batch.trg_ids.shape
    s0, memory, (encoder_cache, start_cache, dropped) = encode(batch.src_ids, batch.src_mask, params, dropout)
    y, dropped["y"] = dropout(previous_words(batch.trg_ids, params.trg_embedding))
    states, contexts, alphas, decoder_cache = decoder_forward(y, s0, memory, params)
    o, readout_cache = readout_forward(flat(states), flat(y), flat(contexts), params.readout)
    o, dropped["o"] = dropout(o)
    nll, loss_cache = word_loss_forward(o, batch.trg_ids.reshape(-1), batch.trg_mask.reshape(-1), params.softmax, ids)
    cache = NetworkCache(
        batch.src_ids, batch.trg_ids[:-1], encoder_cache, start_cache,
        decoder_cache, readout_cache, loss_cache, dropped,
    )  # fmt: skip
    return NetworkOutput(nll.reshape(T, B).sum(axis=0), alphas), cache


def network_backward(dnll, cache, params, grads):
    """dnll (B): the gradient of each sentence's nll; adds the gradient of every parameter into grads."""
    T, B, _ = cache.decoder.y.shape
    # forward: nll = sum over the words of their losses
    do = word_loss_backward(np.tile(dnll, T), cache.loss, params.softmax, grads.softmax)
    do = dropout_backward(do, cache.dropped["o"])
    # forward: o = readout(states, y, contexts)
    dstates, dy, dcontexts = (
        d.reshape(T, B, -1) for d in readout_backward(do, cache.readout, params.readout, grads.readout)
    )
    # forward: states, contexts = decoder(y, s0, memory)
    dy_decoder, ds0, dh = decoder_backward(dstates, dcontexts, cache.decoder, params, grads)
    # forward: y = dropout(embedding of the previous words), zeros before the first
    dy = dropout_backward(dy + dy_decoder, cache.dropped["y"])
    embedding_backward(dy[1:], cache.previous, grads.trg_embedding)
    # forward: s0 = start(h), memory from h
    dh = dh + start_state_backward(ds0, cache.start, params.start, grads.start)
    dh = dropout_backward(dh, cache.dropped["h"])
    # forward: h = encoder(dropout(embedding of the source words))
    dx = encoder_backward(
        dh, cache.encoder, params.encoder_forward, params.encoder_backward,
        grads.encoder_forward, grads.encoder_backward,
    )  # fmt: skip
    embedding_backward(dropout_backward(dx, cache.dropped["x"]), cache.src_ids, grads.src_embedding)


# The loss of all words, cut into parts that fit into memory


def word_loss_forward(o, targets, mask, p, ids=None):
    """o (T*B,E), targets (T*B), mask (T*B), ids as in network_forward -> nll (T*B), 0 for padding, cache.

    Every unmasked target must be among its candidates.
    """
    nll, parts, chosen = np.zeros(len(o), o.dtype), [], list(loss_parts(mask, len(p.b), ids))
    n_logits = sum(len(rows) * (len(p.b) if own is None else len(own)) for rows, own in chosen)
    for rows, own in chosen:
        nll[rows], cache = softmax_loss_forward(o[rows], targets[rows], p, own)
        parts.append(LossPart(rows, own, cache if n_logits <= MOST_LOGITS else None))
    return nll, WordLossCache(o, targets, parts)


def word_loss_backward(dnll, cache, p, g):
    """dnll (T*B) -> do (T*B,E); adds into g. Uses up the cache."""
    o, targets, parts = cache
    do = np.zeros_like(o)
    # forward: nll[rows] = softmax loss of o[rows], part by part
    for rows, ids, kept in parts:
        softmax_cache = kept or softmax_loss_forward(o[rows], targets[rows], p, ids)[1]
        do[rows] = softmax_loss_backward(dnll[rows], softmax_cache, g)
    return do


def loss_parts(mask, n_words, ids):
    """Yields (rows, ids): words whose softmax is computed together; padding is left out.

    The words of a sentence with its own list go together, else all words; at most MOST_LOGITS logits at a time.
    """
    lists = ids if isinstance(ids, list) else [ids]
    for b, own in enumerate(lists):
        rows = b + len(lists) * np.flatnonzero(mask[b :: len(lists)])
        most = max(1, MOST_LOGITS // (n_words if own is None else len(own)))
        for start in range(0, len(rows), most):
            yield rows[start : start + most], own
