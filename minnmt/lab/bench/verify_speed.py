"""Verified lists against full decoding, one sentence at a time, with lists that miss as often as a trained model's.

In the network with random weights no list of 700 words would hold the words it chooses. So some hundred words are given
a head start over all others, and sharper weights: they alone are ever chosen, and a sentence's list has all of them but
a few. How often a list then misses is counted, beside what was counted with a model of Multi30k.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ...search.batch_beam import batch_beam_search
from ...search.beam import SearchSettings
from ...search.desks import Team
from ...search.fast import FastEngine
from ...search.packed import fastest_precision, pack
from ...search.translate import VERIFIED
from ...search.verified import Effort
from ..tables import Table
from ..timing import interleave, ratios, spread
from .yardstick import EOS, LIST_WORDS, UNK, random_sentences, with_words

TOPN = 100
# {(beam, level): how many of the words with a head start a sentence's list lacks}, so that it misses as often as below
LEFT_OUT = {(1, "all"): 24, (5, "all"): 21, (1, "best"): 8, (5, "best"): 3}
MOST_LEFT_OUT = max(LEFT_OUT.values())
HEAD_START = 30.0  # of their logits: all others then have no weight
SHARPNESS = 30.0  # of their weights
# Multi30k, German to English, lists of 100 (`decode --verify`, 1,000 sentences of test2016, float32)
MULTI30K = {(1, "all"): "2.3 %", (5, "all"): "12.8 %", (5, "best"): "38.6 %", (1, "best"): "20.2 %"}
NOTES = (
    f"Lists of {LIST_WORDS * TOPN} words, eos and UNK per sentence. x full: how many times as fast as full "
    "decoding with the same numbers. Misses: of verify all, per step, of verify best, sentences with a miss; beside "
    "it what Multi30k had. Equal: the same translations as full decoding. Every repeat projects its words anew.",
)
HEADINGS = ("list", "beam", "ms per sentence", "x full", "x list", "misses", "Multi30k", "steps drafted/kept", "equal")


class Way(NamedTuple):
    """To decode."""

    beam: int
    precision: str
    topn: int
    verify: str | None

    @property
    def name(self):
        name = f"top-{self.topn}" if self.topn else "full"
        return f"{name}, verify {self.verify}" * bool(self.verify) or name


def measure_verifying(bench):
    """Yields a Table for each vocabulary and each kind of numbers."""
    size = bench.size
    params = with_head_start(bench.params)
    sentences = random_sentences(4 * size.n_sentences, size.length, size.src_words)
    for precision in dict.fromkeys(["float32", fastest_precision()]):
        packed = pack(params, precision)
        for n_words in size.vocabularies:
            yield compare_ways(bench, with_words(packed, n_words), sentences, n_words)


def with_head_start(params):
    """Parameters -> the same with an output layer that chooses few words, and never eos."""
    softmax = replace(params.softmax, W=params.softmax.W.copy(), b=params.softmax.b.copy())
    favoured = favoured_words(len(softmax.b))
    softmax.W[favoured] *= np.float32(SHARPNESS)
    softmax.b[favoured] += HEAD_START
    return replace(params, softmax=softmax)


def favoured_words(n_words):
    """The words with a head start."""
    return np.arange(UNK + 1, min(n_words, UNK + 1 + LIST_WORDS * TOPN + MOST_LEFT_OUT))


def missing_lists(n, n_words, left_out):
    """n lists without some words that might be chosen."""
    rng, favoured = np.random.default_rng(3), favoured_words(n_words)
    return [np.r_[EOS, UNK, np.sort(rng.choice(favoured, len(favoured) - left_out, replace=False))] for _ in range(n)]


def compare_ways(bench, packed, sentences, n_words):
    """-> Table."""
    title = f"{packed.precision}, {n_words:,} target words, one sentence at a time, {bench.n_threads} threads"
    table = Table("verify", title, HEADINGS, NOTES)
    levels = [(0, None), (TOPN, None), *((TOPN, verify) for verify in VERIFIED)]
    ways = [Way(beam, packed.precision, *level) for beam in (1, 5) for level in levels]
    lists = {each: missing_lists(len(sentences), n_words, n) for each, n in LEFT_OUT.items()}
    cases = {way: decoder(way, packed, sentences, lists[way.beam, way.verify or "all"], bench) for way in ways}
    found = interleave(cases, bench.n_repeats())
    for way in ways:
        full, listed = (found[way._replace(topn=topn, verify=None)] for topn in (0, TOPN))
        add_way(table, way, found[way], full, listed)
    return table


def decoder(way, packed, sentences, lists, bench):
    """A function that decodes the sentences one by one -> their best ids, their Efforts."""
    engine, team = FastEngine(None, packed=packed), Team(bench.n_threads)
    settings = SearchSettings(beam=way.beam, max_length=bench.size.length)
    if way.verify == "best":
        assert engine.preview or packed.precision == "int8" or fastest_precision() == "float32"  # made beforehand

    def decode_one(src, ids):
        if way.verify:
            return VERIFIED[way.verify][1]([src], engine, settings, [ids], team)
        return batch_beam_search([src], engine, settings, [ids] if way.topn else None, team), [Effort(1)]

    def decode():
        engine.forget_words()
        found = [decode_one(src, ids) for src, ids in zip(sentences, lists)]
        return [one[0].ids for (one,), _ in found], sum((effort for _, (effort,) in found), Effort())

    return decode


def add_way(table, way, found, full, listed):
    """A row."""
    ids, effort = found.output
    seconds = np.array(found.seconds) / len(ids)
    gain, of_list = ratios(full.seconds, found.seconds), ratios(listed.seconds, found.seconds)
    equal = float(np.mean([a == b for a, b in zip(ids, full.output[0])]))
    misses = effort.misses / max(effort.kept, 1) if way.verify == "all" else effort.touched / len(ids)
    record = {
        "precision": way.precision, "beam": way.beam, "list": way.name, "seconds_per_sentence": seconds.tolist(),
        "gain": gain.tolist(), "of_list": of_list.tolist(), "equal": equal, **vars(effort),
    }  # fmt: skip
    table.add(
        record, way.name, way.beam, spread(1e3 * seconds), spread(gain) if way.topn else "-",
        spread(of_list) if way.verify else "-", f"{100 * misses:.1f} %" if way.verify else "-",
        MULTI30K.get((way.beam, way.verify), "-"),
        f"{effort.drafted / max(effort.kept, 1):.2f}" if way.verify else "-", f"{100 * equal:.1f} %",
    )  # fmt: skip
