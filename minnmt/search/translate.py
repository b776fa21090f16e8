"""Raw lines in, raw translations out: batches of similar length, and the answers in the order of the questions.

Left out: the search itself (beam.py for one sentence, batch_beam.py for many). Notebook 05 translates with it.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from ..align.links import format_pharaoh, hardest_links, word_weights
from ..align.selector import Selector
from ..compiled import reading_mode
from ..errors import OVERFLOW, UserError
from ..model.directory import Model
from ..text.batches import pad
from ..text.pipeline import word_numbers
from ..threads import threads
from .batch_beam import batch_beam_search
from .batch_verified import checked_batch_search, verified_batch_search
from .beam import SearchSettings, beam_search
from .desks import ALONE, Team
from .fast import FastEngine
from .screen import Screen, screened_batch_search
from .unknown import Replacer
from .verified import Effort, checked_search, verified_search

# A batch holds at most this many floats of annotations, and of listed words: with very long lines, or with very long
# lists, it has fewer sentences.
MEMORY_BUDGET = 64 * 1024 * 1024
# What is made sure of: --verify NAME -> the search that is read, the search that is fast
VERIFIED = {"all": (verified_search, verified_batch_search), "best": (checked_search, checked_batch_search)}
LONGEST = 2000  # units of a sentence; attention takes time for every two positions, and no sentence is so long


@dataclass
class Translation:
    """One line's answer: the n best, as raw lines and as hypotheses; both are empty for a blank line."""

    src_units: list
    lines: list
    hypotheses: list
    list_size: float = 0  # words that its list had, with a screen per step; 0 when all words were allowed
    n_cut: int = 0  # units beyond LONGEST, which were left out
    effort: Effort | None = None  # what it took, if the list was to be verified

    @property
    def best(self):
        return self.lines[0] if self.lines else ""


@dataclass
class Translator:
    """All that decides what becomes of a line.

    A selector (selectors.py) gives each sentence the list of words it may use, or each step (screen.py). A replacer
    (unknown.py) finds words for UNK; it needs settings.keep_attention. Each thread takes a batch; with one sentence the
    others help, if the network is large. In reading mode there is no engine: one thread, and one sentence after the
    other.
    """

    model: Model
    settings: SearchSettings = field(default_factory=SearchSettings)
    batch_size: int = 32
    n_threads: int = 1
    selector: Selector | None = None
    replacer: Replacer | None = None
    engine: FastEngine | None = None  # None: a new one, unless in reading mode
    precision: str | None = None  # of the new one: int8, float32, or None for what is faster
    verify: str | None = None  # "all" or "best": how far a list must not matter (verified.py); needs a selector

    def __post_init__(self):
        if self.engine is None and not reading_mode():
            self.engine = FastEngine(self.model.params, self.precision)
        self.team = Team(self.n_threads)

    @property
    def engine_name(self):
        return self.engine.name if self.engine else "plain"

    def translate(self, lines):
        """Raw lines -> a list of Translation in the same order."""
        units = [self.model.src.units(line) for line in lines]
        answers = [Translation(u[:LONGEST], [], [], n_cut=max(0, len(u) - LONGEST)) for u in units]
        numbers = self._batches([answer.src_units for answer in answers])
        batches = [[answers[i] for i in chosen] for chosen in numbers]
        if len(batches) == 1:
            self._answer(batches[0], self.team)
        else:
            with threads(min(self.n_threads, len(batches))) as each:
                each(self._answer, batches)
        return answers

    def _batches(self, sentences):
        """Numbers of the sentences that have words, longest first, cut into batches that fit into memory."""
        order = [i for i in np.argsort([-len(s) for s in sentences], kind="stable") if len(sentences[i])]
        per_word = 2 * self.settings.beam * 2 * len(self.model.params.start.b)
        share = -(-len(order) // self.n_threads)  # no thread without work
        while order:
            fitting = max(1, MEMORY_BUDGET // (per_word * (len(sentences[order[0]]) + 1)))
            n = min(self.batch_size, fitting, share)
            yield order[:n]
            order = order[n:]

    def _answer(self, answers, team=ALONE):
        """Translate one batch: fill in the hypotheses and lines of its answers."""
        model = self.model
        sentences = [model.src.vocab.encode(answer.src_units) for answer in answers]
        by_step = isinstance(self.selector, Screen)
        lists = None if self.selector is None or by_step else self.selector.lists(*pad(sentences))
        E = model.params.trg_embedding.shape[1]
        if lists and len(answers) > 1 and sum(map(len, lists)) * E > MEMORY_BUDGET:
            self._answer(answers[: len(answers) // 2])
            self._answer(answers[len(answers) // 2 :])
            return
        with np.errstate(all="ignore"):  # what goes wrong is said below
            if by_step:
                found, sizes = screened_batch_search(sentences, self._step_engine, self.settings, self.selector, team)
                efforts = [None] * len(found)
            else:
                found, efforts = self._search(sentences, lists, team)
                sizes = [len(ids) for ids in lists] if lists else [0] * len(found)
        for b, hypotheses in enumerate(found):
            if not hypotheses:
                raise UserError(OVERFLOW)
            answer, text = answers[b], self.replacer.text if self.replacer else None
            answer.hypotheses, answer.list_size = hypotheses, sizes[b]
            answer.effort = efforts[b]
            answer.lines = [text(h, answer.src_units) if text else model.trg.text(h.ids) for h in hypotheses]

    @cached_property
    def _step_engine(self):
        """The engine; in reading mode, where there is none, one of plain functions: a screen looks at every step."""
        return self.engine or FastEngine(self.model.params, "float32")

    def _search(self, sentences, lists, team):
        """B lists of source ids, B lists of target ids or None -> B lists of Hypothesis, B Efforts or Nones."""
        nobody = [None] * len(sentences)
        params, settings = self.model.params, self.settings
        if lists and self.verify:
            plain, fast = VERIFIED[self.verify]
            if self.engine:
                return fast(sentences, self.engine, settings, lists, team)
            return zip(*(plain(src, params, settings, ids) for src, ids in zip(sentences, lists)))
        if self.engine:
            return batch_beam_search(sentences, self.engine, settings, lists, team), nobody
        return [beam_search(src, params, settings, ids) for src, ids in zip(sentences, lists or nobody)], nobody


def translate(lines, model, settings=None, batch_size=32, n_threads=1, selector=None, **more):
    """Raw lines -> a list of Translation in the same order; to translate again and again, keep a Translator."""
    return Translator(model, settings or SearchSettings(), batch_size, n_threads, selector, **more).translate(lines)


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
