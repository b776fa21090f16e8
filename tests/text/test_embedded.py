"""The embedded corpus: the packed file is read whole, or refused with a sentence. Notebook 00 looks at the corpus.

What the sentences are like is tested beside their generator, in tutorials/corpus.
"""

import bz2

import pytest

from minnmt.errors import UserError
from minnmt.text.embedded import PACKED, embedded_corpus, pack, read_packed, unpack
from minnmt.text.split import Corpus, Split


def test_three_splits_of_aligned_pairs():
    for split, size in zip(embedded_corpus(), (24000, 1000, 1000)):
        assert len(split.src) == len(split.trg) == len(split.alignments) == size
        assert split.name == "the embedded corpus"
    assert embedded_corpus().train.src[0] != embedded_corpus().dev.src[0]


def test_packing_reverses_unpacking():
    assert pack(embedded_corpus()) == PACKED.read_bytes()
    one = Split(["Ä ö."], ["a o."], ["0-0 1-1"])
    assert unpack(pack(Corpus(one, one, one))) == Corpus(one, one, one)


def test_the_first_pairs():
    cut = embedded_corpus().first(3)
    assert [len(side) for split in cut for side in split[:3]] == [3] * 9
    assert cut.test.trg == embedded_corpus().test.trg[:3]
    assert embedded_corpus().first(None) == embedded_corpus()


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no bzip2",
        PACKED.read_bytes()[:-5000],
        PACKED.read_bytes()[:5000] + b"?" + PACKED.read_bytes()[5001:],
        bz2.compress(b"\xff\n"),
        bz2.compress(b"train\ta\tb\t0-0\ndev\ta\tb\t0-0\n"),
        bz2.compress(b"train\ta\tb\t0-0\ntrain\ta\tb\ndev\ta\tb\t0-0\ntest\ta\tb\t0-0\n"),
    ],
    ids=["empty", "not packed", "cut off", "a byte changed", "not UTF-8", "no test split", "a column missing"],
)
def test_a_damaged_file_is_refused(tmp_path, data):
    (tmp_path / "packed").write_bytes(data)
    with pytest.raises(UserError, match="packed is damaged"):
        read_packed(tmp_path / "packed")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot read .*packed"):
        read_packed(tmp_path / "packed")
