"""Copied words: the same spelling on both sides, and words that the two sides cut differently."""

import numpy as np

from minnmt.align.copying import CopySelector
from minnmt.text.batches import pad
from minnmt.text.bpe import BPE
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import EOS, UNK, Vocab


def test_units_that_are_spelled_the_same():
    src = Pipeline(Vocab(["eos", "UNK", "Berlin", "1999", "ist", "in"]))
    trg = Pipeline(Vocab(["eos", "UNK", "is", "1999", "Berlin", "in"]))
    selector = CopySelector(src, trg)
    found = selector.lists(*pad([[2, 4, 3], [4, UNK], [5]]))
    assert [ids.tolist() for ids in found] == [[EOS, UNK, 3, 4], [EOS, UNK], [EOS, UNK, 5]]
    assert selector.why([2, 4, 3], 3) == "1999" and selector.why([2, 4], 3) is None and selector.why([4], UNK) is None


def test_a_word_that_is_cut_otherwise_on_the_other_side():
    src_bpe, trg_bpe = BPE({("r", "a</w>"): 0}), BPE({("S", "a"): 0})
    src = Pipeline(Vocab(["eos", "UNK", *src_bpe.segment(["Sara"])]), src_bpe)
    pieces = trg_bpe.segment(["Sara"])
    trg = Pipeline(Vocab(["eos", "UNK", "other", *pieces]), trg_bpe)
    assert src.units("Sara") != pieces
    (found,) = CopySelector(src, trg).lists(*pad([src.ids("Sara")]))
    assert set(trg.vocab.encode(pieces)) <= set(found.tolist()) and 2 not in found
    assert CopySelector(src, trg).why(src.ids("Sara"), trg.vocab.encode(pieces)[0]) == "Sara"


def test_lists_are_ascending_and_each_word_is_there_once(rng):
    words = ["eos", "UNK", *"abcdefgh"]
    selector = CopySelector(Pipeline(Vocab(words)), Pipeline(Vocab(words[:2] + words[:1:-1])))
    sentences = [rng.integers(1, 10, n).tolist() for n in (1, 5, 12)]
    for src, ids in zip(sentences, selector.lists(*pad(sentences))):
        assert (np.diff(ids) > 0).all() and len(ids) == 2 + len(set(src) - {UNK})
