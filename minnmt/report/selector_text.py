"""Looking into the selectors other than counts, as text: what they bring for some words, and how large they are.

Counts have align/inspect.py. All functions take a Choice (search/selectors.py), which names the model. Notebook 11.
"""

import os

import numpy as np

from ..align.inspect import find_units, in_columns, megabytes, number_of
from ..align.phrases import LENGTHS, NO_WORD, phrases_of
from ..errors import UserError
from ..search.neural_selector import FILE as NEURAL_FILE
from ..search.screen import FILE as SCREEN_FILE
from ..search.selectors import PHRASES_FILE, SELECTORS
from ..text.vocab import EOS, UNK

WORDS = 8  # of a group, to show what it is about


def source_ids(choice, text):
    """Words as a user writes them -> their ids, then eos."""
    src = choice.model.src
    units = src.units(text)
    if not units:
        raise UserError("the text is blank: name a word or several")
    return [*src.vocab.encode(units), EOS]


def as_batch(ids):
    """One sentence -> src_ids, src_mask (S,1)."""
    ids = np.array(ids)[:, None]
    return ids, np.ones(ids.shape, np.float32)


# inspect: what a selector brings for these words, the n best


def inspect_copy(choice, text, n):
    """The target units that these words are copied to."""
    selector, ids = SELECTORS["copy"](choice), source_ids(choice, text)
    brought = [i for i in selector.lists(*as_batch(ids))[0] if i > UNK]
    if not brought:
        return f"{text}: no target unit is spelled like any of its units"
    words = choice.model.trg.vocab.words
    return "\n".join(f"{words[i]} (id {i}): in the list through {selector.why(ids, i)}" for i in brought[:n])


def inspect_phrases(choice, text, n):
    """The candidates of all phrases in these words, beside those of the words."""
    selector, vocab = SELECTORS["phrases"](choice), choice.model.src.vocab
    blocks = []
    for phrase in phrases_of(source_ids(choice, text)):
        if phrase in selector.rows:
            ids, weights = selector.candidates.row(selector.rows[phrase])
            title = " ".join(vocab.words[i] for i in phrase if i != NO_WORD)
            lines = [f"{title}: {number_of(len(ids), 'candidate')} beside those of its words"]
            lines += [f"{'rank':>6}{'p(trg|src)':>12}  target"] if len(ids) else []
            best = zip(weights[:n], ids[:n])
            lines += [f"{k:>6}{p:>12.4g}  {choice.model.trg.vocab.words[i]}" for k, (p, i) in enumerate(best, 1)]
            blocks.append("\n".join(lines))
    return "\n\n".join(blocks) or f"{text}: none of its phrases was seen twice in the text that was counted"


def inspect_neural(choice, text, n):
    """The words that a sentence needs most probably."""
    selector = SELECTORS["neural"](choice)
    needed = 1 / (1 + np.exp(-selector.scores(*as_batch(source_ids(choice, text)))[0]))
    order, words = np.argsort(-needed, kind="stable"), choice.model.trg.vocab.words
    size = int((needed > choice.threshold).sum())
    lines = [f"{text}: {number_of(size, 'word')} above {choice.threshold:g}", f"{'rank':>6}{'p(needed)':>12}  target"]
    return "\n".join(lines + [f"{k:>6}{needed[i]:>12.4g}  {words[i]}" for k, i in enumerate(order[:n], 1)])


def inspect_screen(choice, text, n):
    """The groups of readouts that may choose a target word."""
    screen, vocab = SELECTORS["screen"](choice), choice.model.trg.vocab
    steps = screen.n_readouts / max(1, screen.n_readouts.sum())
    blocks = []
    for trg_id in dict.fromkeys(find_units(text, choice.model.trg, "target").ids):
        groups = np.array([g for g, own in enumerate(screen.lists) if trg_id in own], int)
        title = f"{vocab.words[trg_id]} (id {trg_id}): in {len(groups)} of {len(screen.lists)} groups"
        lines = [f"{title}, which have {100 * steps[groups].sum():.1f} % of the steps"]
        lines += [f"{'group':>6}{'% of steps':>12}{'words':>8}  chosen most often"] if len(groups) else []
        for g in groups[np.argsort(-steps[groups], kind="stable")][:n]:
            lines.append(f"{g:>6}{100 * steps[g]:>12.2f}{len(screen.lists[g]):>8}  {most_often(screen, g, vocab)}")
        blocks.append("\n".join(lines))
    return "\n\n".join(blocks)


def most_often(screen, group, vocab):
    """The words that a group's readouts choose most often."""
    ids, counts = screen.counts.row(group)
    return " ".join(vocab.words[i] for i in ids[np.argsort(-counts, kind="stable")][:WORDS])


# stats: how large a selector is


def copy_stats(choice):
    selector, (n_src, n_trg) = SELECTORS["copy"](choice), choice.sizes
    n_same = int((selector.same > UNK).sum())
    same = f"{n_same:,} of {n_src:,} are among the {n_trg:,} target units, spelled the same"
    return in_columns({"source units": same, "on disk": "nothing: it needs the vocabularies alone"})


def phrase_stats(choice):
    selector = SELECTORS["phrases"](choice)
    lengths = [sum(i != NO_WORD for i in phrase) for phrase in selector.rows]
    return in_columns(
        {
            **{f"phrases of {n} words": f"{lengths.count(n):,}" for n in LENGTHS},
            "candidates": f"{len(selector.candidates.ids):,} in all, beside the {choice.topn} of each of their words",
            "on disk": size_of(choice, PHRASES_FILE, "phrases"),
        }
    )


def neural_stats(choice):
    layer = SELECTORS["neural"](choice).layer
    shapes = ", ".join(f"{name} {array.shape}" for name, array in vars(layer).items())
    return in_columns({"layer": shapes, "on disk": size_of(choice, NEURAL_FILE, "neural")})


def screen_stats(choice):
    screen = SELECTORS["screen"](choice)
    sizes, steps = np.array([len(own) for own in screen.lists]), screen.n_readouts
    mean = (sizes * steps).sum() / max(1, steps.sum())
    return in_columns(
        {
            "groups": f"{len(sizes)}, of {steps.sum():,} readouts: {steps.min():,} to {steps.max():,} each",
            "words": f"{mean:.1f} per step with --topn {choice.topn}: groups have {sizes.min():,} to {sizes.max():,}",
            "on disk": size_of(choice, SCREEN_FILE, "screen"),
        }
    )


def size_of(choice, file, method):
    path = choice.file(file, method)
    return f"{megabytes(os.path.getsize(path))}, {path}"


INSPECT = {"copy": inspect_copy, "phrases": inspect_phrases, "neural": inspect_neural, "screen": inspect_screen}
STATS = {"copy": copy_stats, "phrases": phrase_stats, "neural": neural_stats, "screen": screen_stats}
