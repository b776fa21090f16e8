"""The numbers of a trace are those of decode, of candidates why and of audit."""

import base64
import dataclasses
import json
import math

import numpy as np
import pytest

from minnmt.align.candidates import best_candidates
from minnmt.align.ranking import Ranking
from minnmt.align.selector import Selector
from minnmt.compiled import reading
from minnmt.errors import UserError
from minnmt.report.audit import mass_kept
from minnmt.report.explorer import listing
from minnmt.report.explorer import trace as trace_module
from minnmt.report.explorer.trace import SLIDER, packed, stops, trace
from minnmt.report.explorer.variant import ListChoice, variant_of
from minnmt.search.beam import beam_search
from minnmt.search.cost import Shape, decoding_cost, step_cost
from minnmt.text.batches import pad
from minnmt.text.vocab import EOS
from tests.report.explorer.conftest import numbers

SENTENCE = "eins Haus rot Hund vier."


@pytest.fixture(scope="module")
def record(variant):
    return json.loads(json.dumps(trace(SENTENCE, variant), allow_nan=False))


def way(record, node):
    nodes = []
    while node:
        nodes.insert(0, node)
        node = record["nodes"]["parents"][node - 1]
    return nodes


def words_of(record, search):
    return [record["nodes"]["words"][node - 1] for node in way(record, search["winner"])]


def search_at(record, n):
    return [search for search in record["lists"]["searches"] if search["from"] <= n][-1]


def kept_at(record, node, n):
    """As the page computes it."""
    pairs, lost = record["lists"]["mass"][str(node)], 0
    for begin, value in zip(pairs[::2], pairs[1::2]):
        if begin <= n:
            lost = value
    return -lost if lost < 0 else 1 - lost / 1e7


def listed(variant, src_ids, n, **options):
    selector = Selector(best_candidates(variant.ranking.counts, n, **options))
    return selector.lists(*pad([src_ids]))[0]


@pytest.mark.parametrize("n", [None, 1, 2, 3, 5, 100, 500])
def test_translation_and_score_are_those_of_the_plain_search(variant, record, n):
    src = variant.model.src.ids(SENTENCE)
    with reading():
        ids = None if n is None else listed(variant, src, n)
        expected = beam_search(src, variant.model.params, variant.settings, ids)[0]
    search = record["full"] if n is None else search_at(record, n)
    assert words_of(record, search) == [*expected.ids, EOS]
    logp, before = 0.0, 0
    for node in way(record, search["winner"]):
        logp += record["nodes"]["logps"][node - 1] - (0 if n is None else math.log(kept_at(record, before, n)))
        before = node
    assert logp / len(way(record, search["winner"])) == pytest.approx(expected.score, abs=1e-5)


@pytest.mark.parametrize("n", [1, 2, 3, 100])
def test_what_the_list_keeps_is_what_audit_says(variant, record, n):
    src = variant.model.src.ids(SENTENCE)
    path = [0, *way(record, record["full"]["winner"])[:-1]]
    full = words_of(record, record["full"])[:-1]
    mass = mass_kept({0: full}, {0: src}, {0: listed(variant, src, n)}, variant.model.params)
    assert mass.steps == len(path)
    assert np.mean([kept_at(record, node, n) for node in path]) == pytest.approx(mass.mean, abs=3e-6)


@pytest.mark.parametrize("options", [{}, {"by": "target"}, {"min_prob": 0.05}])
def test_list_sizes_for_every_n(variant, options):
    ranking = Ranking(variant.ranking.counts, 1, **options)
    record = trace(SENTENCE, dataclasses.replace(variant, ranking=ranking))
    src = variant.model.src.ids(SENTENCE)
    expected = [len(listed(variant, src, n, **options)) for n in range(1, SLIDER[1] + 1)]
    assert record["lists"]["sizes"] == expected and len(set(expected)) > 1


@pytest.mark.parametrize("n", [1, 5, 99, 777])
def test_the_stops_of_the_slider(n):
    for coarseness in range(3):
        found = stops(n, coarseness)
        assert n in found and found == sorted(set(found)) and found[0] == min(n, 5) and found[-1] == max(n, 500)
    assert set(range(min(n, 5), 501)) <= set(stops(n, 0)) > set(stops(n, 1)) > set(stops(n, 2))
    assert set(range(min(n, 5), 51)) < set(stops(n, 1)) and len(stops(n, 2)) < 25


@pytest.mark.parametrize("coarseness, most_nodes", [(1, 2000), (2, 10)])
def test_a_long_or_uncertain_sentence_is_exact_at_its_stops(variant, monkeypatch, coarseness, most_nodes):
    monkeypatch.setattr(trace_module, "MOST_NODES", most_nodes)
    sentence = SENTENCE * 6
    found = json.loads(json.dumps(trace(sentence, variant)))
    src = variant.model.src.ids(sentence)
    assert len(src) > 28 and found["lists"]["ns"] == stops(1, coarseness)
    for n in (1, 5, 500):
        with reading():
            expected = beam_search(src, variant.model.params, variant.settings, listed(variant, src, n))[0]
        assert words_of(found, search_at(found, n))[:-1] == expected.ids


def test_a_record_that_would_be_too_large_has_fewer_n(variant, monkeypatch):
    sizes = []
    for most in (10**9, 7000, 0):
        monkeypatch.setattr(trace_module, "MOST_BYTES", most)
        found = trace(SENTENCE, variant)
        sizes.append(len(json.dumps(found, ensure_ascii=False, separators=(",", ":"))))
        assert found["lists"]["ns"] in [stops(1, coarseness) for coarseness in range(3)]
    assert found["lists"]["ns"] == stops(1, 2) and sizes[0] > sizes[-1]
    monkeypatch.setattr(trace_module, "MOST_BYTES", sizes[0] - 1)
    assert trace(SENTENCE, variant)["lists"]["ns"] == stops(1, 1)


@pytest.mark.parametrize("kept", [1.0, 0.4, 0.02, 0.003, 1.23456e-7, 1e-30])
def test_little_that_is_kept_is_as_exact_as_much(kept):
    n, lost = listing.changes(np.array([kept]), [5], np.array([True]), 2e-6)
    assert n == 5 and (-lost if lost < 0 else 1 - lost / 1e7) == pytest.approx(kept, rel=5e-6)


def test_needed_n_is_that_of_the_reasons(variant):
    src = [*variant.model.src.ids(SENTENCE), EOS]
    for ranking in (Ranking(variant.ranking.counts, 3, frequent=1), Ranking(variant.ranking.counts, 3, min_prob=0.1)):
        needed = ranking.needed(src)
        for word in range(len(needed)):
            reason = ranking.reason(src, word)
            expected = 0 if reason.always else reason.needed.rank if reason.needed else math.inf
            assert needed[word] == expected, word


def test_counts_ranks_and_ranks_back_are_those_of_why(variant, record):
    ranking, n_links = variant.ranking, 0
    counts = record["lists"]["counts"]
    columns = dict(zip(numbers(counts["words"]), numbers(counts["sums"])))
    for row in counts["rows"]:
        own = {name: numbers(row[name]) for name in ("ids", "ranks", "counts", "back")}
        assert row["size"] == len(own["ids"]) and own["ranks"] == list(range(1, row["size"] + 1))
        for k, word in enumerate(own["ids"]):
            (link,) = ranking.links(row["id"], word)
            count, p_trg, p_src, back = ranking.details(link)
            assert (link.rank, back, count) == (k + 1, own["back"][k], own["counts"][k])
            assert count / row["sum"] == pytest.approx(p_trg, rel=1e-6)
            assert count / columns[word] == pytest.approx(p_src, rel=1e-6)
            n_links += 1
    assert n_links > 20


def test_a_page_holds_no_more_cells_than_it_can(variant, monkeypatch):
    monkeypatch.setattr(listing, "MOST_CELLS", 10)
    src = [*variant.model.src.ids(SENTENCE), EOS]
    found, linked = listing.counts_record(variant.ranking, src, 2, words=[9])
    for row in found["rows"]:
        ranks, words = numbers(row["ranks"]), numbers(row["ids"])
        ids = variant.ranking.candidates.row(row["id"])[0]
        assert words == [int(ids[rank - 1]) for rank in ranks] and row["size"] == len(ids) and set(words) <= set(linked)
        assert all(rank <= found["cut"] or word == 9 for rank, word in zip(ranks, words))
    assert found["cut"] == 2


@pytest.mark.parametrize("n", [5, 8, 30, 500])
def test_the_best_words_of_every_list_are_in_the_page(variant, record, n, rng):
    needed = rng.integers(1, 600, size=400).astype(float)
    needed[rng.random(400) < 0.2] = np.inf
    logps = rng.standard_normal(400)
    ids = listing.best_words(logps, needed, 5, 500)
    few = listing.best_words(logps, needed, n, n)
    best = [word for word in np.argsort(-logps) if needed[word] <= n][: listing.N_WORDS]
    assert [word for word in ids if needed[word] <= n][: listing.N_WORDS] == best
    assert ids[: listing.N_WORDS] == np.argsort(-logps)[: listing.N_WORDS].tolist() and len(ids) < 200
    assert [word for word in few if needed[word] <= n][: listing.N_WORDS] == best and len(few) <= 2 * listing.N_WORDS


def test_vectors_are_packed_to_a_hundredth(rng):
    vector = rng.standard_normal(50)
    size, largest, text = packed(vector)
    values = (np.frombuffer(base64.b64decode(text), np.uint8).astype(float) - 128) / 127 * largest
    assert size == 50 and np.abs(values - vector).max() < 0.005 * largest
    assert packed(np.zeros(4)) == [4, 1.0, base64.b64encode(bytes([128] * 4)).decode()]


def test_forced_words_are_in_every_list_and_every_translation(variant):
    src = variant.model.src.ids(SENTENCE)
    needed = variant.ranking.needed([*src, EOS])
    word = int(np.argmax(needed))  # the last to come into a list
    found = trace(SENTENCE, variant, forced=(word,))
    assert found["forced"] == [word]
    for search in (found["full"], *found["lists"]["searches"]):
        assert words_of(found, search)[0] == word


def test_more_forced_words_than_a_translation_may_have(variant):
    longest = variant.settings.longest(variant.model.src.ids("eins."))
    assert trace("eins.", variant, forced=(4,) * longest)["forced"] == [4] * longest
    with pytest.raises(UserError, match="cannot be so long"):
        trace("eins.", variant, forced=(4,) * (longest + 1))


def test_a_model_without_counts_has_no_lists(variant):
    found = trace(SENTENCE, dataclasses.replace(variant, ranking=None, epochs=[]))
    assert found["lists"] is None and found["filling"] is None
    assert words_of(found, found["full"]) == words_of(trace(SENTENCE, variant), found["full"])


def test_counts_after_each_epoch_add_up_to_those_of_the_run(variant, record):
    filling = record["filling"]
    assert filling["epochs"] == [2, 3, 4] and len(filling["units"]) == 5
    vocab = variant.model.src.vocab
    for w, unit in enumerate(filling["units"]):
        ids, counts = variant.ranking.counts.row(vocab.encode([unit])[0])
        assert filling["totals"][w] == pytest.approx(counts.sum(), rel=1e-3)
        for k, target in enumerate(filling["targets"]):
            expected = counts[ids == target].sum()
            assert filling["counts"][-1][w][k] == pytest.approx(expected, rel=1e-3)
            assert filling["counts"][0][w][k] <= filling["counts"][-1][w][k]


def test_other_counts_did_not_come_from_the_epochs(tiny_run):
    assert variant_of(tiny_run).epochs and not variant_of(tiny_run, ListChoice(counts=("epoch2",))).epochs


def test_cost_of_a_step_is_the_cost_of_a_sentence_shared_by_its_steps():
    small, large = (Shape(30, 40, 12, 5, n_words) for n_words in (100, 900))
    rest, softmax = step_cost(small)
    assert step_cost(large)[0] == rest and step_cost(large)[1].flops == 9 * softmax.flops
    rows, steps = 1 + 5 * 12, 13
    more = decoding_cost(large).flops - decoding_cost(small).flops
    assert more == pytest.approx((step_cost(large)[1].flops - softmax.flops) * rows / 5)
    assert decoding_cost(large).nbytes - decoding_cost(small).nbytes == 4 * 800 * 30 * steps
    longer = decoding_cost(small._replace(beam=6)).flops - decoding_cost(small).flops
    assert longer == pytest.approx((rest.flops + softmax.flops) / 5 * (steps - 1))


BAD_SENTENCES = [("", "blank"), (" \t ", "blank"), ("a " * 201, "201 units"), ("x\udcff", "UTF-8")]


@pytest.mark.parametrize("sentence, text", BAD_SENTENCES)
def test_what_is_no_sentence_is_refused(variant, sentence, text):
    with pytest.raises(UserError, match=text):
        trace(sentence, variant)


def test_unknown_words_are_named(variant):
    assert trace("eins Xylophon rot.", variant)["unknown"] == [1]
