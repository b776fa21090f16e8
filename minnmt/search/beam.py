"""Beam search for a batch of sentences, all hypotheses of all sentences in one array program.

A beam has K places. At each step every live hypothesis is extended by every word, the best extensions take the
places that are left, and those that end in eos leave the beam for good (their place is not filled again). A sentence
is done when it has no live hypothesis, or none that could still win: a sum of log-probabilities only falls, so
sum / longest_length^penalty is the most a live hypothesis can reach. Done sentences leave the batch. A hypothesis
that has grown to the longest length allowed may only end.

Scores are sum of log-probabilities / length^penalty, eos counted. They do not depend on the other sentences of the
batch, up to the rounding of float32 (about 1e-6). Notebook 05 draws the search as a tree.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..model.network import encode, next_word
from ..nn.attention import Memory
from ..nn.list_softmax import gather_lists
from ..text.batches import pad
from ..text.vocab import EOS


@dataclass
class SearchSettings:
    """How to search; max_length None means 2 * source length + 10 words."""

    beam: int = 5
    length_penalty: float = 1.0
    max_length: int | None = None
    n_best: int = 1
    keep_attention: bool = False

    def longest(self, src):
        """The most words that a translation of the ids `src` may have, eos not counted."""
        return 2 * len(src) + 10 if self.max_length is None else self.max_length


class Hypothesis(NamedTuple):
    """A finished translation."""

    ids: list  # without eos
    score: float  # normalised by length
    logp: float  # sum of log-probabilities
    alpha: np.ndarray | None  # (T,S) attention of every word, eos included, if it was asked for


class Ended(NamedTuple):
    """A hypothesis that has left the beam."""

    score: float
    logp: float
    step: int  # when it chose eos
    place: int  # where in the beam it stood then


class Trace(NamedTuple):
    """One step of the search for all sentences of the batch; rows of sentences that are done stay unused."""

    parents: np.ndarray  # (B,K) place in the beam one step before
    words: np.ndarray  # (B,K)
    alpha: np.ndarray | None  # (B,K,S) attention when the word was chosen, by the place one step before


def beam_search(sentences, params, settings, lists=None):
    """sentences: B lists of source ids without eos -> B lists of Hypothesis, best first.

    With `lists`, B arrays of target ids, ascending and with eos, each sentence is translated with its words alone.
    """
    B, K = len(sentences), settings.beam
    s0, memory, _ = encode(*pad(sentences), params)
    listed = None if lists is None else gather_lists(lists, params.softmax)
    longest = np.array([settings.longest(src) for src in sentences])
    ended = [[] for _ in range(B)]
    trace = []

    active = np.arange(B)  # the sentences still searched; row a*K + k belongs to place k of sentence active[a]
    memory = Memory(*(np.repeat(array, K, axis=1) for array in memory))
    s = np.repeat(s0, K, axis=0)
    y = np.zeros((B * K, params.trg_embedding.shape[1]), s.dtype)
    logps = np.full((B, K), -np.inf)  # float64: a long sum in float32 would round close rivals together
    logps[:, 0] = 0  # all hypotheses are still the same empty one: only one of them counts
    for t in range(int(longest.max()) + 1):
        s, y_logp, alpha = next_word(y, s, memory, params, listed)
        _only_eos(y_logp, np.repeat(longest[active] == t, K))
        free = np.array([K - len(ended[b]) for b in active])
        parents, words, logps = _best_extensions(logps, y_logp, free)
        if listed is not None:
            words = np.take_along_axis(listed.ids, words, axis=1)
        trace.append(_record(B, active, parents, words, alpha if settings.keep_attention else None))
        _collect(ended, active, words, logps, t, settings.length_penalty)
        logps[words == EOS] = -np.inf
        going = _could_win(ended, active, logps, longest, settings)
        if not going.any():
            break
        rows = (np.arange(len(active))[:, None] * K + parents)[going].reshape(-1)
        if not going.all():
            kept = np.flatnonzero(np.repeat(going, K))
            memory = Memory(*(array.take(kept, axis=1) for array in memory))  # contiguous, as the kernels like it
            listed = listed and listed.keep(going)
        active, logps, words = active[going], logps[going], words[going]
        s, y = s[rows], params.trg_embedding[words.reshape(-1)]
    return [
        [_follow(b, e, trace, len(sentences[b]) + 1) for e in _best_first(ended[b])[: settings.n_best]]
        for b in range(B)
    ]


def _only_eos(y_logp, rows):
    """Leave the rows that have reached their longest length no word but eos, the first of every list."""
    if rows.any():
        y_logp[rows, :EOS] = -np.inf
        y_logp[rows, EOS + 1 :] = -np.inf


def _best_extensions(logps, y_logp, free):
    """logps (A,K), y_logp (A*K,V), free places (A) -> parents, words, logps, all (A,K), best first.

    Places beyond the free ones get -inf. Ties go to the earlier hypothesis, then to the lower word.
    """
    A, K = logps.shape
    words, values = _best_words(y_logp, K)
    n = words.shape[1]
    total = (logps[:, :, None] + values.reshape(A, K, n)).reshape(A, K * n)
    best = np.argsort(-total, axis=1, kind="stable")[:, :K]
    total = np.take_along_axis(total, best, axis=1)
    total[np.arange(K) >= free[:, None]] = -np.inf
    return best // n, np.take_along_axis(words.reshape(A, K * n), best, axis=1), total


def _best_words(y_logp, K):
    """y_logp (N,V) -> the min(K,V) best words of every row and their values, best first, ties to the lower word."""
    N, V = y_logp.shape
    n = min(K, V)
    worst_kept = np.partition(y_logp, V - n, axis=1)[:, V - n]
    rows, words = np.nonzero(y_logp >= worst_kept[:, None])
    values = y_logp[rows, words]
    order = np.lexsort((-values, rows))  # by row, then by value; equal values stay in the order of the words
    first = np.searchsorted(rows, np.arange(N))
    chosen = order[first[:, None] + np.arange(n)]
    return words[chosen], values[chosen]


def _record(B, active, parents, words, alpha):
    """Spread one step's choices over all B sentences of the batch."""
    K = parents.shape[1]
    full = Trace(
        np.zeros((B, K), int),
        np.zeros((B, K), int),
        None if alpha is None else np.zeros((B, K, len(alpha)), alpha.dtype),
    )
    full.parents[active], full.words[active] = parents, words
    if alpha is not None:
        full.alpha[active] = alpha.T.reshape(len(active), K, -1)
    return full


def _collect(ended, active, words, logps, t, penalty):
    """Move the hypotheses that chose eos at step t out of the beam."""
    for a, k in zip(*np.nonzero(np.isfinite(logps) & (words == EOS))):
        logp = float(logps[a, k])
        ended[active[a]].append(Ended(logp / (t + 1) ** penalty, logp, t, int(k)))


def _could_win(ended, active, logps, longest, settings):
    """Which active sentences have a live hypothesis that may still be among their n best."""
    best_live = logps.max(axis=1)
    reachable = best_live / (longest[active] + 1.0) ** settings.length_penalty
    n = settings.n_best
    needed = [_best_first(ended[b])[n - 1].score if len(ended[b]) >= n else -np.inf for b in active]
    return np.isfinite(best_live) & (reachable > needed)


def _best_first(ended):
    return sorted(ended, key=lambda e: -e.score)


def _follow(b, end, trace, n_src):
    """Walk from eos back to the first word -> Hypothesis."""
    ids, alphas, place = [], [], end.place
    for step in reversed(trace[: end.step + 1]):
        ids.append(int(step.words[b, place]))
        place = step.parents[b, place]
        if step.alpha is not None:
            alphas.append(step.alpha[b, place, :n_src])
    return Hypothesis(ids[:0:-1], end.score, end.logp, np.array(alphas[::-1]) if alphas else None)
