"""Our vocabulary map in CTranslate2: a tiny Transformer with random weights has to keep to the sentence's list."""

import numpy as np
import pytest

from minnmt.align.candidates import best_candidates
from minnmt.align.formats import export_candidates
from minnmt.align.selector import Selector
from minnmt.text.vocab import EOS, Vocab
from tests.align.formats.toy import make_counts

ctranslate2 = pytest.importorskip("ctranslate2")

SRC = Vocab(["eos", "UNK", *(f"s{i}@@" for i in range(12))])
TRG = Vocab(["eos", "UNK", *(f"t{i}" for i in range(60))])
DEPTH = 8
SENTENCE = ["s1@@", "s2@@", "s7@@"]
SPECIAL = {"<unk>", "<s>", "</s>"}  # what CTranslate2 itself always includes


def fill(spec, rng):
    """Random weights for every part of a Transformer with one layer on each side."""

    def linear(part, n_out, n_in):
        part.weight, part.bias = (rng.standard_normal(s).astype(np.float32) for s in ((n_out, n_in), n_out))

    def norm(part):
        part.gamma, part.beta = np.ones(DEPTH, np.float32), np.zeros(DEPTH, np.float32)

    embeddings = ((spec.encoder.embeddings[0], SRC), (spec.decoder.embeddings, TRG))
    for part, vocab in embeddings:
        part.weight = rng.standard_normal((len(vocab) + 1, DEPTH)).astype(np.float32)
    linear(spec.decoder.projection, len(TRG) + 1, DEPTH)
    for side in (spec.encoder, spec.decoder):
        norm(side.layer_norm)
        (layer,) = side.layer
        linear(layer.self_attention.linear[0], 3 * DEPTH, DEPTH)
        linear(layer.self_attention.linear[1], DEPTH, DEPTH)
        linear(layer.ffn.linear_0, 2 * DEPTH, DEPTH)
        linear(layer.ffn.linear_1, DEPTH, 2 * DEPTH)
        norm(layer.self_attention.layer_norm)
        norm(layer.ffn.layer_norm)
    for part, n_out in zip(layer.attention.linear, (DEPTH, 2 * DEPTH, DEPTH)):
        linear(part, n_out, DEPTH)
    norm(layer.attention.layer_norm)


def make_translator(directory, vmap):
    """A CTranslate2 model in a directory, with this vocabulary map."""
    spec = ctranslate2.specs.TransformerSpec.from_config(num_layers=1, num_heads=2)
    fill(spec, np.random.default_rng(0))
    spec.register_source_vocabulary(["<unk>", "<s>", "</s>", *SRC.words[2:]])
    spec.register_target_vocabulary(["<unk>", "<s>", "</s>", *TRG.words[2:]])
    spec.validate()
    spec.optimize()
    directory.mkdir()
    spec.save(str(directory))
    (directory / "vmap.txt").write_bytes(vmap.read_bytes())
    return ctranslate2.Translator(str(directory), device="cpu", inter_threads=1, intra_threads=1)


def words_of(translator, use_vmap):
    """All the words of the best four translations."""
    (result,) = translator.translate_batch(
        [SENTENCE], use_vmap=use_vmap, beam_size=4, num_hypotheses=4, min_decoding_length=5, max_decoding_length=12,
        disable_unk=True, suppress_sequences=[["<s>"]],
    )  # fmt: skip
    return {word for hypothesis in result.hypotheses for word in hypothesis}


def translator_with(counts, tmp_path, frequent=0):
    export_candidates("ct2", tmp_path / "lists", best_candidates(counts, 5), SRC, TRG, 5, frequent)
    return make_translator(tmp_path / "model", tmp_path / "lists")


@pytest.mark.parametrize("frequent", [0, 3])
def test_the_translation_keeps_to_the_list(tmp_path, frequent):
    rng = np.random.default_rng(5)
    counts = make_counts({(i, j): rng.random() for i in range(14) for j in rng.choice(62, 8)}, 14, 62)
    translator = translator_with(counts, tmp_path, frequent)
    src_ids = np.array([*SRC.encode(SENTENCE), EOS])[:, None]
    selector = Selector(best_candidates(counts, 5), frequent)
    allowed = {TRG.words[i] for i in selector.lists(src_ids, np.ones((4, 1), np.float32))[0]} | SPECIAL
    free, kept = (words_of(translator, use_vmap) for use_vmap in (False, True))
    assert free - allowed, "the weights choose words of the list anyway: the test proves nothing"
    assert kept - SPECIAL and kept <= allowed


def test_the_candidates_of_eos_are_in_every_list(tmp_path):
    """CTranslate2 never looks up </s>, so a line of its own would do nothing."""
    (tmp_path / "none").write_text("\t\n")  # a file without any line crashes CTranslate2
    favourite = sorted(words_of(make_translator(tmp_path / "free", tmp_path / "none"), False) - SPECIAL)[0]
    counts = make_counts({(EOS, TRG.words.index(favourite)): 1.0}, 14, 62)
    assert words_of(translator_with(counts, tmp_path), True) - SPECIAL == {favourite}
    (tmp_path / "own").write_text(f"</s>\t{favourite}\n")
    assert words_of(make_translator(tmp_path / "deaf", tmp_path / "own"), True) <= SPECIAL
