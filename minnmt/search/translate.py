"""Raw lines in, raw translations out: batches of similar length, and the answers in the order of the questions."""

from dataclasses import dataclass

import numpy as np

from ..align.links import format_pharaoh, hardest_links, word_weights
from ..align.selector import Selector
from ..model.directory import Model
from ..text.batches import pad
from ..text.bpe import unit_words
from ..threads import thread_pool
from .beam import SearchSettings, beam_search
from .unknown import Replacer

# A batch holds at most this many floats of annotations, and of listed words: with very long lines, or with very long
# lists, it has fewer sentences.
MEMORY_BUDGET = 64 * 1024 * 1024


@dataclass
class Translation:
    """One line's answer: the n best, as raw lines and as hypotheses; both are empty for a blank line."""

    src_units: list
    lines: list
    hypotheses: list
    list_size: int = 0  # words that its list had; 0 when all words were allowed

    @property
    def best(self):
        return self.lines[0] if self.lines else ""


@dataclass
class Translator:
    """All that decides what becomes of a line."""

    model: Model
    settings: SearchSettings
    batch_size: int = 32
    n_threads: int = 1
    selector: Selector | None = None
    replacer: Replacer | None = None

    def translate(self, lines):
        """Raw lines -> a list of Translation in the same order."""
        return translate(
            lines, self.model, self.settings, self.batch_size, self.n_threads, self.selector, self.replacer
        )


def translate(lines, model, settings=None, batch_size=32, n_threads=1, selector=None, replacer=None):
    """Raw lines -> a list of Translation in the same order.

    A selector (minnmt/align/selector.py) gives each sentence the list of words it may use. A replacer (unknown.py)
    finds words for UNK; it needs settings.keep_attention.
    """
    settings = settings or SearchSettings()
    units = [model.src.units(line) for line in lines]
    answers = [Translation(u, [], []) for u in units]
    params = model.params

    def work(chosen):
        sentences = [model.src.vocab.encode(units[i]) for i in chosen]
        lists = None if selector is None else selector.lists(*pad(sentences))
        if lists and len(chosen) > 1 and sum(map(len, lists)) * params.trg_embedding.shape[1] > MEMORY_BUDGET:
            work(chosen[: len(chosen) // 2])
            work(chosen[len(chosen) // 2 :])
            return
        for b, (i, hypotheses) in enumerate(zip(chosen, beam_search(sentences, params, settings, lists))):
            answers[i].hypotheses = hypotheses
            answers[i].list_size = len(lists[b]) if lists else 0
            answers[i].lines = [replacer.text(h, units[i]) if replacer else model.trg.text(h.ids) for h in hypotheses]

    batches = list(_batches(units, batch_size, settings.beam, params))
    n_threads = min(n_threads, len(batches))
    if n_threads > 1:
        with thread_pool(n_threads) as pool:
            list(pool.map(work, batches))
    else:
        for chosen in batches:
            work(chosen)
    return answers


def _batches(sentences, batch_size, beam, params):
    """Numbers of the sentences that have words, longest first, cut into batches that fit into memory."""
    order = [i for i in np.argsort([-len(s) for s in sentences], kind="stable") if len(sentences[i])]
    per_word = 2 * beam * 2 * len(params.start.b)
    while order:
        fitting = max(1, MEMORY_BUDGET // (per_word * (len(sentences[order[0]]) + 1)))
        n = min(batch_size, fitting)
        yield order[:n]
        order = order[n:]


def pharaoh_line(translation, model):
    """The hardest word links of the best translation, "0-0 1-2"; empty for a blank line."""
    if not translation.hypotheses:
        return ""
    hypothesis = translation.hypotheses[0]
    trg_units = model.trg.vocab.decode(hypothesis.ids)
    src_words, trg_words = word_numbers(translation.src_units, model.src), word_numbers(trg_units, model.trg)
    return format_pharaoh(hardest_links(word_weights(hypothesis.alpha, src_words, trg_words)))


def weights_record(translation, model):
    """The full attention matrix of the best translation as a dictionary for JSON, units and eos as its labels."""
    if not translation.hypotheses:
        return {"src": [], "trg": [], "weights": []}
    hypothesis = translation.hypotheses[0]
    return {
        "src": [*translation.src_units, "eos"],
        "trg": [*model.trg.vocab.decode(hypothesis.ids), "eos"],
        "weights": [[round(float(w), 6) for w in row] for row in hypothesis.alpha],
    }


def word_numbers(units, pipeline):
    """The number of the word that each unit belongs to."""
    return unit_words(units) if pipeline.bpe else list(range(len(units)))


