"""How good is the model now? Perplexity, BLEU and alignment error on text it does not train on."""

import math

from ..align.links import alignment_error_rate, hardest_links, parse_pharaoh, word_weights
from ..errors import UsageError
from ..model.network import attention_weights, network_forward
from ..report.scores import all_scores, bleu, format_scores
from ..search.beam import SearchSettings
from ..search.translate import translate
from ..text.batches import batches_by_length
from ..text.parallel import load_split
from ..text.pipeline import word_numbers
from ..train.settings import Settings

BATCH = 64


def validate(dev, model, n_threads=1):
    """dev: a Split of raw lines -> {"perplexity", "bleu"}, the latter of greedy translations."""
    return {"perplexity": perplexity(dev, model), "bleu": greedy_bleu(dev, model, n_threads)}


def perplexity(split, model):
    """exp of the mean negative log-likelihood of a target unit, eos counted."""
    src, trg = [model.src.ids(line) for line in split.src], [model.trg.ids(line) for line in split.trg]
    nll, n_units = 0.0, 0.0
    for _, batch in batches_by_length(src, trg, BATCH):
        output, _ = network_forward(batch, model.params)
        nll += float(output.nll.sum())
        n_units += float(batch.trg_mask.sum())
    return math.exp(min(nll / n_units, 700.0))


def greedy_bleu(split, model, n_threads=1):
    """BLEU of greedy translations of the raw lines."""
    found = translate(split.src, model, SearchSettings(beam=1), BATCH, n_threads, precision="float32")
    return bleu([t.best for t in found], split.trg)


def test_report(split, model, n_threads=1):
    """The scores of the test set's translations and, with gold alignments, the attention's error rate, as text."""
    best = [t.best for t in translate(split.src, model, n_threads=n_threads, precision="float32")]
    lines = [format_scores(all_scores(best, split.trg))]
    if split.alignments:
        rate = attention_error_rate(split, model)
        lines.append(f"AER   {100 * rate:6.2f}  hardest attention links against {len(split.src)} gold alignments")
    return "\n".join(lines)


def attention_error_rate(split, model):
    """Alignment error rate of the attention's hardest links, reference in hand, against the gold alignments."""
    return alignment_error_rate(attention_links(split, model), [parse_pharaoh(line) for line in split.alignments])


def attention_links(split, model):
    """Every target word's hardest attention, reference in hand -> a set of word links for each pair."""
    src_units = [model.src.units(line) for line in split.src]
    trg_units = [model.trg.units(line) for line in split.trg]
    src, trg = map(model.src.vocab.encode, src_units), map(model.trg.vocab.encode, trg_units)
    found = [None] * len(src_units)
    for chosen, batch in batches_by_length(list(src), list(trg), BATCH):
        alphas = attention_weights(batch, model.params)
        for b, i in enumerate(chosen):
            words = word_numbers(src_units[i], model.src), word_numbers(trg_units[i], model.trg)
            found[i] = hardest_links(word_weights(alphas[:, :, b], *words))
    return found


def decode_test_set(model, output):
    """Translate the test set that the model was trained with into `output`; returns the scores as text."""
    if "settings" not in model.config:
        raise UsageError("there is nothing to translate: pipe text in or name a file with -i")
    split = load_split(Settings.from_config(model.config), "test")
    best = output.add(split.src)
    return format_scores(all_scores(best, split.trg))
