"""Beam search for a batch of sentences, all live hypotheses of all sentences in one array program.

It finds what beam.py, which is to be read first, finds for each sentence. A row is a live hypothesis, and the rows of
a sentence are neighbours. Rows that have ended, and those of sentences that are done, leave the batch. Which words were
chosen is kept as a tree; a translation is read backwards from its eos when the search is over.

Translations and scores do not depend on the other sentences of the batch, to the last bit. The network's steps are the
engine's (fast.py), in 8 bits approximately those of beam.py. Notebook 08.
"""

import copy
from typing import NamedTuple

import numpy as np

from ..compiled import compiled
from ..text.vocab import EOS
from .beam import Hypothesis
from .desks import ALONE
from .fast import FastSteps

NO_WORD = -1  # what comes before the first
NO_NODE = -1


class History:
    """All extensions that were ever chosen, as a tree: a node each."""

    def __init__(self):
        self.origins, self.words = [], []  # of each node: the node that it continues, its word
        self.notes = []  # of each node: rows of arrays, or nothing

    def add(self, origins, words, *notes):
        """origins (R), words (R), arrays (R,...) -> the new nodes (R)."""
        self.origins += origins.tolist()
        self.words += words.tolist()
        self.notes += zip(*notes) if notes else [()] * len(words)
        return np.arange(len(self.words) - len(words), len(self.words))

    def path(self, node):
        """The nodes from the first word to this one."""
        nodes = []
        while node != NO_NODE:
            nodes.append(node)
            node = self.origins[node]
        return nodes[::-1]


class Ended:
    """The hypotheses that have left their beams."""

    def __init__(self, n_sentences, settings):
        self.settings = settings
        self.scores = np.full((n_sentences, settings.beam), -np.inf)  # best last
        self.n = np.zeros(n_sentences, int)
        self.found = []  # (sentence, -score, length, node, logp): sorted, the best of a sentence comes first

    def add(self, sentence, logps, lengths, nodes):
        """Rows that chose eos; `sentence` (R), `logps` (R), `lengths` (R) with eos and `nodes` (R) of each."""
        scores = self.settings.score(logps, lengths)
        rows = zip(*(array.tolist() for array in (sentence, scores, lengths, nodes, logps)))
        for b, score, length, node, logp in rows:
            self.found.append((b, -score, length, node, logp))
            self.scores[b, 0] = score  # a place that is still -inf: there are as many as places in the beam
            self.scores[b].sort()
            self.n[b] += 1

    def needed(self):
        """The score (B) that a hypothesis must exceed to be among its sentence's n best."""
        return self.scores[:, -self.settings.n_best]


class Rows(NamedTuple):
    """Live hypotheses; those of a sentence are neighbours, best first."""

    sentence: np.ndarray  # (N) ascending
    words: np.ndarray  # (N) the last of each
    logps: np.ndarray  # (N) sums, in float64: a long one in float32 would round close rivals together
    nodes: np.ndarray  # (N)


class Beams:
    """The beams of B sentences: a row for each live hypothesis, and those that have ended.

    A sentence has its own clock: it may stand still while others go on.
    """

    def __init__(self, sentences, settings):
        B = len(sentences)
        self.settings = settings
        self.longest = np.array([settings.longest(src) for src in sentences])
        self.time = np.zeros(B, int)  # steps taken
        self.ended, self.history = Ended(B, settings), History()
        # each sentence begins with one hypothesis, the empty one
        self.live = Rows(np.arange(B), np.full(B, NO_WORD), np.zeros(B), np.full(B, NO_NODE))

    def copy(self):
        """To try something out."""
        other, other.ended = copy.copy(self), copy.copy(self.ended)
        other.time, other.history = self.time.copy(), History()
        other.live = self.live._replace(nodes=np.full_like(self.live.nodes, NO_NODE))
        other.ended.scores, other.ended.n, other.ended.found = self.ended.scores.copy(), self.ended.n.copy(), []
        return other

    def ending(self):
        """Which rows may only end."""
        return (self.longest == self.time)[self.live.sentence]

    def choose(self, best, more, rows=slice(None)):
        """Of each row its best words (N,K) and what these add (N,K) -> (parents, words, logps) as of best_extensions.

        With `rows` (N), ascending, only these have them; they must be whole sentences.
        """
        free = self.settings.beam - self.ended.n
        return best_extensions(more, best, self.live.logps[rows], self.live.sentence[rows], free)

    def advance(self, chosen, notes=(), rows=None):
        """One step: what was chosen, of all rows or of these -> (N') the row that each continues.

        notes: arrays (N,...) to keep, whose rows are the parents.
        """
        if rows is not None and len(rows) == len(self.live.words):
            rows = None  # all of them
        before = self.live if rows is None else Rows(*(array[rows] for array in self.live))
        parents, words, logps = chosen
        self.time[before.sentence] += 1  # once, however many rows a sentence has
        sentence = before.sentence[parents]
        nodes = self.history.add(before.nodes[parents], words, *(array[parents] for array in notes))
        over = words == EOS
        if over.any():
            self.ended.add(sentence[over], logps[over], self.time[sentence[over]], nodes[over])
        reachable = self.settings.score(logps, self.longest[sentence] + 1.0)
        going = np.flatnonzero(~over & _could_win(sentence, reachable, over, self.ended))
        new = Rows(*(array[going] for array in (sentence, words, logps, nodes)))
        if rows is None:
            self.live = new
            return parents[going]
        return self._beside_the_others(new, rows[parents[going]], rows)

    def _beside_the_others(self, new, parents, rows):
        """New Rows, the row (N') that each continues -> the same for all; who is not among `rows` stays as it is."""
        others = np.setdiff1d(np.arange(len(self.live.words)), rows)
        order = np.argsort(np.r_[new.sentence, self.live.sentence[others]], kind="stable")
        self.live = Rows(*(np.r_[array, same[others]][order] for array, same in zip(new, self.live)))
        return np.r_[parents, others][order]

    def keep(self, rows):
        """Go on with these rows alone."""
        self.live = Rows(*(array[rows] for array in self.live))

    def best(self, n):
        """The n best of each sentence that have ended, best first: [(score, logp, node)]."""
        found = [[] for _ in self.longest]
        for b, score, _, node, logp in sorted(self.ended.found, key=lambda found: found[:3]):
            if len(found[b]) < n:
                found[b].append((-score, logp, node))
        return found


def batch_beam_search(sentences, engine, settings, lists=None, team=ALONE):
    """sentences: B lists of source ids without eos -> B lists of Hypothesis, best first.

    With `lists`, B arrays of target ids, ascending and with eos, each sentence is translated with its words alone. The
    threads of the team help.
    """
    steps = FastSteps(engine, sentences, lists, settings.beam, team)
    return hypotheses(search(steps, sentences, settings), sentences)


def search(steps, sentences, settings):
    """FastSteps of the sentences -> Beams that are over."""
    beams, parents = Beams(sentences, settings), np.arange(len(sentences))
    with steps.helped():
        while len(parents):
            best, more, alpha = steps.step(beams.live.sentence, parents, beams.live.words, beams.ending())
            parents = beams.advance(beams.choose(best, more), (alpha,) if settings.keep_attention else ())
    return beams


def hypotheses(beams, sentences, best=None):
    """Beams that are over -> B lists of Hypothesis, best first; `best`: another ranking than that of Beams.best."""
    found, n_best = [], beams.settings.n_best
    for src, ended in zip(sentences, best or beams.best(n_best)):
        found.append([])
        for score, logp, node in ended[:n_best]:
            path, history = beams.history.path(node), beams.history
            ids = [history.words[n] for n in path[:-1]]
            alpha = [history.notes[n][0][: len(src) + 1] for n in path] if beams.settings.keep_attention else None
            found[-1].append(Hypothesis(ids, score, logp, None if alpha is None else np.array(alpha)))
    return found


@compiled("beams.best_extensions")
def best_extensions(more, words, logps, sentence, free):
    """more (N,K), what the best words of rows add, words (N,K), logps (N), sentence (N), free (B) -> three arrays (N').

    These are the rows that the chosen extensions continue, their words and their log-probabilities. Those of a sentence
    are side by side, best first, as many as it has free places. Ties go to the earlier hypothesis, then to the lower
    word. The sentences of rows are ascending.
    """
    K = words.shape[1]
    total = (logps[:, None] + more).reshape(-1)
    of = np.repeat(sentence, K)
    order = np.lexsort((-total, of))  # by sentence, then by value; equal values stay in their order
    of = of[order]
    place = np.arange(len(of)) - np.searchsorted(of, of)
    chosen = order[(place < free[of]) & (total[order] > -np.inf)]
    return chosen // K, words.reshape(-1)[chosen], total[chosen]


def _could_win(sentence, reachable, over, ended):
    """Which rows (R) belong to a sentence with a live hypothesis that may still be among its n best."""
    hopeful = ~over & (reachable > ended.needed()[sentence])
    going = np.zeros(len(ended.n), bool)
    going[sentence[hopeful]] = True
    return going[sentence]
