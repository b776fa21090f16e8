"""Beam search for a batch of sentences, all live hypotheses of all sentences in one array program.

It finds what beam.py, which is to be read first, finds for each sentence. A row is a live hypothesis, and the rows of
a sentence are neighbours. Rows that have ended, and those of sentences that are done, leave the batch. Which words were
chosen is kept step by step; a translation is read backwards from its eos when the search is over.

Translations and scores do not depend on the other sentences of the batch, to the last bit. The network's steps are the
engine's (fast.py), in 8 bits approximately those of beam.py. Notebook 08.
"""

from itertools import count
from typing import NamedTuple

import numpy as np

from ..text.vocab import EOS
from .beam import Hypothesis
from .desks import ALONE
from .fast import FastSteps

NO_WORD = -1  # what comes before the first


class Trace(NamedTuple):
    """One step of the search: the extensions that were chosen, a row each, those of one sentence side by side."""

    origins: np.ndarray  # (R) the row that each continues, in the Trace of the step before
    words: np.ndarray  # (R)
    alpha: np.ndarray | None  # (R,S) attention when the word was chosen


class Ended:
    """The hypotheses that have left their beams."""

    def __init__(self, n_sentences, settings):
        self.settings = settings
        self.scores = np.full((n_sentences, settings.beam), -np.inf)  # best last
        self.n = np.zeros(n_sentences, int)
        self.found = []  # (sentence, -score, step, row, logp): sorted, the best of a sentence comes first

    def add(self, sentence, logps, step, rows):
        """Rows of one step that chose eos; `sentence` (R) and `logps` (R) of each."""
        scores = self.settings.score(logps, step + 1)
        for b, score, row, logp in zip(sentence.tolist(), scores.tolist(), rows.tolist(), logps.tolist()):
            self.found.append((b, -score, step, row, logp))
            self.scores[b, 0] = score  # a place that is still -inf: there are as many as places in the beam
            self.scores[b].sort()
            self.n[b] += 1

    def needed(self):
        """The score (B) that a hypothesis must exceed to be among its sentence's n best."""
        return self.scores[:, -self.settings.n_best]


def batch_beam_search(sentences, engine, settings, lists=None, team=ALONE):
    """sentences: B lists of source ids without eos -> B lists of Hypothesis, best first.

    With `lists`, B arrays of target ids, ascending and with eos, each sentence is translated with its words alone. The
    threads of the team help.
    """
    steps = FastSteps(engine, sentences, lists, settings.beam, team)
    with steps.helped():
        ended, trace = search(steps, sentences, settings)
    return _hypotheses(ended, trace, sentences)


def search(steps, sentences, settings):
    """FastSteps of the sentences -> Ended, and a Trace of every step."""
    B, K = len(sentences), settings.beam
    longest = np.array([settings.longest(src) for src in sentences])
    ended, trace = Ended(B, settings), []

    # a row is a live hypothesis; each sentence begins with one, the empty one
    sentence = parents = origins = np.arange(B)
    words, logps = np.full(B, NO_WORD), np.zeros(B)  # float64: a long sum in float32 would round close rivals together
    for t in count():
        best, more, alpha = steps.step(sentence, parents, words, longest[sentence] == t)
        parents, words, logps = _best_extensions(sentence, logps, best, more, K - ended.n)
        sentence = sentence[parents]
        trace.append(Trace(origins[parents], words, alpha[parents] if settings.keep_attention else None))
        over = words == EOS
        if over.any():
            rows = np.flatnonzero(over)
            ended.add(sentence[rows], logps[rows], t, rows)
        reachable = settings.score(logps, longest[sentence] + 1.0)
        origins = np.flatnonzero(~over & _could_win(sentence, reachable, over, ended))
        if not len(origins):
            return ended, trace
        sentence, parents, words, logps = sentence[origins], parents[origins], words[origins], logps[origins]


def _best_extensions(sentence, logps, words, more, free):
    """Rows with logps (N), their best words (N,K) and what these add (N,K), free places (B) -> parents, words, logps.

    The chosen extensions of a sentence are side by side, best first, as many as it has free places. Ties go to the
    earlier hypothesis, then to the lower word.
    """
    K = words.shape[1]
    total = (logps[:, None] + more).reshape(-1)
    of = np.repeat(sentence, K)
    order = np.lexsort((-total, of))  # by sentence, then by value; equal values stay in their order
    of = of[order]
    place = np.arange(len(of)) - np.searchsorted(of, of)
    chosen = order[(place < free[of]) & np.isfinite(total[order])]
    return chosen // K, words.reshape(-1)[chosen], total[chosen]


def _could_win(sentence, reachable, over, ended):
    """Which rows (R) belong to a sentence with a live hypothesis that may still be among its n best."""
    hopeful = ~over & (reachable > ended.needed()[sentence])
    going = np.zeros(len(ended.n), bool)
    going[sentence[hopeful]] = True
    return going[sentence]


def _hypotheses(ended, trace, sentences):
    """The n best of each sentence, best first."""
    hypotheses = [[] for _ in sentences]
    for b, score, step, row, logp in sorted(ended.found, key=lambda found: found[:3]):
        if len(hypotheses[b]) < ended.settings.n_best:
            ids, alpha = _follow(trace[: step + 1], row, len(sentences[b]) + 1)
            hypotheses[b].append(Hypothesis(ids, -score, logp, alpha))
    return hypotheses


def _follow(trace, row, n_src):
    """Walk from eos, in the last step, back to the first word -> ids without eos, attention (T,S) or None."""
    ids, alphas = [], []
    for step in reversed(trace):
        ids.append(int(step.words[row]))
        if step.alpha is not None:
            alphas.append(step.alpha[row, :n_src])
        row = step.origins[row]
    return ids[:0:-1], np.array(alphas[::-1]) if alphas else None
