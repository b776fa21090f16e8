"""The machine and the versions that a measurement was made with."""

import os
import platform
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from .. import __version__
from ..threads import n_processors


def describe_machine(peer=None):
    """Processor and versions."""
    packages = ["numpy", "numba", *([peer] if peer else [])]
    return {
        "cpu": cpu_model(),
        "processors": os.cpu_count(),
        "usable_processors": n_processors(),
        "system": platform.platform(),
        "python": platform.python_version(),
        "minnmt": __version__,
        **{name: package_version(name) for name in packages},
    }


def cpu_model():
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:  # not Linux
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def package_version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return "unknown"
