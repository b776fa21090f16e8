"""The embedded German-English corpus: a lexicon, a grammar and a seeded generator with gold word alignments.

    from minnmt.text.corpus import generate
    corpus = generate(seed=1)
    corpus.train.src[0], corpus.train.trg[0], corpus.train.alignments[0]

Left out: real text. The sentences are correct and mostly sensible, but nobody ever said them.
"""

from .generate import Corpus, Split, generate
from .lexicon import lemma_counts

__all__ = ["Corpus", "Split", "generate", "lemma_counts"]
