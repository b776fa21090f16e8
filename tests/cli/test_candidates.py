"""The `candidates` commands as a user meets them."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.align.formats import FORMATS
from tests.cli.test_bad_input import refused
from tests.conftest import TINY, TOY_SRC, TOY_TRG, run_cli, write_toy_text

CLI = Path(__file__).parents[2] / "cli.py"
COMMANDS = ["inspect", "why", "stats", "export", "import", "lint"]


@pytest.fixture(scope="module")
def words(tiny_run):
    """The ids of the words of the tiny model, {"src": ..., "trg": ...}."""
    return {side: json.loads((tiny_run / f"vocab.{side}.json").read_text()) for side in ("src", "trg")}


@pytest.fixture(scope="module")
def counts(words, tmp_path_factory):
    """A file of counts made up: every word goes with its translation most of all, and a little with all the others."""
    src, trg = words["src"], words["trg"]
    pairs = {(src[a], trg[b]): 1.0 for a in TOY_SRC for b in TOY_TRG}
    pairs |= {(src[a], trg[b]): 92.0 for a, b in zip(TOY_SRC, TOY_TRG)}
    pairs |= {(src["￭."], trg["￭."]): 5.0, (src["eos"], trg["eos"]): 3.0, (src["Haus"], trg["dog"]): 7.0}
    pairs[src["Haus"], trg["eos"]] = 2.0
    path = tmp_path_factory.mktemp("counts") / "counts.npz"
    src_ids, trg_ids = np.array(list(pairs)).T
    Counts.from_cells(src_ids, trg_ids, list(pairs.values()), len(src), len(trg), {"method": "made_up"}).save(path)
    return path


def run(command, tiny_run, *arguments, code=0):
    result = run_cli("candidates", command, "-m", tiny_run, *arguments)
    assert result.code == code, result
    return result


@pytest.mark.parametrize("command", [[], *([name] for name in COMMANDS)])
def test_help_has_an_example(command):
    result = run_cli("candidates", *command, "--help")
    assert result.code == 0 and "python cli.py candidates" in result.out


def test_help_imports_nothing_heavy():
    code = "import sys, cli; cli.cli.main(['candidates', 'export', '--help'], standalone_mode=False); "
    code += "print(sorted(sys.modules), file=sys.stderr)"
    found = subprocess.run([sys.executable, "-c", code], cwd=CLI.parent, capture_output=True, text=True, check=True)
    assert "sockeye-npy" in found.stdout
    assert "'numpy'" not in found.stderr and "'numba'" not in found.stderr


# Looking in


def test_inspect(tiny_run, counts):
    lines = run("inspect", tiny_run, "Haus", "-n", 2, "--counts", counts).out.splitlines()
    assert lines[0].startswith("Haus (id ") and "9 candidates, count 107, the first 2" in lines[0]
    assert [line.split()[-1] for line in lines[1:]] == ["target", "house", "dog"]
    assert lines[2].split()[:3] == ["1", "92", "0.8598"]
    ends = {line.rstrip().rfind(" ") for line in lines[1:]}
    assert len(ends) == 1, "the columns are not straight"


@pytest.mark.parametrize("by, expected", [("source", ["house", "dog", "eos"]), ("target", ["house", "eos", "dog"])])
def test_inspect_by_source_and_by_target(tiny_run, counts, by, expected):
    lines = run("inspect", tiny_run, "Haus", "-n", 3, "--counts", counts, "--by", by).out.splitlines()
    assert [line.split()[-1] for line in lines[2:]] == expected


def test_inspect_the_units_of_a_word(tmp_path):
    text = write_toy_text(tmp_path, n_train=30, n_dev=4)
    assert run_cli("train", *text, "-o", tmp_path / "run", *TINY, "--bpe", 20, "--max-updates", 2).code == 0
    src, trg = (json.loads((tmp_path / "run" / f"vocab.{side}.json").read_text()) for side in ("src", "trg"))
    Counts.empty(len(src), len(trg)).save(tmp_path / "run" / "alignments.npz")
    result = run("inspect", tmp_path / "run", "Hausrot")
    units = result.err.split("it is cut into ")[1].split(";")[0].split()
    assert len(units) > 1 and "".join(units).replace("@@", "") == "Hausrot"
    unit = next(unit for unit in src if unit.endswith("@@"))
    assert run("inspect", tmp_path / "run", unit).out.startswith(f"{unit} (id {src[unit]}): no candidates")


def test_an_unknown_word_is_read_as_unk(tiny_run, counts):
    result = run("inspect", tiny_run, "Katze", "--counts", counts)
    assert "read as UNK: Katze" in result.err and result.out.startswith("UNK (id 1): no candidates")


def test_why(tiny_run, counts):
    arguments = ["eins Haus.", "dog", "--counts", counts]
    assert "in the list through Haus\n" in run("why", tiny_run, *arguments, "--topn", 2).out
    far = run("why", tiny_run, *arguments, "--topn", 1).out
    assert "not in the list; --topn 2 would bring it, through Haus" in far and "Haus  (beyond 1)" in far
    assert "the list: 5 of 11 target words, from 4 source units" in far  # eos, UNK, one, house and the full stop
    assert "one of the 9 most frequent words" in run("why", tiny_run, *arguments, "--topn", 1, "--frequent", 9).out
    assert "in the list through ￭.\n" in run("why", tiny_run, "Haus.", "￭.", "--counts", counts).out
    assert "was ever linked with it" in run("why", tiny_run, "Haus", "￭.", "--counts", counts).out
    assert "in the list of every sentence: it is eos" in run("why", tiny_run, "Haus.", "eos", "--counts", counts).out


def test_stats(tiny_run, counts):
    lines = dict(line.split("  ", 1) for line in run("stats", tiny_run, "--counts", counts).out.splitlines())
    assert "10 of 11 have candidates" in lines["source words"] and lines["method"].strip() == "made_up"
    assert lines["cells"].strip().startswith("67 (") and lines["on disk"].strip().endswith("MB")
    twice = run("stats", tiny_run, "--counts", counts, "--counts", counts).out
    assert str(counts) + " + " + str(counts) in twice
    weight = float(twice.split("total weight")[1].split()[0].replace(",", ""))
    assert weight == 2 * float(lines["total weight"].replace(",", ""))


def test_the_parameters_are_not_needed(tiny_run, counts, tmp_path):
    model = shutil.copytree(tiny_run, tmp_path / "model")
    (model / "model.npz").unlink()
    shutil.copy(counts, model / "alignments.npz")
    assert "house" in run("inspect", model, "Haus").out
    assert str(model / "alignments.npz") in run("stats", model).out
    vocabularies = ["--vocab-src", model / "vocab.src.json", "--vocab-trg", model / "vocab.trg.json"]
    result = run_cli("candidates", "inspect", "--npz", model / "model.npz", *vocabularies, "Haus", "--counts", counts)
    assert result.code == 0 and "house" in result.out


# Exchange


@pytest.mark.parametrize("name", FORMATS)
def test_there_and_back(name, tiny_run, counts, tmp_path):
    lists, imported = tmp_path / "lists", tmp_path / "imported.npz"
    result = run("export", tiny_run, "--format", name, "-o", lists, "--counts", counts, "--topn", 2)
    assert result.out == "" and "source words to" in result.err and "use: " in result.err
    result = run("lint", tiny_run, "--format", name, lists)
    assert result.out.count("\n") == 1 and "no problems" in result.out and result.err == ""
    run("lint", tiny_run, lists)
    result = run("import", tiny_run, "--format", name, lists, "-o", imported)
    assert result.out == "" and str(imported) in result.err
    outputs = [
        run_cli("decode", "-m", tiny_run, "--topn", 2, "--counts", path, stdin=b"eins Haus rot.\nblau Hund.\n")
        for path in (counts, imported)
    ]
    assert outputs[0].code == outputs[1].code == 0 and outputs[0].out == outputs[1].out
    assert sorted(path.name for path in tmp_path.iterdir()) == ["imported.npz", "lists"]


def test_export_to_a_pipe_and_lint_from_one(tiny_run, counts):
    export = ["--format", "ct2", "-o", "-", "--counts", counts, "--topn", 1, "--frequent", 2]
    result = run("export", tiny_run, *export)
    assert "\nHaus\thouse\n" in result.out and result.out.startswith("\t</s> <unk> ")
    found = run_cli("candidates", "lint", "-m", tiny_run, "-", stdin=result.out.encode())
    assert found.code == 0 and "(ct2)" in found.out


def test_min_prob(tiny_run, counts, tmp_path):
    arguments = ["--format", "marian", "-o", tmp_path / "lex", "--counts", counts, "--min-prob", 0.5]
    run("export", tiny_run, *arguments)
    pairs = {tuple(line.split()[:2]) for line in (tmp_path / "lex").read_text().splitlines()}
    assert pairs == {*zip(TOY_TRG, TOY_SRC), ("￭.", "￭."), ("</s>", "</s>")}


def test_lint_lists_the_problems(tiny_run, tmp_path):
    (tmp_path / "lex").write_text("house Haus 0.5\ncat Haus 0.25\nhouse Haus 2\n" + "\n" * 30)
    result = run("lint", tiny_run, tmp_path / "lex", "--limit", 4, code=1)
    lines = result.out.splitlines()
    assert len(lines) == 4 and lines[0].startswith(f"{tmp_path / 'lex'}, line 2: ") and "'cat'" in lines[0]
    assert result.err == f"error: {tmp_path / 'lex'} (marian): 33 problems, 4 shown (--limit)\n"


def test_import_reports_what_it_left_out(tiny_run, tmp_path):
    (tmp_path / "lex").write_text("house Haus 0.5\ncat Haus 0.25\nNULL Haus 0.25\n")
    result = run("import", tiny_run, "--format", "marian", tmp_path / "lex", "-o", tmp_path / "c.npz")
    assert "target vocabulary (1): cat" in result.err and "NULL" in result.err
    assert Counts.load(tmp_path / "c.npz").n_cells == 1


# What goes wrong


def test_a_damaged_file_leaves_the_output_as_it_was(tiny_run, tmp_path):
    (tmp_path / "lex").write_text("house Haus 0.5\nhouse Haus\n")
    (tmp_path / "c.npz").write_bytes(b"old")
    arguments = ["candidates", "import", "-m", tiny_run, "--format", "marian", tmp_path / "lex", "-o"]
    refused(1, "lex, line 2", "expected target source", arguments=[*arguments, tmp_path / "c.npz"])
    refused(1, "lex, line 2", arguments=[*arguments, tmp_path / "new.npz"])
    assert (tmp_path / "c.npz").read_bytes() == b"old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["c.npz", "lex"]


def test_a_format_that_cannot_be_seen(tiny_run, tmp_path):
    (tmp_path / "lex").write_text("just some words in a line\n")
    refused(1, "lex", "--format", arguments=["candidates", "lint", "-m", tiny_run, tmp_path / "lex"])
    (tmp_path / "lex").write_text("")
    refused(1, "lex", "--format", arguments=["candidates", "lint", "-m", tiny_run, tmp_path / "lex"])


def test_files_that_are_not_there(tiny_run, tmp_path):
    for command, *arguments in (
        ("inspect", "Haus", "--counts", "nowhere"),
        ("why", "Haus", "house", "--counts", "nowhere"),
        ("stats", "--counts", "nowhere"),
        ("export", "--format", "ct2", "-o", tmp_path / "out", "--counts", "nowhere"),
        ("import", "nowhere", "-o", tmp_path / "out.npz"),
        ("lint", "nowhere"),
    ):
        refused(1, "nowhere", arguments=["candidates", command, "-m", tiny_run, *arguments])
        refused(1, "no-model", "train", arguments=["candidates", command, "-m", tmp_path / "no-model", *arguments])
    assert not list(tmp_path.iterdir())


def test_counts_of_another_model(tiny_run, tmp_path):
    Counts.empty(3, 4).save(tmp_path / "c.npz")
    arguments = ["candidates", "stats", "-m", tiny_run, "--counts", tmp_path / "c.npz"]
    refused(1, "c.npz", "another model", arguments=arguments)


@pytest.mark.parametrize("output", ["file/out", "nowhere/out"])
def test_an_unwritable_output(tiny_run, counts, tmp_path, output):
    (tmp_path / "file").write_text("house Haus 0.5\n")
    for command in (
        ["export", "--format", "ct2", "--counts", counts], ["import", "--format", "marian", tmp_path / "file"],
    ):  # fmt: skip
        arguments = ["candidates", *command, "-m", tiny_run, "-o", tmp_path / output]
        refused(1, "cannot write", output, arguments=arguments)


@pytest.mark.parametrize(
    "arguments, words",
    [
        (["inspect"], ["WORD"]),
        (["inspect", "Haus", "-n", 0], ["-n"]),
        (["why", "Haus"], ["TARGET_WORD"]),
        (["why", "Haus", "house", "--topn", 0], ["--topn"]),
        (["export", "--format", "ct2"], ["--output"]),
        (["export", "--format", "moses", "-o", "x"], ["moses", "marian-bin"]),
        (["export", "--format", "marian", "-o", "x", "--frequent", 3], ["--frequent", "ct2"]),
        (["export", "--format", "ct2", "-o", "x", "--min-prob", 2], ["--min-prob"]),
        (["import", "x", "-o", "-"], ["-o"]),
        (["import", "x", "-o", "./x"], ["x", "destroy"]),
        (["import", "x"], ["--output"]),
        (["export", "--format", "ct2", "--counts", "x", "-o", "./x"], ["x", "destroy"]),
        (["export", "--format", "ct2", "-o", "runs/default/alignments.npz"], ["alignments.npz", "destroy"]),
        (["lint"], ["FILE"]),
        (["lint", "x", "--vocab-src", "v"], ["--vocab-src", "--npz"]),
        (["stats", "-m", "a", "--npz", "b", "--vocab-src", "v", "--vocab-trg", "v"], ["-m", "--npz"]),
        (["nonsense"], ["nonsense"]),
    ],
)
def test_wrong_usage(arguments, words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    refused(2, *words, arguments=["candidates", *arguments])
    assert not list(tmp_path.iterdir())


def test_a_single_npz_has_no_counts_of_its_own(tiny_run):
    vocabularies = ["--vocab-src", tiny_run / "vocab.src.json", "--vocab-trg", tiny_run / "vocab.trg.json"]
    refused(2, "--counts", arguments=["candidates", "stats", "--npz", "m.npz", *vocabularies])


def test_the_model_is_not_written_over(tiny_run, counts, tmp_path):
    shutil.copytree(tiny_run, tmp_path / "model")
    (tmp_path / "table").write_text("Haus\thouse\t-0.1\n")
    before = {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()}
    start = ["-m", tmp_path / "model"]
    for name in ("model.npz", "vocab.trg.json", "alignments.npz"):
        output = ["-o", tmp_path / "model" / name]
        if name != "alignments.npz":  # whoever imports counts may want them there: see below
            refused(2, "the input", arguments=["candidates", "import", *start, tmp_path / "table", *output])
        refused(2, "the input", arguments=["candidates", "export", *start, "--format", "marian", *output])
    others = (
        ["decode", *start, "-o"], ["decode", *start, "--alignments"], ["audit", *start, "-o"],
        ["align", *start, "--frozen", "-o", tmp_path / "counts", "--pharaoh"],
    )  # fmt: skip
    for more in others:
        for name in ("model.npz", "alignments.npz", "alignments.epoch3.npz"):
            refused(2, "the input", arguments=[*more, tmp_path / "model" / name])
    replace = ["candidates", "import", *start, tmp_path / "table", "-o", tmp_path / "model" / "alignments.npz"]
    refused(2, "--overwrite", arguments=replace)
    assert {path.name: path.read_bytes() for path in (tmp_path / "model").iterdir()} == before


def test_why_counts_both_limits(tiny_run, counts):
    """A candidate that is both too far down and too improbable is not to be had with a larger n."""
    found = run("why", tiny_run, "Haus", "dog", "--topn", 1, "--min-prob", 0.5, "--counts", counts).out
    assert "lower --min-prob" in found and "would bring it" not in found


def test_nothing_to_write_and_nothing_read(tiny_run, words, tmp_path):
    (tmp_path / "empty").write_text("")
    found = run("import", tiny_run, tmp_path / "empty", "--format", "fastalign", "-o", tmp_path / "c.npz", code=1)
    assert "no candidate" in found.err and not (tmp_path / "c.npz").exists()
    Counts.empty(len(words["src"]), len(words["trg"])).save(tmp_path / "none.npz")
    options = ["--format", "marian", "--counts", tmp_path / "none.npz", "-o", tmp_path / "table"]
    assert "no candidate" in run("export", tiny_run, *options, code=1).err and not (tmp_path / "table").exists()


@pytest.mark.parametrize("command", [["inspect", "Haus"], ["stats"]])
def test_controls_have_no_counts(tiny_run, command):
    refused(2, "control", arguments=["candidates", command[0], "-m", tiny_run, *command[1:], "--counts", "random"])
