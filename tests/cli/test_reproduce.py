"""The command reproduce: every exhibit on a toy language, finished work not done again, and what it refuses."""

import json
import signal

import numpy as np
import pytest

from minnmt.commands.reproduce_command import NAMES
from minnmt.lab.reproduce import exhibits, lists_exhibit
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
    assert result.out.count("== ") == len(FILES) - 1
    assert (directory / "epochs-figure.png").read_bytes().startswith(b"\x89PNG")


def test_tables_hold_together(done):
    directory, _ = done
    for name in FILES.keys() - {"iten-table"}:
        found = record(directory, name)
        lines = (directory / f"{name}.tsv").read_text().splitlines()
        assert len(lines) == len(found["rows"]) + 1 and len({line.count("\t") for line in lines}) == 1
        text = (directory / f"{name}.md").read_text()
        assert sum(line.startswith("| ") for line in text.splitlines()) == len(lines) + 1
        assert "python cli.py" in text and found["machines"][0]["numpy"] and found["settings"]["hidden"] == 16
        assert "/" not in found["settings"]["src"]  # names of texts, not places on a machine


def test_table_1(done):
    rows = record(done[0], "deen-table")["rows"]
    assert [row["model"] for row in rows] == ["bpe"] * 13 + ["words"] * 13
    assert [(row["lists"], row.get("n")) for row in rows[:3]] == [("full", None), ("scratch", 20), ("scratch", 50)]
    for row in rows:
        assert len(row["seconds"]["alone"]) == len(row["seconds"]["batches"]) == 2
        assert row["list"] is None or 2 <= row["list"] <= 40
    cells = [line.split("\t") for line in (done[0] / "deen-table.tsv").read_text().splitlines()]
    ours = [row[-2:] for row in cells if row[2] == "100"]
    assert ours == [["3.1", "43"], ["-", "-"], ["-", "-"], ["6.93", "32"], ["-", "-"], ["-", "-"]]
    for row, line in zip(rows, cells[1:]):
        line = dict(zip(cells[0], line))
        assert (line["BLEU"], line["TER"]) == (f"{row['bleu']:.2f}", f"{row['ter']:.2f}")
        assert line["candidates"] == ("-" if row["lists"] == "full" else f"{row['candidates']:.1f}")
        gain = 1 if row["lists"] == "full" else np.median(row["speedup"]["batches"])
        assert float(line["in batches"].split()[0]) == pytest.approx(gain, rel=0.01)


def test_differences_are_those_of_the_translations_kept(done, text):
    """The reader finds both translations on disk, and in the table what lies between them."""
    references = open(text[text.index("--test-trg") + 1]).read().splitlines()
    rows = record(done[0], "deen-table")["rows"]
    full = (done[0] / "translations" / "words.test.full.UNK-replaced.txt").read_text().splitlines()
    assert bleu(full, references) == pytest.approx(rows[13]["bleu"])
    for row in rows[14:18]:
        path = done[0] / "translations" / f"words.test.scratch-{row['n']}.UNK-replaced.txt"
        value, low, high = row["against_full"]
        assert value == pytest.approx(bleu(path.read_text().splitlines(), references) - rows[13]["bleu"])
        assert value == pytest.approx(row["bleu"] - rows[13]["bleu"]) and low <= value <= high


def test_the_other_exhibits(done):
    directory, _ = done
    assert [row["epoch"] for row in record(directory, "epochs-figure")["rows"]] == [1, 2]
    without, *thresholds = record(directory, "threshold-table")["rows"]
    assert without["threshold"] is None and without["dev"]["list"] is None
    cells = [row["cells"] for row in thresholds]
    assert cells == sorted(cells, reverse=True) and cells[0] > cells[-1]
    assert [row["lists"] for row in record(directory, "dynamic-table")["rows"]] == ["off", "batch", "epoch"]
    rows = record(directory, "lists-table")["rows"]
    levels = [row["verify"] for row in rows if "verify" in row]
    origins = {row["origin"]: row for row in rows if "verify" not in row}
    assert list(origins) == list(lists_exhibit.ORIGINS) and levels == list(lists_exhibit.LEVELS)
    assert origins["scratch"]["mass_output"]["mean"] > 0.5 and rows[-1]["identical"] == rows[-1]["sentences"]
    sizes = {origin: row["lists"]["words_per_sentence"] for origin, row in origins.items()}
    assert sizes["neural"] <= sizes["scratch"] and origins["copy"]["n"] <= origins["scratch"]["n"]
    config = json.loads((directory / "models" / "batch" / "config.json").read_text())["settings"]
    assert (config["dynamic_vocab"], config["dynamic_lists"], config["align_from_epoch"]) == (100, "batch", 1)


def test_finished_work_is_not_done_again(done, text, monkeypatch):
    def never(*arguments):
        raise AssertionError("measured again")

    parts = ("quality", "decoding_seconds", "update_words_per_second")
    measured = (lab, ("train", "learn_attention")), (exhibits, parts), (lists_exhibit, ("audited", "train_selection"))
    for module, names in measured:
        for name in names:
            monkeypatch.setattr(module, name, never)
    result = run_cli("reproduce", "all", *text, *SMALL, "-o", done[0])
    assert result.code == 0, result.err
    assert result.out.count("== ") == len(FILES) - 1


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


def test_a_model_of_other_settings_is_noticed(text, tmp_path, monkeypatch):
    """Also when the measurements are gone, which would have told."""
    interrupt_validation(monkeypatch, 2)
    assert run_cli("reproduce", "lists-table", *text, *SMALL, "-o", tmp_path).code == 130
    (tmp_path / "measurements.json").unlink()
    result = run_cli("reproduce", "lists-table", *text, *SMALL, "--hidden", 20, "-o", tmp_path)
    assert result.code == 1 and "other settings" in result.err and "-o" in result.err


def test_speed_is_measured_again_for_other_repeats(done, text, monkeypatch):
    """Nothing else is."""
    for module, name in ((lab, "train"), (exhibits, "quality")):
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
    assert [row["model"] for row in rows] == ["reversed"] * 13
    settings = json.loads((tmp_path / "models" / "reversed" / "config.json").read_text())["settings"]
    assert settings["src"].endswith("train.en") and settings["test_trg"].endswith("test.de")
    assert all(line.endswith("\t-\t-") for line in (tmp_path / "iten-table.tsv").read_text().splitlines()[1:])


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
