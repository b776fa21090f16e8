"""The same bits from a kernel that was compiled a moment ago and from one that was found on disk.

Every kernel is compiled anew for this: minutes, so `pytest -m slow` runs it, and not the default.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.compared import all_kernels

ROOT = Path(__file__).parent.parent.parent
CODE = """
import hashlib
import numpy as np
from minnmt.align.bitext import Bitext
from minnmt.align.fastalign import train_fastalign
from minnmt.lab.bench.kernel_cases import Maker
from minnmt.lab.bench.limits import add_up, many_dots
from tests.lab.test_bench import TINY

def digest(found):
    found = found if isinstance(found, tuple) else (found,)
    return hashlib.sha256(b"".join(np.ascontiguousarray(a).tobytes() for a in found if a is not None)).hexdigest()[:16]

for case in Maker(TINY).cases():
    found = case.kernel(*case.arguments)
    arrays = tuple(a for a in case.arguments if isinstance(a, np.ndarray))  # some are added to
    print(case.kernel.counterpart, digest(found), digest(arrays))
print("limits.add_up", add_up(np.linspace(0, 1, 1 << 14, dtype=np.float32)).hex())
print("limits.many_dots", digest(many_dots(np.ones(64, np.int8), np.ones(4, np.int8), 9)))
rng = np.random.default_rng(1)
pairs = [[rng.integers(9, size=rng.integers(1, 7)).tolist() for _ in range(50)] for _ in range(2)]
bitext = Bitext.from_lists(*pairs, 9, 9)
aligner = train_fastalign(bitext)
print("aligners", digest((aligner.probs.data, aligner.links(bitext))))
"""


def results(cache):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(cache), "MINNMT_KERNELS": ""}
    command = [sys.executable, "-c", CODE]
    return subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_cold_and_warm_give_the_same_bits(tmp_path):
    cold, warm = results(tmp_path), results(tmp_path)
    seen = {line.split()[0] for line in cold.splitlines()}
    assert {name for name in all_kernels() if not name.startswith("model1.")} <= seen
    different = [a for a, b in zip(cold.splitlines(), warm.splitlines()) if a != b]
    assert not different and len(cold) == len(warm)
