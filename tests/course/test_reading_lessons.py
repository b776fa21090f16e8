"""In reading mode lessons 00 to 07 run without Numba."""

import os

import pytest

from minnmt.course.grading import Kernel
from minnmt.course.notebooks import code_cells, read_notebook
from tests.test_tutorials import LESSONS

QUICK = ("01_backpropagation",)  # the others are slow tests


@pytest.mark.parametrize("path", [
    pytest.param(path, id=path.stem, marks=() if path.stem in QUICK else pytest.mark.slow) for path in LESSONS[:8]
])  # fmt: skip
def test_numba_is_not_imported(path, tmp_path):
    (tmp_path / "numba.py").write_text("raise ImportError('Numba is imported in reading mode')\n")
    switches = {"MINNMT_KERNELS": "numpy", "MINNMT_FAST": "1", "MINNMT_GRADE": str(tmp_path / "checks")}
    path_of_modules = os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH"))))
    with Kernel(tmp_path, {**os.environ, **switches, "PYTHONPATH": path_of_modules}, limit=900) as kernel:
        assert "Numba is imported" in kernel.run("import numba")
        problems = [kernel.run(cell.source) for cell in code_cells(read_notebook(path))]
        assert not list(filter(None, problems))
        assert not kernel.run("import sys; assert 'numba' not in sys.modules")
