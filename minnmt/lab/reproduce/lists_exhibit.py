"""lists-table: every way to choose words, at the same average list size, and what it costs to verify a list.

The yardstick is the list of attention with 100 candidates per source word. Every other selector gets as many candidates
per word, or a threshold as low, as make its lists equally long on the test text. Notebook 11.
"""

from dataclasses import asdict, replace
from functools import partial

import numpy as np

from ...align.candidates import best_candidates
from ...align.copying import CopySelector
from ...align.phrases import PhraseCounts, PhraseSelector
from ...align.selector import Selector
from ...files import make_directory
from ...report.audit import audit, decode_both
from ...report.coverage import ALL, BAND_NAMES, negation_words
from ...report.scores import Difference, bleu, bleu_difference
from ...search.neural_selector import NeuralSelector, load_selection, save_selection
from ...search.screen import load_screen
from ...search.selectors import NEURAL_FILE, PHRASES_FILE, SCREEN_FILE, Union
from ...search.translate import Translator
from ...tasks.selecting import count_phrases, make_screen, train_selection
from ...text.batches import pad
from ..tables import Table
from .paper import TOPN

ORIGINS = {
    "scratch": "attention (training)", "model1": "model1", "fastalign": "fastalign", "cooc": "cooc",
    "copy": "attention + copy", "phrases": "attention + phrases", "neural": "neural", "frequent": "frequent",
    "random": "random",
}  # fmt: skip
LEVELS = ("best", "all")
KINDS = ("numbers", "capitalised, elsewhere", "negations")
RARE = BAND_NAMES[-2:]
NOTES = (
    f"All lists are as long, on average, as attention's with {TOPN} candidates per source word; n, or the neural "
    "selector's threshold, is chosen so. Identical: outputs that equal those of full decoding with beam 5. "
    "Mass: the mean probability that listed words have at a step of the full softmax. Covered: whole words of the "
    "references that the lists can write, all, the rarer ones (from rank 1,001 on) and by kind.",
    "Against full: how lists change BLEU, with the 95 % interval of a paired bootstrap. Seconds: decoding "
    "the test text in batches with lists, choosing the words included, and with all words. The screen chooses words "
    "at every step: its words are per step. The last rows verify the lists of attention.",
)
HEADINGS = (
    "lists from", "n", "words", "identical, %", "BLEU", "against full", "seconds", "mass kept", "covered, %", "rarer",
    *KINDS,
)  # fmt: skip


def lists_table(lab, name="bpe"):
    """-> Table."""
    notes = NOTES + lab.count_notes(name, "Phrases, the neural selector and the screen")
    table = Table("lists-table", "Lists of the same length, by what chose their words", HEADINGS, notes)
    size = mean_size(lab, name, candidates_of(lab, name, "scratch")(TOPN))
    for origin, text in ORIGINS.items():
        found = lab.once(f"{name}: {origin} lists of {size:.0f} words", audited, lab, name, origin, size)
        add_row(table, origin, text, found, found["n"])
    found = lab.once(f"{name}: a screen of {size:.0f} words", screened, lab, name, round(size))
    add_screen(table, found)
    for level in LEVELS:
        found = lab.once(f"{name}: scratch lists, verify {level}", audited, lab, name, "scratch", size, level)
        add_row(table, "scratch", f"attention, verify {level}", {**found, "verify": level}, found["n"])
    return table


def add_row(table, origin, text, found, n):
    bleu = next(score for score in found["scores"] if score["name"] == "BLEU")
    rows = {row["name"]: row for row in found["coverage"]["rows"]}
    rarer = {key: sum(rows[band][key] for band in RARE) for key in ("words", "words_covered")}
    chosen = [rows[ALL], rarer, *(rows[kind] for kind in KINDS)]
    table.add(
        {"origin": origin, **found}, text, f"{n:.2g}" if n < 1 else f"{n:.0f}",
        f"{found['lists']['words_per_sentence']:,.0f}", share(found["identical"], found["sentences"]),
        f"{bleu['list']:.2f}", str(Difference(*found["against_full"])),
        f"{found['seconds_list']:.2f} of {found['seconds_full']:.2f}", f"{found['mass_output']['mean']:.4f}",
        *(f"{share(row['words_covered'], row['words'])} of {row['words']:,}" for row in chosen),
    )  # fmt: skip


def add_screen(table, found):
    table.add(
        {"origin": "screen", **found}, "screen (by the step)", f"{found['n']}", f"{found['words_per_step']:,.0f}",
        share(found["identical"], found["sentences"]), f"{found['bleu']:.2f}", str(Difference(*found["against_full"])),
        f"{found['seconds_list']:.2f} of {found['seconds_full']:.2f}", *["-"] * (2 + len(KINDS) + 1),
    )  # fmt: skip


def share(part, whole):
    return f"{100 * part / whole:.1f}" if whole else "-"


def audited(lab, name, origin, size, verify=None):
    """An audit's numbers, without its sentences."""
    model, split, threads = lab.model(name), lab.split(name, "test"), lab.settings.threads
    n, selector = matched(lab, name, origin, size)
    full = Translator(model, n_threads=threads, precision="float32")
    listed = Translator(model, n_threads=threads, selector=selector, engine=full.engine, verify=verify)
    decodings = decode_both(split.src, (full, listed))
    found = asdict(audit(split, decodings, model, selector, None, negation_words(), threads))
    lines = ([t.best for t in side] for side in (decodings.listed, decodings.full))
    found |= {"n": n, "against_full": bleu_difference(*lines, split.trg)}
    return {key: value for key, value in found.items() if key not in ("divergences", "summary")}


def screened(lab, name, n):
    """The same of a screen, as far as it goes: a sentence has no list to look at."""
    model, split, threads = lab.model(name), lab.split(name, "test"), lab.settings.threads
    full = Translator(model, n_threads=threads, precision="float32")
    screen = replace(screen_of(lab, name), n=n)
    listed = Translator(model, n_threads=threads, selector=screen, engine=full.engine)
    found = decode_both(split.src, (full, listed))
    lines, full_lines = ([t.best for t in side] for side in (found.listed, found.full))
    return {
        "n": n, "words_per_step": float(np.mean([t.list_size for t in found.listed if t.src_units])),
        "identical": sum(a == b for a, b in zip(lines, full_lines)), "sentences": len(lines),
        "bleu": bleu(lines, split.trg), "against_full": bleu_difference(lines, full_lines, split.trg),
        "seconds_list": found.seconds_list, "seconds_full": found.seconds_full,
    }  # fmt: skip


# Lists of a given length


def matched(lab, name, origin, size):
    """-> n, or the threshold, and the selector whose lists have `size` words on average, or nearly so."""
    make = candidates_of(lab, name, origin)
    if origin == "neural":
        threshold = threshold_for(size, make(0.5), batches_of_test(lab, name))
        return threshold, make(threshold)
    n = least_n(lambda n: mean_size(lab, name, make(n)) >= size - 0.5, len(lab.model(name).trg.vocab))
    return n, make(n)


def least_n(is_enough, most):
    """The least n from 1 to `most` that is enough; more than twice as many are never tried, for they take memory."""
    low, high = 1, 1
    while high < most and not is_enough(high):
        low, high = high + 1, min(2 * high, most)
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def mean_size(lab, name, selector):
    """Words of a list, the mean of the test sentences."""
    batches = batches_of_test(lab, name)
    return float(np.mean([len(ids) for batch in batches for ids in selector.lists(*pad(batch))]))


def threshold_for(size, selector, batches):
    """A NeuralSelector -> the threshold with which its lists of these sentences have `size` words on average."""
    scores = np.concatenate([selector.scores(*pad(batch)) for batch in batches])  # (N,V)
    z = np.delete(scores, selector.always, axis=1).reshape(-1)
    n = round((size - len(selector.always)) * len(scores))  # so many are to be above it
    n = min(max(n, 1), len(z) - 1)
    least_in, most_out = -np.partition(-z, (n - 1, n))[n - 1 : n + 1].astype(np.float64)
    return float(1 / (1 + np.exp(-(least_in + most_out) / 2)))


def batches_of_test(lab, name):
    """The sentences of the test text as ids, 64 at a time."""
    sentences = [ids for line in lab.split(name, "test").src if (ids := lab.model(name).src.ids(line))]
    return [sentences[i : i + 64] for i in range(0, len(sentences), 64)]


def candidates_of(lab, name, origin):
    """A function of n, or of a threshold, that makes the selector."""
    model = lab.model(name)
    if origin in ("frequent", "random"):
        return partial(lab.selector, name, origin)
    if origin == "neural":
        layer = selection_layer(lab, name)
        return lambda threshold: NeuralSelector(model.params, layer, threshold)
    counts = lab.counts(name, "scratch" if origin in ("copy", "phrases") else origin)
    if origin == "copy":
        copied = CopySelector(model.src, model.trg)
        return lambda n: Union([Selector(best_candidates(counts, n)), copied])
    if origin == "phrases":
        return partial(with_phrases, phrase_counts(lab, name), counts)
    return lambda n: Selector(best_candidates(counts, n))


def with_phrases(phrases, counts, n):
    words = best_candidates(counts, n)
    return Union([Selector(words), PhraseSelector(phrases, words)])


def phrase_counts(lab, name):
    """Of the model's training text, or a part of it; counted once."""
    model, path = lab.model(name), lab.own_directory(name) / PHRASES_FILE
    if not path.exists():
        lab.status.line(f"counting: phrases, for the model {name}")
        make_directory(lab.own_directory(name))
        count_phrases(model, lab.part_to_count(name), counting_settings(lab, name), lab.status).save(path)
    return PhraseCounts.load(path, len(model.src.vocab), len(model.trg.vocab))


def selection_layer(lab, name):
    """The neural selector's, trained once."""
    model, path = lab.model(name), lab.own_directory(name) / NEURAL_FILE
    if not path.exists():
        lab.status.line(f"training the neural selector of the model {name}")
        make_directory(lab.own_directory(name))
        layer, losses = train_selection(model, lab.part_to_count(name), counting_settings(lab, name), lab.status)
        save_selection(path, layer, {"method": "neural", "losses": losses})
    return load_selection(path, model.params)


def screen_of(lab, name):
    """Made once."""
    model, path = lab.model(name), lab.own_directory(name) / SCREEN_FILE
    if not path.exists():
        lab.status.line(f"grouping the readouts of the model {name}")
        make_directory(lab.own_directory(name))
        screen = make_screen(model, lab.part_to_count(name), counting_settings(lab, name), lab.status)
        screen.save(path, {"method": "screen"})
    return load_screen(path, TOPN, model.params)


def counting_settings(lab, name):
    """Those of the model; an epoch is all that it is given."""
    return replace(lab.variant(name), epoch_pairs=0)
