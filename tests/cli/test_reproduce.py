"""The command reproduce: every exhibit on a toy language, finished work not done again, and what it refuses."""

import json
import signal

import numpy as np
import pytest

from minnmt.commands.reproduce_command import NAMES
from minnmt.lab.reproduce import (
    aligner_table,
    claims_table,
    comparing,
    count_sources,
    dynamic_table,
    exhibits,
    list_tables,
    lists_exhibit,
    paper,
)
from minnmt.lab.reproduce import laboratory as lab
from minnmt.report.scores import bleu
from tests.conftest import run_cli, write_toy_text

SMALL = (
    "--bpe 12 --embedding 12 --hidden 16 --batch-size 8 --threads 1 --learning-rate 0.01 --epochs 2 "
    "--speed-sentences 3 --repeats 2"
).split()
FILES = {
    name: (".md", ".tsv", ".json", *((".png",) if name == "epochs-figure" else ())) for name in exhibits.EXHIBITS
}  # fmt: skip


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_toy_text(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def done(text, tmp_path_factory):
    """All exhibits of the toy language: the directory, and what the command said."""
    pytest.importorskip("matplotlib")
    directory = tmp_path_factory.mktemp("lab")
    result = run_cli("reproduce", "all", *text, *SMALL, "-o", directory)
    assert result.code == 0, result.err
    return directory, result


def record(directory, name):
    return json.loads((directory / f"{name}.json").read_text())


def test_every_exhibit_is_written(done):
    directory, result = done
    for name, endings in FILES.items():
        for ending in endings:
            assert (directory / (name + ending)).exists() == (name != "iten-table"), name + ending
    assert sum(f"== {name}: " in result.out for name in FILES) == len(FILES) - 1
    assert (directory / "epochs-figure.png").read_bytes().startswith(b"\x89PNG")


def test_tables_hold_together(done):
    directory, _ = done
    for name in FILES.keys() - {"iten-table"}:
        found = record(directory, name)
        lines = (directory / f"{name}.tsv").read_text().splitlines()
        assert len(lines) == len(found["rows"]) + 1 and len({line.count("\t") for line in lines}) == 1
        text = (directory / f"{name}.md").read_text()
        n_more = sum(len(table["rows"]) + 2 for table in found.get("more", ()))
        assert sum(line.startswith("| ") for line in text.splitlines()) == len(lines) + 1 + n_more
        assert "python cli.py" in text and found["machines"][0]["numpy"] and found["settings"]["hidden"] == 16
        assert "/" not in found["settings"]["src"]  # names of texts, not places on a machine


def tsv(directory, name):
    """The rows of an exhibit as dictionaries of texts."""
    header, *rows = (line.split("\t") for line in (directory / f"{name}.tsv").read_text().splitlines())
    assert len(set(header)) == len(header)
    return [dict(zip(header, row, strict=True)) for row in rows]


def test_table_1_has_the_papers_rows_and_cells(done):
    rows, lines = record(done[0], "deen-table")["rows"], tsv(done[0], "deen-table")
    assert [(row["model"], row["lists"], row["n"]) for row in rows] == list(paper.decoding_rows("deen"))
    theirs = [[line[f"paper: {column}"] for column in ("speedup", "candidates", "BLEU", "TER")] for line in lines]
    assert len(theirs) == 20 and theirs[0] == ["1", "34,494", "27.9", "52.9"]
    assert theirs[3] == ["3.1", "43.0", "27.8", "53.0"] and theirs[13] == ["6.93", "31.8", "26.5", "53.9"]
    assert theirs[17] == ["7.02", "28.3", "26.6", "53.9"] and theirs[19] == ["6.94", "36.7", "26.7", "54.0"]


def test_table_1_has_our_cells(done):
    rows, lines = record(done[0], "deen-table")["rows"], tsv(done[0], "deen-table")
    for row, line in zip(rows, lines, strict=True):
        assert len(row["seconds"]["alone"]) == len(row["seconds"]["batches"]) == 2
        assert row["list"] is None or 2 <= row["list"] <= 40
        assert (line["BLEU"], line["TER"]) == (f"{row['bleu']:.1f}", f"{row['ter']:.1f}")
        full = row["lists"] == "full"
        assert line["candidates"] == (str(row["vocabulary"]) if full else f"{row['candidates']:.1f}")
        assert float(line["in batches"].split()[0]) == pytest.approx(np.median(row["speedup"]["batches"]), rel=0.01)
        assert (line["against full"] == "-") == full


def test_differences_are_those_of_the_translations_kept(done, text):
    """The reader finds both translations on disk, and in the table what lies between them."""
    references = open(text[text.index("--test-trg") + 1]).read().splitlines()
    rows = record(done[0], "deen-table")["rows"]
    full = (done[0] / "translations" / "words.test.full.UNK-replaced.txt").read_text().splitlines()
    assert bleu(full, references) == pytest.approx(rows[10]["bleu"])
    for row in rows[11:15]:
        path = done[0] / "translations" / f"words.test.scratch-{row['n']}.UNK-replaced.txt"
        value, low, high = row["against_full"]
        assert value == pytest.approx(bleu(path.read_text().splitlines(), references) - rows[10]["bleu"])
        assert value == pytest.approx(row["bleu"] - rows[10]["bleu"]) and low <= value <= high


def test_the_other_exhibits(done):
    directory, _ = done
    shown = [(row["epoch"], row["n"]) for row in record(directory, "epochs-figure")["rows"]]
    assert shown == [(epoch, n) for epoch in (1, 2) for n in (20, 50, 100, 200)]
    without, *thresholds = record(directory, "threshold-table")["rows"]
    assert without["threshold"] is None and without["dev"]["list"] is None
    cells = [row["cells"] for row in thresholds]
    assert cells == sorted(cells, reverse=True) and cells[0] > cells[-1]
    assert [row["lists"] for row in record(directory, "dynamic-table")["rows"]] == ["off", "batch", "epoch"]
    rows = record(directory, "lists-table")["rows"]
    levels = [row["verify"] for row in rows if "verify" in row]
    origins = {row["origin"]: row for row in rows if "verify" not in row}
    screen = origins.pop("screen")
    assert screen["words_per_step"] > 0 and screen["sentences"] == rows[-1]["sentences"]
    assert list(origins) == list(lists_exhibit.ORIGINS) and levels == list(lists_exhibit.LEVELS)
    assert origins["scratch"]["mass_output"]["mean"] > 0.5 and rows[-1]["identical"] == rows[-1]["sentences"]
    sizes = {origin: row["lists"]["words_per_sentence"] for origin, row in origins.items()}
    assert sizes["neural"] <= sizes["scratch"] + 0.5 and origins["copy"]["n"] <= origins["scratch"]["n"]
    config = json.loads((directory / "models" / "batch" / "config.json").read_text())["settings"]
    assert (config["dynamic_vocab"], config["dynamic_lists"], config["align_from_epoch"]) == (100, "batch", 1)


def test_finished_work_is_not_done_again(done, text, monkeypatch):
    def never(*arguments):
        raise AssertionError("measured again")

    for module, names in (
        (lab, ("train", "word_dictionary")), (count_sources, ("learn_attention", "frozen_attention", "train_table")),
        (comparing, ("quality",)), (list_tables, ("decoding_seconds", "unknown_share")),
        (lists_exhibit, ("audited", "train_selection")),
        (dynamic_table, ("update_words_per_second",)), (aligner_table, ("compare",)),
        (claims_table, ("bleu_difference",)),
    ):  # fmt: skip
        for name in names:
            monkeypatch.setattr(module, name, never)
    result = run_cli("reproduce", "all", *text, *SMALL, "-o", done[0])
    assert result.code == 0, result.err
    assert sum(f"== {name}: " in result.out for name in FILES) == len(FILES) - 1


def interrupt_validation(monkeypatch, number):
    """Ctrl-C while the dev text is translated for the first time, or for the second."""
    real, calls = lab.validate, []

    def interrupt(*arguments, **options):
        calls.append(1)
        if len(calls) == number:
            signal.raise_signal(signal.SIGINT)
        return real(*arguments, **options)

    monkeypatch.setattr(lab, "validate", interrupt)


@pytest.mark.parametrize("number", [1, 2])
def test_an_interrupted_training_goes_on(text, tmp_path, monkeypatch, number):
    """Exit code 130, and the same command ends with the same table as without the interruption."""
    command = ["reproduce", "threshold-table", *text, *SMALL]
    interrupt_validation(monkeypatch, number)
    assert run_cli(*command, "-o", tmp_path / "broken").code == 130
    assert not (tmp_path / "broken" / "threshold-table.md").exists()
    for name in ("broken", "whole"):
        result = run_cli(*command, "-o", tmp_path / name)
        assert result.code == 0, result.err
    rows = [record(tmp_path / name, "threshold-table")["rows"] for name in ("broken", "whole")]
    assert rows[0] == rows[1]


def test_other_settings_need_another_directory(done, text):
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "--hidden", 20, "-o", done[0])
    assert result.code == 2 and "hidden" in result.err and "-o" in result.err


def test_other_settings_are_noticed_before_anything_was_measured(text, tmp_path, monkeypatch):
    interrupt_validation(monkeypatch, 1)
    assert run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path).code == 130
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "--dropout", 0.5, "-o", tmp_path)
    assert result.code == 2 and "dropout" in result.err


def test_a_setting_that_the_measurements_lack_is_noticed(text, tmp_path, monkeypatch):
    interrupt_validation(monkeypatch, 1)
    assert run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path).code == 130
    path = tmp_path / "measurements.json"
    kept = json.loads(path.read_text())
    del kept["setup"]["settings"]["dropout"]
    path.write_text(json.dumps(kept))
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path)
    assert result.code == 2 and "dropout" in result.err


def test_a_model_of_other_settings_is_noticed(text, tmp_path, monkeypatch):
    """Also when the measurements are gone, which would have told."""
    interrupt_validation(monkeypatch, 2)
    assert run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path).code == 130
    (tmp_path / "measurements.json").unlink()
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "--hidden", 20, "-o", tmp_path)
    assert result.code == 1 and "other settings" in result.err and "-o" in result.err


def test_speed_is_measured_again_for_other_repeats(done, text, monkeypatch):
    """Nothing else is."""
    for module, name in ((lab, "train"), (comparing, "quality")):
        monkeypatch.setattr(module, name, None)
    other = done[0] / "one"
    result = run_cli("reproduce", "deen-table", *text, *SMALL, "--repeats", 1, "-o", done[0], "--results", other)
    assert result.code == 0, result.err
    assert all(len(row["seconds"]["alone"]) == 1 for row in record(other, "deen-table")["rows"])


def test_without_a_test_text_the_tables_say_so(done, text, tmp_path):
    only_dev = text[: text.index("--test-src")]
    assert "--test-trg" not in only_dev
    result = run_cli("reproduce", "threshold-table", *only_dev, *SMALL, "-o", tmp_path)
    assert result.code == 0, result.err
    assert "test is the dev text" in (tmp_path / "threshold-table.md").read_text()
    assert "test is the dev text" not in (done[0] / "threshold-table.md").read_text()


def test_other_texts_of_the_same_name_are_noticed(done, tmp_path):
    text = write_toy_text(tmp_path, seed=4)
    measurements = json.loads((done[0] / "measurements.json").read_text())
    for name in ("src", "trg", "dev_src", "dev_trg", "test_src", "test_trg"):
        measurements["setup"]["settings"][name] = text[text.index("--" + name.replace("_", "-")) + 1]
    (tmp_path / "measurements.json").write_text(json.dumps(measurements))
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path)
    assert result.code == 2 and "the texts themselves" in result.err


def test_lists_in_training(text, tmp_path):
    """The dynamic table's first row is a model without lists, whatever the others are trained with."""
    result = run_cli("reproduce", "dynamic-table", *text, *SMALL, "--dynamic-vocab", 5, "-o", tmp_path)
    assert result.code == 0, result.err
    configs = {path.name: json.loads((path / "config.json").read_text()) for path in (tmp_path / "models").iterdir()}
    assert {name: config["settings"]["dynamic_vocab"] for name, config in configs.items()} == {
        "bpe": 5, "off": 0, "batch": 100, "epoch": 100
    }  # fmt: skip
    result = run_cli("reproduce", "dynamic-table", *text, *SMALL, "--epochs", 1, "-o", tmp_path / "short")
    assert result.code == 2 and "--epochs 2" in result.err


def test_from_english_to_german(text, tmp_path, monkeypatch):
    """Without a text, the second language pair is the embedded corpus the other way round."""
    paths = dict(zip(text[::2], text[1::2]))

    def write(directory, corpus, overwrite):
        directory.mkdir(parents=True, exist_ok=True)
        for name, prefix in (("train", "--"), ("dev", "--dev-"), ("test", "--test-")):
            for side, ending in (("src", "de"), ("trg", "en")):
                (directory / f"{name}.{ending}").write_text(open(paths[prefix + side]).read())
        (directory / "test.align").touch()

    monkeypatch.setattr(lab, "write_corpus", write)
    result = run_cli("reproduce", "iten-table", *SMALL, "-o", tmp_path)
    assert result.code == 0, result.err
    rows = record(tmp_path, "iten-table")["rows"]
    assert [(row["lists"], row["n"]) for row in rows] == [("full", None), *paper.LISTS]
    assert {row["model"] for row in rows} == {"reversed"}
    settings = json.loads((tmp_path / "models" / "reversed" / "config.json").read_text())["settings"]
    assert settings["src"].endswith("train.en") and settings["test_trg"].endswith("test.de")
    lines = tsv(tmp_path, "iten-table")
    assert [lines[0]["paper: candidates"], lines[3]["paper: BLEU"], lines[9]["paper: BLEU"]] == ["33,497", "29.6", "-"]


@pytest.mark.parametrize("option", ["--", "--dev-", "--test-"])
def test_a_blank_text_is_refused_before_training(text, tmp_path, option):
    blank = tmp_path / "blank"
    blank.write_text("\n" * 12)
    paths = [option + "src", blank, option + "trg", blank]
    result = run_cli("reproduce", "lists-table", *text, *paths, *SMALL, "-o", tmp_path / "lab")
    assert result.code == 1 and "no line with a word" in result.err and not (tmp_path / "lab" / "models").exists()


def test_a_mistake_in_the_texts_leaves_no_laboratory_behind(text, tmp_path):
    """The corrected command has other settings, and must not be refused for that."""
    (tmp_path / "short").write_text("one line\n")
    result = run_cli("reproduce", "lists-table", *text, "--trg", tmp_path / "short", *SMALL, "-o", tmp_path / "lab")
    assert result.code == 1 and "must match line by line" in result.err
    assert not list((tmp_path / "lab").iterdir())


def test_the_command_knows_every_exhibit():
    assert set(NAMES) == {*exhibits.EXHIBITS, "all"}


def test_damaged_measurements(text, tmp_path):
    (tmp_path / "measurements.json").write_text("{")
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path)
    assert result.code == 1 and "measurements.json is damaged" in result.err and "Traceback" not in result.err


@pytest.mark.parametrize(
    "arguments, message",
    [
        ([], "EXHIBIT"),
        (["table-9"], "table-9"),
        (["all", "lists-table"], "all stands alone"),
        (["all", "--src", "-", "--trg", "x", "--dev-src", "x", "--dev-trg", "x"], "standard input"),
        (["all", "--src", "x"], "--trg"),
        (["all", "--epochs", "1"], "--epochs 2"),
        (["deen-table", "--dynamic-vocab", "50", "--epochs", "1"], "--epochs 2"),
    ],
)
def test_refused(arguments, message, tmp_path):
    result = run_cli("reproduce", *arguments, "-o", tmp_path / "lab")
    assert result.code == 2 and message in result.err
    assert not (tmp_path / "lab").exists()


def test_claims_are_filled_from_the_other_exhibits(done):
    directory, _ = done
    claims = record(directory, "claims-table")["rows"]
    assert len(claims) == 8
    lines = tsv(directory, "claims-table")
    assert {line["holds"] for line in lines} <= {"yes", "no"}
    tables = {(row["units"], row["lists"], row["n"]): row for row in record(directory, "deen-table")["rows"]}
    enough = next(claim for claim in claims if "are enough:" in claim["says"])
    assert enough["record"]["differences"]["words"] == tables["words", "scratch", 100]["against_full"]
    assert enough["paper"] == "BPE -0.10; words +0.29"
    shorter = next(claim for claim in claims if "fewer candidates" in claim["says"])
    ours = [tables["bpe", source, 100]["candidates"] for source in ("scratch", "continued", "fastalign")]
    assert shorter["record"]["candidates"]["bpe"] == ours and "43.0, 38.6, 42.3" in shorter["paper"]


def test_differences_between_two_kinds_of_lists(done, text):
    references = open(text[text.index("--test-trg") + 1]).read().splitlines()
    claims = record(done[0], "claims-table")["rows"]
    aligner = next(claim for claim in claims if "as good as fast_align" in claim["says"])
    a, b = (
        (done[0] / "translations" / f"words.test.{source}-100.UNK-replaced.txt").read_text().splitlines()
        for source in ("scratch", "fastalign")
    )
    value, low, high = aligner["record"]["differences"]["words"]
    assert value == pytest.approx(bleu(a, references) - bleu(b, references)) and low <= value <= high


def test_training_with_lists_after_the_same_epochs_and_time(done):
    rows, lines = record(done[0], "dynamic-table")["rows"], tsv(done[0], "dynamic-table")
    assert {row["after"]["epochs"]["epoch"] for row in rows} == {2}
    least = min(row["after"]["epochs"]["minutes"] for row in rows)
    for row, line in zip(rows, lines, strict=True):
        reached = row["after"]["time"]
        assert reached is None or reached["minutes"] <= least
        assert line["after 2 epochs: perplexity"] == f"{row['after']['epochs']['dev_perplexity']:.2f}"
    assert any(row["after"]["time"] and row["after"]["time"]["epoch"] == 2 for row in rows)


def test_logs_stand_beside_the_tables(done):
    for name in ("bpe", "words", "batch", "epoch"):
        assert (done[0] / f"log.{name}.tsv").read_text() == (done[0] / "models" / name / "log.tsv").read_text()
