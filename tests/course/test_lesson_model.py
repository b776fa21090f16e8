"""The lessons' model: small, unpacked once, the same as the run it comes from but for rounding."""

import threading
import time

import numpy as np
import pytest

from minnmt.align.counts import Counts
from minnmt.course import lesson, lesson_model, pack, seeded
from minnmt.errors import UserError
from minnmt.model.directory import counts_files, load_model
from minnmt.model.parameters import named_arrays
from minnmt.search.translate import translate
from tests.conftest import TINY, run_cli, write_toy_text


@pytest.fixture(scope="session")
def unpacked_model(tmp_path_factory):
    return lesson_model(tmp_path_factory.mktemp("lesson") / "model")


def test_the_file_is_small_and_the_directory_complete(unpacked_model):
    assert pack.PACKED.stat().st_size < 3_000_000
    names = {path.name for path in unpacked_model.iterdir()}
    assert names >= {"model.npz", "alignments.npz", "alignments.epoch2.npz", *pack.TEXTS}
    assert not {name for name in names if name.startswith(".")}


def test_it_translates(unpacked_model):
    model = load_model(unpacked_model)
    lines = ["Das Haus ist blau.", "Die Kinder sitzen auf der Bank im Park."]
    assert [found.best for found in translate(lines, model)] == [
        "The house is blue.", "The children sit on the bench in the park.",
    ]  # fmt: skip


def test_counts_belong_to_the_model(unpacked_model):
    model = load_model(unpacked_model)
    sizes = len(model.src.vocab), len(model.trg.vocab)
    tables = {path.name: Counts.load(path, *sizes) for path in counts_files(unpacked_model)}
    assert len(tables) == 1 + len(pack.EPOCHS)
    house = model.src.vocab.encode(["Haus"])[0]
    for counts in tables.values():
        ids, weights = counts.row(house)
        assert model.trg.vocab.words[ids[np.argmax(weights)]] == "house"


def test_a_second_call_unpacks_nothing(unpacked_model):
    before = {path: path.stat().st_mtime_ns for path in unpacked_model.iterdir()}
    assert lesson_model(unpacked_model) == unpacked_model
    assert {path: path.stat().st_mtime_ns for path in unpacked_model.iterdir()} == before


def test_two_notebooks_at_once_both_get_it(tmp_path, monkeypatch):
    """The second waits for the first instead of failing."""
    started, calls = threading.Event(), []
    unpack = pack.unpack

    def slowly(*arguments):
        calls.append(arguments)
        started.set()
        time.sleep(0.3)
        unpack(*arguments)

    monkeypatch.setattr(lesson, "unpack", slowly)
    first = threading.Thread(target=lesson_model, args=(tmp_path / "model",))
    first.start()
    started.wait()
    assert (lesson_model(tmp_path / "model") / pack.MARK).exists()
    first.join()
    assert len(calls) == 1


def test_half_a_directory_is_unpacked_again(tmp_path, monkeypatch):
    def stopped(path, directory):
        (directory / "model.npz").write_bytes(b"half")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(lesson, "unpack", stopped)
        with pytest.raises(KeyboardInterrupt):
            lesson_model(tmp_path)
    assert load_model(lesson_model(tmp_path)).params.sizes()["hidden"] == 192


def test_a_damaged_file_is_one_sentence(tmp_path, monkeypatch):
    damaged = tmp_path / "lesson_model.npz"
    damaged.write_bytes(pack.PACKED.read_bytes()[:100_000])
    monkeypatch.setattr(lesson, "PACKED", damaged)
    with pytest.raises(UserError, match="damaged.*install minnmt again"):
        lesson_model(tmp_path / "model")


def test_packing_a_run_and_unpacking_it(tmp_path):
    """Weights are right to a 63rd of their row's largest, counts to 3.2 %; texts to the byte."""
    text = write_toy_text(tmp_path)
    run = tmp_path / "run"
    assert run_cli("train", *text, "-o", run, *TINY, "--bpe", 20, "--epochs", 3).code == 0
    assert run_cli("course", "pack", run, "-o", tmp_path / "packed.npz").code == 0
    pack.unpack(tmp_path / "packed.npz", tmp_path)
    for (name, before), (_, after) in zip(*(named_arrays(load_model(d).params) for d in (run, tmp_path))):
        step = np.abs(before).max(axis=-1, keepdims=True) / pack.STEPS
        assert (np.abs(before - after) <= 0.52 * step + 1e-3 * np.abs(before)).all(), name
    before, after = (Counts.load(d / "alignments.npz") for d in (run, tmp_path))
    assert np.array_equal(before.indices, after.indices) and np.array_equal(before.indptr, after.indptr)
    assert np.allclose(before.data, after.data, rtol=0.033) and before.info == after.info
    assert (Counts.load(tmp_path / "alignments.epoch2.npz").data > 0.5 * 0.96).all()
    for name in pack.TEXTS:
        assert (run / name).read_bytes() == (tmp_path / name).read_bytes()


def test_a_run_without_bpe_is_refused(tiny_run, tmp_path):
    result = run_cli("course", "pack", tiny_run, "-o", tmp_path / "packed.npz")
    assert result.code == 1 and "bpe.src.codes" in result.err and not (tmp_path / "packed.npz").exists()


def test_the_command_prints_the_directory(tmp_path):
    assert run_cli("course", "model", "-o", tmp_path / "model").out == f"{tmp_path / 'model'}\n"


def test_seeds(monkeypatch):
    monkeypatch.delenv("MINNMT_SEED", raising=False)
    assert seeded(3) == 3
    monkeypatch.setenv("MINNMT_SEED", "2")
    assert seeded(3) != 3 and seeded(3) != seeded(4)
    monkeypatch.setenv("MINNMT_SEED", "x")
    with pytest.raises(UserError, match="MINNMT_SEED"):
        seeded(3)
