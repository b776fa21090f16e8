"""Every format: what is exported is imported again, and the lint finds nothing wrong with it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.candidates import best_candidates
from minnmt.align.formats import FORMATS, export_candidates, guess_format, import_counts
from minnmt.text.vocab import EOS, UNK, Vocab
from tests.align.formats.toy import SRC, TRG, as_cells, as_lists, make_counts, tables, through_a_file

EMPTY = ["it holds no candidates"]


@pytest.mark.parametrize("name", ["marian", "sockeye", "fastalign"])
@settings(deadline=None, max_examples=50)
@given(counts=tables, topn=st.integers(1, 5), by=st.sampled_from(["source", "target"]))
def test_tables_keep_every_probability_to_the_last_bit(name, counts, topn, by):
    candidates, imported, left_out, problems = through_a_file(name, counts, topn, by=by)
    rows = candidates.rows.tolist()
    assert as_cells(imported) == dict(zip(zip(rows, candidates.ids.tolist()), candidates.probs.tolist()))
    assert left_out == []
    assert [problem.text for problem in problems] == ([] if rows else EMPTY)


@settings(deadline=None, max_examples=50)
@given(counts=tables, topn=st.integers(1, 5))
def test_sockeye_npy_keeps_the_order(counts, topn):
    candidates, imported, left_out, problems = through_a_file("sockeye-npy", counts, topn)
    assert as_lists(best_candidates(imported, topn)) == as_lists(candidates)
    assert left_out == []
    assert [problem.text for problem in problems] == ([] if len(candidates.ids) else EMPTY)


@settings(deadline=None, max_examples=50)
@given(counts=tables, topn=st.integers(1, 5), frequent=st.integers(0, 20))
def test_a_vocabulary_map_keeps_the_order_and_what_is_always_included(counts, topn, frequent):
    candidates, imported, left_out, problems = through_a_file("ct2", counts, topn, frequent)
    before, after = as_lists(candidates), as_lists(best_candidates(imported, len(TRG)))
    eos_before, eos_after = before.pop(EOS, []), after.pop(EOS)
    assert after == before
    assert eos_after[: len(eos_before)] == eos_before
    assert set(eos_after) == {EOS, UNK, *eos_before, *range(min(2 + frequent, len(TRG)))}
    assert left_out == [] and problems == []


@settings(deadline=None, max_examples=50)
@given(counts=tables, topn=st.integers(1, 5))
def test_a_binary_shortlist_keeps_the_words_of_each_list(counts, topn):
    candidates, imported, left_out, problems = through_a_file("marian-bin", counts, topn)
    before = {i: set(ids) for i, ids in as_lists(candidates).items()}
    before.setdefault(len(SRC) - 1, {EOS})  # Marian refuses a last source word without candidates
    assert {i: set(ids) for i, ids in as_lists(best_candidates(imported, len(TRG))).items()} == before
    assert set(imported.data.tolist()) == {1.0}
    assert left_out == [] and problems == []


@pytest.mark.parametrize("name", FORMATS)
@pytest.mark.parametrize("cells", [{}, {(2, 2): 3.0}, {(6, 8): 1.0, (6, 0): 2.0}])
def test_empty_rows_and_rows_of_one_word(name, cells):
    candidates, imported, _, _ = through_a_file(name, make_counts(cells))
    after = as_cells(imported)
    assert set(cells) <= set(after)
    assert {src_id for src_id, _ in set(after) - set(cells)} <= {EOS, len(SRC) - 1}


@pytest.mark.parametrize("name", FORMATS)
def test_the_format_is_seen_from_the_beginning(name, tmp_path):
    candidates = best_candidates(make_counts({(2, 2): 3.0, (2, 3): 1.0}), 9)
    export_candidates(name, tmp_path / "lists", candidates, SRC, TRG, 9)
    expected = "fastalign" if name == "sockeye" else name  # the two look the same
    assert guess_format((tmp_path / "lists").read_bytes(), "lists") == expected


@pytest.mark.parametrize("name", ["marian", "ct2", "sockeye", "fastalign"])
def test_words_that_a_text_cannot_hold_are_left_out_and_counted(name, tmp_path):
    src = Vocab(["eos", "UNK", "New York", "</s>", "ok"])
    trg = Vocab(["eos", "UNK", "", "a\tb", "<unk>", "ok"])
    counts = make_counts({(i, j): 1.0 for i in range(5) for j in range(6)}, 5, 6)
    n_written, _, n_left_out = export_candidates(name, tmp_path / "lists", best_candidates(counts, 9), src, trg, 9)
    imported, left_out, _ = import_counts(name, tmp_path / "lists", src, trg)
    assert set(as_cells(imported)) == {(i, j) for i in (0, 1, 4) for j in (0, 1, 5)}
    assert n_left_out == 30 - 9 and n_written == 9 and left_out == []


@pytest.mark.parametrize("name, null", [("marian", "NULL"), ("sockeye", "<eps>"), ("fastalign", "<eps>")])
def test_a_word_spelled_like_no_word_is_left_out(name, null, tmp_path):
    vocab = Vocab(["eos", "UNK", null, "ok"])
    counts = make_counts({(2, 3): 1.0, (3, 2): 1.0, (3, 3): 1.0}, 4, 4)
    assert export_candidates(name, tmp_path / "lists", best_candidates(counts, 9), vocab, vocab, 9)[2] == 2
    imported, left_out, _ = import_counts(name, tmp_path / "lists", vocab, vocab)
    assert set(as_cells(imported)) == {(3, 3)} and left_out == []


def test_a_gzipped_table(tmp_path):
    candidates = best_candidates(make_counts({(2, 2): 3.0}), 9)
    export_candidates("marian", tmp_path / "lex.gz", candidates, SRC, TRG, 9)
    assert (tmp_path / "lex.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert as_cells(import_counts("marian", tmp_path / "lex.gz", SRC, TRG)[0]) == {(2, 2): 1.0}
