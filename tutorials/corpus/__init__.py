"""The author of the embedded German-English corpus: a lexicon, a grammar and a seeded generator with gold alignments.

    python -m tutorials.corpus                the package's corpus again, byte for byte (in the repository's root)
    from corpus import generate               in a notebook beside this folder
    generate(seed=2).train.src[0]

The translator reads the packed result (minnmt/text/embedded.py) and needs nothing of this.
Left out: real text. The sentences are correct and mostly sensible, but nobody ever said them. Notebook 00 looks at
them.
"""

from .generate import generate
from .lexicon import lemma_counts

__all__ = ["generate", "lemma_counts"]
