"""`corpus` writes the embedded corpus, raw or tokenized, and training ends with scores and an alignment error rate."""

import pytest

from minnmt.align.links import parse_pharaoh
from minnmt.tasks.validation import test_report as report_on_test_set
from minnmt.text.corpus import generate, write
from minnmt.text.tokenizer import detokenize, tokenize
from tests.conftest import run_cli


@pytest.fixture
def small(monkeypatch):
    corpus = generate(seed=4, n_train=30, n_dev=10, n_test=10)
    monkeypatch.setattr(write, "generate", lambda seed: corpus)
    return corpus


def test_raw_text_and_alignments(small, tmp_path):
    result = run_cli("corpus", "-o", tmp_path / "c")
    assert result.code == 0 and result.out == "" and "30 train" in result.err
    assert len(list((tmp_path / "c").iterdir())) == 9
    assert (tmp_path / "c" / "train.de").read_text(encoding="utf-8").splitlines() == small.train.src
    assert (tmp_path / "c" / "test.align").read_text().splitlines() == small.test.alignments


def test_tokenized_text_is_what_the_alignments_count(small, tmp_path):
    assert run_cli("corpus", "-o", tmp_path / "c", "--tokenized").code == 0
    paths = [tmp_path / "c" / name for name in ("dev.de", "dev.en", "dev.align")]
    de, en, links = (path.read_text(encoding="utf-8").splitlines() for path in paths)
    assert [detokenize(line.split()) for line in en] == small.dev.trg
    for src, trg, line in zip(de, en, links):
        assert all(i < len(src.split()) and j < len(trg.split()) for i, j in parse_pharaoh(line))
    assert de[0].split() == tokenize(small.dev.src[0])


def test_an_unwritable_directory(small, tmp_path):
    (tmp_path / "file").touch()
    result = run_cli("corpus", "-o", tmp_path / "file" / "below")
    assert result.code == 1 and "cannot write into the directory" in result.err and "Traceback" not in result.err


def test_gold_alignments_give_an_error_rate(small, tiny_run):
    from minnmt.model.directory import load_model

    lines = report_on_test_set(small.test, load_model(tiny_run)).splitlines()
    assert [line.split()[0] for line in lines] == ["BLEU", "TER", "chrF2", "AER"]
    assert 0 <= float(lines[3].split()[1]) <= 100 and "10 gold alignments" in lines[3]


def test_existing_files_are_not_replaced_unasked(small, tmp_path):
    (tmp_path / "train.de").write_text("mein eigener Text\n")
    refused = run_cli("corpus", "-o", tmp_path)
    assert refused.code == 2 and "train.de" in refused.err and len(list(tmp_path.iterdir())) == 1
    assert run_cli("corpus", "-o", tmp_path, "--overwrite").code == 0


def test_an_empty_name_is_refused(small):
    assert run_cli("corpus", "-o", "").code == run_cli("decode", "-m", "").code == run_cli("decode", "-i", "").code == 2
