"""reproduce with models that are trained already, with further test sets, and with unknown words."""

import json
import shutil

import pytest

from minnmt.lab.reproduce import laboratory as lab
from minnmt.model.directory import load_model
from tests.cli.test_reproduce import record, tsv
from tests.conftest import run_cli, write_toy_text

TRAINING = (
    "--embedding 12 --hidden 16 --batch-size 8 --threads 1 --learning-rate 0.01 --epochs 3 --epoch-pairs 100"
).split()
MEASURING = "--speed-sentences 2 --repeats 2 --threads 1".split()


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return write_toy_text(tmp_path_factory.mktemp("text"))


@pytest.fixture(scope="module")
def runs(text, tmp_path_factory):
    """A run with BPE that counts from its second epoch on, and one of few words."""
    directory = tmp_path_factory.mktemp("runs")
    for name, units in (("bpe", ["--bpe", 12]), ("words", ["--bpe", 0, "--vocab-size", 8])):
        result = run_cli("train", *text, *units, *TRAINING, "-o", directory / name)
        assert result.code == 0, result.err
    return directory


@pytest.fixture(scope="module")
def done(runs, text, tmp_path_factory):
    """All exhibits of both runs, with a further test set: the dev text."""
    pytest.importorskip("matplotlib")
    directory = tmp_path_factory.mktemp("given")
    before = {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}
    dev = [text[text.index(f"--dev-{side}") + 1] for side in ("src", "trg")]
    models = ["--model", f"words={runs / 'words'}", "--model", runs / "bpe"]
    also = ["--also-test", f"again={dev[0]},{dev[1]}"]
    result = run_cli("reproduce", "all", *models, *also, *MEASURING, "-o", directory)
    assert result.code == 0, result.err
    assert before == {path: path.read_bytes() for path in runs.rglob("*") if path.is_file()}, "a run was changed"
    return directory


def test_nothing_is_trained(done, runs):
    assert not list(done.rglob("model.npz"))
    for name in ("deen-table", "epochs-figure", "threshold-table", "lists-table"):
        assert (done / f"{name}.md").exists()
    assert not (done / "dynamic-table.md").exists() and not (done / "iten-table.md").exists()


def test_the_rows_are_of_the_models_given(done, runs):
    rows = record(done, "deen-table")["rows"]
    assert [row["model"] for row in rows] == ["bpe"] * 10 + ["words"] * 10
    for row in rows:
        assert row["vocabulary"] == len(load_model(runs / row["model"]).trg.vocab)
    assert {row["epoch"] for row in record(done, "epochs-figure")["rows"]} == {2, 3}


def test_no_place_on_this_machine_is_told(done):
    for path in done.glob("*.json"):
        if path.name != "measurements.json":
            found = json.loads(path.read_text())
            del found["command"]  # which has what the user typed
            assert "/" not in json.dumps(found["given"]), path


def test_logs_stand_beside_the_tables(done, runs):
    for name in ("bpe", "words"):
        assert (done / f"log.{name}.tsv").read_text() == (runs / name / "log.tsv").read_text()


def test_epochs_that_are_parts_of_the_text_are_said(done):
    assert "An epoch of training is 100 pairs" in (done / "epochs-figure.md").read_text()
    assert "One more epoch, and the pass for the thresholds: 100 pairs" in (done / "deen-table.md").read_text()


def test_a_further_test_set(done):
    rows, lines = record(done, "deen-table")["rows"], tsv(done, "deen-table")
    dev = record(done, "threshold-table")["rows"][0]["dev"]
    assert rows[0]["also"]["again"]["bleu"] == dev["bleu"]
    for row, line in zip(rows, lines, strict=True):
        again = row["also"]["again"]
        assert line["again: BLEU"] == f"{again['bleu']:.1f}" and line["again: TER"] == f"{again['ter']:.1f}"
        if row["lists"] != "full":
            value, low, high = again["against_full"]
            assert line["again: against full"] == f"{value:+.2f} ({low:+.2f} to {high:+.2f})"


def test_a_test_set_keeps_its_name(done, runs, text):
    train = [text[text.index(f"--{side}") + 1] for side in ("src", "trg")]
    models = ["--model", runs / "bpe", "--model", runs / "words"]
    more = ["--also-test", f"again={train[0]},{train[1]}", *MEASURING]
    result = run_cli("reproduce", "deen-table", *models, *more, "-o", done)
    assert result.code == 2 and "again was another test set" in result.err


def test_models_may_come_one_after_the_other(done, runs, text, tmp_path):
    """What was measured of the first is not measured again when the second joins it."""
    alone = ["reproduce", "threshold-table", *MEASURING, "-o", tmp_path]
    assert run_cli(*alone, "--model", runs / "words").code == 0
    before = json.loads((tmp_path / "measurements.json").read_text())
    both = run_cli(*alone, "--model", runs / "words", "--model", runs / "bpe")
    assert both.code == 0, both.err
    after = json.loads((tmp_path / "measurements.json").read_text())
    assert before["found"].items() <= after["found"].items() and len(before["found"]) < len(after["found"])
    assert run_cli(*alone, "--model", runs / "words").code == 0
    kept = json.loads((tmp_path / "measurements.json").read_text())["setup"]["given"]
    assert sorted(kept) == ["bpe", "words"]


def test_training_beside_another_model_needs_another_directory(runs, tmp_path):
    command = ["reproduce", "dynamic-table", *MEASURING, "--max-minutes", 5, "-o", tmp_path, "--model", runs / "words"]
    assert run_cli(*command).code == 0
    result = run_cli(*command, "--model", runs / "bpe")
    assert result.code == 2 and "another model" in result.err and "-o" in result.err


def test_unknown_words_are_translated_by_model_1(done, runs, text):
    """The toy language is translated word by word, so Model 1 knows every word, in the vocabulary or not."""
    path = done / "models" / "words" / "dictionary.model1.tsv"
    pairs = dict(line.split("\t") for line in path.read_text().splitlines())
    assert pairs["Haus"] == "house" and pairs["vier"] == "four" and pairs["￭."] == "￭."
    known = set(load_model(runs / "words").trg.vocab.words)
    assert not {"house", "four", "dog", "red"} <= known  # few words: some are unknown
    replaced = (done / "translations" / "words.test.full.UNK-replaced.txt").read_text()
    assert "UNK" not in replaced and any(word in replaced for word in {"one", "two", "house", "dog", "red"} - known)


def test_unknown_words_are_counted_beside_the_papers(done, runs, text):
    model = load_model(runs / "words")
    lines = open(text[text.index("--test-src") + 1]).read().splitlines()
    words = [word for line in lines for word in model.src.words(line)]
    share = 100 * sum(word not in model.src.vocab.words for word in words) / len(words)
    assert share > 0
    note = (done / "deen-table.md").read_text()
    assert f"test {share:.1f} % of the source" in note and "(the paper: 4.3 %)" in note and "(the paper: 4.5 %)" in note


def test_another_dev_and_test_text(runs, text, tmp_path):
    dev = [text[text.index(f"--dev-{side}") + 1] for side in ("src", "trg")]
    other = ["--test-src", dev[0], "--test-trg", dev[1]]
    result = run_cli("reproduce", "threshold-table", "--model", runs / "bpe", *other, *MEASURING, "-o", tmp_path)
    assert result.code == 0, result.err
    full = record(tmp_path, "threshold-table")["rows"][0]
    assert full["dev"]["bleu"] == full["test"]["bleu"]


def test_only_a_model_of_words(runs, tmp_path):
    options = ["--model", runs / "words", *MEASURING, "-o", tmp_path]
    result = run_cli("reproduce", "threshold-table", "lists-table", *options)
    assert result.code == 0, result.err
    assert not (tmp_path / "models" / "bpe").exists()


def test_thresholds_are_counted_in_one_pass_of_count_pairs(runs, tmp_path, monkeypatch):
    from minnmt.lab.reproduce import count_sources

    passes, real = [], count_sources.frozen_attention

    def counted(model, split, *more):
        passes.append(len(split.src))
        return real(model, split, *more)

    monkeypatch.setattr(count_sources, "frozen_attention", counted)
    options = ["--model", runs / "bpe", "--count-pairs", 30, *MEASURING, "-o", tmp_path]
    assert run_cli("reproduce", "threshold-table", *options).code == 0
    assert passes == [30]


def test_a_model_that_went_on_training_is_noticed(runs, tmp_path):
    model = tmp_path / "run"
    shutil.copytree(runs / "bpe", model)
    command = ["reproduce", "threshold-table", "--model", model, *MEASURING, "-o", tmp_path / "lab"]
    assert run_cli(*command).code == 0
    assert run_cli(*command).code == 0  # nothing has changed
    assert run_cli("train", "-o", model, "--resume", "--epochs", 4).code == 0
    result = run_cli(*command)
    assert result.code == 2 and "the model bpe" in result.err


def test_training_with_lists_beside_a_model_given(runs, tmp_path):
    """The given model is the one without lists; the others have its settings, and train for so many minutes."""
    options = ["--model", runs / "words", "--max-minutes", 5, *MEASURING, "-o", tmp_path]
    result = run_cli("reproduce", "dynamic-table", *options)
    assert result.code == 0, result.err
    configs = {path.parent.name: json.loads(path.read_text()) for path in tmp_path.glob("models/*/config.json")}
    assert set(configs) == {"batch", "epoch"}
    for name, config in configs.items():
        s = config["settings"]
        assert (s["bpe"], s["vocab_size"], s["dynamic_vocab"], s["dynamic_lists"]) == (0, 8, 100, name)
    rows = record(tmp_path, "dynamic-table")["rows"]
    assert [row["lists"] for row in rows] == ["off", "batch", "epoch"] and rows[0]["against_none"] is None
    for row in rows[1:]:
        value, low, high = row["against_none"]
        assert value == pytest.approx(row["full"]["bleu"] - rows[0]["full"]["bleu"]) and low <= value <= high
    result = run_cli("reproduce", "dynamic-table", *options, "--max-minutes", 6)
    assert result.code == 2 and "--max-minutes" in result.err


def test_a_training_that_was_killed_goes_on(text, tmp_path, monkeypatch):
    """Without a Ctrl-C that could save anything: the last checkpoint is taken up."""
    units = ["--units", "bpe", "--bpe", 12, *TRAINING, *MEASURING]
    real = lab.validate

    def crash(*arguments, **options):
        raise MemoryError("as a kill would")

    monkeypatch.setattr(lab, "validate", crash)
    assert run_cli("reproduce", "threshold-table", *text, *units, "-o", tmp_path).code == 1
    assert (tmp_path / "models" / "bpe" / "checkpoint.npz").exists()
    monkeypatch.setattr(lab, "validate", real)
    result = run_cli("reproduce", "threshold-table", *text, *units, "-o", tmp_path)
    assert result.code == 0 and "learning BPE" not in result.err, result.err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--model", "{bpe}", "--hidden", "20"], "--hidden does not go with --model"),
        (["--model", "{bpe}", "--src", "x", "--trg", "x"], "--src does not go with --model"),
        (["--model", "words={bpe}"], "this is a model of bpe"),
        (["--model", "{bpe}", "--model", "{bpe}"], "one model of bpe only"),
        (["dynamic-table", "--model", "{bpe}"], "--max-minutes"),
        (["--model", "{bpe}", "--test-src", "x"], "--test-src needs --test-trg"),
        (["--also-test", "x"], "NAME=SRC,TRG"),
        (["--also-test", "test=a,b"], "NAME=SRC,TRG"),
        (["--also-test", "a=a,b", "--also-test", "a=a,b"], "NAME=SRC,TRG"),
    ],
)
def test_refused(runs, tmp_path, arguments, message):
    arguments = [argument.format(bpe=runs / "bpe") for argument in arguments]
    result = run_cli("reproduce", "deen-table", *arguments, "-o", tmp_path / "lab")
    assert result.code == 2 and message in result.err, result.err
    assert not (tmp_path / "lab").exists()


def test_no_model_there(tmp_path):
    result = run_cli("reproduce", "deen-table", "--model", tmp_path / "none", "-o", tmp_path / "lab")
    assert result.code == 1 and "not a model directory" in result.err


def test_a_model_without_counts(runs, tmp_path):
    model = tmp_path / "run"
    shutil.copytree(runs / "bpe", model)
    for path in model.glob("alignments*.npz"):
        path.unlink()
    result = run_cli("reproduce", "deen-table", "--model", model, *MEASURING, "-o", tmp_path / "lab")
    assert result.code == 1 and "--align-from-epoch" in result.err


def test_selectors_are_made_from_count_pairs(runs, tmp_path, monkeypatch):
    from minnmt.lab.reproduce import lists_exhibit

    made = {}

    def watch(name, real):
        def make(model, split, settings, status):
            made[name] = len(split.src), settings.epoch_pairs
            return real(model, split, settings, status)

        monkeypatch.setattr(lists_exhibit, name, make)

    for name in ("count_phrases", "train_selection", "make_screen"):
        watch(name, getattr(lists_exhibit, name))
    options = ["--model", runs / "bpe", "--count-pairs", 30, *MEASURING, "-o", tmp_path]
    assert run_cli("reproduce", "lists-table", *options).code == 0
    assert made == dict.fromkeys(("count_phrases", "train_selection", "make_screen"), (30, 0))
    assert "the screen: 30 pairs of the text" in " ".join(record(tmp_path, "lists-table")["notes"])
