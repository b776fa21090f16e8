"""`import kernels` is this project's package: others of that name exist."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import kernels
import minnmt

ROOT = Path(minnmt.__file__).parent.parent


def test_kernels_lives_beside_minnmt():
    assert Path(kernels.__file__).parent.parent == ROOT


@pytest.mark.parametrize("place", ["before", "after"])
def test_the_trainer_never_takes_a_foreign_package_of_that_name(tmp_path, place):
    """From another working directory, with a foreign `kernels` before or behind ours on the path."""
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__init__.py").write_text("")
    (tmp_path / "kernels" / "adam.py").write_text("adam = None\n")
    path = [str(tmp_path), str(ROOT)] if place == "before" else [str(ROOT), str(tmp_path)]
    code = "import minnmt.train.adam as a, kernels; print(kernels.__file__, a.adam is not None)"
    found = subprocess.run(
        [sys.executable, "-P" if sys.version_info >= (3, 11) else "-B", "-c", code],
        cwd=tmp_path.parent, env={**os.environ, "PYTHONPATH": os.pathsep.join(path)},
        capture_output=True, text=True, check=True,
    ).stdout.split()  # fmt: skip
    assert found == [str(ROOT / "kernels" / "__init__.py"), "True"]


def test_a_foreign_package_that_was_imported_first_is_named(tmp_path):
    (tmp_path / "kernels").mkdir()
    (tmp_path / "kernels" / "__init__.py").write_text("")
    found = subprocess.run(
        [sys.executable, "-c", "import kernels, minnmt"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True,
    )  # fmt: skip
    assert "ImportError" in found.stderr and str(tmp_path / "kernels") in found.stderr
