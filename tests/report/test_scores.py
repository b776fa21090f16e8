"""Scores: sacrebleu's numbers and signatures, as text and as JSON; perplexity; the attention's error rate."""

import json
import math

import numpy as np
import pytest
import sacrebleu

from minnmt.errors import UserError
from minnmt.model.directory import load_model
from minnmt.report.scores import all_scores, bleu, bleu_difference, format_scores, score_files
from minnmt.search.greedy import greedy_search
from minnmt.tasks import validation
from minnmt.text.parallel import Split

HYPOTHESES = ["the dog barks loudly today", "a cat sleeps on the mat", "yes"]
REFERENCES = ["the dog barks loudly now", "the cat sleeps on a mat", "yes"]


def test_the_numbers_are_those_of_sacrebleu():
    found = {s.name: s for s in all_scores(HYPOTHESES, REFERENCES)}
    assert found["BLEU"].value == sacrebleu.corpus_bleu(HYPOTHESES, [REFERENCES]).score == bleu(HYPOTHESES, REFERENCES)
    assert found["TER"].value == sacrebleu.corpus_ter(HYPOTHESES, [REFERENCES]).score
    assert found["chrF2"].value == sacrebleu.corpus_chrf(HYPOTHESES, [REFERENCES]).score
    assert all(f"version:{sacrebleu.__version__}" in s.signature for s in found.values())


def some_sentences(n, errors, seed=1):
    """-> (references, hypotheses with so large a share of wrong words)."""
    rng = np.random.default_rng(seed)
    references = [[f"w{k}" for k in rng.integers(9, size=12)] for _ in range(n)]
    hypotheses = [["x" if rng.random() < errors else word for word in words] for words in references]
    return [" ".join(words) for words in references], [" ".join(words) for words in hypotheses]


def test_a_difference_is_that_of_the_scores():
    references, worse = some_sentences(40, 0.3)
    better = worse[:20] + references[20:]
    found = bleu_difference(better, worse, references)
    assert found.value == pytest.approx(bleu(better, references) - bleu(worse, references), abs=1e-9)
    assert 0 < found.low < found.value < found.high
    back = bleu_difference(worse, better, references)
    assert np.allclose(back, (-found.value, -found.high, -found.low))
    assert str(found).startswith(f"{found.value:+.2f} (+")


def test_more_sentences_make_a_difference_surer():
    widths = []
    for n in (20, 320):
        references, one = some_sentences(n, 0.2)
        two = [b if i % 2 else a for i, (a, b) in enumerate(zip(one, references))]
        found = bleu_difference(two, one, references)
        widths.append(found.high - found.low)
    assert widths[1] < 0.5 * widths[0]


def test_no_difference():
    assert bleu_difference(HYPOTHESES, HYPOTHESES, REFERENCES) == (0, 0, 0)
    assert bleu_difference(["x", ""], ["y", ""], ["a b", "c d"]) == (0, 0, 0)  # nothing is right


def test_text_and_json_say_the_same():
    scores = all_scores(HYPOTHESES, REFERENCES)
    lines, record = format_scores(scores).splitlines(), json.loads(format_scores(scores, as_json=True))
    assert [line.split()[0] for line in lines] == list(record) == ["BLEU", "TER", "chrF2"]
    for line, (name, entry) in zip(lines, record.items()):
        assert line.split()[1:] == [f"{entry['score']:.2f}", entry["signature"]], name


def test_unequal_and_empty_files_are_refused(tmp_path):
    (tmp_path / "hyp").write_text("a\nb\n")
    (tmp_path / "ref").write_text("a\n")
    with pytest.raises(UserError, match="hyp has 2 lines but .*ref has 1"):
        score_files(tmp_path / "hyp", tmp_path / "ref")
    for name in ("hyp", "ref"):
        (tmp_path / name).write_text("")
    with pytest.raises(UserError, match="hyp and .*ref are empty"):
        score_files(tmp_path / "hyp", tmp_path / "ref")


@pytest.fixture(scope="module")
def model(tiny_run):
    return load_model(tiny_run)


def test_perplexity_of_a_uniform_model_is_the_size_of_its_vocabulary(model):
    uniform = load_model_with_uniform_softmax(model)
    split = Split(["eins zwei.", "drei."], ["one two.", "three."])
    assert validation.perplexity(split, uniform) == pytest.approx(len(model.trg.vocab), rel=1e-5)


def load_model_with_uniform_softmax(model):
    from dataclasses import replace

    flat = replace(model.params.softmax, W=0 * model.params.softmax.W, b=0 * model.params.softmax.b)
    return replace(model, params=replace(model.params, softmax=flat))


def test_perplexity_weighs_every_unit_the_same(model):
    """Two sentences together: the exponent is the mean over units, not over sentences."""
    a, b = Split(["eins zwei drei vier."], ["one two three four."]), Split(["rot."], ["red."])
    both = Split(a.src + b.src, a.trg + b.trg)
    nll_a, nll_b = (math.log(validation.perplexity(s, model)) * n for s, n in ((a, 6), (b, 3)))
    assert validation.perplexity(both, model) == pytest.approx(math.exp((nll_a + nll_b) / 9), rel=1e-5)


def test_dev_bleu_is_that_of_greedy_translations(model):
    split = Split(["eins zwei drei.", "rot Haus.", ""], ["one two three.", "red house.", "x"])
    found = [
        model.trg.text(greedy_search(model.src.ids(line), model.params, 30)[0]) if line else "" for line in split.src
    ]
    assert validation.validate(split, model)["bleu"] == pytest.approx(bleu(found, split.trg))


def test_attention_links_every_target_word_once(model):
    split = Split(["eins zwei drei.", "rot Haus."], ["one two three.", "red house."])
    rates = []
    for links in ("0-0 0-1 0-2 0-3", "1-0 1-1 1-2 1-3", "2-0 2-1 2-2 2-3", "3-0 3-1 3-2 3-3"):
        split = split._replace(alignments=[links, ""])
        rates.append(validation.attention_error_rate(split, model))
    # each target word has one link: over the four source words the common links add up to its 4 words
    n_found, n_gold = 4 + 3, 4
    common = [(1 - rate) * (n_found + n_gold) / 2 for rate in rates]
    assert sum(common) == pytest.approx(4) and np.allclose(common, np.round(common))
