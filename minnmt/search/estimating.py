"""What all words say of rows that were drafted with lists, at a fraction of the cost: an estimate, and how good it is.

A draft knows the words of its list to the last digit. The others are needed for two things only. One of them may be
among the best; and together they take away from the list's probabilities,

    p(word) = p(word over the list) / (1 + outside / inside)   (29)

inside and outside being the sums of exp(logit) over the list and over all other words. Where lists are good, outside is
small, so a rough idea of it will do. Its logits are made in 8 bits; those of the heaviest are computed again.

The error of rounding can be estimated. The weights of a word v are off by at most scale_v / 2, in either direction,
independently of other words: its logit deviates by |o| scale_v / sqrt(12). A readout's numbers are off by at most
scale_o / 2, which may move the logits of many words together, by |w_v| scale_o / sqrt(12). So log p deviates by

    (|o| sqrt(sum_v (scale_v weight_v)^2) + scale_o sum_v |w_v| weight_v) / sqrt(12) / (1 + outside / inside)   (30)

with weight_v = exp(logit_v) / inside, over the words that were not computed again; for |w_v| stands scale_v times the
length of the longest row. Where this is too large, the residues of both are multiplied as well. Where the list is so
poor that float32 cannot say, the deviation is infinite. Notebook 11.
"""

from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from . import fast
from .desks import ALONE, cleared, estimating_desk
from .packed import Output, round_rows
from .stages import word_logits

MOST_ROWS = 20  # that are estimated at a time: their logits should stay in the cache
MORE_WORDS = 26  # outside the list that are computed again, besides as many as are asked for
SURE = 6.0  # standard deviations: beyond them nothing is expected
ROUGH = 2e-6  # a larger deviation of a log-probability asks for finer weights
RUN = 256  # neighbours whose largest logit and largest scale bound them all
FINEST = 1 / 254  # of a deviation, with them
MOST = 80.0  # of logits above inside that exp is asked for
LARGE = 1e12  # outside above it, or a word of the list with a log-probability below LEAST: float32 has too few digits
LEAST = -1000.0


class Listed(NamedTuple):
    """What a draft knows of R rows."""

    owner: np.ndarray  # (R) the sentence of each
    ids: np.ndarray  # (B,M) the list of each sentence, filled up
    sizes: np.ndarray  # (B)
    best: np.ndarray  # (R) a word of the list
    logps: np.ndarray  # (R) its log-probability over the list


class Layer(NamedTuple):
    """The output layer, as it is and in 8 bits."""

    w: np.ndarray  # (V,E)
    bias: np.ndarray  # (V)
    rough: Output  # all words, in 8 bits
    finer: Output  # what rounding has left of them, in 8 bits
    longest: np.float32  # the length of the longest row of `rough`, in whole numbers


class Estimates:
    """What all words say, for an engine in float32 that has a preview in 8 bits."""

    def __init__(self, engine, n, team):
        rows, (finer, longest), self.n = engine.packed.softmax, engine.finer_preview, n
        self.layer = Layer(rows.w, rows.bias, engine.preview.all_words(1), finer.all_words(1), longest)
        self.team = team if engine.preview.w.nbytes >= fast.WORTH_HELP else ALONE
        self.n_found = min(n + MORE_WORDS, len(rows.bias))
        self.desk = estimating_desk(MOST_ROWS, self.n_found, self.layer.rough, rows.w.shape[1], self.team.n_threads)

    def best_words(self, o, ending, best, logps, listed):
        """Readouts (R,E); ending (R), which may only end; the n best words of their lists (R,n), logps (R,n); Listed.

        -> the n best of all words (R,n), their log-probabilities (R,n); the variance (R) of these, infinite if they
        cannot be trusted; which of these words are of the list (R,n).
        """
        words, found, unseen, rest, deviation = self.beyond(o, listed)
        outside = rest + np.exp(np.minimum(found, MOST), dtype=np.float64).sum(axis=1)
        found = np.where(ending[:, None], -np.inf, found)
        words, more = np.concatenate([best, words], axis=1), np.concatenate([logps, found], axis=1)
        order = np.argsort(-more, axis=1, kind="stable")[:, : self.n]  # those of the list keep their order
        words, more = (np.take_along_axis(array, order, axis=1) for array in (words, more))
        seen = ending | (unseen < more[:, -1]) | (unseen == -np.inf)
        trusted = seen & (deviation < np.inf) & (outside < LARGE) & (listed.logps > LEAST)
        variance = np.where(trusted, deviation.astype(np.float64) ** 2, np.inf)
        outside = np.where(outside < LARGE, outside, LARGE)
        return words, more - np.log1p(outside)[:, None], variance, order < best.shape[1]  # (29)

    def beyond(self, o, listed):
        """As beyond_lists, of any number of rows."""
        desk, parts = cleared(self.desk), []
        with self.team.helping("checking.help_estimating", listed.ids, listed.sizes, self.layer, desk):
            for start in range(0, len(o), MOST_ROWS):
                part = slice(start, start + MOST_ROWS)
                of = listed._replace(owner=listed.owner[part], best=listed.best[part], logps=listed.logps[part])
                parts.append([array.copy() for array in beyond_lists(o[part], of, self.layer, self.n_found, desk)])
        return [np.concatenate(arrays) for arrays in zip(*parts)]


@compiled("checking.beyond_lists")
def beyond_lists(o, listed, layer, n, desk=None):
    """Readouts (R,E), Listed, Layer -> words (R,n), logits (R,n), unseen (R), weights (R), deviation (R).

    The n heaviest words outside the lists, and their logits, computed again; of all others, what no logit is above, and
    the sum of the weights; the deviation of log-probabilities. Logits are relative to the logarithm of inside, weights
    to inside. Missing words have a logit of -inf. The desk is for the compiled one, whose results lie on it until the
    next call.
    """
    w, bias, rough, finer, longest = layer
    everybody = np.zeros(len(o), np.int64)
    inside = np.einsum("re,re->r", o, w[listed.best]) + bias[listed.best] - listed.logps
    logits = word_logits(o, everybody, rough) - inside[:, None]
    for row, b in zip(logits, listed.owner):
        row[listed.ids[b, : listed.sizes[b]]] = -np.inf
    words = np.argsort(-logits, axis=1, kind="stable")[:, :n]
    there = np.take_along_axis(logits, words, axis=1) > -np.inf
    again = np.einsum("re,rne->rn", o, w[words]) + bias[words] - inside[:, None]
    words, again = np.where(there, words, 0), np.where(there, again, -np.inf)
    for row, own in zip(logits, (own[has] for own, has in zip(words, there))):
        row[own] = -np.inf
    rounded, scale = round_rows(o, rough.weights.levels)
    rest = o - scale[:, None] * rounded
    own, common = np.sqrt((o * o).sum(axis=1) / 12), scale * longest / 12**0.5  # deviations of a logit, by its scale
    runs = np.arange(0, logits.shape[1], RUN)
    reach = SURE * np.hypot(own, common)[:, None] * np.maximum.reduceat(rough.weights.scale, runs)
    unseen = (np.maximum.reduceat(logits, runs, axis=1) + reach).max(axis=1)
    found = 1 + np.exp(np.minimum(again, MOST)).sum(axis=1)
    weights, deviation = weigh(logits, rough.weights.scale, own, common, found)
    rows = np.flatnonzero(~(deviation <= ROUGH))
    logits[rows] += word_logits(rest[rows], everybody[rows], rough) - rough.weights.bias
    logits[rows] += word_logits(o[rows], everybody[rows], finer)
    own = np.hypot(FINEST * own, np.sqrt((rest * rest).sum(axis=1) / 12))[rows]
    given = logits[rows], rough.weights.scale, own, FINEST * common[rows], found[rows]
    weights[rows], deviation[rows] = weigh(*given)
    return words, again, unseen, weights, deviation


def weigh(logits, scale, own, common, found):
    """Logits (R,V), scales (V), deviations (R) of a logit by its scale, 1 + the weight of words that are known (R).

    -> the sum of weights (R), the deviation of log-probabilities (R).
    """
    weights = np.exp(np.minimum(logits, MOST))
    total = weights.sum(axis=1)
    with np.errstate(over="ignore", invalid="ignore"):
        deviation = own * np.sqrt(((scale * weights) ** 2).sum(axis=1)) + common * (scale * weights).sum(axis=1)  # (30)
        return total, np.where(total < LARGE, deviation / (found + total), np.inf).astype(logits.dtype)
