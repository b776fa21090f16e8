"""Products as other processors would compute them: Numba is told to compile for less than this one has.

Everything is compiled anew for this: a minute, so `pytest -m slow` runs it, and not the default.
"""

import os
import platform
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
AVX2 = "+sse,+sse2,+sse3,+ssse3,+sse4.1,+sse4.2,+popcnt,+avx,+avx2,+fma,+bmi,+bmi2,+f16c,+lzcnt,+cx16,+movbe"
CODE = """
import numpy as np
from minnmt.compiled import find_kernel
from minnmt.search.packed import fastest_precision, instruction, make_rows, product
rng = np.random.default_rng(1)
x, W, b = (rng.standard_normal(shape).astype(np.float32) for shape in ((7, 50), (90, 50), 90))
for precision in ("int8", "float32"):
    weights = make_rows(W, b, precision).tiles
    for rows in (x, x[:1]):
        ours, theirs = find_kernel("products.product")(rows, weights), product.plain(rows, weights)
        np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-4)
print(instruction(), fastest_precision(), sep=", ")
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="these are processors of that kind")
@pytest.mark.parametrize("features, expected", [(AVX2, "None, float32"), (AVX2 + ",+avxvnni", "AVX-VNNI, int8")])
def test_products_for_processors_without_avx_512(tmp_path, features, expected):
    if "avxvnni" in features and "avx_vnni" not in Path("/proc/cpuinfo").read_text():
        pytest.skip("this processor has no AVX-VNNI")
    environment = {**os.environ, "NUMBA_CPU_NAME": "haswell", "NUMBA_CPU_FEATURES": features, "MINNMT_KERNELS": ""}
    environment["NUMBA_CACHE_DIR"] = str(tmp_path)
    done = subprocess.run([sys.executable, "-c", CODE], cwd=ROOT, env=environment, capture_output=True, text=True)
    assert done.stdout.strip() == expected, done.stderr
