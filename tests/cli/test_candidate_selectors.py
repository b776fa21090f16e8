"""`candidates inspect` and `stats` of the selectors other than counts."""

import json
import shutil

import pytest

from minnmt.align.phrases import PhraseCounts
from minnmt.commands.options import SELECTOR_NAMES
from minnmt.report.selector_text import INSPECT, STATS
from minnmt.search.selectors import SELECTORS
from tests.cli.test_candidates import run
from tests.conftest import run_cli


@pytest.fixture(scope="module")
def selectors(tiny_run, tmp_path_factory):
    """A copy of the tiny model with phrases, a layer and a screen beside it."""
    model = shutil.copytree(tiny_run, tmp_path_factory.mktemp("selectors") / "model")
    for method in ("phrases", "neural", "screen"):
        result = run_cli("align", "-m", model, "--method", method)
        assert result.code == 0, result.err
    return model


def test_inspect_shows_what_is_copied(selectors):
    assert run("inspect", selectors, "Haus.", "--select", "copy").out.startswith("￭. (id ")
    assert "no target unit is spelled" in run("inspect", selectors, "Haus", "--select", "copy").out


def test_inspect_shows_the_candidates_of_phrases(selectors):
    words = {side: json.loads((selectors / f"vocab.{side}.json").read_text()) for side in ("src", "trg")}
    out = run("inspect", selectors, "blau Haus rot", "--select", "phrases", "--topn", 1, "-n", 3).out
    own = ["blau Haus", "Haus rot", "rot eos", "blau Haus rot", "Haus rot eos"]
    phrases = PhraseCounts.load(selectors / "phrases.npz", len(words["src"]), len(words["trg"]))
    rows = {tuple(phrase): row for row, phrase in enumerate(phrases.phrases.tolist())}
    brought = 0
    for block in out.split("\n\n"):
        title, *lines = block.splitlines()
        phrase = title.split(":")[0]
        assert phrase in own and "beside those of its words" in title
        key = [words["src"][word] for word in phrase.split()]
        ids, counts = phrases.table.row(rows[tuple(key + [-1] * (3 - len(key)))])
        for line in lines[1:]:
            _, count, p, word = line.split()
            assert float(count) == pytest.approx(counts[ids == words["trg"][word]][0], rel=1e-5)
            assert float(p) == pytest.approx(float(count) / counts.sum(), rel=1e-3)
            brought += 1
    assert brought
    assert "was linked twice" in run("inspect", selectors, "Haus unbekannt nie", "--select", "phrases").out


def test_unknown_words_are_named(selectors):
    for name in ("copy", "phrases", "neural", "screen"):
        assert "read as UNK: ққ" in run("inspect", selectors, "ққ", "--select", name).err


def test_options_that_a_selector_does_not_heed_are_refused(selectors):
    wrong = "--topn 5", "--select copy --counts epoch2", "--select neural --topn 5", "--select screen --by target"
    for options in (*wrong, "--select phrases --select-threshold 0.1"):
        options = options.split()
        assert "goes with --select" in run("inspect", selectors, "Haus", *options, code=2).err
    out = run("inspect", selectors, "Haus", "--select", "neural", "--select-threshold", 0.2).out
    assert "above 0.2" in out


def test_copies_and_phrases_need_no_parameters(selectors, tmp_path):
    model = shutil.copytree(selectors, tmp_path / "model")
    (model / "model.npz").unlink()
    assert run("stats", model, "--select", "copy").out and run("stats", model, "--select", "phrases").out


def test_every_selector_can_be_looked_into():
    assert SELECTOR_NAMES == tuple(SELECTORS) == ("counts", *INSPECT) == ("counts", *STATS)


def test_inspect_shows_the_words_that_a_sentence_needs(selectors):
    lines = run("inspect", selectors, "Haus.", "--select", "neural", "-n", 5).out.splitlines()
    needed = [float(line.split()[1]) for line in lines[2:]]
    assert len(needed) == 5 and needed == sorted(needed, reverse=True) and 0 < needed[-1] < needed[0] <= 1
    assert "above 0.01" in lines[0]


def test_inspect_shows_the_groups_of_a_target_word(selectors):
    lines = run("inspect", selectors, "house", "--select", "screen", "--topn", 4, "-n", 3).out.splitlines()
    assert lines[0].startswith("house (id ") and " of 100 groups, which have " in lines[0]
    shares = [float(line.split()[1]) for line in lines[2:]]
    assert 1 <= len(shares) <= 3 and shares == sorted(shares, reverse=True)


@pytest.mark.parametrize(
    "name, words",
    [
        ("copy", ["source units", "of 11"]), ("phrases", ["phrases of 2 words", "phrases of 3 words", "in all"]),
        ("neural", ["layer", "annotations of 32 numbers to readouts of 12"]),
        ("screen", ["groups", "per step with --topn 100"]),
    ],
)  # fmt: skip
def test_stats_of_a_selector(selectors, name, words):
    out = run("stats", selectors, "--select", name).out
    assert all(word in out for word in [*words, "on disk"]), out


@pytest.mark.parametrize("name, file", [("phrases", "phrases"), ("neural", "selection"), ("screen", "screen")])
def test_a_selector_that_was_not_made_is_refused(tiny_run, name, file):
    for command in (["inspect", "Haus"], ["stats"]):
        command, *word = command
        result = run(command, tiny_run, *word, "--select", name, code=1)
        assert f"{file}.npz does not exist" in result.err and f"--method {name}" in result.err


def test_a_blank_text_is_refused(selectors):
    for name in ("copy", "phrases", "neural", "screen"):
        assert "blank" in run("inspect", selectors, " ", "--select", name, code=1).err
