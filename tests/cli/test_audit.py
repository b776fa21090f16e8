"""audit: where text comes from and goes to, text and JSON, and what is refused."""

import json
import shutil

import pytest

from minnmt.search.packed import instruction
from tests.cli.test_bad_input import refused
from tests.conftest import run_cli

SRC = "eins zwei.\n\nHund Haus rot.\nvier unbekannt drei!\n"
TRG = "one two.\n\ndog house red.\nfour Zebra three!\n"
ALWAYS = {"settings", "engine", "identical_share", "lines", "sentences", "identical", "seconds_full", "seconds_list"}
ALWAYS |= {"lists", "summary", "divergences", "mass_output"}
OF_REFERENCES = {"scores", "mass_reference", "coverage"}


@pytest.fixture
def text(tmp_path):
    """The options that name a text and its references."""
    (tmp_path / "src").write_text(SRC)
    (tmp_path / "trg").write_text(TRG)
    return ["-i", tmp_path / "src", "-r", tmp_path / "trg"]


def audited(*arguments, **more):
    """The JSON record of an audit."""
    result = run_cli("audit", *arguments, "--json", **more)
    assert result.code == 0, result.err
    return json.loads(result.out)


def test_the_test_set_of_the_model(tiny_run):
    record = audited("-m", tiny_run)
    test = tiny_run.parent / "test.src", tiny_run.parent / "test.trg"
    assert set(record) == ALWAYS | OF_REFERENCES
    assert record["lines"] == len(test[0].read_text().splitlines())
    assert record["settings"]["topn"] == 100 and record["settings"]["beam"] == 5
    same = audited("-m", tiny_run, "-i", test[0], "-r", test[1])
    assert {**same, "settings": 0, "seconds_full": 0, "seconds_list": 0} == {
        **record, "settings": 0, "seconds_full": 0, "seconds_list": 0
    }  # fmt: skip


def test_scores_and_outputs_are_those_of_decode(tiny_run, text, tmp_path):
    record = audited("-m", tiny_run, *text, "--topn", 1)
    for name, options in (("full", []), ("list", ["--topn", 1])):
        run_cli("decode", "-m", tiny_run, "-i", tmp_path / "src", "-o", tmp_path / name, *options)
        scores = json.loads(run_cli("score", tmp_path / name, tmp_path / "trg", "--json").out)
        assert {s["name"]: s[name] for s in record["scores"]} == {key: s["score"] for key, s in scores.items()}
    lines = [(tmp_path / name).read_text().splitlines() for name in ("full", "list")]
    expected = [(k, a, b) for k, (a, b) in enumerate(zip(*lines), start=1) if a != b]
    assert [(d["line"], d["full_output"], d["list_output"]) for d in record["divergences"]] == expected
    assert record["identical"] == 3 - len(expected) and record["identical_share"] == record["identical"] / 3


def test_a_list_of_the_whole_vocabulary(tiny_run, text):
    record = audited("-m", tiny_run, *text, "--topn", 1, "--frequent", 1000)
    assert record["identical_share"] == 1 and record["divergences"] == []
    assert record["mass_output"]["mean"] == pytest.approx(1, abs=1e-5)
    assert record["lists"]["words_per_sentence"] == record["lists"]["vocabulary"]


def test_text_and_json_say_the_same(tiny_run, text):
    record = audited("-m", tiny_run, *text, "--topn", 1)
    result = run_cli("audit", "-m", tiny_run, *text, "--topn", 1)
    lines = result.out.splitlines()
    assert f"{100 * record['identical_share']:.2f} %  ({record['identical']} of 3, 1 blank line left out)" in result.out
    for score in record["scores"]:
        row = next(line.split() for line in lines if line.startswith(score["name"]))
        assert row[1:4] == [f"{score['full']:.2f}", f"{score['list']:.2f}", f"{score['difference']:+.2f}"]
        assert score["signature"] in result.out
    for row in record["coverage"]["rows"]:
        shown = next(line for line in lines if line.startswith(row["name"] + "  ")).removeprefix(row["name"])
        share = f"{100 * row['words_covered'] / row['words']:.2f} %" if row["words"] else "-"
        assert shown.split()[0] == f"{row['units']:,}" and shown.endswith(share)
    assert max(map(len, lines)) <= 100
    assert len([line for line in lines if line.startswith("line ")]) == min(10, len(record["divergences"]))


def test_without_references(tiny_run, text):
    assert set(audited("-m", tiny_run, *text[:2])) == ALWAYS
    assert set(audited("-m", tiny_run, "-i", "-", stdin=SRC.encode())) == ALWAYS
    assert "BLEU" not in run_cli("audit", "-m", tiny_run, *text[:2]).out


def test_every_divergence_is_in_the_json_and_the_first_in_the_text(tiny_run, tmp_path):
    (tmp_path / "many").write_text(SRC * 5)
    options = ["-m", tiny_run, "-i", tmp_path / "many", "--counts", "random", "--topn", 1]
    record = audited(*options)
    assert len(record["divergences"]) == 15 and record["identical"] == 0
    assert all(d["missing"]["sources"] is None for d in record["divergences"] if d["missing"])
    text = run_cli("audit", *options, "--examples", 2).out
    assert text.count("\nline ") == 2 and "2 of 15" in text


def test_missing_words_are_looked_up_in_the_counts(tiny_run, text):
    record = audited("-m", tiny_run, *text, "--topn", 1, "--min-prob", 1)
    missing = [d["missing"] for d in record["divergences"] if d["missing"]]
    assert missing and "below --min-prob" in {m["why"] for m in missing}
    for m in missing:
        ranks = [s["rank"] for s in m["sources"]]
        assert "eos" in {s["unit"] for s in m["sources"]}
        assert (m["why"] == "never linked") == (set(ranks) == {None})


def test_into_a_file(tiny_run, text, tmp_path):
    result = run_cli("audit", "-m", tiny_run, *text, "-o", tmp_path / "report")
    assert (result.code, result.out) == (0, "")
    assert (tmp_path / "report").read_text().startswith("What the list costs: 100 candidates")


def test_negations_of_the_users_own(tiny_run, text, tmp_path):
    (tmp_path / "words").write_text("dog\n")
    for name, times in ((tmp_path / "words", 1), ("fr", 0)):
        rows = audited("-m", tiny_run, *text, "--negations", name)["coverage"]["rows"]
        assert {row["name"]: row["words"] for row in rows}["negations"] == times


def test_help_has_an_example():
    result = run_cli("audit", "--help")
    assert result.code == 0 and "python cli.py audit" in result.out


# What is refused


def test_unequal_line_counts(tiny_run, text, tmp_path):
    (tmp_path / "trg").write_text(TRG + "more\n")
    refused(1, "4 lines", "5", arguments=["audit", "-m", tiny_run, *text])


@pytest.mark.parametrize("content", ["", "\n  \n"])
def test_no_words_at_all(tiny_run, text, tmp_path, content):
    for path in ("src", "trg"):
        (tmp_path / path).write_text(content)
    refused(1, arguments=["audit", "-m", tiny_run, *text[:2]])
    refused(1, arguments=["audit", "-m", tiny_run, *text])


def test_a_model_without_counts(tiny_run, text, tmp_path):
    shutil.copytree(tiny_run, tmp_path / "model")
    for path in (tmp_path / "model").glob("alignments*"):
        path.unlink()
    refused(1, "alignments.npz", "cli.py align", arguments=["audit", "-m", tmp_path / "model", *text])


def test_a_single_npz_needs_counts_and_text(tiny_run, text):
    npz = ["--npz", tiny_run / "model.npz", "--vocab-src", tiny_run / "vocab.src.json"]
    npz += ["--vocab-trg", tiny_run / "vocab.trg.json"]
    counts = ["--counts", tiny_run / "alignments.npz"]
    refused(2, "--counts", arguments=["audit", *npz, *text])
    refused(2, "-i", arguments=["audit", *npz, *counts])
    assert set(audited(*npz, *counts, *text)) == ALWAYS | OF_REFERENCES


@pytest.mark.parametrize(
    "options, word",
    [
        (["-r", "trg"], "-i"), (["-i", "-", "-r", "-"], "standard input"), (["--topn", 0], "--topn"),
        (["--counts", "random", "--counts", "epoch2"], "stand alone"),
    ],
)  # fmt: skip
def test_options_that_do_not_go_together(tiny_run, options, word):
    refused(2, word, arguments=["audit", "-m", tiny_run, *options])


def test_the_input_is_not_written_over(tiny_run, text, tmp_path):
    for path in ("src", "trg"):
        refused(2, "is the input", arguments=["audit", "-m", tiny_run, *text, "-o", tmp_path / path])
    assert (tmp_path / "src").read_text() == SRC


def test_an_output_that_cannot_be_written_is_refused_before_the_work(tiny_run, text, tmp_path):
    refused(1, "cannot write", arguments=["audit", "-m", tiny_run, *text, "-o", tmp_path / "nowhere" / "report"])


def test_a_missing_file_of_negations(tiny_run, text):
    refused(1, "nowhere", arguments=["audit", "-m", tiny_run, *text, "--negations", "nowhere"])


@pytest.mark.skipif(not instruction(), reason="decoding takes float32 here")
def test_engines_are_compared(tiny_run, tmp_path):
    done = run_cli("audit", "-m", tiny_run, "--against", "float32", "--topn", 0)
    assert done.code == 0 and done.out.startswith("What int8 (") and "against float32: all words" in done.out
    done = run_cli("audit", "-m", tiny_run, "--engine", "float32", "--against", "int8", "--topn", 3, "--json")
    found = json.loads(done.out)
    assert found["engine"] == "float32" and found["against"].startswith("int8 (")
    assert found["settings"]["topn"] == 3 and found["sentences"] >= found["identical"] > 0


@pytest.mark.parametrize(
    "options, said",
    [
        (("--against", "int8"), "is --engine int8 itself"),
        (("--topn", "0"), "nothing to audit"),
        (("--against", "float32", "--negations", "en"), "does not go with --against"),
    ],
)
def test_what_does_not_go_together(tiny_run, options, said):
    done = run_cli("audit", "-m", tiny_run, *options)
    assert done.code == 2 and said in done.err


def test_an_engine_is_not_compared_with_itself(tiny_run, monkeypatch):
    monkeypatch.setattr("minnmt.search.packed.instruction", lambda: None)
    done = run_cli("audit", "-m", tiny_run, "--against", "float32")
    assert done.code == 2 and "nothing to compare" in done.err
