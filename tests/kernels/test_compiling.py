"""Compiling: said once, and only when it happens."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from minnmt.compiled import reading_mode

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: nothing is compiled", allow_module_level=True)

ROOT = Path(__file__).parent.parent.parent
CODE = """
import numpy as np, kernels
from cli import say_once
kernels.on_compile = say_once("compiling")
from minnmt.search.packed import make_rows, product
from kernels import products
product(np.ones((1, 3), np.float32), make_rows(np.ones((2, 3), np.float32), np.zeros(2, np.float32), "int8").tiles)
print(sum(products.product.stats.cache_hits.values()))
"""


def run(cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache)}
    return subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True, text=True)


def test_the_first_start_says_that_it_compiles_and_the_second_finds_it_done(tmp_path):
    first, second = run(tmp_path), run(tmp_path)
    assert first.stderr.split("\n")[0] == "compiling" and first.stderr.count("compiling") == 1
    assert first.stdout.split() == ["0"]
    assert "compiling" not in second.stderr
    assert second.stdout.split() == ["1"]


def test_a_change_in_a_file_that_a_kernel_calls_compiles_it_anew(tmp_path):
    """gru_cell calls cell, in its own file, that calls gated, in another, and that sigmoid, in a third."""
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    code = """
import numpy as np
from kernels.decoding import gru_cell
out = gru_cell(np.ones((1, 3), np.float32), np.ones((1, 3), np.float32), np.full((1, 1), 7, np.float32))
print(sum(gru_cell.stats.cache_hits.values()), round(float(out[0, 0]), 3))
"""
    functions, found = tmp_path / "kernels" / "functions.py", []
    for change in (None, None, "return HALF * tanh(HALF * x) + HALF"):
        if change:
            text = functions.read_text()
            assert change in text
            functions.write_text(text.replace(change, "return x"))
        done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True)
        found.append(done.stdout.split())
    assert [hits for hits, _ in found] == ["0", "1", "0"]
    assert found[0][1] == found[1][1] and float(found[2][1]) == round(2 * 7 - np.tanh(3.0), 3)


@pytest.mark.parametrize("damage", ["empty", "cut", "changed"])
@pytest.mark.parametrize("ending", [".nbi", ".nbc"])
def test_a_damaged_cache_is_compiled_again(tmp_path, damage, ending):
    code = (
        "import numpy as np; from kernels.rows import add_rows; out = np.zeros((2, 3), np.float32); "
        "add_rows(np.ones((2, 3), np.float32), np.array([1, 1]), out); "
        "print(out.sum(), sum(add_rows.stats.cache_hits.values()))"
    )

    def start():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        command = [sys.executable, "-c", code]
        return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout

    assert start() == "6.0 0\n"
    for path in tmp_path.rglob(f"*{ending}"):
        data = path.read_bytes()
        middle = len(data) // 2
        spoiled = {"empty": b"", "cut": data[:middle], "changed": data[:middle] + b"\xff" * 9 + data[middle + 9 :]}
        path.write_bytes(spoiled[damage])
    assert start() == "6.0 0\n"
    assert start() == "6.0 1\n"
