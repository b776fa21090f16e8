"""minnmt: attention-based neural machine translation by hand, with vocabulary selection from attention.

Where a docstring speaks of a notebook by its number, it means a lesson in tutorials/; a number in brackets, as in (7),
is an equation in the list of tutorials/README.md.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

__version__ = "0.1.0"


# One BLAS thread: minnmt spreads work over the cores by itself (minnmt/threads.py says why). numpy reads these
# when it is first imported; a user's own setting stands.
for _name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "OMP_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

# How long threads that share a kernel wait in a loop for work before they go to sleep. libgomp's own 300,000 rounds are
# no faster on an idle machine; beside another busy program they made a sentence take four times as long as this.
os.environ.setdefault("GOMP_SPINCOUNT", "20000")


def _claim_kernels():
    """Make sure that `import kernels` finds the package beside this one: there is another package of that name."""
    home = Path(__file__).resolve().parent.parent
    ours = home / "kernels" / "__init__.py"
    found = find_spec("kernels")
    if found is not None and found.origin and Path(found.origin).resolve() == ours:
        return
    if "kernels" in sys.modules:
        raise ImportError(
            f"another package called kernels was imported first ({found and found.origin}), but minnmt needs its own "
            f"({ours}): import minnmt before it"
        )
    sys.path.insert(0, str(home))


_claim_kernels()


def explore(model, *sentences, topn=100, counts=()):
    """A page to step through translations, which a notebook shows in place: minnmt.explore("runs/default", "Ja.").

    `model` is a model directory, or a Model without counts; topn is where the slider for n stands, counts are named as
    for `decode --counts`. `explore(...).html` is the page as text.
    """
    from .report.explorer.page import explore_sentences, make_page
    from .report.explorer.variant import ListChoice, variant_of

    if not sentences:
        raise TypeError("explore() needs a sentence to translate")
    names = (counts,) if isinstance(counts, str) else tuple(counts)
    return make_page(explore_sentences(sentences, [variant_of(model, ListChoice(topn, names))]))
