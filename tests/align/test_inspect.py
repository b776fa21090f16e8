"""Lists, reasons and sizes agree with what decoding uses."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.candidates import best_candidates
from minnmt.align.counts import Counts
from minnmt.align.inspect import find_units, format_list, format_reasons, format_stats
from minnmt.align.ranking import BEYOND, NEVER, Ranking
from minnmt.align.selector import Selector
from minnmt.errors import UserError
from minnmt.text.bpe import BPE
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import EOS, UNK, Vocab
from tests.align.formats.toy import SRC, TRG, as_cells, make_counts, tables

BY = st.sampled_from(["source", "target"])


@settings(deadline=None)
@given(counts=tables, by=BY, n=st.integers(1, 9))
def test_lists_are_those_of_best_candidates(counts, by, n):
    ranking, candidates, cells = Ranking(counts, n, by), best_candidates(counts, n, by), as_cells(counts)
    for src_id in range(len(SRC)):
        links, (ids, probs) = ranking.links(src_id), candidates.row(src_id)
        found, p_trg, p_src, _ = zip(*(ranking.details(link) for link in links)) if links else [()] * 4
        assert [link.trg_id for link in links] == ids.tolist()
        assert list(p_trg if by == "source" else p_src) == probs.tolist()
        assert [link.prob for link in links] == probs.tolist()
        assert list(found) == [cells[src_id, link.trg_id] for link in links]
        assert [link.rank for link in links] == list(range(1, len(links) + 1))


@settings(deadline=None)
@given(
    counts=tables, by=BY, topn=st.integers(1, 4), frequent=st.integers(0, 3), min_prob=st.sampled_from([0, 0.3]),
    src_ids=st.lists(st.integers(1, len(SRC) - 1), max_size=4),
)  # fmt: skip
def test_a_word_has_a_reason_exactly_if_the_selector_allows_it(counts, by, topn, frequent, min_prob, src_ids):
    src_ids = [*src_ids, EOS]
    selector = Selector(best_candidates(counts, topn, by, min_prob), frequent)
    allowed = selector.lists(np.array(src_ids)[:, None], np.ones((len(src_ids), 1), np.float32))[0].tolist()
    ranking = Ranking(counts, topn, by, min_prob, frequent)
    reasons = [ranking.reason(src_ids, trg_id) for trg_id in range(len(TRG))]
    assert [reason.trg_id for reason in reasons if reason.included] == allowed
    assert ranking.list_size(src_ids) == len(allowed)


@settings(deadline=None)
@given(
    counts=tables, by=BY, topn=st.integers(1, 3), min_prob=st.sampled_from([0, 0.3]),
    src_ids=st.lists(st.integers(1, len(SRC) - 1), max_size=4),
)  # fmt: skip
def test_the_needed_n_is_the_smallest_that_brings_the_word(counts, by, topn, min_prob, src_ids):
    for trg_id in range(UNK + 1, len(TRG)):
        reason = Ranking(counts, topn, by, min_prob).reason(src_ids, trg_id)
        with_n = {n: Ranking(counts, n, by, min_prob).reason(src_ids, trg_id) for n in range(1, len(TRG) + 1)}
        brought = [n for n, found in with_n.items() if found.included]
        assert (reason.needed.rank if reason.needed else None) == (brought[0] if brought else None)
        assert (reason.why_missing == BEYOND) == bool(brought)
        assert (reason.why_missing == NEVER) == (not reason.links)


@settings(deadline=None)
@given(counts=tables)
def test_the_rank_back_is_the_place_in_the_column(counts):
    ranking = Ranking(counts, 1)
    for trg_id in range(len(TRG)):
        links = ranking.reason(range(len(SRC)), trg_id).links
        details = {link.src_id: ranking.details(link) for link in links}
        by_count = sorted((-count, src_id, rank_back) for src_id, (count, _, _, rank_back) in details.items())
        assert [rank_back for _, _, rank_back in by_count] == list(range(1, len(links) + 1))
        assert sum(p_src for _, _, p_src, _ in details.values()) == pytest.approx(1 if links else 0)


# 2 Haus, 3 ein@@; 2 house, 3 t@@, 4 日本
COUNTS = make_counts({(2, 2): 6.0, (2, 4): 3.0, (2, 3): 1.0, (3, 3): 4.0, (0, 0): 2.0})


def reason_text(trg_id, **options):
    ranking = Ranking(COUNTS, **{"n": 2, **options})
    return format_reasons(ranking, [ranking.reason([2, 3, 5, EOS], trg_id)], "word", True, SRC, TRG)


def test_reasons_in_words():
    assert "house (id 2): in the list through Haus\n" in reason_text(2)
    assert "in the list through ein@@\n" in reason_text(3) and "Haus  (beyond 2)" in reason_text(3)
    assert "日本 (id 4): not in the list; --topn 2 would bring it, through Haus\n" in reason_text(4, n=1)
    barred = reason_text(4, min_prob=0.5)
    assert "it takes a lower --min-prob" in barred and "(below 0.5)" in barred
    assert "no source word of the sentence was ever linked with it" in reason_text(7)
    assert "in the list of every sentence: it is eos" in reason_text(EOS)
    assert "in the list of every sentence: it is UNK" in reason_text(UNK)
    assert "it is one of the 6 most frequent words" in reason_text(7, frequent=6)


def test_a_word_of_several_pieces_needs_them_all():
    for topn, last in ((3, "word: can be written"), (1, "word: cannot be written without 日本 UNK")):
        ids = [2, 4] if topn == 3 else [2, 4, UNK]
        ranking = Ranking(COUNTS, topn)
        reasons = [ranking.reason([2, EOS], trg_id) for trg_id in ids]
        assert format_reasons(ranking, reasons, "word", True, SRC, TRG).split("\n\n")[-1] == last
    assert "written" not in format_reasons(ranking, reasons, "word", False, SRC, TRG)


def test_a_list_in_words():
    lines = format_list(Ranking(COUNTS, 2), 2, SRC, TRG).split("\n")
    assert lines[0] == "Haus (id 2): 3 candidates, count 10, the first 2"
    assert lines[1].split() == ["rank", "count", "p(trg|src)", "p(src|trg)", "rank", "back", "target"]
    assert lines[2].split() == ["1", "6", "0.6", "1", "1", "house"] and len(lines) == 4
    assert format_list(Ranking(COUNTS, 2), 5, SRC, TRG) == (
        "a\u00a0b (id 5): no candidates; it was never linked with a target word"
    )


def test_sizes(tmp_path):
    COUNTS.save(tmp_path / "counts.npz")
    text = format_stats(COUNTS, SRC, [tmp_path / "counts.npz"])
    assert "3 of 7 have candidates" in text and "5 (7.94 % of 7 x 9)" in text and "counts.npz" in text
    assert "1.7 per source word that has any, at most 3 (Haus)" in text and "total weight  16\n" in text
    assert "0 of 7 have candidates" in format_stats(make_counts({}), SRC)


# The units of a word


def test_a_unit_as_the_vocabulary_spells_it():
    pipeline = Pipeline(SRC)
    assert find_units("ein@@", pipeline, "source") == ([3], True, "")
    assert find_units("</s>", pipeline, "source").ids == find_units("eos", pipeline, "source").ids == [EOS]
    assert find_units("<unk>", pipeline, "source").ids == [UNK]


def test_a_mark_is_found_with_its_joiners():
    units = find_units(".", Pipeline(SRC), "source")
    assert units.ids == [4] and not units.pieces and "￭." in units.note


def test_a_raw_word_goes_through_the_pipeline():
    vocab = Vocab(["eos", "UNK", "a@@", "b"])
    units = find_units("ab", Pipeline(vocab, BPE([])), "source")
    assert units.ids == [2, 3] and units.note == "it is cut into a@@ b"
    unknown = find_units("ax", Pipeline(vocab, BPE([])), "source")
    assert unknown.ids == [2, UNK] and "read as UNK: x" in unknown.note


def test_a_blank_word():
    with pytest.raises(UserError, match="blank"):
        find_units(" ", Pipeline(SRC), "source")


def test_a_probability_at_the_limit_counts_as_the_lists_count_it():
    counts = Counts.from_cells([2, 2], [2, 3], [7.0, 3.0], 3, 4)
    reason = Ranking(counts, 5, min_prob=0.7).reason([2], 2)
    assert reason.included and 2 in best_candidates(counts, 5, min_prob=0.7).row(2)[0]
