"""minnmt: attention-based neural machine translation by hand, with vocabulary selection from attention."""

import sys
from importlib.util import find_spec
from pathlib import Path

__version__ = "0.1.0"


def _claim_kernels():
    """Make sure that `import kernels` finds the package beside this one: another of that name is in the world."""
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
