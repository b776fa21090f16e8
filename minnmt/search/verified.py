"""Lists that lose nothing, for one sentence, in the plainest form: what batch_verified.py is compared with.

`verified_search` finds what beam.py finds with all words, but most of its work is done with a list. It drafts some
steps of the search with the list, and keeps the readout of every step. Then it multiplies all these readouts with the
whole output layer, in one product: its weights are read once for many steps. Now the true probabilities of all words
are known wherever the draft has been, and the search is replayed with them, until it comes to a hypothesis that was not
drafted. From there it drafts again, with the word that was missing in the list. No draft is lost altogether: its
first step is always where the true search is.

`checked_search` is cheaper and promises less. It searches with the list, and ranks the three best translations by their
scores with all words. If at some step of these a word outside the list was nearly as probable as the word chosen (0.3
times), such words join the list, and it searches again from the first such step on; what was before stays as the
shorter list had it. In a long sentence the three best hypotheses are looked at on the way, too, so that less has to be
searched again. Without a beam that is full search. With one it is not: what left the beam on the way is not looked at.

Left out: batches and speed (batch_verified.py). Notebook 11 drafts by hand.
"""

from dataclasses import dataclass

import numpy as np

from ..model.network import encode, next_readout
from ..nn.list_softmax import gather_lists, list_log_softmax
from ..nn.softmax import log_softmax
from ..text.batches import pad
from .beam import Beginning, allowed, best_extensions, best_places, could_win, extend, finished, last_word

WORTH, FIRST_MISS, LAST = 2.0, 40.0, 1.5  # see draft_length
RIVALS, LEAST_SHARE = 3, 0.3  # of checked_search: translations that are checked, words that are missed
MOST_BETTER = 16  # words that are looked at in a step
PACE = 13  # steps of checked_search without a check: one takes as long as two steps, and in 26 steps half of the
# sentences have a miss


@dataclass
class Effort:
    """What it took, in steps of a search: a step takes all hypotheses of a beam one word further."""

    sentences: int = 0
    drafted: int = 0  # steps with a list
    kept: int = 0  # of these, the steps that are part of the search in the end
    misses: int = 0  # how often the list led the search astray
    added: int = 0  # words
    touched: int = 0  # sentences with a miss
    again: int = 0  # sentences that an estimate could not decide (batch_verified.py)

    @property
    def redone(self):
        return self.drafted - self.kept

    def add_search(self, n_steps, n_all, n_missing):
        """n_steps that were searched, n_all from the start on; if no word was missing, they stand."""
        self.drafted += int(n_steps)
        self.added += n_missing
        if n_missing:
            self.misses, self.touched = self.misses + 1, 1
        else:
            self.kept = int(n_all)

    def __add__(self, other):
        return Effort(*(a + b for a, b in zip(vars(self).values(), vars(other).values())))


def draft_length(kept, misses, beam, expected):
    """So many steps are drafted next, after `kept` steps of the sentence with so many misses, of `expected` in all.

    A check reads the output layer, which takes about as long as WORTH / 2 steps with what is multiplied for them, and a
    miss spoils half a draft: with `rate` misses per step, drafts of D steps cost WORTH / 2D + rate D / 2 steps more per
    step, which is least for D = sqrt(WORTH / rate). Before anything is known of a sentence, one miss in
    FIRST_MISS / beam steps is expected. The steps that are left are divided into drafts of about this length. The last
    may be LAST times as long, for it should end with the sentence.
    """
    rate = (misses + 1.0) / (kept + FIRST_MISS / beam)
    best, left = np.sqrt(WORTH / rate), expected - kept
    n_drafts = np.maximum(np.rint(left / best), 1)
    divided = np.where(n_drafts == 1, LAST * best, left / n_drafts)
    return np.ceil(np.where(left > 0, divided, best)).astype(int)


def verified_search(src, params, settings, ids):
    """src: ids without eos; ids: its list, ascending and with eos -> what beam_search finds with all words; Effort."""
    s0, memory, _ = encode(*pad([src]), params)
    longest, effort = settings.longest(src), Effort(sentences=1)
    live, ended = [Beginning([], 0.0, s0, [])], []
    while could_win(live, ended, longest, settings):
        drafter = Drafter(memory, params, settings, longest, ids)
        n_steps = draft_length(effort.kept, effort.misses, settings.beam, len(src) + 1)
        n_drafted = drafter.draft(live, ended, n_steps)
        effort.drafted += n_drafted
        n_kept, live = replay(live, ended, drafter)
        effort.kept += n_kept
        effort.misses += n_kept < n_drafted and could_win(live, ended, longest, settings)
        missing = np.setdiff1d([h.ids[-1] for h in live], ids)
        ids, effort.added = np.union1d(ids, missing).astype(int), effort.added + len(missing)
    effort.touched = int(effort.misses > 0)
    found = sorted((finished(h, settings) for h in ended), key=lambda h: -h.score)
    return found[: settings.n_best], effort


class Drafter:
    """Takes steps with a list, and knows afterwards what all words would have said there."""

    def __init__(self, memory, params, settings, longest, ids):
        self.memory, self.params, self.settings, self.longest = memory, params, settings, longest
        self.words = gather_lists([ids], params.softmax)
        self.steps = {}  # the words before -> state (1,H), readout (1,E), attention (S)
        self.logps = {}  # the words before -> log-probabilities (V) of all words

    def draft(self, live, ended, length):
        """Beam search with the list, at most so many steps of it -> how many."""
        n, ended = 0, list(ended)
        while n < length and could_win(live, ended, self.longest, self.settings):
            best = best_extensions(live, [self.listed(h) for h in live], self.words, self.settings.beam - len(ended))
            ended += [h for h in best if h.ended]
            live = [h for h in best if not h.ended]
            n += 1
        o = np.concatenate([o for _, o, _ in self.steps.values()])
        self.logps = dict(zip(self.steps, log_softmax(o, self.params.softmax)))  # (12), in one product
        return n

    def listed(self, h):
        """One step of a draft -> the next state, log-probabilities (K) over the list, attention."""
        s, o, alpha = next_readout(last_word(h, self.params), h.s, self.memory, self.params)
        self.steps[tuple(h.ids)] = s, o, alpha[:, 0]
        return s, allowed(h, list_log_softmax(o, self.words)[0], self.longest), alpha[:, 0]  # (21)

    def true(self, h):
        """The same step -> the next state, log-probabilities (V) of all words, attention."""
        s, _, alpha = self.steps[tuple(h.ids)]
        return s, allowed(h, self.logps[tuple(h.ids)], self.longest), alpha


def replay(live, ended, drafter):
    """The search with all words, as far as it was drafted -> the number of its steps, live; adds to ended."""
    n, settings = 0, drafter.settings
    while could_win(live, ended, drafter.longest, settings) and all(tuple(h.ids) in drafter.steps for h in live):
        best = best_extensions(live, [drafter.true(h) for h in live], None, settings.beam - len(ended))
        ended += [h for h in best if h.ended]
        live = [h for h in best if not h.ended]
        n += 1
    return n, live


# Only the translations that were found


def checked_search(src, params, settings, ids):
    """src: ids without eos; ids: its list, ascending and with eos -> translations, best first; Effort.

    Scores are those of all words.
    """
    effort, longest, expected, first = Effort(sentences=1), settings.longest(src), len(src) + 1, 0
    s0, memory, _ = encode(*pad([src]), params)
    steps = [([Beginning([], 0.0, s0, [])], [])]  # what was live and what had ended before each step
    while True:
        words = gather_lists([ids], params.softmax)
        del steps[first + 1 :]
        live, ended = steps[first]
        while could_win(live, ended, longest, settings):
            best = extend(live, memory, params, words, longest, settings.beam - len(ended))
            ended = ended + [h for h in best if h.ended]
            live = [h for h in best if not h.ended]
            steps.append((live, ended))
            if (len(steps) - 1 - first) % PACE == 0 and is_far_from_end(len(steps) - 1, expected):
                break
        over = not could_win(live, ended, longest, settings)
        leading = sorted(ended, key=lambda h: -settings.score(h.logp, len(h.ids))) if over else live
        checked = [check(src, h, params, settings) for h in leading[: n_checked(settings)]]
        missing = {}  # by step
        for _, better in checked:
            for t, others in enumerate(better):
                missing.setdefault(t, set()).update(np.setdiff1d(others, ids).tolist())
        n_steps, first = len(steps) - 1 - first, min((t for t in missing if missing[t]), default=len(steps) - 1)
        new = sorted(set().union(*missing.values()))
        effort.add_search(n_steps, len(steps) - 1, len(new))
        if over and not new:
            checked = sorted((h for h, _ in checked), key=lambda h: -h.score)
            return checked[: settings.n_best], effort
        ids = np.union1d(ids, new).astype(int)


def is_far_from_end(t, expected):
    """After t steps, of which so many are expected: is a check worth it before the end comes?"""
    return expected - t >= PACE / 2


def check(src, h, params, settings):
    """A hypothesis -> the same with its score from all words, if it has ended; at each step, other words for it."""
    s, memory, _ = encode(*pad([src]), params)
    logp, better = 0.0, []
    for t, word in enumerate(h.ids):
        before = Beginning(h.ids[:t], logp, s, [])
        s, o, _ = next_readout(last_word(before, params), s, memory, params)
        logps = allowed(before, log_softmax(o, params.softmax)[0], settings.longest(src))
        best = best_places(logps, MOST_BETTER)
        better.append(best[logps[best] > logps[word] + np.log(least_share(settings))])
        logp += float(logps[word])
    return finished(Beginning(h.ids, logp, s, h.alphas), settings), better


def n_checked(settings):
    """So many translations must not lack a word."""
    return max(RIVALS, settings.n_best)


def least_share(settings):
    """A word is missed that was so many times as probable as the word chosen; without rivals, only a better one."""
    return LEAST_SHARE if settings.beam > 1 else 1.0
