"""CTranslate2's vocabulary map as text; test_ctranslate2.py gives it to the program."""

import pytest

from minnmt.align.candidates import best_candidates
from minnmt.align.formats import export_candidates
from minnmt.errors import UserError
from tests.align.formats.toy import SRC, TRG, as_cells, as_lists, import_text, lint_text, make_counts


def test_the_lines_of_a_small_file(tmp_path):
    counts = make_counts({(0, 6): 5.0, (0, 0): 1.0, (2, 2): 1.0, (2, 3): 2.0, (1, 4): 1.0})
    export_candidates("ct2", tmp_path / "vmap.txt", best_candidates(counts, 9), SRC, TRG, 9, frequent=1)
    assert (tmp_path / "vmap.txt").read_text() == "\t| </s> <unk> house\n<unk>\t日本\nHaus\tt@@ house\n"


def test_what_is_always_included_comes_before_the_line_of_eos(tmp_path):
    counts, left_out = import_text("ct2", "</s>\t| house\n\tt@@ |\nHaus\thouse\n", tmp_path)
    assert as_lists(best_candidates(counts, 9)) == {0: [3, 6, 2], 2: [2]}
    assert left_out == []


def test_the_last_of_two_lines_and_the_first_of_two_words_hold(tmp_path):
    counts, left_out = import_text("ct2", "Haus\t|\nHaus\thouse t@@ house\n", tmp_path)
    assert as_cells(counts) == {(2, 2): 1.0, (2, 3): 0.5}
    assert left_out == ["left out: earlier lines for the same source (1)"]


def test_phrases_and_unknown_words_are_passed_over(tmp_path):
    counts, left_out = import_text("ct2", "ein@@ Haus\thouse\nKatze\tcat\n\nHaus\tcat  house\n", tmp_path)
    assert as_cells(counts) == {(2, 2): 1.0}
    assert left_out == [
        "left out: lines for phrases (1)",
        "left out: words that are not in the source vocabulary (1): Katze",
        "left out: words that are not in the target vocabulary (1): cat",
    ]


def test_more_words_than_a_list_has_are_always_included(tmp_path):
    from minnmt.align.formats import import_counts
    from minnmt.text.vocab import Vocab

    trg = Vocab(["eos", "UNK", *(f"w{i}" for i in range(150))])
    (tmp_path / "vmap.txt").write_text("\t" + " ".join(trg.words[2:]) + "\nHaus\tw1\n")
    assert "--topn 150" in import_counts("ct2", tmp_path / "vmap.txt", SRC, trg)[1][0]


@pytest.mark.parametrize("line", ["Haus house", "Haus\thouse\tt@@"])
def test_an_import_refuses_a_line_without_its_tab(line, tmp_path):
    with pytest.raises(UserError, match="file, line 2: expected source<tab>target target .*; "):
        import_text("ct2", f"ein@@\thouse\n{line}\n", tmp_path)


@pytest.mark.parametrize(
    "line, words",
    [
        ("Haus house", "expected source<tab>target"),
        ("Haus\thouse\tt@@", "expected source<tab>target"),
        ("", "blank: it empties the list"),
        ("Haus\thouse  t@@", "two spaces"),
        ("Haus\thouse house", "'house' is there twice"),
        ("Haus\tcat", "'cat' is not in the target vocabulary"),
        ("Katze\thouse", "'Katze' is not in the source vocabulary"),
        ("ein@@\thouse", "'ein@@' has a line already, line 1"),
        ("\t|", "'' has a line already, line 2"),
    ],
)
def test_problems_are_listed_with_their_lines(line, words, tmp_path):
    problems = lint_text("ct2", f"ein@@\thouse\n\thouse |\n</s>\t|\n{line}\n", tmp_path)
    assert len(problems) == 1, problems
    assert problems[0].line == 4 and words in problems[0].text


def test_phrases_are_no_problem(tmp_path):
    assert lint_text("ct2", "ein@@ Haus\thouse\nHaus\t\n\t|\n", tmp_path) == []
