"""The lists' part of a trace: which n brings each word, what every n keeps, and what the counts say of the sentence.

With these the page answers for every n by itself: a list's softmax (21) is the full one (12), divided by the
probability that the list keeps.
"""

import base64
import heapq

import numpy as np

from ...text.vocab import EOS

N_WORDS = 10  # of a softmax that are shown
MOST_CELLS = 20_000  # of the counts that go into a page
LITTLE = 0.01  # probability, kept by a list, of which as many digits are told as of more


def significant(values, digits):
    """Numbers for JSON, as short as they may be."""
    return [float(f"{value:.{digits - 1}e}") for value in values]


def as_bytes(values):
    """Many numbers for JSON: [their type, their bytes in base64]; float32 for fractions."""
    values = np.asarray(values)
    kind = "f4" if values.dtype.kind == "f" else "u2" if values.max(initial=0) < 1 << 16 else "i4"
    return [kind, base64.b64encode(values.astype(f"<{kind}").tobytes()).decode()]


def list_sizes(needed, ns):
    """(Vt) the n that each word needs, the n of the slider -> the size of the list at each of them."""
    return np.searchsorted(np.sort(needed), ns, side="right").tolist()


def mass_by_n(probs, needed, ns):
    """probs (Vt) of a step -> (ns) the probability that the list of each n keeps."""
    places = np.minimum(needed, ns[-1] + 1).astype(np.int64)  # those beyond the slider last
    sums = np.cumsum(np.bincount(places, weights=probs, minlength=ns[-1] + 2))
    return np.minimum(sums[ns], 1.0)  # float32 probabilities may add up to a little more


def changes(mass, ns, asked, tolerance):
    """mass (ns), asked (ns): for which n the page may ask -> [n, lost, n, lost, ...] where it changes.

    Lost is 1 - mass in units of 1e-7, so that most of these numbers are short; in its place stands -mass, with seven
    digits, where the list keeps next to nothing.
    """
    found, last = [], -1.0
    for n, kept, wanted in zip(ns, mass.tolist(), asked.tolist()):
        if wanted and abs(kept - last) > tolerance * kept:
            found += [n, round((1.0 - kept) * 1e7) if kept > LITTLE else -significant([max(kept, 1e-99)], 7)[0]]
            last = kept
    return found


def best_words(logps, needed, least, most):
    """logps (Vt), the n that each word needs -> ids of all words that are among the best for an n from least to most,
    or without any list; best first.

    A word is not, if as many better ones are in every list that has it.
    """
    needed = np.maximum(needed, least)
    every = np.argsort(-logps, kind="stable")
    best = set(every[:N_WORDS].tolist())
    smallest = []  # what the best words so far need: the smallest numbers, negative, the largest of them first
    for word in every[needed[every] <= most].tolist():
        if len(smallest) < N_WORDS:
            heapq.heappush(smallest, -needed[word])
        elif needed[word] < -smallest[0]:
            heapq.heapreplace(smallest, -needed[word])
        else:
            continue
        best.add(word)
    return [word for word in every.tolist() if word in best]


def counts_record(ranking, src_ids, most_n, words):
    """All that the counts say of a sentence: of every source id its candidates, best first, as far as a page can hold;
    and the target ids among them.

    `words` are target ids that have to be in it, however far down.
    """
    counts, candidates = ranking.counts, ranking.candidates
    src_ids = list(dict.fromkeys(src_ids))
    lengths = np.array([len(candidates.row(src_id)[0]) for src_id in src_ids])
    cut = int(lengths.max(initial=0))
    while np.minimum(lengths, cut).sum() > MOST_CELLS and cut > most_n:
        cut = max(most_n, int(0.8 * cut))
    rows = []
    for src_id in src_ids:
        ids, _ = candidates.row(src_id)
        ranks = np.flatnonzero((np.arange(len(ids)) < cut) | np.isin(ids, list(words)))
        rows.append((src_id, ids[ranks], ranks + 1))
    back = ranks_back(counts, np.unique(np.concatenate([ids for _, ids, _ in rows])))
    records = [row_record(counts, back, *row) for row in rows]
    columns = np.bincount(counts.indices, weights=counts.data, minlength=counts.n_trg)
    shown = np.unique(np.concatenate([ids for _, ids, _ in rows]))
    return {"rows": records, "cut": cut, "words": as_bytes(shown), "sums": as_bytes(columns[shown])}, shown.tolist()


def row_record(counts, back, src_id, ids, ranks):
    """A source id, target ids and their ranks -> what `candidates why` says of each."""
    own, weights = counts.row(src_id)
    places = np.searchsorted(own, ids)
    first = counts.indptr[src_id]
    return {
        "id": int(src_id), "size": len(own), "sum": float(weights.sum(dtype=np.float64)), "ids": as_bytes(ids),
        "ranks": as_bytes(ranks), "counts": as_bytes(weights[places]),
        "back": as_bytes(np.array([back[first + place] for place in places], np.int64)),
    }  # fmt: skip


def ranks_back(counts, words):
    """The cells of the target ids `words` -> {cell: rank of its source word among those of its target, by count}."""
    cells = np.flatnonzero(np.isin(counts.indices, words))
    columns = counts.indices[cells]
    order = np.lexsort((cells, -counts.data[cells], columns))
    begins = np.searchsorted(columns[order], columns[order])
    return dict(zip(cells[order].tolist(), (np.arange(len(order)) - begins + 1).tolist()))


def filling_record(epochs, src_units, src_ids, n_words=5, n_best=3):
    """[(number, Counts)] of single epochs -> the counts of five source words after each of them; None without any.

    The rarest words of the sentence say most; their likeliest targets at the end are shown.
    """
    if not epochs:
        return None
    known = {i: unit for i, unit in zip(src_ids, src_units) if i != EOS and any(len(c.row(i)[0]) for _, c in epochs)}
    chosen = [i for i in known if i in sorted(known)[-n_words:]]
    table = np.zeros((len(epochs), len(chosen), epochs[0][1].n_trg))
    for e, (_, counts) in enumerate(epochs):
        for w, src_id in enumerate(chosen):
            ids, weights = counts.row(src_id)
            table[e, w, ids] = weights
    table = table.cumsum(axis=0)  # count[f, e] += alpha (18), epoch after epoch
    best = [np.argsort(-row, kind="stable")[:n_best] for row in table[-1]]
    targets = list(dict.fromkeys(int(t) for row, ids in zip(table[-1], best) for t in ids if row[t] > 0))
    return {
        "epochs": [number for number, _ in epochs], "units": [known[i] for i in chosen], "targets": targets,
        "counts": [[significant(row[targets], 4) for row in epoch] for epoch in table],
        "totals": significant(table[-1].sum(axis=1), 4),
    }  # fmt: skip
