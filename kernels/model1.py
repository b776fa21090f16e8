"""The loops of the word aligners: co-occurrence, expected counts, normalisation, the best link of each word.

They walk over the corpus one source word at a time, not one sentence at a time. A source word's row of the table is
then spread out in an array as long as the target vocabulary, small enough for the cache, and the probability of a
target word is one look-up away: no index from token pairs to cells has to be built, stored or read. Notebook 06; the
plain functions are in minnmt/align/bitext.py and minnmt/align/model1.py, `text` is Occurrences of
minnmt/align/bitext.py.
"""

import numpy as np

from .jit import device_function, kernel

LEAST = 1e-37  # the least probability stored: below it float32 loses digits, and the processor slows down


@kernel
def cooccurrences(starts, first, length, trg_ids, n_trg):
    """Fast, because
    - a source word's sentences are read one after the other, and counts are kept in an array as long as the
      vocabulary: neither a table of sentences nor a sort of token pairs is needed;
    - a first pass counts the cells, so that each array has its size from the start.
    """
    n_rows = len(starts) - 1
    indptr = np.zeros(n_rows + 1, np.int64)
    seen = np.full(n_trg, -1, np.int64)  # the last row that has this target word
    for e in range(n_rows):
        n = 0
        for o in range(starts[e], starts[e + 1]):
            for trg in trg_ids[first[o] : first[o] + length[o]]:
                n += seen[trg] != e
                seen[trg] = e
        indptr[e + 1] = indptr[e] + n
    data, indices = np.empty(indptr[-1], np.float32), np.empty(indptr[-1], np.int32)
    found = np.empty(n_trg + 1, np.int32)  # the row's words so far
    times = np.zeros(n_trg, np.float32)
    bits = np.zeros((n_trg + 63) // 64, np.uint64)
    last = np.full(n_trg, -1, np.int32)  # the sentence, known by its first token, that had the word last
    for e in range(n_rows):
        n = 0
        for o in range(starts[e], starts[e + 1]):
            for trg in trg_ids[first[o] : first[o] + length[o]]:
                found[n] = trg  # stays only if it is new: no branch to mispredict
                n += times[trg] == 0
                times[trg] += last[trg] != first[o]
                last[trg] = first[o]
        row, row_data = indices[indptr[e] : indptr[e + 1]], data[indptr[e] : indptr[e + 1]]
        sort_words(found[:n], bits, row)
        for k in range(n):
            row_data[k] = times[row[k]]
            times[row[k]] = 0
            last[row[k]] = -1
    return data, indices, indptr


@device_function
def sort_words(words, bits, out):
    """out: the words, ascending, each of them once. `bits` has one for every word of the vocabulary, all 0.

    Where words are not too few, setting their bits and reading these off takes a fifth of the time of a sort.
    """
    if len(words) * 16 < len(bits):
        out[:] = words
        out.sort()
        return
    for word in words:
        bits[word >> 6] |= np.uint64(1) << np.uint64(word & 63)
    n = 0
    for w in range(len(bits)):
        rest = bits[w]
        bits[w] = 0
        while rest != 0:
            others = rest & (rest - np.uint64(1))  # all but the lowest
            exponent = (np.float64(rest ^ others).view(np.int64) >> 52) - 1023  # of a power of two: its bit's place
            out[n] = (w << 6) + exponent
            n += 1
            rest = others


@kernel
def token_probabilities(probs, indices, indptr, text, positions):
    """Fast, because a row is spread out once and serves all its occurrences, whose target words lie side by side."""
    totals = np.zeros(len(text.trg_ids))
    spread = np.zeros(text.n_trg, np.float64)  # doubles: a product of two small numbers must not vanish
    for e in range(len(indptr) - 1):
        for c in range(indptr[e], indptr[e + 1]):
            spread[indices[c]] = probs[c]
        for o in range(text.starts[e], text.starts[e + 1]):
            start, entry, length = text.first[o], text.entry[o], text.length[o]
            trg_ids = text.trg_ids[start : start + length]
            position, total = positions[entry : entry + length], totals[start : start + length]
            for j in range(length):
                total[j] += spread[trg_ids[j]] * position[j]
    return totals


@kernel
def expected_counts(probs, indices, indptr, text, positions, totals):
    """Fast, because
    - a row's probabilities and counts are spread out, each written back once;
    - a multiplication by 1 / total takes the place of a division per token pair.
    """
    mass = np.zeros(len(positions))
    spread = np.zeros(text.n_trg, np.float64)
    count = np.zeros(text.n_trg, np.float64)
    inverse = 1 / totals
    for e in range(len(indptr) - 1):
        for c in range(indptr[e], indptr[e + 1]):
            spread[indices[c]] = probs[c]
        for o in range(text.starts[e], text.starts[e + 1]):
            start, entry, length = text.first[o], text.entry[o], text.length[o]
            trg_ids, part = text.trg_ids[start : start + length], inverse[start : start + length]
            position, moved = positions[entry : entry + length], mass[entry : entry + length]
            for j in range(length):
                trg = trg_ids[j]
                share = spread[trg] * position[j] * part[j]
                count[trg] += share
                moved[j] += share
        for c in range(indptr[e], indptr[e + 1]):
            trg = indices[c]
            probs[c] = count[trg]
            count[trg] = 0
    return probs, mass


@device_function
def exp_digamma(x):
    """exp(digamma(x)) for x > 0: digamma(x) = digamma(x + 1) - 1/x, until its series holds."""
    below = 0.0
    while x < 6:
        below += 1 / x
        x += 1
    y = x - 0.5
    return (y + (1 / 24 - (37 / 5760 - 10313 / 2903040 / (y * y)) / (y * y)) / y) * np.exp(-below)


@kernel
def normalise_rows(counts, indptr, alpha):
    """Fast, because it has a digamma of its own, whose exponential needs no second exp, and works in place."""
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
    return counts


@kernel
def best_links(probs, indices, indptr, text, positions, unseen):
    """Fast, because a row is spread out once, and every token remembers its best source word so far."""
    links, scores = np.zeros(len(text.trg_ids), np.int32), np.full(len(text.trg_ids), -1.0)
    spread = np.full(text.n_trg, unseen, np.float64)
    for e in range(len(indptr) - 1):
        for c in range(indptr[e], indptr[e + 1]):
            spread[indices[c]] = probs[c]
        for o in range(text.starts[e], text.starts[e + 1]):
            start, entry, place = text.first[o], text.entry[o], text.place[o]
            for j in range(text.length[o]):
                score = spread[text.trg_ids[start + j]] * positions[entry + j]
                best = scores[start + j]
                if score > best or (score == best and place < links[start + j]):
                    scores[start + j] = score
                    links[start + j] = place
        for c in range(indptr[e], indptr[e + 1]):
            spread[indices[c]] = unseen
    return links
