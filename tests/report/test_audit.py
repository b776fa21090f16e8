"""The audit: what is identical, where outputs part and why, the probability that the list keeps, the text."""

import json

import numpy as np
import pytest

from minnmt.align.candidates import Candidates
from minnmt.align.counts import Counts
from minnmt.align.ranking import BELOW, BEYOND, NEVER, Ranking
from minnmt.align.selector import Selector
from minnmt.errors import UserError
from minnmt.model.directory import load_model
from minnmt.report.audit import audit, audit_record, decode_both, mass_kept
from minnmt.report.audit_text import WIDTH, format_audit
from minnmt.report.divergence import AT_ONCE, LATER, SCORES, Divergence, Missing, explain, part, summarise
from minnmt.search.beam import SearchSettings
from minnmt.search.translate import Translator, translate
from minnmt.text.parallel import Split
from tests.conftest import random_parameters
from tests.search.searches import next_word_logps

LINES = ["eins zwei.", "", "Hund Haus rot.", "   ", "vier unbekannt drei!"]
REFERENCES = ["one two.", "", "dog house red.", "", "four Zebra three!"]
GREEDY = SearchSettings(beam=1)


@pytest.fixture(scope="module")
def model(tiny_run):
    return load_model(tiny_run)


def everything_but(model, *missing):
    """Lists that have all words but these."""
    ids = np.array([i for i in range(len(model.trg.vocab)) if i not in missing], np.int32)
    V = len(model.src.vocab)
    rows = np.tile(ids, V)
    return Selector(Candidates(np.arange(V + 1) * len(ids), rows, np.ones(len(rows), np.float32), len(model.trg.vocab)))


def translators(model, selector, settings):
    """With all words, and with lists."""
    return [Translator(model, settings, selector=choice, precision="float32") for choice in (None, selector)]


def audited(model, selector, lines=LINES, references=REFERENCES, settings=GREEDY, **more):
    decodings = decode_both(lines, translators(model, selector, settings))
    return audit(Split(lines, references), decodings, model, selector, **more)


# Lists that have everything


@pytest.mark.parametrize("settings", [GREEDY, SearchSettings()])
def test_a_list_of_all_words_costs_nothing(model, settings):
    found = audited(model, everything_but(model), settings=settings)
    assert (found.lines, found.sentences, found.identical, found.divergences) == (5, 3, 3, [])
    assert all(pair.difference == 0 for pair in found.scores)
    for mass in (found.mass_output, found.mass_reference):
        assert mass.mean == pytest.approx(1, abs=1e-5) and mass.percentile_1 == pytest.approx(1, abs=1e-5)
        assert set(mass.share_under.values()) == {0.0}
    everything = found.coverage.rows[0]
    assert everything.units == everything.units_covered == 3 + 4 + 2  # Zebra and ! are unknown
    assert found.lists.words_per_sentence == found.lists.vocabulary == len(model.trg.vocab)


def test_blank_lines_and_blank_references_count_for_nothing(model):
    selector = everything_but(model)
    found = audited(model, selector, ["eins.", "", "zwei."], ["one.", "two.", " "])
    only = audited(model, selector, ["eins."], ["one."])
    assert (found.lines, found.sentences) == (3, 2)
    assert found.mass_reference.steps == only.mass_reference.steps == 3
    assert found.coverage == only.coverage
    none = audited(model, selector, ["eins."], [""])
    assert none.mass_reference is None and none.coverage.rows[0].units == 0
    format_audit(none, 10), json.dumps(audit_record(none), allow_nan=False)


@pytest.mark.parametrize("lines", [[], ["", "  "]])
def test_nothing_to_audit(model, lines):
    with pytest.raises(UserError, match="no line with a word"):
        decode_both(lines, translators(model, everything_but(model), GREEDY))


# A list that lacks a word


@pytest.fixture(scope="module")
def wanted(model):
    """(line number, step, id): a word that the full decoder writes after other words of the line."""
    for i, translation in enumerate(translate(LINES, model, GREEDY, precision="float32")):
        ids = translation.hypotheses[0].ids if translation.hypotheses else []
        for step, word in enumerate(ids):
            if step > 0 and word > 1 and word not in ids[:step]:
                return i, step, word
    raise AssertionError("the tiny model writes too little to test with")


def test_the_missing_word_with_its_rank_and_probability(model, wanted):
    i, step, word = wanted
    found = audited(model, everything_but(model, word))
    (mine,) = [d for d in found.divergences if d.line == i + 1]
    ids = translate(LINES, model, GREEDY, precision="float32")[i].hypotheses[0].ids
    assert (mine.kind, mine.first_step, mine.full_unit) == (AT_ONCE, step + 1, model.trg.vocab.words[word])
    assert (mine.missing.id, mine.missing.step, mine.missing.unit) == (word, step + 1, mine.full_unit)
    logps = next_word_logps(model.src.ids(LINES[i]), [ids[:step]], model.params)[0]
    assert mine.missing.rank == 1  # greedy search takes the best
    assert mine.missing.prob == pytest.approx(float(np.exp(logps[word])), rel=1e-4)
    assert mine.list_unit == model.trg.vocab.words[np.argsort(logps)[-2]]
    assert mine.full_output == model.trg.text(ids) != mine.list_output
    assert (mine.source, mine.reference) == (LINES[i], REFERENCES[i])
    assert found.identical == found.sentences - len(found.divergences)
    assert mine.missing.sources is None and found.summary.brought_by is None  # no counts were given


def test_the_mass_that_a_missing_word_takes_away(model, wanted):
    i, step, word = wanted
    found = audited(model, everything_but(model, word), [LINES[i]], None)
    ids = translate([LINES[i]], model, GREEDY, precision="float32")[0].hypotheses[0].ids
    kept = [
        1 - np.exp(next_word_logps(model.src.ids(LINES[i]), [ids[:t]], model.params)[0][word])
        for t in range(len(ids) + 1)
    ]
    assert found.mass_output.steps == len(kept)
    assert found.mass_output.mean == pytest.approx(np.mean(kept), abs=1e-5)
    assert found.mass_output.median == pytest.approx(np.median(kept), abs=1e-5)
    assert found.mass_output.share_under["0.9"] == pytest.approx(np.mean(np.array(kept) < 0.9))
    assert found.mass_output.share_under["0.99"] > 0


def test_the_references_are_measured_with_their_own_words(model, wanted):
    word = wanted[2]
    other = next(i for i, spelling in enumerate(model.trg.vocab.words) if i > 1 and i != word and spelling.isalpha())
    found = audited(model, everything_but(model, word), ["eins zwei."], [model.trg.text([other, word])])
    row = found.coverage.rows[0]
    assert (row.units, row.units_covered) == (2, 1)
    assert found.mass_reference.steps == 3


def test_without_references(model, wanted):
    found = audited(model, everything_but(model, wanted[2]), references=None)
    assert found.scores is None and found.coverage is None and found.mass_reference is None
    assert found.divergences and found.divergences[0].reference is None
    record = audit_record(found)
    assert not {"scores", "coverage", "mass_reference"} & set(record) and "mass_output" in record
    text = format_audit(found, 100)
    assert "BLEU" not in text and "reference" not in text


def test_threads_and_batches_change_nothing(model, wanted):
    selector = everything_but(model, wanted[2])
    lines, references = LINES * 20, REFERENCES * 20
    one = audited(model, selector, lines, references)
    two = audited(model, selector, lines, references, n_threads=2)
    assert [d.line for d in one.divergences] == [d.line for d in two.divergences] and len(one.divergences) >= 20
    assert one.mass_output.mean == pytest.approx(two.mass_output.mean, abs=1e-6)
    probs = [[d.missing.prob for d in found.divergences] for found in (one, two)]
    assert probs[0] == pytest.approx(probs[1], abs=1e-6)
    alone = audited(model, selector).divergences
    assert probs[0] == pytest.approx([d.missing.prob for d in alone] * 20, abs=1e-5)


def test_mass_of_a_known_distribution(rng):
    params = random_parameters(rng, trg_words=5)
    params.softmax.W[:] = 0
    params.softmax.b[:] = np.log([0.4, 0.3, 0.2, 0.06, 0.04])
    lists = {7: np.array([0, 1]), 9: np.array([0, 1, 2, 3])}
    mass = mass_kept({7: [2], 9: [3, 3, 4, 2, 2, 2, 2]}, {7: [2, 3], 9: [4]}, lists, params)
    assert mass.steps == 2 + 8
    assert mass.mean == pytest.approx((2 * 0.7 + 8 * 0.96) / 10)
    assert (mass.median, mass.percentile_1) == (pytest.approx(0.96), pytest.approx(0.7))
    assert mass.share_under == {"0.5": 0.0, "0.9": 0.2, "0.99": 1.0}


# Kinds of divergences


@pytest.mark.parametrize(
    "full, other, kind, first, missing",
    [
        ([5, 6, 9], [5, 6, 7], AT_ONCE, 2, 2),
        ([9, 6], [5, 6], AT_ONCE, 0, 0),
        ([5, 6, 9, 8], [5, 7], LATER, 1, 2),
        ([5, 9], [6], LATER, 0, 1),
        ([5, 6], [5, 7], SCORES, 1, None),
        ([5, 6], [5, 6, 7], SCORES, 2, None),  # the full output ends: eos is in every list
        ([5, 6, 9], [5, 6], AT_ONCE, 2, 2),
        ([], [5], SCORES, 0, None),
    ],
)
def test_kinds_of_divergences(full, other, kind, first, missing):
    assert part(full, other, {0, 1, 5, 6, 7}) == (kind, first, missing)


# What could have brought a word: source words 2, 3, 4, target words 2 to 6


@pytest.fixture
def counts():
    cells = [(2, 3, 5.0), (2, 4, 3.0), (2, 5, 2.0), (3, 5, 1.0), (3, 6, 0.1), (0, 6, 2.0), (0, 5, 2.0), (0, 4, 1.0)]
    src, trg, weights = zip(*cells)
    return Counts.from_cells(src, trg, weights, 5, 7)


def explained(counts, trg_id, src_ids, **options):
    missing = Missing("word", trg_id, 1)
    units = {0: "eos", 2: "b", 3: "c", 4: "d"}
    explain(missing, Ranking(counts, 1, **options), [units[i] for i in src_ids], src_ids)
    return missing, [(s["unit"], s["rank"]) for s in missing.sources]


def test_the_source_words_that_could_have_brought_it(counts):
    missing, sources = explained(counts, 4, [2, 4, 2, 3, 0])
    assert sources == [("b", 2), ("eos", 3), ("d", None), ("c", None)]
    assert (missing.needed_n, missing.why) == (2, BEYOND)
    assert missing.sources[0]["prob"] == pytest.approx(0.3) and missing.sources[2]["prob"] is None


def test_a_word_that_was_never_linked(counts):
    missing, sources = explained(counts, 2, [2, 3, 0])
    assert (missing.needed_n, missing.why) == (None, NEVER) and {rank for _, rank in sources} == {None}


def test_a_word_that_the_least_probability_keeps_out(counts):
    missing, sources = explained(counts, 6, [3, 2], min_prob=0.5)
    assert (missing.needed_n, missing.why, sources[0]) == (None, BELOW, ("c", 2))
    assert explained(counts, 5, [2, 0], min_prob=0.2)[0].needed_n == 1  # ties go to the lower word
    assert explained(counts, 5, [2, 3], min_prob=np.float32(0.2))[0].needed_n == 1


def test_ranks_by_target(counts):
    assert explained(counts, 5, [3, 0], by="source")[1] == [("c", 1), ("eos", 1)]
    assert explained(counts, 5, [3, 0], by="target")[1] == [("c", 1), ("eos", 2)]


def divergence(line, unit, needed_n, why):
    missing = Missing(unit, 9, 1, 1, 0.5, [], needed_n, why)
    return Divergence(line, "source", "full", "list", None, AT_ONCE, 1, unit, "other", missing)


def test_the_summary_says_which_n_brings_how_many(counts):
    found = [divergence(1, "house", 137, BEYOND), divergence(2, "dog", 500, BEYOND)]
    found += [divergence(3, "house", 3000, BEYOND), divergence(4, "cat", None, NEVER)]
    found += [Divergence(5, "s", "f", "l", None, SCORES, 1, "a", "b")]
    summary = summarise(found, Ranking(counts, 100))
    assert summary.kinds == {AT_ONCE: 4, LATER: 0, SCORES: 1}
    assert list(summary.brought_by.items()) == [
        ("n = 200", 1), ("n = 500", 2), ("n = 1000", 2), ("every candidate that was ever linked", 3), (NEVER, 1),
    ]  # fmt: skip
    assert summary.words == [
        {"unit": "house", "times": 2, "needed_n": [137, 3000], NEVER: 0},
        {"unit": "cat", "times": 1, "needed_n": [], NEVER: 1},
        {"unit": "dog", "times": 1, "needed_n": [500], NEVER: 0},
    ]
    assert summarise(found, Ranking(counts, 10, min_prob=0.1)).brought_by[BELOW] == 0


# The text


def test_the_text_shows_what_a_reader_needs(model, wanted):
    found = audited(model, everything_but(model, wanted[2]))
    missing = found.divergences[0].missing
    ranking = Ranking(Counts.from_cells([0, 0], [wanted[2] - 1, wanted[2]], [2.0, 1.0], len(model.src.vocab), 99), 1)
    found = audited(model, everything_but(model, wanted[2]), ranking=ranking)
    text = format_audit(found, 1)
    assert text.index("identical outputs") < text.index("BLEU") < text.index("Examples")
    assert f"probability {missing.prob:.3f}" in text and "would need n = 2 (eos); never linked: " in text
    assert max(map(len, text.split("\n"))) <= WIDTH
    assert "n = 20" in text


def test_examples_show_every_missing_word_before_any_twice(model):
    found = audited(model, everything_but(model))
    found.divergences = [divergence(n, "house", 7, BEYOND) for n in (1, 2, 3)] + [divergence(4, "dog", 8, BEYOND)]
    found.divergences += [Divergence(5, "s", "f", "l", None, SCORES, 1, "a", "b")]
    found.summary = summarise(found.divergences)
    shown = [int(line[5:].split(":")[0]) for line in format_audit(found, 5).split("\n") if line.startswith("line ")]
    assert shown == [1, 4, 2, 3, 5]
    assert "line 1:" in format_audit(found, 5, 1) and "line 4:" not in format_audit(found, 5, 1)
    assert "Examples" not in format_audit(found, 5, 0)


def test_very_long_lines_are_wrapped(model):
    found = audited(model, everything_but(model))
    found.divergences = [divergence(1, "house", 7, BEYOND)]
    found.divergences[0].source = "Wort " * 300 + "x" * 250
    assert max(map(len, format_audit(found, 5).split("\n"))) <= WIDTH
