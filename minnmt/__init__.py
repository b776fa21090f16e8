"""minnmt: attention-based neural machine translation by hand, with vocabulary selection from attention."""

__version__ = "0.1.0"
