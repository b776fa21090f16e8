"""Looking into counts, as text: the list of a word, why a target word is in a sentence's list or not, how large it is.

The numbers of the first two come from ranking.py. Words stand in the last column, so that columns are straight in every
script. Notebook 07.
"""

import os
from typing import NamedTuple

import numpy as np

from ..errors import UserError
from ..text.tokenizer import JOINER
from ..text.vocab import UNK
from .formats.words import Words
from .ranking import BELOW

# The units of a word


class Units(NamedTuple):
    ids: list
    pieces: bool  # are they the pieces of one word, or different spellings of it?
    note: str


def find_units(word, pipeline, side):
    """A unit as the vocabulary spells it, a mark with its joiners, or a raw word -> Units."""
    units = pipeline.units(word)
    if not units:
        raise UserError(f"the {side} word is blank: name a word")
    known = Words(pipeline.vocab).ids
    if word in known:
        return Units([known[word]], True, "")
    joined = [form for form in (JOINER + word, word + JOINER, JOINER + word + JOINER) if form in known]
    if joined:
        note = f"{word} is spelled {' or '.join(joined)} in the vocabulary ({JOINER} stands for no space)"
        return Units([known[form] for form in joined], False, note)
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


def format_link(ranking, link, word):
    count, p_trg, p_src, rank_back = ranking.details(link)
    return f"{link.rank:>6}{count:>12.6g}{p_trg:>12.4g}{p_src:>12.4g}{rank_back:>11}  {word}"


def format_list(ranking, src_id, src_vocab, trg_vocab):
    """The n best candidates of a source id as text."""
    _, weights = ranking.counts.row(src_id)
    title = f"{src_vocab.words[src_id]} (id {src_id})"
    if not len(weights):
        return f"{title}: no candidates; it was never linked with a target word"
    shown = "" if len(weights) <= ranking.n else f", the first {ranking.n}"
    lines = [f"{title}: {number_of(len(weights), 'candidate')}, count {weights.sum():.6g}{shown}", HEADER + "target"]
    lines += [format_link(ranking, link, trg_vocab.words[link.trg_id]) for link in ranking.links(src_id)]
    return "\n".join(lines)


# why: is a target word in a sentence's list?


def format_reasons(ranking, reasons, word, pieces, src_vocab, trg_vocab):
    """The Reasons of a word's units as text; of several pieces all are needed."""
    blocks = [format_reason(ranking, reason, src_vocab, trg_vocab) for reason in reasons]
    if pieces and len(reasons) > 1:
        missing = [trg_vocab.words[r.trg_id] for r in reasons if not r.included or r.trg_id == UNK]
        blocks.append(f"{word}: " + (f"cannot be written without {' '.join(missing)}" if missing else "can be written"))
    return "\n\n".join(blocks)


def format_reason(ranking, reason, src_vocab, trg_vocab):
    """A Reason as text."""
    lines = [f"{trg_vocab.words[reason.trg_id]} (id {reason.trg_id}): {_verdict(reason, src_vocab)}"]
    if reason.links:
        lines.append(HEADER + "source")
    for link in reason.links:
        limit = f"below {ranking.min_prob:g}" if link.barred == BELOW else f"beyond {ranking.n}"
        word = src_vocab.words[link.src_id] + (f"  ({limit})" if link.barred else "")
        lines.append(format_link(ranking, link, word))
    return "\n".join(lines)


def _verdict(reason, src_vocab):
    if reason.always:
        return f"in the list of every sentence: it is {reason.always}"
    if reason.included:
        through = [src_vocab.words[link.src_id] for link in reason.links if not link.barred]
        return "in the list through " + ", ".join(through)
    if not reason.links:
        return "not in the list; no source word of the sentence was ever linked with it"
    if reason.needed:
        link = reason.needed
        return f"not in the list; --topn {link.rank} would bring it, through {src_vocab.words[link.src_id]}"
    return "not in the list; it takes a lower --min-prob"


# stats: how large is it?


def format_stats(counts, src_vocab, paths=()):
    """The sizes of Counts as text; `paths` are the files they were read from."""
    sizes = np.diff(counts.indptr)
    density, mean = counts.n_cells / (counts.n_src * counts.n_trg), counts.n_cells / max(counts.n_rows, 1)
    n_bytes = sum(array.nbytes for array in (counts.indptr, counts.indices, counts.data))
    longest = f" ({src_vocab.words[sizes.argmax()]})" if counts.n_cells else ""
    lines = {
        "counts": " + ".join(map(str, paths)),
        "source words": f"{counts.n_rows:,} of {counts.n_src:,} have candidates",
        "cells": f"{counts.n_cells:,} ({100 * density:.3g} % of {counts.n_src:,} x {counts.n_trg:,})",
        "candidates": f"{mean:.1f} per source word that has any, at most {sizes.max():,}{longest}",
        "total weight": f"{counts.data.sum(dtype=np.float64):,.6g}",
        "in memory": megabytes(n_bytes),
        "on disk": megabytes(sum(os.path.getsize(path) for path in paths)),
        **{name.replace("_", " "): value for name, value in counts.info.items()},
    }
    return in_columns(lines)


def in_columns(lines):
    """{name: value} -> a line each."""
    width = max(map(len, lines)) + 2
    return "\n".join(f"{name:<{width}}{value}" for name, value in lines.items())


def megabytes(n_bytes):
    return f"{n_bytes / 1e6:,.1f} MB" if n_bytes >= 1e6 else f"{n_bytes / 1e6:.6f} MB"


def number_of(n, noun):
    """1, "line" -> "1 line"; 2, "line" -> "2 lines"."""
    return f"{n:,} {noun}{'' if n == 1 else 's'}"
