"""Lists that lose nothing, for a batch of sentences: what verified.py, which is to be read first, finds for each.

All rows that a draft has met, of all steps and sentences, are one product with the whole output layer. The engine's
numbers for a row do not depend on the other rows, to the last bit, and so neither translations nor scores differ from
those of full search. Each sentence drafts as far as its own misses suggest. Notebook 11.
"""

from typing import NamedTuple

import numpy as np

from .batch_beam import Beams, hypotheses, search
from .checking import AllWords
from .desks import ALONE
from .fast import FastSteps
from .stages import State
from .verified import Effort, draft_length, least_share, n_checked

NOT_DRAFTED = -1


class Draft(NamedTuple):
    """R rows that were drafted, step after step; those of the first step are where the search is."""

    parents: np.ndarray  # (R) the row that each continues; NOT_DRAFTED in the first step
    words: np.ndarray  # (R) the last word of each
    ending: np.ndarray  # (R) may only end
    state: State  # (R,...) after the step
    o: np.ndarray  # (R,E) readouts
    alpha: np.ndarray  # (R,S)
    n_steps: np.ndarray  # (B) of each sentence

    def children(self):
        """{(row, word): the row that continues it with this word}."""
        return {pair: row for row, pair in enumerate(zip(self.parents.tolist(), self.words.tolist()))}


def verified_batch_search(sentences, engine, settings, lists, team=ALONE):
    """As batch_beam_search with all words, by drafts with the lists -> B lists of Hypothesis; B Efforts."""
    steps = FastSteps(engine, sentences, lists, settings.beam, team)
    truth, checker = Beams(sentences, settings), AllWords(engine, settings.beam, team)
    lists = list(lists)
    drafted, kept, misses, added = np.zeros((4, len(sentences)), int)
    expected = np.array([len(src) + 1 for src in sentences])
    while len(truth.live.words):
        draft = make_draft(steps, truth.copy(), draft_length(kept, misses, settings.beam, expected))
        best, more = checker.best_words(draft.o, draft.ending)
        before = truth.time.copy()
        steps.state = replay(truth, draft, best, more)
        n_kept = truth.time - before
        going = np.isin(np.arange(len(sentences)), truth.live.sentence)
        drafted, kept, misses = drafted + draft.n_steps, kept + n_kept, misses + (going & (n_kept < draft.n_steps))
        new = add_words(lists, truth.live)
        if new.any():
            steps.choose_words(lists)
        added = added + new
    efforts = zip(drafted.tolist(), kept.tolist(), misses.tolist(), added.tolist())
    return hypotheses(truth, sentences), [Effort(1, *each, touched=int(each[2] > 0)) for each in efforts]


def make_draft(steps, beams, lengths):
    """Search on with the lists, `lengths` (B) steps of each sentence -> Draft. The beams are used up."""
    parts, parents, first = [], np.arange(len(beams.live.words)), 0
    began, origins = beams.time.copy(), np.full(len(parents), NOT_DRAFTED)
    with steps.helped():
        while len(parents):
            live, ending = beams.live, beams.ending()
            best, more, alpha = steps.step(live.sentence, parents, live.words, ending)
            parts.append((origins, live.words, ending, *(a.copy() for a in (*steps.state, steps.o, alpha))))
            parents = beams.advance(best, more)
            going = np.flatnonzero((beams.time - began < lengths)[beams.live.sentence])
            beams.keep(going)
            parents = parents[going]
            origins, first = first + parents, first + len(live.words)
    origins, words, ending, s, products, o, alpha = (np.concatenate(arrays) for arrays in zip(*parts))
    return Draft(origins, words, ending, State(s, products), o, alpha, beams.time - began)


def replay(beams, draft, best, more):
    """Search on with what all words say of the drafted rows, best (R,K) and more (R,K), as far as these go.

    -> the State of the hypotheses that are then live, before their next word.
    """
    children = draft.children()
    notes = (draft.alpha,) if beams.settings.keep_attention else ()
    rows = np.arange(len(beams.live.words))  # the drafted row of each live hypothesis
    origins = np.full(len(rows), NOT_DRAFTED)  # the drafted row that it continues
    while True:
        astray = np.zeros(len(beams.time), bool)
        astray[beams.live.sentence[rows == NOT_DRAFTED]] = True
        taken = np.flatnonzero(~astray[beams.live.sentence])
        if not len(taken):
            return State(*(array[origins] for array in draft.state))
        known = rows[taken]
        parents = beams.advance(best[known], more[known], [array[known] for array in notes], taken)
        stayed = astray[beams.live.sentence]
        origins = np.where(stayed, origins[parents], rows[parents])
        found = [children.get(pair, NOT_DRAFTED) for pair in zip(origins.tolist(), beams.live.words.tolist())]
        rows = np.where(stayed, rows[parents], np.array(found, int))


def add_words(lists, live):
    """The last words of live hypotheses join the lists of their sentences -> how many (B) were missing."""
    n_added = np.zeros(len(lists), int)
    for b in np.unique(live.sentence):
        missing = np.setdiff1d(live.words[live.sentence == b], lists[b])
        if len(missing):
            lists[b], n_added[b] = np.union1d(lists[b], missing), len(missing)
    return n_added


# Only the translations that were found


def checked_batch_search(sentences, engine, settings, lists, team=ALONE):
    """With lists, until the best translations lack no word -> B lists of Hypothesis, scores of all words; B Efforts."""
    found, lists, efforts = [None] * len(sentences), list(lists), [Effort(1) for _ in sentences]
    steps, checker = FastSteps(engine, sentences, lists, settings.beam, team), AllWords(engine, settings.beam, team)
    left = np.arange(len(sentences))
    while len(left):
        own = [sentences[b] for b in left]
        beams = search(steps, own, settings, keep_readouts=True)
        better = check_ended(beams, checker)
        for b, each, words in zip(left, hypotheses(beams, own), better):
            missing = np.setdiff1d(words, lists[b])
            found[b], lists[b] = each, np.union1d(lists[b], missing).astype(np.int64)
            efforts[b].add_search(len(each[0].ids) + 1 if each else 0, len(missing))
        again = np.flatnonzero([efforts[b].kept == 0 and len(found[b]) > 0 for b in left])
        left = left[again]
        if len(left):
            steps.begin_again(again, [lists[b] for b in left])
    return found, efforts


def check_ended(beams, checker):
    """Beams that are over, with readouts: gives what has ended its score with all words.

    -> for each sentence the words that might have been chosen in its best translations.
    """
    history, ended, settings = beams.history, beams.ended, beams.settings
    paths = [history.path(node) for *_, node, _ in ended.found]
    nodes = np.unique([node for path in paths for node in path]).astype(int)
    if not len(nodes):
        return [[] for _ in beams.longest]
    o, chosen = np.array([history.notes[n][-1] for n in nodes]), np.array(history.words)[nodes]
    logps, better = checker.judge(o, chosen, least_share(settings))
    logp_of, better_of = dict(zip(nodes.tolist(), logps.tolist())), dict(zip(nodes.tolist(), better))
    for i, (path, (b, _, length, node, _)) in enumerate(zip(paths, ended.found)):
        logp = sum(logp_of[n] for n in path)
        ended.found[i] = (b, -settings.score(logp, length), length, node, logp)
    missed = []
    for longest, best in zip(beams.longest, beams.best(n_checked(settings))):
        # the last step of the longest translation is no choice
        words = [better_of[n] for *_, node in best for n in history.path(node)[:longest]]
        missed.append(np.concatenate([np.zeros(0, np.int64), *words]))
    return missed
