"""Lists that lose nothing, for a batch of sentences: what verified.py, which is to be read first, finds for each.

All rows that a draft has met, of all steps and sentences, are one product with the whole output layer. Where 8 bits
are faster than float32, that product is an estimate at first (estimating.py), which tells how good it is. If a decision
is closer than that, the sentence is searched again with exact numbers. The engine's numbers for a row do not depend on
the other rows, to the last bit: so what is found does not depend on the batch, and with exact numbers neither
translations nor scores differ from those of full search. Each sentence drafts as far as its own misses suggest.
Notebook 11.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..text.vocab import EOS
from .batch_beam import Beams, Rows, hypotheses
from .checking import AllWords
from .desks import ALONE
from .doubts import Doubts
from .estimating import Estimates, Listed
from .fast import FastSteps
from .stages import State
from .verified import PACE, Effort, draft_length, is_far_from_end, least_share, n_checked

NOT_DRAFTED = -1


class Draft(NamedTuple):
    """R rows that were drafted, step after step; those of the first step are where the search is."""

    parents: np.ndarray  # (R) the row that each continues; NOT_DRAFTED in the first step
    sentence: np.ndarray  # (R)
    words: np.ndarray  # (R) the last word of each
    ending: np.ndarray  # (R) may only end
    state: State  # (R,...) after the step
    o: np.ndarray  # (R,E) readouts
    alpha: np.ndarray  # (R,S)
    best: np.ndarray  # (R,n) words of the list
    more: np.ndarray  # (R,n) their log-probabilities over the list
    n_steps: np.ndarray  # (B) of each sentence

    def children(self):
        """{(row, word): the row that continues it with this word}."""
        return {pair: row for row, pair in enumerate(zip(self.parents.tolist(), self.words.tolist()))}


def verified_batch_search(sentences, engine, settings, lists, team=ALONE):
    """As batch_beam_search with all words, by drafts with the lists -> B lists of Hypothesis; B Efforts."""
    given = engine, settings, team
    if engine.preview is None:
        found, efforts, _ = search_by_drafts(sentences, lists, Exactly(*given), *given)
        return found, efforts
    found, efforts, unsure = search_by_drafts(sentences, lists, Roughly(*given), *given)
    again = np.flatnonzero(unsure)
    if len(again):
        lists = [lists[b] for b in again]
        exact, more, _ = search_by_drafts([sentences[b] for b in again], lists, Exactly(*given), *given)
        for b, one, effort in zip(again, exact, more):
            found[b] = one
            efforts[b] = replace(effort, drafted=effort.drafted + efforts[b].drafted, again=1)
    return found, efforts


class Exactly:
    """What all words say of a draft, as full decoding has it."""

    exact = True

    def __init__(self, engine, settings, team):
        self.n, self.all_words = settings.beam, AllWords(engine, settings.beam, team)

    def __call__(self, draft, steps):
        """-> of each row the best words (R,n), their log-probabilities (R,n)."""
        return self.all_words.best_words(draft.o, draft.ending)


class Roughly:
    """What all words say of a draft, as far as 8 bits tell."""

    exact = False

    def __init__(self, engine, settings, team):
        self.n = settings.beam + 1  # with one more, it is known what was nearly chosen
        self.estimates = Estimates(engine, self.n, team)

    def __call__(self, draft, steps):
        """-> the same, the variance (R) of log-probabilities, which words are of the list (R,n)."""
        listed = Listed(draft.sentence, steps.ids, steps.output.sizes, draft.best[:, 0], draft.more[:, 0])
        return self.estimates.best_words(draft.o, draft.ending, draft.best, draft.more, listed)


def search_by_drafts(sentences, lists, ask, engine, settings, team):
    """-> B lists of Hypothesis; B Efforts; (B) where what `ask` says did not suffice to decide."""
    steps = FastSteps(engine, sentences, lists, ask.n, team)
    truth, doubts, lists = Beams(sentences, settings), Doubts(len(sentences)), list(lists)
    drafted, kept, misses, added = np.zeros((4, len(sentences)), int)
    expected = np.array([len(src) + 1 for src in sentences])
    while len(truth.live.words):
        draft = make_draft(steps, truth.copy(), draft_length(kept, misses, settings.beam, expected))
        before = truth.time.copy()
        steps.state = replay(truth, draft, doubts, *ask(draft, steps))
        n_kept = truth.time - before
        going = np.isin(np.arange(len(sentences)), truth.live.sentence)
        drafted, kept, misses = drafted + draft.n_steps, kept + n_kept, misses + (going & (n_kept < draft.n_steps))
        new = add_words(lists, truth.live)
        if new.any():
            steps.choose_words(lists)
        added = added + new
    efforts = zip(drafted.tolist(), kept.tolist(), misses.tolist(), added.tolist())
    efforts = [Effort(1, *each, touched=int(each[2] > 0)) for each in efforts]
    return hypotheses(truth, sentences), efforts, doubts.unsure if ask.exact else doubts.at_the_end(truth)


def make_draft(steps, beams, lengths):
    """Search on with the lists, `lengths` (B) steps of each sentence -> Draft. The beams are used up."""
    parts, parents, first = [], np.arange(len(beams.live.words)), 0
    began, origins = beams.time.copy(), np.full(len(parents), NOT_DRAFTED)
    with steps.helped():
        while len(parents):
            live, ending = beams.live, beams.ending()
            best, more, alpha = steps.step(live.sentence, parents, live.words, ending)
            arrays = *steps.state, steps.o, alpha, best, more  # good until the next step
            parts.append((origins, live.sentence, live.words, ending, *(array.copy() for array in arrays)))
            parents = beams.advance(beams.choose(best, more))
            going = np.flatnonzero((beams.time - began < lengths)[beams.live.sentence])
            beams.keep(going)
            parents = parents[going]
            origins, first = first + parents, first + len(live.words)
    origins, sentence, words, ending, s, products, *rest = (np.concatenate(arrays) for arrays in zip(*parts))
    return Draft(origins, sentence, words, ending, State(s, products), *rest, beams.time - began)


def replay(beams, draft, doubts, best, more, variance=None, listed=None):
    """Search on with what all words say of the drafted rows, best (R,K) and more (R,K), as far as these go.

    With their variance (R), and which are of the list (R,K), the Doubts are told of every decision.
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
        chosen, kept = beams.choose(best[known], more[known], taken), [array[known] for array in notes]
        if variance is None:
            parents = beams.advance(chosen, kept, taken)
        else:
            parents = doubts.advance(beams, chosen, kept, taken, more[known], variance[known], listed[known])
        stayed = astray[beams.live.sentence]
        origins = np.where(stayed, origins[parents], rows[parents])
        found = [children.get(pair, NOT_DRAFTED) for pair in zip(origins.tolist(), beams.live.words.tolist())]
        rows = np.where(stayed, rows[parents], np.array(found, int))


def add_words(lists, live):
    """The last words of live hypotheses join the lists of their sentences -> how many (B) were missing."""
    n_added = np.zeros(len(lists), int)
    for b, word in zip(live.sentence.tolist(), live.words.tolist()):
        place = np.searchsorted(lists[b], word)
        if place == len(lists[b]) or lists[b][place] != word:
            lists[b] = np.insert(lists[b], place, word)
            n_added[b] += 1
    return n_added


# Only the translations that were found


def checked_batch_search(sentences, engine, settings, lists, team=ALONE):
    """With lists that grow until no word is missing -> B lists of Hypothesis, scores of all words; B Efforts."""
    steps, checker = FastSteps(engine, sentences, lists, settings.beam, team), AllWords(engine, settings.beam, team)
    beams, trail, judged = Beams(sentences, settings), [], {}
    lists, efforts = list(lists), [Effort(1) for _ in sentences]
    expected = np.array([len(src) + 1 for src in sentences])
    while len(beams.live.words):
        searched, began = np.unique(beams.live.sentence), beams.time.copy()
        search_on(steps, beams, trail)
        going = np.unique(beams.live.sentence)
        best, missed = check_best(beams, going, is_far_from_end(beams.time, expected), checker, judged)
        back = {b: beams.time[b] for b in going.tolist()}
        for b in searched.tolist():
            times, words = missed[b]
            missing = ~np.isin(words, lists[b])
            if missing.any():
                back[b] = times[missing].min()
            n_words = len(lists[b])
            lists[b] = np.union1d(lists[b], words[missing])
            efforts[b].add_search(beams.time[b] - began[b], beams.time[b], len(lists[b]) - n_words)
        if any(t < beams.time[b] for b, t in back.items()):
            steps.choose_words([lists[b] if b in back else np.array([EOS]) for b in range(len(lists))])
            steps.go_on_from(go_back(beams, trail, back))
    return hypotheses(beams, sentences, best), efforts


class Moment(NamedTuple):
    """Where a search was before a step; the arrays are those of Beams."""

    live: Rows
    s: np.ndarray  # (N,H) the states of the live hypotheses
    time: np.ndarray
    n_ended: np.ndarray
    scores: np.ndarray


def search_on(steps, beams, trail):
    """Search from where the beams are until they are over, or for PACE steps; readouts are kept.

    Adds a Moment for every step, and one for the next.
    """
    parents = np.arange(len(beams.live.words))
    with steps.helped():
        for _ in range(PACE):
            if not len(parents):
                break
            trail.append(now(beams, steps.state.s[parents]))
            best, more, alpha = steps.step(beams.live.sentence, parents, beams.live.words, beams.ending())
            notes = (alpha,) if beams.settings.keep_attention else ()
            parents = beams.advance(beams.choose(best, more), (*notes, steps.o))
    steps.state = State(*(array[parents] for array in steps.state))
    trail.append(now(beams, steps.state.s))


def now(beams, s):
    """Beams, the states of what is live -> Moment."""
    return Moment(beams.live, s, beams.time.copy(), beams.ended.n.copy(), beams.ended.scores.copy())


def go_back(beams, trail, times):
    """Beams; times {sentence: step}, of all that are not over then -> the states (N,H) of what is live there.

    Moves the beams.
    """
    parts = []
    for b, t in sorted(times.items()):
        then = next(moment for moment in reversed(trail) if moment.time[b] == t)  # the last time it was there
        rows = then.live.sentence == b
        parts.append((*(array[rows] for array in then.live), then.s[rows]))
        beams.time[b], beams.ended.n[b], beams.ended.scores[b] = t, then.n_ended[b], then.scores[b]
    beams.ended.found = [row for row in beams.ended.found if row[2] <= times.get(row[0], row[2])]
    *live, s = (np.concatenate(arrays) for arrays in zip(*parts))
    beams.live = Rows(*live)
    return s


def check_best(beams, going, far, checker, judged):
    """What all words say of the best translations, and of the best hypotheses on the way -> ranked, missed.

    beams: their last notes are readouts; going: the sentences that are not over; far (B): which of these have many
    steps before them, and are looked at. ranked: [(score, logp, node)], best first, as Beams.best gives them. missed:
    the steps (M) at which another word might have been chosen, and the words (M). judged: {node: what was found of it
    before}.
    """
    history, settings = beams.history, beams.settings
    best = beams.best(n_checked(settings))
    for b in going.tolist():
        nodes = beams.live.nodes[beams.live.sentence == b] if far[b] else ()
        best[b] = [(None, None, node) for node in nodes[: n_checked(settings)]]
    paths = {node: history.path(node) for each in best for *_, node in each}
    nodes = sorted({node for path in paths.values() for node in path if node not in judged})
    if nodes:
        o, chosen = np.array([history.notes[n][-1] for n in nodes]), np.array([history.words[n] for n in nodes])
        logps, better = checker.judge(o, chosen, least_share(settings))
        judged |= zip(nodes, zip(logps.tolist(), better))
    logps = {node: sum(judged[n][0] for n in path) for node, path in paths.items()}
    ranked, missed = [], []
    for longest, each in zip(beams.longest, best):
        scored = [(settings.score(logps[node], len(paths[node])), logps[node], node) for *_, node in each]
        ranked.append(sorted(scored, key=lambda found: -found[0]))
        # the last step of the longest translation is no choice
        words = [(t, judged[n][1]) for *_, node in each for t, n in enumerate(paths[node][:longest])]
        times = np.repeat([t for t, _ in words], [len(ids) for _, ids in words]).astype(int)
        missed.append((times, np.concatenate([np.zeros(0, np.int64), *(ids for _, ids in words)])))
    return ranked, missed
