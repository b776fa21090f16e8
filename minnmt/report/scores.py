"""BLEU, TER and chrF by sacrebleu, with the signatures that make a score comparable."""

import json
from typing import NamedTuple

from ..files import read_parallel


class Score(NamedTuple):
    name: str
    value: float
    signature: str


def bleu(hypotheses, references):
    """Corpus BLEU, cased, on raw text."""
    import sacrebleu  # here, because importing it takes longer than most commands run

    return sacrebleu.corpus_bleu(hypotheses, [references]).score


def all_scores(hypotheses, references):
    """Raw lines of both, equally many -> [Score] for BLEU, TER and chrF."""
    from sacrebleu.metrics import BLEU, CHRF, TER

    scores = []
    for metric in (BLEU(), TER(), CHRF()):
        result = metric.corpus_score(hypotheses, [references])
        scores.append(Score(result.name, result.score, str(metric.get_signature())))
    return scores


def score_files(hypotheses_path, references_path):
    """Two files, "-" for standard input -> [Score]."""
    return all_scores(*read_parallel(hypotheses_path, references_path))


def format_scores(scores, as_json=False):
    """A line per score (name, value, signature), or a JSON object."""
    if as_json:
        return json.dumps({s.name: {"score": s.value, "signature": s.signature} for s in scores}, indent=2)
    return "\n".join(f"{s.name:5} {s.value:6.2f}  {s.signature}" for s in scores)
