"""How good is the model now? Perplexity, BLEU and alignment error on text it does not train on."""

import math

from ..align.links import alignment_error_rate, hardest_links, parse_pharaoh, word_weights
from ..errors import UsageError
from ..model.network import attention_weights, network_forward
from ..ranks import ALONE
from ..report.scores import all_scores, bleu, format_scores
from ..search.beam import SearchSettings
from ..search.translate import Translator
from ..text.batches import make_batch, numbers_by_length
from ..text.parallel import load_split
from ..text.pipeline import word_numbers
from ..train.settings import Settings

BATCH = 64


def validate(dev, model, n_threads=1, ranks=ALONE):
    """dev: a Split of raw lines -> {"perplexity", "bleu"}, the latter of greedy translations. Ranks share the work."""
    return {"perplexity": perplexity(dev, model, ranks), "bleu": greedy_bleu(dev, model, n_threads, ranks)}


def perplexity(split, model, ranks=ALONE):
    """exp of the mean negative log-likelihood of a target unit, eos counted."""
    src, trg = [model.src.ids(line) for line in split.src], [model.trg.ids(line) for line in split.trg]
    batches, found = list(numbers_by_length(src, trg, BATCH)), []
    for number in ranks.part(len(batches)):
        batch = make_batch([src[i] for i in batches[number]], [trg[i] for i in batches[number]])
        output, _ = network_forward(batch, model.params)
        found.append((float(output.nll.sum()), float(batch.trg_mask.sum())))
    nlls, n_units = zip(*ranks.all_in_order(found))
    return math.exp(min(sum(nlls) / sum(n_units), 700.0))


def greedy_bleu(split, model, n_threads=1, ranks=ALONE):
    """BLEU of greedy translations of the raw lines."""
    return bleu(best_lines(split, model, n_threads, ranks, SearchSettings(beam=1), BATCH), split.trg)


def best_lines(split, model, n_threads, ranks, *how):
    """Translations of the raw lines, in float32; `how` are settings and batch size of `translate`."""
    part = ranks.part(len(split.src))
    found = Translator(model, *how, n_threads=n_threads, precision="float32").translate([split.src[i] for i in part])
    return ranks.all_in_order([t.best for t in found])


def test_report(split, model, n_threads=1, ranks=ALONE):
    """The scores of the test set's translations and, with gold alignments, the attention's error rate, as text."""
    lines = [format_scores(all_scores(best_lines(split, model, n_threads, ranks), split.trg))]
    if split.alignments:
        rate = attention_error_rate(split, model, ranks)
        lines.append(f"AER   {100 * rate:6.2f}  strongest attention links against {len(split.src)} gold alignments")
    return "\n".join(lines)


def attention_error_rate(split, model, ranks=ALONE):
    """Alignment error rate of the attention's hardest links, reference in hand, against the gold alignments."""
    gold = [parse_pharaoh(line) for line in split.alignments]
    return alignment_error_rate(attention_links(split, model, ranks), gold)


def attention_links(split, model, ranks=ALONE):
    """Every target word's hardest attention, reference in hand -> a set of word links for each pair."""
    src_units = [model.src.units(line) for line in split.src]
    trg_units = [model.trg.units(line) for line in split.trg]
    src, trg = [list(map(side.vocab.encode, u)) for side, u in ((model.src, src_units), (model.trg, trg_units))]
    batches, found = list(numbers_by_length(src, trg, BATCH)), []
    for number in ranks.part(len(batches)):
        chosen = batches[number]
        alphas = attention_weights(make_batch([src[i] for i in chosen], [trg[i] for i in chosen]), model.params)
        for b, i in enumerate(chosen):
            words = word_numbers(src_units[i], model.src), word_numbers(trg_units[i], model.trg)
            found.append((int(i), hardest_links(word_weights(alphas[:, :, b], *words))))
    return [links for _, links in sorted(ranks.all_in_order(found), key=lambda pair: pair[0])]


def decode_test_set(model, output):
    """Translate the test set that the model was trained with into `output`; returns the scores as text."""
    if "settings" not in model.config:
        raise UsageError("there is nothing to translate: pipe text in or name a file with -i")
    split = load_split(Settings.from_config(model.config), "test")
    best = output.add(split.src)
    return format_scores(all_scores(best, split.trg))
