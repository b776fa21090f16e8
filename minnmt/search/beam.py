"""Beam search for one sentence, in the plainest form: the definition that batch_beam.py is compared with.

A beam has K places. At each step every live hypothesis is extended by every word, the best extensions take the
places that are left, and those that end in eos leave the beam for good (their place is not filled again). The search
is over when no hypothesis is live, or none that could still win: a sum of log-probabilities only falls, so
sum / longest_length^penalty is the most a live hypothesis can reach. A hypothesis that has grown to the longest length
allowed may only end.

    score = sum_t log p_t / length^penalty   (17)  eos counted

Left out: batches and speed (batch_beam.py, fast.py). Notebook 05 draws the search as a tree.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..model.network import encode, next_word
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

    def score(self, logp, length):
        """(17); `length` with eos."""
        return logp / length**self.length_penalty


class Hypothesis(NamedTuple):
    """A finished translation."""

    ids: list  # without eos
    score: float  # normalised by length
    logp: float  # sum of log-probabilities
    alpha: np.ndarray | None  # (T,S) attention of every word, eos included, if it was asked for


@dataclass
class Beginning:
    """A translation on its way; with eos as its last word it has ended."""

    ids: list
    logp: float  # sum of log-probabilities
    s: np.ndarray  # (1,H) the decoder's state before its next word
    alphas: list  # attention (S) of each word

    @property
    def ended(self):
        return self.ids[-1:] == [EOS]


def beam_search(src, params, settings, ids=None):
    """src: the ids of one sentence, without eos -> a list of Hypothesis, best first.

    With `ids`, target ids, ascending and with eos, it is translated with these words alone (21).
    """
    found = [finished(h, settings) for h in ended_hypotheses(src, params, settings, ids)]
    return sorted(found, key=lambda h: -h.score)[: settings.n_best]  # equal ones in the order in which they ended


def ended_hypotheses(src, params, settings, ids=None):
    """-> the Beginnings that had ended when the search was over, more than the n best perhaps, in that order."""
    s0, memory, _ = encode(*pad([src]), params)
    words = None if ids is None else gather_lists([ids], params.softmax)
    longest = settings.longest(src)
    live, ended = [Beginning([], 0.0, s0, [])], []
    while could_win(live, ended, longest, settings):
        best = extend(live, memory, params, words, longest, settings.beam - len(ended))
        ended += [h for h in best if h.ended]
        live = [h for h in best if not h.ended]
    return ended


def could_win(live, ended, longest, settings):
    """Is there a live hypothesis that may still be among the n best?"""
    scores = sorted((settings.score(h.logp, len(h.ids)) for h in ended), reverse=True)
    needed = scores[settings.n_best - 1] if len(scores) >= settings.n_best else -np.inf
    return any(settings.score(h.logp, longest + 1) > needed for h in live)


def extend(live, memory, params, words, longest, n_free):
    """Every live hypothesis by every word -> the best of these, as many as there are free places, best first."""
    steps = [take_step(h, memory, params, words, longest) for h in live]
    return best_extensions(live, steps, words, n_free)


def best_extensions(live, steps, words, n_free):
    """What each live hypothesis came to (see take_step) -> the best extensions, best first.

    Ties go to the earlier hypothesis, then to the lower word.
    """
    totals = np.array([h.logp + logps for h, (_, logps, _) in zip(live, steps)])
    best = []
    for place in best_places(totals.reshape(-1), n_free):
        n, column = np.unravel_index(place, totals.shape)
        h, (s, _, alpha), word = live[n], steps[n], column if words is None else words.ids[0, column]
        if np.isfinite(totals[n, column]):
            best.append(Beginning([*h.ids, int(word)], float(totals[n, column]), s, [*h.alphas, alpha]))
    return best


def best_places(values, n):
    """Where the n largest numbers are, best first; ties go to the earlier place."""
    n = min(n, len(values))
    places = np.flatnonzero(values >= np.partition(values, -n)[-n])  # sorting all would take longer than the network
    return places[np.argsort(-values[places], kind="stable")][:n]


def take_step(h, memory, params, words, longest):
    """-> the next state (1,H), log-probabilities (V) of what may follow, or (K) over the list, attention (S)."""
    s, logps, alpha = next_word(last_word(h, params), h.s, memory, params, words)
    return s, allowed(h, logps[0], longest), alpha[:, 0]


def last_word(h, params):
    """-> its embedding (1,E), zeros before the first."""
    return params.trg_embedding[h.ids[-1:]] if h.ids else np.zeros_like(params.trg_embedding[:1])


def allowed(h, logps, longest):
    """Log-probabilities (V), or (K) over a list -> the same, in float64, with eos alone if h has to end."""
    logps = logps.astype(np.float64)  # a long sum in float32 would round close rivals together
    if len(h.ids) == longest:
        logps[EOS + 1 :] = -np.inf  # eos is the first word of all, and of every list
    return logps


def finished(h, settings):
    """A Beginning that has ended -> Hypothesis."""
    alpha = np.array(h.alphas) if settings.keep_attention else None
    return Hypothesis(h.ids[:-1], settings.score(h.logp, len(h.ids)), h.logp, alpha)
