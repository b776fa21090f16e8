"""BLEU, TER and chrF by sacrebleu, with the signatures that make a score comparable, and how sure a difference is."""

import json
from typing import NamedTuple

import numpy as np

from ..errors import UserError
from ..files import read_lines, read_parallel

METRICS = {"bleu": "BLEU", "ter": "TER", "chrf": "CHRF"}  # our key: sacrebleu's class; a new metric is added here


class Score(NamedTuple):
    name: str
    value: float
    signature: str
    key: str = ""  # of METRICS


def bleu(hypotheses, references):
    """Corpus BLEU, cased, on raw text."""
    import sacrebleu  # here, because importing it takes longer than most commands run

    return sacrebleu.corpus_bleu(hypotheses, [references]).score


def all_scores(hypotheses, references, keys=tuple(METRICS)):
    """Raw lines of both, equally many -> a Score for each of METRICS, or for some."""
    from sacrebleu import metrics

    scores = []
    for key in keys:
        metric = getattr(metrics, METRICS[key])()
        result = metric.corpus_score(hypotheses, [references])
        scores.append(Score(result.name, result.score, str(metric.get_signature()), key))
    return scores


class Difference(NamedTuple):
    """BLEU of one system minus BLEU of another, with its interval of 95 %: how sure this many sentences make it."""

    value: float
    low: float
    high: float

    def __str__(self):
        return f"{self.value:+.2f} ({self.low:+.2f} to {self.high:+.2f})"


def bleu_difference(hypotheses, baseline, references, n_samples=1000, seed=1):
    """Paired bootstrap: both systems scored on the same sentences, drawn with replacement, many times -> Difference."""
    ours, theirs = bleu_counts(hypotheses, references), bleu_counts(baseline, references)
    rng, N = np.random.default_rng(seed), len(references)
    draws = (rng.integers(N, size=N) for _ in range(n_samples))
    found = [bleu_of_counts(ours[draw]) - bleu_of_counts(theirs[draw]) for draw in draws]
    low, high = np.percentile(found, [2.5, 97.5])
    return Difference(bleu_of_counts(ours) - bleu_of_counts(theirs), float(low), float(high))


def bleu_counts(hypotheses, references):
    """-> (N, 10): of each sentence the n-grams that are right and all n-grams, n = 1 to 4, and both lengths."""
    from sacrebleu.metrics import BLEU

    metric = BLEU()
    found = (metric.corpus_score([h], [[r]]) for h, r in zip(hypotheses, references, strict=True))
    return np.array([[*score.counts, *score.totals, score.sys_len, score.ref_len] for score in found])


def bleu_of_counts(counts):
    """Corpus BLEU from the counts of its sentences."""
    from sacrebleu.metrics import BLEU

    total = counts.sum(axis=0).tolist()
    return BLEU.compute_bleu(total[:4], total[4:8], *total[8:], smooth_method="exp").score


def score_files(hypotheses_path, references_path, baseline_path=None):
    """Two files, "-" for standard input -> [Score], and the Difference to a third or None."""
    hypotheses, references = read_parallel(hypotheses_path, references_path)
    if not baseline_path:
        return all_scores(hypotheses, references), None
    baseline = read_lines(baseline_path)
    if len(baseline) != len(references):
        raise UserError(
            f"{baseline_path} has {len(baseline)} lines but {references_path} has {len(references)}: both must be "
            "translations of the same text"
        )
    return all_scores(hypotheses, references), bleu_difference(hypotheses, baseline, references)


def format_scores(scores, difference=None, as_json=False):
    """A line per score (name, value, signature), or a JSON object."""
    if as_json:
        record = {s.name: {"score": s.value, "signature": s.signature} for s in scores}
        return json.dumps(record | ({"BLEU difference": difference._asdict()} if difference else {}), indent=2)
    lines = [f"{s.name:5} {s.value:6.2f}  {s.signature}" for s in scores]
    return "\n".join(lines + ([f"BLEU against the baseline: {difference}"] if difference else []))
