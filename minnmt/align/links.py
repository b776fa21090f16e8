"""Word links from attention weights, their Pharaoh form, and the alignment error rate (22).

Attention is over units (BPE pieces) and eos; links are between words: the weights of a word's pieces are added up
on the source side and averaged on the target side, and eos never takes part. Notebook 06.
"""

import numpy as np

from ..errors import UserError, quoted


def word_weights(alpha, src_words, trg_words):
    """alpha (T,S) over units, the word of each unit (lists, eos not in them) -> weights (trg words, src words).

    Rows and columns of alpha beyond the lists (eos, padding) are left out.
    """
    weights = np.zeros((max(trg_words, default=-1) + 1, max(src_words, default=-1) + 1))
    pieces = np.bincount(trg_words, minlength=len(weights)) if trg_words else np.zeros(0)
    part = alpha[: len(trg_words), : len(src_words)]
    np.add.at(weights, (np.array(trg_words, int)[:, None], np.array(src_words, int)[None, :]), part)
    return weights / np.maximum(pieces, 1)[:, None]


def hardest_links(weights):
    """weights (trg words, src words) -> {(i, j)}: every target word j linked to its heaviest source word i."""
    if weights.size == 0:
        return set()
    return {(int(i), j) for j, i in enumerate(weights.argmax(axis=1))}


def format_pharaoh(links):
    """{(i, j)} -> "0-0 1-2 2-1", sorted."""
    return " ".join(f"{i}-{j}" for i, j in sorted(links))


def parse_pharaoh(line, where="alignment"):
    """"0-0 1-2" -> {(0, 0), (1, 2)}."""
    try:
        return {(int(i), int(j)) for i, j in (link.split("-") for link in line.split())}
    except ValueError:
        raise UserError(f"{where}: expected links such as 0-0 1-2 (source-target), found {quoted(line)}") from None


def alignment_error_rate(found, gold):
    """Two lists of link sets -> 1 - 2 |found and gold| / (|found| + |gold|), over the whole corpus (22)."""
    common = sum(len(f & g) for f, g in zip(found, gold))
    total = sum(len(f) + len(g) for f, g in zip(found, gold))
    return 1 - 2 * common / total if total else 0.0
