"""align as a user meets it: counts for a trained model, a stand-alone aligner; decode with counts."""

import gzip
import shutil
from pathlib import Path

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.align.links import parse_pharaoh
from minnmt.model.directory import load_model
from minnmt.model.network import network_forward
from minnmt.text.batches import make_batch
from tests.align.test_accumulator import cells, plain_sums
from tests.cli.test_bad_input import refused
from tests.conftest import TINY, run_cli, write_toy_text

CLI = Path(__file__).parents[2] / "cli.py"
ALIGNERS = ["model1", "fastalign", "cooc"]
TEXT = b"eins zwei.\n\nHund Haus rot.\nvier unbekannt drei!\n"


def sides(text):
    return ["--src", text[0], "--trg", text[1]]


def npz_options(run):
    return ["--npz", run / "model.npz", "--vocab-src", run / "vocab.src.json", "--vocab-trg", run / "vocab.trg.json"]


def done(*arguments, **more):
    result = run_cli(*arguments, **more)
    assert result.code == 0, result.err
    return result


def contents(directory):
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.is_file()}


def read_pairs(text):
    return [path.read_text().splitlines() for path in text]


# A model's own attention


def attention_sums(run, text, threshold=0.1):
    """The model's attention over the text, pair by pair -> {(source id, target id): sum}."""
    model, batches = load_model(run), []
    for src, trg in zip(*read_pairs(text)):
        batch = make_batch([model.src.ids(src)], [model.trg.ids(trg)])
        batches.append((network_forward(batch, model.params)[0].alphas, batch))
    return plain_sums(batches, threshold)


@pytest.mark.parametrize("threshold", [None, 0.3])
def test_frozen_counts_are_the_attention_of_the_model(model, text, tmp_path, threshold):
    before = contents(model)
    options = [] if threshold is None else ["--threshold", threshold]
    done("align", "-m", model, "--frozen", *sides(text), "-o", tmp_path / "counts.npz", *options)
    counts = Counts.load(tmp_path / "counts.npz")
    assert cells(counts) == pytest.approx(attention_sums(model, text, threshold or 0.1), rel=1e-4)
    assert counts.info["pairs"] == 30 and counts.info["threshold"] == (threshold or 0.1)
    assert counts.info["method"] == "attention" and counts.info["pass"] == "frozen"
    assert contents(model) == before


def test_by_default_the_text_and_the_place_are_the_models_own(model, tiny_run):
    before = contents(model)
    (model / "alignments.npz").unlink()
    result = done("align", "-m", model, "--frozen")
    counts = Counts.load(model / "alignments.npz")
    text = tiny_run.parent / "train.src", tiny_run.parent / "train.trg"
    assert cells(counts) == pytest.approx(attention_sums(model, text), rel=1e-4)
    assert result.out == "" and f"decode -m {model} --topn 100\n" in result.err
    assert set(contents(model)) == set(before)
    assert all(data == before[name] for name, data in contents(model).items() if name != "alignments.npz")


def test_threads_do_not_matter_to_a_frozen_model(model, text, tmp_path):
    for n in (1, 2):
        done("align", "-m", model, "--frozen", *sides(text), "-o", tmp_path / str(n), "--threads", n)
    assert (tmp_path / "1").read_bytes() == (tmp_path / "2").read_bytes()


def test_continued_training_counts_and_leaves_the_model_alone(model):
    (model / "alignments.npz").unlink()
    before = contents(model)
    done("align", "-m", model, "--threads", 1)
    after = contents(model)
    counts = Counts.load(model / "alignments.npz")
    assert counts.info["pass"] == "continued" and counts.info["pairs"] == 160 and counts.n_cells > 10
    assert {name: data for name, data in after.items() if name != "alignments.npz"} == before
    done("align", "-m", model, "--threads", 1, "--overwrite")
    assert (model / "alignments.npz").read_bytes() == after["alignments.npz"]  # the same seed, the same counts
    done("align", "-m", model, "--frozen", "--overwrite")
    assert (model / "alignments.npz").read_bytes() != after["alignments.npz"]


def test_the_model_after_the_epoch_can_be_kept(model, text, tmp_path):
    options = [*sides(text), "-o", tmp_path / "counts.npz", "--save-model", tmp_path / "later.npz"]
    done("align", "-m", model, *options, "--learning-rate", 0.01)
    assert (tmp_path / "later.npz").read_bytes() != (model / "model.npz").read_bytes()
    names = npz_options(model)
    names[1] = tmp_path / "later.npz"
    result = done("decode", *names, "--topn", 5, "--counts", tmp_path / "counts.npz", stdin=TEXT)
    assert result.out.count("\n") == 4
    done("align", "-m", model, *options, "--learning-rate", 1e-9)  # a step that can hardly be seen
    with np.load(tmp_path / "later.npz") as later, np.load(model / "model.npz") as now:
        assert all(np.allclose(later[name], now[name], atol=1e-6) for name in now.files)


def test_counts_are_not_replaced_unasked(model):
    before = contents(model)
    for more in ([], ["-o", model / "alignments.npz"]):
        refused(2, "alignments.npz is already there", "--overwrite", "-o", arguments=["align", "-m", model, *more])
    assert contents(model) == before
    done("align", "-m", model, "--frozen", "--overwrite")
    assert "pass" in Counts.load(model / "alignments.npz").info
    done("align", "-m", model, "--method", "cooc")
    refused(2, "alignments.cooc.npz", arguments=["align", "-m", model, "--method", "cooc"])


def test_training_does_not_delete_counts_unasked(tmp_path):
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "alignments.mine.npz").write_bytes(b"counts")
    refused(2, "alignments.mine.npz", "--overwrite", arguments=["train", "-o", tmp_path / "run"])
    assert (tmp_path / "run" / "alignments.mine.npz").read_bytes() == b"counts"


def test_counts_elsewhere_are_found_by_decode(model, tiny_run, tmp_path):
    (model / "alignments.npz").unlink()
    result = done("align", "-m", model, "--frozen", "-o", tmp_path / "elsewhere.npz")
    assert not (model / "alignments.npz").exists() and f"--counts {tmp_path / 'elsewhere.npz'}" in result.err
    decode = ["decode", "-m", model, "--topn", 2]
    found = done(*decode, "--counts", tmp_path / "elsewhere.npz", stdin=TEXT)
    shutil.copy(tmp_path / "elsewhere.npz", model / "alignments.npz")
    assert done(*decode, stdin=TEXT).out == found.out
    everything = done("decode", "-m", model, "--topn", 100, stdin=TEXT).out
    assert everything == done("decode", "-m", tiny_run, stdin=TEXT).out


def test_a_single_npz(model, text, tmp_path):
    for method in (["--frozen"], [], ["--method", "model1"]):
        done("align", *npz_options(model), *method, *sides(text), "-o", tmp_path / "counts.npz")
        counts = Counts.load(tmp_path / "counts.npz")
        assert counts.info["pairs"] == 30 and counts.n_cells > 8
        result = done("decode", *npz_options(model), "--topn", 3, "--counts", tmp_path / "counts.npz", stdin=TEXT)
        assert result.out.count("\n") == 4
    done("align", "-m", model, "--frozen", *sides(text), "-o", tmp_path / "directory.npz")
    done("align", *npz_options(model), "--frozen", *sides(text), "-o", tmp_path / "single.npz")
    assert cells(Counts.load(tmp_path / "directory.npz")) == pytest.approx(cells(Counts.load(tmp_path / "single.npz")))


def test_a_bpe_model(text, tmp_path):
    training = write_toy_text(tmp_path, n_train=30, n_dev=3)
    done("train", *training, "-o", tmp_path / "run", *TINY, "--bpe", 20, "--epochs", 1)
    for method in ("attention", *ALIGNERS):
        options = ["--method", method, "--pharaoh", tmp_path / "links", *sides(text)]
        done("align", "-m", tmp_path / "run", *options)
        check_links(tmp_path / "links", text)  # of words, not of units
        counts = [] if method == "attention" else ["--counts", method]
        assert done("decode", "-m", tmp_path / "run", "--topn", 5, *counts, stdin=TEXT).out.count("\n") == 4


def check_links(path, text):
    """As many lines as pairs, and links within them; the tokenizer makes the full stop a word of its own."""
    lines = path.read_text().split("\n")
    pairs = list(zip(*read_pairs(text)))
    assert lines.pop() == "" and len(lines) == len(pairs)
    for line, (src, trg) in zip(lines, pairs):
        for i, j in parse_pharaoh(line):
            assert i < len(src.split()) + 1 and j < len(trg.split()) + 1
    assert sum(map(bool, lines)) > len(lines) / 2


# Other aligners for a model


@pytest.mark.parametrize("method", ALIGNERS)
def test_another_aligner_for_a_model(model, method, tmp_path):
    before = contents(model)
    result = done("align", "-m", model, "--method", method)
    after = contents(model)
    path = model / f"alignments.{method}.npz"
    assert {name: data for name, data in after.items() if name != path.name} == before
    counts, words = Counts.load(path), load_model(model)
    assert counts.info["method"] == method and counts.info["pairs"] == 160
    assert (counts.n_src, counts.n_trg) == (len(words.src.vocab), len(words.trg.vocab))
    for src, trg in (("eins", "one"), ("Haus", "house"), ("￭.", "￭.")) if method != "cooc" else ():
        ids, weights = counts.row(words.src.vocab.encode([src])[0])
        assert words.trg.vocab.words[ids[weights.argmax()]] == trg
    assert f"decode -m {model} --topn 100 --counts {method}\n" in result.err
    assert done("decode", "-m", model, "--topn", 100, "--counts", method, stdin=TEXT).out.count("\n") == 4


@pytest.mark.parametrize("method", ["attention", *ALIGNERS])
def test_links_of_a_models_text(model, text, tmp_path, method):
    options = ["--method", method, *sides(text), "-o", tmp_path / "counts.npz", "--pharaoh", tmp_path / "links"]
    done("align", "-m", model, *options)
    check_links(tmp_path / "links", text)


# Stand-alone


def diagonal(src, trg):
    return {(i, i) for i in range(len(src.split()))} if len(src.split()) == len(trg.split()) else set()


@pytest.mark.parametrize("method", ALIGNERS)
def test_links_of_any_text(text, method):
    result = done("align", "--method", method, *sides(text))
    lines = result.out.split("\n")
    pairs = list(zip(*read_pairs(text)))
    assert lines.pop() == "" and len(lines) == len(pairs)
    found = [parse_pharaoh(line) for line in lines]
    for links, (src, trg) in zip(found, pairs):
        assert all(i < len(src.split()) and j < len(trg.split()) for i, j in links)
        assert len({j for _, j in links}) == len(links)  # a target word has one source word at most
    if method == "fastalign":  # the toy language is translated word by word
        gold = [diagonal(*pair) for pair in pairs]
        assert sum(len(f & g) for f, g in zip(found, gold)) > 0.8 * sum(map(len, gold))


@pytest.mark.parametrize("method", ALIGNERS)
def test_blank_lines_stay_blank(tmp_path, method):
    (tmp_path / "a").write_text("das haus\n\ndas buch\n   \nein buch\nein\n")
    (tmp_path / "b").write_text("the house\n\nthe book\na b\na book\n\n")
    lines = done("align", "--method", method, *sides((tmp_path / "a", tmp_path / "b"))).out.split("\n")
    assert len(lines) == 7 and [bool(line) for line in lines] == [True, False, True, False, True, False, False]


def test_packed_text_and_a_pipe(text, tmp_path):
    expected = done("align", "--method", "model1", *sides(text)).out
    (tmp_path / "a.gz").write_bytes(gzip.compress(text[0].read_bytes()))
    options = ["align", "--method", "model1", "--trg", text[1]]
    assert done(*options, "--src", tmp_path / "a.gz").out == expected
    assert done(*options, "--src", "-", stdin=text[0].read_bytes()).out == expected
    assert done(*options, "--src", text[0], "-o", tmp_path / "links.gz").out == ""
    assert gzip.decompress((tmp_path / "links.gz").read_bytes()).decode() == expected


@pytest.mark.parametrize("method", ALIGNERS)
def test_a_table(text, tmp_path, method):
    expected = done("align", "--method", method, *sides(text)).out
    assert done("align", "--method", method, *sides(text), "--table", tmp_path / "table").out == expected
    rows = [line.split("\t") for line in (tmp_path / "table").read_text().splitlines()]
    src, trg = ({word for line in lines for word in line.split()} for lines in read_pairs(text))
    src.add("<eps>")  # NULL
    sums = dict.fromkeys(src, 0.0)
    for s, t, logp in rows:
        assert t in trg
        sums[s] += np.exp(float(logp))
    assert set(sums) == src and max(sums.values()) < 1.001 and min(sums.values()) > 0.5
    best = {s: t for s, t, _ in sorted(rows, key=lambda row: float(row[2]))}
    assert method == "cooc" or (best["eins"], best["Haus"]) == ("one", "house")


def test_iterations(text):
    once, often = (done("align", "--method", "model1", *sides(text), "--iterations", n).err for n in (1, 7))
    assert once.count("cross entropy") == 1 and often.count("cross entropy") == 7


# decode with counts, and without


def test_decode_without_counts_there(model):
    for path in model.glob("alignments*.npz"):
        path.unlink()
    refused(1, "alignments.npz does not exist", f"align -m {model}", arguments=["decode", "-m", model, "--topn", 5])
    assert done("decode", "-m", model, stdin=TEXT).out.count("\n") == 4
    for control in ("frequent", "random"):
        options = ["--topn", 2, "--counts", control]
        assert done("decode", "-m", model, *options, stdin=TEXT).out.count("\n") == 4


def test_decode_with_a_name_that_is_not_there(model):
    words = "epoch9 does not exist", "epoch2, epoch3, epoch4"
    refused(1, *words, arguments=["decode", "-m", model, "--topn", 5, "--counts", "epoch9"])


def test_decode_with_counts_of_another_model(model, tmp_path):
    counts = Counts.load(model / "alignments.npz")
    for n_src, n_trg in ((counts.n_src + 1, counts.n_trg), (counts.n_src, counts.n_trg + 1)):
        Counts.empty(n_src, n_trg).save(tmp_path / "other.npz")
        arguments = ["decode", "-m", model, "--topn", 5, "--counts", tmp_path / "other.npz"]
        refused(1, "other.npz", n_src, n_trg, "another model", arguments=arguments)


def test_decode_with_damaged_counts(model):
    data = (model / "alignments.npz").read_bytes()
    (model / "alignments.npz").write_bytes(data[: len(data) // 2])
    refused(1, "alignments.npz", "damaged", arguments=["decode", "-m", model, "--topn", 5])


@pytest.mark.parametrize("options", [["--counts", "epoch2"], ["--min-prob", 0.1], ["--frequent", 3]])
def test_decode_with_options_of_lists_but_no_list(model, options):
    refused(2, options[0], "--topn", arguments=["decode", "-m", model, *options])
    refused(2, options[0], "--topn", arguments=["decode", "-m", model, "--topn", 0, *options])


def test_decode_with_several_counts(model):
    names = ["--counts", "epoch2", "--counts", "epoch3", "--counts", "epoch4"]
    summed, own = (done("decode", "-m", model, "--topn", 1, *more, stdin=TEXT) for more in (names, []))
    assert summed.out == own.out and summed.err == own.err  # alignments.npz is their sum
    refused(2, "alone", arguments=["decode", "-m", model, "--topn", 1, "--counts", "epoch2", "--counts", "random"])


def test_the_list_decides_what_can_be_written(model, tmp_path):
    """Counts that know one word only: nothing else can be said."""
    src, trg = load_model(model).src.vocab, load_model(model).trg.vocab
    everywhere = np.arange(len(src)), np.full(len(src), trg.encode(["dog"])[0]), np.ones(len(src))
    Counts.from_cells(*everywhere, len(src), len(trg)).save(tmp_path / "dog.npz")
    result = done("decode", "-m", model, "--topn", 5, "--counts", tmp_path / "dog.npz", stdin=TEXT)
    assert set(result.out.split()) <= {"dog", "UNK"} and result.out.count("\n") == 4
    assert "3.0 words per sentence" in result.err
    more = ["--frequent", len(trg)]
    everything = done("decode", "-m", model, "--topn", 5, "--counts", tmp_path / "dog.npz", *more, stdin=TEXT)
    assert everything.out == done("decode", "-m", model, stdin=TEXT).out
