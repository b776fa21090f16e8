"""`corpus` writes the embedded corpus, raw or tokenized, and training ends with scores and an alignment error rate."""

from minnmt.align.links import parse_pharaoh
from minnmt.tasks.validation import test_report as report_on_test_set
from minnmt.text.embedded import embedded_corpus
from minnmt.text.tokenizer import detokenize, tokenize
from tests.conftest import run_cli


def test_raw_text_and_alignments(tmp_path):
    result = run_cli("corpus", "-o", tmp_path / "c")
    assert result.code == 0 and result.out == "" and "24,000 train, 1,000 dev, 1,000 test pairs" in result.err
    assert len(list((tmp_path / "c").iterdir())) == 9
    assert (tmp_path / "c" / "train.de").read_text(encoding="utf-8").splitlines() == embedded_corpus().train.src
    assert (tmp_path / "c" / "test.align").read_text().splitlines() == embedded_corpus().test.alignments


def test_the_first_pairs_alone(tmp_path):
    result = run_cli("corpus", "-o", tmp_path / "c", "--pairs", 30)
    assert result.code == 0 and "30 train, 30 dev, 30 test pairs" in result.err
    assert (tmp_path / "c" / "dev.en").read_text(encoding="utf-8").splitlines() == embedded_corpus().dev.trg[:30]
    assert run_cli("corpus", "-o", tmp_path / "none", "--pairs", 0).code == 2


def test_tokenized_text_is_what_the_alignments_count(tmp_path):
    assert run_cli("corpus", "-o", tmp_path / "c", "--tokenized", "--pairs", 30).code == 0
    dev = embedded_corpus().dev.first(30)
    paths = [tmp_path / "c" / name for name in ("dev.de", "dev.en", "dev.align")]
    de, en, links = (path.read_text(encoding="utf-8").splitlines() for path in paths)
    assert [detokenize(line.split()) for line in en] == dev.trg
    for src, trg, line in zip(de, en, links):
        assert all(i < len(src.split()) and j < len(trg.split()) for i, j in parse_pharaoh(line))
    assert de[0].split() == tokenize(dev.src[0])


def test_an_unwritable_directory(tmp_path):
    (tmp_path / "file").touch()
    result = run_cli("corpus", "-o", tmp_path / "file" / "below")
    assert result.code == 1 and "cannot write into the directory" in result.err and "Traceback" not in result.err


def test_gold_alignments_give_an_error_rate(tiny_run):
    from minnmt.model.directory import load_model

    lines = report_on_test_set(embedded_corpus().test.first(10), load_model(tiny_run)).splitlines()
    assert [line.split()[0] for line in lines] == ["BLEU", "TER", "chrF2", "AER"]
    assert 0 <= float(lines[3].split()[1]) <= 100 and "10 gold alignments" in lines[3]


def test_existing_files_are_not_replaced_unasked(tmp_path):
    (tmp_path / "train.de").write_text("mein eigener Text\n")
    refused = run_cli("corpus", "-o", tmp_path)
    assert refused.code == 2 and "train.de" in refused.err and len(list(tmp_path.iterdir())) == 1
    assert run_cli("corpus", "-o", tmp_path, "--overwrite", "--pairs", 5).code == 0


def test_an_empty_name_is_refused():
    assert run_cli("corpus", "-o", "").code == run_cli("decode", "-m", "").code == run_cli("decode", "-i", "").code == 2
