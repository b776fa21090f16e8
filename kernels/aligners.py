"""The loops of the word aligners: which words meet, expected counts, normalisation, the best link of each word.

They walk over the corpus one source word at a time, not one sentence at a time. A source word's row of the table is
then spread out in an array as long as the target vocabulary, small enough for the cache, and the probability of a
target word is one look-up away: no index from token pairs to cells has to be built, stored or read.
"""

from typing import NamedTuple

import numpy as np

from .jit import device_function, kernel

LEAST = 1e-37  # the least probability stored: below it float32 loses digits, and the processor slows down


class Meetings(NamedTuple):
    """A bitext seen from its source words: they stand in sentences, and meet the target words there.

    Row e stands at the occurrences o in starts[e] : starts[e + 1]. NULL may be a row too: it stands in every sentence.
    """

    starts: np.ndarray  # (rows + 1) int64
    first: np.ndarray  # (occurrences) int32, the first target token of the sentence
    length: np.ndarray  # (occurrences) int32, how many target tokens it has
    place: np.ndarray  # (occurrences) int32, the word's place in the sentence: 1, 2, ...; NULL is 0
    entry: np.ndarray  # (occurrences) int64, where its position probabilities start, one for each target token
    trg_ids: np.ndarray  # (target tokens) int32
    n_trg: int


class Cells(NamedTuple):
    """The places of a sparse table: row e has the target ids indices[indptr[e] : indptr[e + 1]], in any order."""

    indptr: np.ndarray  # (rows + 1) int64
    indices: np.ndarray  # (cells) int32


def all_pairs(meetings):
    """Every (source token, target token) that meets -> its row, occurrence, target token, position entry."""
    length = meetings.length.astype(np.int64)
    occurrence = np.repeat(np.arange(len(length)), length)
    step = np.arange(len(occurrence)) - np.repeat(np.cumsum(length) - length, length)
    row = np.repeat(np.arange(len(meetings.starts) - 1), np.diff(meetings.starts))[occurrence]
    return row, occurrence, meetings.first[occurrence] + step, meetings.entry[occurrence] + step


def look_up(cells, row, trg, n_trg):
    """-> the cell of each (row, trg), and whether there is one."""
    keys = np.repeat(np.arange(len(cells.indptr) - 1), np.diff(cells.indptr)) * n_trg + cells.indices
    order = np.append(np.argsort(keys), 0)  # a word beyond the last key is sought, in vain, at cell 0
    wanted = row * n_trg + trg
    cell = order[np.searchsorted(keys, wanted, sorter=order[:-1])]
    return cell, (keys[cell] == wanted if len(keys) else np.zeros(len(cell), bool))


def count_cells_numpy(row_cells, meetings):
    """Fills row_cells (rows): how many different target words a row meets. Floats, exact to 16 million."""
    row, _, token, _ = all_pairs(meetings)
    keys = np.unique(row * meetings.n_trg + meetings.trg_ids[token])
    row_cells[:] = np.bincount(keys // max(meetings.n_trg, 1), minlength=len(row_cells))


@kernel(twin=count_cells_numpy)
def count_cells(row_cells, meetings):
    seen = np.full(meetings.n_trg, -1, np.int64)  # the last row that met this target word
    for e in range(len(row_cells)):
        n = 0
        for o in range(meetings.starts[e], meetings.starts[e + 1]):
            start = meetings.first[o]
            for trg in meetings.trg_ids[start : start + meetings.length[o]]:
                n += seen[trg] != e
                seen[trg] = e
        row_cells[e] = n


def fill_cells_numpy(data, cells, meetings):
    """Fills cells.indices with the words a row meets, in that order, and data with the number of sentences they share.

    A word that comes twice in a sentence still counts once.
    """
    row, occurrence, token, _ = all_pairs(meetings)
    keys = row * meetings.n_trg + meetings.trg_ids[token]
    found, first, cell = np.unique(keys, return_index=True, return_inverse=True)
    order = np.argsort(first)
    cells.indices[:] = found[order] % max(meetings.n_trg, 1)
    # a sentence is known by its first target token
    together = np.unique(np.stack([cell, meetings.first[occurrence]]), axis=1)[0]
    data[:] = np.bincount(together, minlength=len(data))[order]


@kernel(twin=fill_cells_numpy)
def fill_cells(data, cells, meetings):
    met = np.empty(meetings.n_trg + 1, np.int32)  # the row's words so far
    times = np.zeros(meetings.n_trg, np.float32)
    last = np.full(meetings.n_trg, -1, np.int32)  # the sentence in which a word was met last
    for e in range(len(cells.indptr) - 1):
        n = 0
        for o in range(meetings.starts[e], meetings.starts[e + 1]):
            start = meetings.first[o]
            for trg in meetings.trg_ids[start : start + meetings.length[o]]:
                met[n] = trg  # stays only if it is new: no branch to mispredict
                n += times[trg] == 0
                times[trg] += last[trg] != start
                last[trg] = start
        for k in range(n):
            trg = met[k]
            cells.indices[cells.indptr[e] + k] = trg
            data[cells.indptr[e] + k] = times[trg]
            times[trg] = 0
            last[trg] = -1


def add_scores_numpy(probs, cells, meetings, positions, totals):
    """Adds to totals (target tokens) p(trg | src) * p(position) of every source word of the sentence.

    Every pair that meets has its cell in probs (cells).
    """
    row, _, token, entry = all_pairs(meetings)
    cell, _ = look_up(cells, row, meetings.trg_ids[token], meetings.n_trg)
    totals += np.bincount(token, probs[cell] * positions[entry], minlength=len(totals))


@kernel(twin=add_scores_numpy)
def add_scores(probs, cells, meetings, positions, totals):
    spread = np.zeros(meetings.n_trg, np.float64)  # doubles: a product of two small numbers must not vanish
    for e in range(len(cells.indptr) - 1):
        for c in range(cells.indptr[e], cells.indptr[e + 1]):
            spread[cells.indices[c]] = probs[c]
        for o in range(meetings.starts[e], meetings.starts[e + 1]):
            start, entry, length = meetings.first[o], meetings.entry[o], meetings.length[o]
            trg_ids = meetings.trg_ids[start : start + length]
            position, total = positions[entry : entry + length], totals[start : start + length]
            for j in range(length):
                total[j] += spread[trg_ids[j]] * position[j]


def share_counts_numpy(probs, cells, meetings, positions, totals, mass):
    """Every target token is shared out among the source words of its sentence, by their part of its total.

    The shares replace the probabilities in probs (cells) and are added to mass, which is laid out as positions is.
    """
    row, _, token, entry = all_pairs(meetings)
    cell, _ = look_up(cells, row, meetings.trg_ids[token], meetings.n_trg)
    share = probs[cell] * positions[entry] / totals[token]
    probs[:] = np.bincount(cell, share, minlength=len(probs))
    mass += np.bincount(entry, share, minlength=len(mass))


@kernel(twin=share_counts_numpy)
def share_counts(probs, cells, meetings, positions, totals, mass):
    spread = np.zeros(meetings.n_trg, np.float64)
    count = np.zeros(meetings.n_trg, np.float64)
    inverse = 1 / totals
    for e in range(len(cells.indptr) - 1):
        for c in range(cells.indptr[e], cells.indptr[e + 1]):
            spread[cells.indices[c]] = probs[c]
        for o in range(meetings.starts[e], meetings.starts[e + 1]):
            start, entry, length = meetings.first[o], meetings.entry[o], meetings.length[o]
            trg_ids, part = meetings.trg_ids[start : start + length], inverse[start : start + length]
            position, moved = positions[entry : entry + length], mass[entry : entry + length]
            for j in range(length):
                trg = trg_ids[j]
                share = spread[trg] * position[j] * part[j]
                count[trg] += share
                moved[j] += share
        for c in range(cells.indptr[e], cells.indptr[e + 1]):
            trg = cells.indices[c]
            probs[c] = count[trg]
            count[trg] = 0


def normalise_rows_numpy(counts, indptr, alpha):
    """counts (cells) -> probabilities, in place: each row divided by its sum.

    With alpha > 0 variational Bayes, under a Dirichlet prior: exp(digamma(count + alpha) - digamma(row's sum)).
    """
    from scipy.special import digamma  # here, not above: it takes a quarter of a second to import

    row = np.repeat(np.arange(len(indptr) - 1), np.diff(indptr))
    count = counts.astype(np.float64) + alpha
    total = np.bincount(row, count, minlength=len(indptr) - 1)[row]
    prob = np.exp(digamma(count) - digamma(total)) if alpha else count / np.where(total == 0, 1, total)
    counts[:] = np.maximum(prob, LEAST)


@device_function
def exp_digamma(x):
    """exp(digamma(x)) for x > 0: digamma(x) = digamma(x + 1) - 1/x, until its series holds."""
    below = 0.0
    while x < 6:
        below += 1 / x
        x += 1
    y = x - 0.5
    return (y + (1 / 24 - (37 / 5760 - 10313 / 2903040 / (y * y)) / (y * y)) / y) * np.exp(-below)


@kernel(twin=normalise_rows_numpy)
def normalise_rows(counts, indptr, alpha):
    for e in range(len(indptr) - 1):
        row = counts[indptr[e] : indptr[e + 1]]
        total = 0.0
        for c in range(len(row)):
            total += row[c]
        total += alpha * len(row)
        if total == 0:
            total = 1.0
        norm = 1 / (exp_digamma(total) if alpha > 0 else total)
        for c in range(len(row)):
            count = exp_digamma(row[c] + alpha) if alpha > 0 else np.float64(row[c])
            row[c] = max(count * norm, LEAST)


def best_links_numpy(probs, cells, meetings, positions, unseen, scores, links):
    """Fills links (target tokens) with the place of the source word of the highest score, and scores with the latter.

    The first of equals wins; a pair that has no cell has the probability `unseen`. The score of a token that meets
    nothing is -1.
    """
    row, occurrence, token, entry = all_pairs(meetings)
    cell, known = look_up(cells, row, meetings.trg_ids[token], meetings.n_trg)
    prob = np.full(len(cell), unseen)
    prob[known] = probs[cell[known]]
    score, place = prob * positions[entry], meetings.place[occurrence]
    order = np.lexsort((place, -score, token))
    best = order[np.flatnonzero(np.diff(token[order], prepend=-1))]
    scores[:] = -1
    scores[token[best]], links[token[best]] = score[best], place[best]


@kernel(twin=best_links_numpy)
def best_links(probs, cells, meetings, positions, unseen, scores, links):
    spread = np.full(meetings.n_trg, unseen, np.float64)
    scores[:] = -1
    for e in range(len(cells.indptr) - 1):
        for c in range(cells.indptr[e], cells.indptr[e + 1]):
            spread[cells.indices[c]] = probs[c]
        for o in range(meetings.starts[e], meetings.starts[e + 1]):
            start, entry, place = meetings.first[o], meetings.entry[o], meetings.place[o]
            for j in range(meetings.length[o]):
                score = spread[meetings.trg_ids[start + j]] * positions[entry + j]
                best = scores[start + j]
                if score > best or (score == best and place < links[start + j]):
                    scores[start + j] = score
                    links[start + j] = place
        for c in range(cells.indptr[e], cells.indptr[e + 1]):
            spread[cells.indices[c]] = unseen
