"""Marian's text, Sockeye's input and fast_align's table: what is read, what is passed over, what is a problem."""

import pytest

from minnmt.errors import UserError
from tests.align.formats.toy import as_cells, import_text, lint_text, make_counts, through_a_file


def test_the_columns_of_each_format(tmp_path):
    half = pytest.approx(0.5)
    assert as_cells(import_text("marian", "house Haus 0.5\n", tmp_path)[0]) == {(2, 2): half}
    for name in ("sockeye", "fastalign"):
        assert as_cells(import_text(name, "Haus\thouse\t-0.693147181\n", tmp_path)[0]) == {(2, 2): half}


def test_both_spellings_of_the_special_words(tmp_path):
    counts, left_out = import_text("marian", "</s> eos 0.5\nUNK <unk> 0.25\nunk </s> 0.1\n", tmp_path)
    assert set(as_cells(counts)) == {(0, 0), (1, 1), (0, 8)}  # "unk" is a word of this vocabulary
    assert left_out == []


def test_an_import_passes_over_what_the_programs_pass_over(tmp_path):
    text = "NULL Haus 0.5\nhouse NULL 0.5\n\nhouse Haus 0.25\ncat Haus 0.5\n"
    text += "house Katze 0.5\nhouse Haus 0.75\n| Haus 0\n"
    counts, left_out = import_text("marian", text, tmp_path)
    assert as_cells(counts) == {(2, 2): 0.75}  # the last of two holds
    report = "\n".join(left_out)
    for words in ("NULL, which stands for no word (2)", "same two words (1)", "probability of zero (1)"):
        assert words in report
    assert "source vocabulary (1): Katze" in report and "target vocabulary (1): cat" in report


def test_no_word_and_no_probability_in_a_table_of_fast_align(tmp_path):
    counts, left_out = import_text("fastalign", "<eps>\thouse\t-1\nHaus house -inf\nHaus\t|\t0\n", tmp_path)
    assert as_cells(counts) == {(2, 6): 1.0}
    assert len(left_out) == 2


@pytest.mark.parametrize(
    "name, text, line",
    [
        ("marian", "house Haus 0.5\nhouse Haus\n", 2),
        ("marian", "house Haus half\n", 1),
        ("marian", "house Haus 0.5 0.5\n", 1),
        ("marian", "house Haus nan\n", 1),
        ("marian", "house Haus inf\n", 1),
        ("marian", "house Haus 1_0\n", 1),
        ("fastalign", "Haus\thouse\t1000\n", 1),
        ("sockeye", "Haus house -1\n", 1),  # Sockeye cuts at tabs only
        ("sockeye", "Haus\thouse\t-1\t\n", 1),
        ("marian", b"house Haus 0.5\nhouse Hau\xdf 0.5\n", 2),
    ],
)
def test_an_import_refuses_what_it_cannot_understand(name, text, line, tmp_path):
    with pytest.raises(UserError, match=f"file, line {line}: .*; "):
        import_text(name, text, tmp_path)


@pytest.mark.parametrize("number", ["1" * 5000 + "x", "\x1b[2J"])
def test_what_is_quoted_is_short_and_visible(number, tmp_path):
    with pytest.raises(UserError, match="is not a probability") as error:
        import_text("fastalign", f"Haus\thouse\t{number}\n", tmp_path)
    assert len(str(error.value)) < 400 and str(error.value).isprintable()


@pytest.mark.parametrize(
    "name, line, words",
    [
        ("marian", "house Haus", "expected target source probability"),
        ("marian", "house Haus x", "'x' is not a probability"),
        ("marian", "house Haus 0", "outside (0, 1]"),
        ("marian", "house Haus -0.1", "outside (0, 1]"),
        ("marian", "house Haus 1.1", "outside (0, 1]"),
        ("marian", "house Katze 0.1", "'Katze' is not in the source vocabulary"),
        ("marian", "cat Haus 0.1", "'cat' is not in the target vocabulary"),
        ("marian", "| ein@@ 0.1", "ein@@ and | are together a second time"),
        ("marian", "", "blank"),
        ("fastalign", "Haus\thouse\t0.5", "above 0: the column holds natural logarithms"),
        ("sockeye", "Haus\thouse\t-1\nein@@\t日本\t-1", "'ein@@' do not stand together"),
    ],
)
def test_problems_are_listed_with_their_lines(name, line, words, tmp_path):
    first = "| ein@@ 0.5" if name == "marian" else "ein@@\t|\t-0.5"
    problems = lint_text(name, f"{first}\n{line}\n", tmp_path)
    assert len(problems) == 1, problems
    assert problems[0].line == 1 + len(line.split("\n")) and words in problems[0].text


def test_what_is_no_problem(tmp_path):
    assert lint_text("marian", "NULL Haus 0.5\nhouse Haus 1.0000001\nhouse NULL 1e-5\n", tmp_path) == []
    assert lint_text("fastalign", "Haus house -1\nein@@\t|\t-1\nHaus\t|\t-1\n", tmp_path) == []


def test_problems_are_in_the_order_of_the_file_up_to_a_limit(tmp_path):
    text = "house Haus 0.5\n" + "house Haus 0.5\n\n" * 30
    problems = lint_text("marian", text, tmp_path, limit=7)
    assert [problem.line for problem in problems] == [2, 3, 4, 5, 6, 7, 8]


def test_the_order_of_exported_lines():
    counts = make_counts({(2, 2): 1.0, (2, 4): 3.0, (3, 2): 1.0})
    by_source, by_target = (through_a_file("fastalign", counts, topn=1, by=by)[1] for by in ("source", "target"))
    assert set(as_cells(by_source)) == {(2, 4), (3, 2)}
    assert as_cells(by_target) == {(2, 4): 1.0, (3, 2): 0.5}
