"""Looking into counts: the list of a word, why a target word is in a sentence's list or not, how large it all is.

Each question has a function that finds the numbers and one that writes them as text. Words stand in the last column,
so that columns are straight in every script.
"""

import os
from typing import NamedTuple

import numpy as np

from ..errors import UserError
from ..text.tokenizer import JOINER
from ..text.vocab import EOS, UNK
from .candidates import best_candidates, probabilities
from .formats.words import Words
from .selector import Selector, always_words


class Link(NamedTuple):
    """A source word and one of its candidates."""

    src_id: int
    trg_id: int
    rank: int  # among the source word's candidates, from 1
    count: float
    p_trg: float  # p(target | source)
    p_src: float  # p(source | target)
    rank_back: int  # among the target word's source words, from 1


class Table:
    """Counts with their probabilities, for looking up single words."""

    def __init__(self, counts, by="source"):
        self.counts, self.by = counts, by
        self.p_trg, self.p_src = probabilities(counts, "source"), probabilities(counts, "target")

    def ranked(self, src_id):
        """The positions of a row's cells, best candidate first, as best_candidates() sorts them."""
        p = self.p_trg if self.by == "source" else self.p_src
        cells = np.arange(self.counts.indptr[src_id], self.counts.indptr[src_id + 1])
        return cells[np.lexsort((self.counts.indices[cells], -p[cells]))]

    def list_of(self, src_id, n=None):
        """The first n Links of a source word, best first."""
        return [self._link(src_id, cell, rank) for rank, cell in enumerate(self.ranked(src_id)[:n], start=1)]

    def links_between(self, src_ids, trg_id):
        """The Links of these source words with one target word, the best rank first."""
        links = []
        for src_id in dict.fromkeys(src_ids):
            cells = self.ranked(src_id)
            places = np.flatnonzero(self.counts.indices[cells] == trg_id)
            links += [self._link(src_id, cells[place], place + 1) for place in places]
        return sorted(links, key=lambda link: link.rank)

    def _link(self, src_id, cell, rank):
        counts = self.counts
        trg_id, count = counts.indices[cell], counts.data[cell]
        column = np.flatnonzero(counts.indices == trg_id)  # by ascending source id
        above = (counts.data[column] > count) | ((counts.data[column] == count) & (column < cell))
        numbers = float(count), float(self.p_trg[cell]), float(self.p_src[cell])
        return Link(src_id, int(trg_id), int(rank), *numbers, int(above.sum()) + 1)


# The units of a word


class Units(NamedTuple):
    ids: list
    pieces: bool  # are they the pieces of one word, or different spellings of it?
    note: str


def find_units(word, pipeline, side):
    """A unit as the vocabulary spells it, a mark with its joiners, or a raw word -> Units."""
    if not word.strip():
        raise UserError(f"the {side} word is blank: name a word")
    known = Words(pipeline.vocab).ids
    if word in known:
        return Units([known[word]], True, "")
    joined = [form for form in (JOINER + word, word + JOINER, JOINER + word + JOINER) if form in known]
    if joined:
        note = f"{word} is spelled {' or '.join(joined)} in the vocabulary ({JOINER} stands for no space)"
        return Units([known[form] for form in joined], False, note)
    units = pipeline.units(word)
    if not units:
        raise UserError(f"the {side} word is blank: name a word")
    return Units(pipeline.vocab.encode(units), True, describe_units(units, pipeline.vocab, side))


def describe_units(units, vocab, side):
    """What a reader should know about them: how they are cut, which are unknown."""
    unknown = [unit for unit in units if vocab.encode([unit]) == [UNK]]
    notes = [f"it is cut into {' '.join(units)}"] if len(units) > 1 else []
    if unknown:
        notes.append(f"not in the {side} vocabulary, so read as UNK: {' '.join(unknown)}")
    return "; ".join(notes)


# inspect: the list of a source word

HEADER = f"{'rank':>6}{'count':>12}{'p(trg|src)':>12}{'p(src|trg)':>12}{'rank back':>11}  "


def format_link(link, word):
    return f"{link.rank:>6}{link.count:>12.6g}{link.p_trg:>12.4g}{link.p_src:>12.4g}{link.rank_back:>11}  {word}"


def format_list(table, src_id, n, src_vocab, trg_vocab):
    """The first n candidates of a source id as text."""
    _, weights = table.counts.row(src_id)
    title = f"{src_vocab.words[src_id]} (id {src_id})"
    if not len(weights):
        return f"{title}: no candidates; it was never linked with a target word"
    shown = "" if len(weights) <= n else f", the first {n}"
    lines = [f"{title}: {_number_of(len(weights), 'candidate')}, count {weights.sum():.6g}{shown}", HEADER + "target"]
    return "\n".join(lines + [format_link(link, trg_vocab.words[link.trg_id]) for link in table.list_of(src_id, n)])


# why: is a target word in a sentence's list?


class Reason(NamedTuple):
    """Why a target id is in a sentence's list, or not."""

    trg_id: int
    always: str  # why it is in every list, or ""
    links: list  # its Links with the source words of the sentence, the best rank first
    barred: list  # for every Link, what keeps it from bringing the word ("beyond 100"), or ""

    @property
    def included(self):
        return bool(self.always) or "" in self.barred


def find_reason(table, src_ids, trg_id, topn, frequent=0, min_prob=0.0):
    """The Reason for one target id and a sentence's source ids (eos among them)."""
    always = ""
    if trg_id in (EOS, UNK):
        always = "eos" if trg_id == EOS else "UNK"
    elif trg_id < len(always_words(table.counts.n_trg, frequent)):
        always = f"one of the {frequent} most frequent words"
    links, barred = table.links_between(src_ids, trg_id), []
    least = np.float32(min_prob)  # as best_candidates() compares
    for link in links:
        p = np.float32(link.p_trg if table.by == "source" else link.p_src)
        barred.append(f"below {min_prob:g}" if p < least else f"beyond {topn}" if link.rank > topn else "")
    return Reason(trg_id, always, links, barred)


def list_size(counts, src_ids, topn, by="source", frequent=0, min_prob=0.0):
    """How many target words a sentence's list has."""
    ids = np.array(src_ids, np.int64)[:, None]  # (S,1): a batch of one sentence
    selector = Selector(best_candidates(counts, topn, by, min_prob), frequent)
    return len(selector.lists(ids, np.ones(ids.shape, np.float32))[0])


def format_reasons(reasons, word, pieces, src_vocab, trg_vocab):
    """The Reasons of a word's units as text; of several pieces all are needed."""
    blocks = [format_reason(reason, src_vocab, trg_vocab) for reason in reasons]
    if pieces and len(reasons) > 1:
        missing = [trg_vocab.words[r.trg_id] for r in reasons if not r.included or r.trg_id == UNK]
        blocks.append(f"{word}: " + (f"cannot be written without {' '.join(missing)}" if missing else "can be written"))
    return "\n\n".join(blocks)


def format_reason(reason, src_vocab, trg_vocab):
    """A Reason as text."""
    lines = [f"{trg_vocab.words[reason.trg_id]} (id {reason.trg_id}): {_verdict(reason, src_vocab)}"]
    if reason.links:
        lines.append(HEADER + "source")
    for link, bar in zip(reason.links, reason.barred):
        lines.append(format_link(link, src_vocab.words[link.src_id] + (f"  ({bar})" if bar else "")))
    return "\n".join(lines)


def _verdict(reason, src_vocab):
    if reason.always:
        return f"in the list of every sentence: it is {reason.always}"
    if reason.included:
        through = [src_vocab.words[link.src_id] for link, bar in zip(reason.links, reason.barred) if not bar]
        return "in the list through " + ", ".join(through)
    if not reason.links:
        return "not in the list; no source word of the sentence was ever linked with it"
    for link, bar in zip(reason.links, reason.barred):
        if bar.startswith("beyond"):
            return f"not in the list; --topn {link.rank} would bring it, through {src_vocab.words[link.src_id]}"
    return "not in the list; it takes a lower --min-prob"


# stats: how large is it?


def stats(counts):
    """The sizes of Counts, as a dictionary."""
    sizes = np.diff(counts.indptr)
    n_rows = int((sizes > 0).sum())
    return {
        "source words": counts.n_src,
        "target words": counts.n_trg,
        "rows": n_rows,
        "cells": counts.n_cells,
        "density": counts.n_cells / (counts.n_src * counts.n_trg),
        "bytes": counts.indptr.nbytes + counts.indices.nbytes + counts.data.nbytes,
        "weight": float(counts.data.sum(dtype=np.float64)),
        "mean": counts.n_cells / max(n_rows, 1),
        "longest": int(sizes.argmax()),
        "most": int(sizes.max()),
    }


def format_stats(counts, src_vocab, paths=()):
    """The sizes of Counts as text; `paths` are the files they were read from."""
    s = stats(counts)
    lines = {
        "counts": " + ".join(map(str, paths)),
        "source words": f"{s['rows']:,} of {s['source words']:,} have candidates",
        "cells": f"{s['cells']:,} ({100 * s['density']:.3g} % of {s['source words']:,} x {s['target words']:,})",
        "candidates": f"{s['mean']:.1f} for a source word that has any, at most {s['most']:,}",
        "total weight": f"{s['weight']:,.6g}",
        "in memory": _megabytes(s["bytes"]),
        "on disk": _megabytes(sum(os.path.getsize(path) for path in paths)),
        **{name.replace("_", " "): value for name, value in counts.info.items()},
    }
    if s["most"]:
        lines["candidates"] += f" ({src_vocab.words[s['longest']]})"
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in lines.items())


def _megabytes(n_bytes):
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e6:.6f} MB"


def _number_of(n, noun):
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
