"""Every kernel does what its numpy twin does, over shapes drawn by hypothesis, empty ones included."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernels
from kernels.adam import adam, adam_rows
from kernels.attention import (
    attention_context,
    attention_context_backward,
    attention_energy,
    attention_energy_backward,
)
from kernels.functions import sigmoid, tanh
from kernels.gates import context_gates, context_gates_backward, gru_gates, gru_gates_backward
from kernels.jit import USE_NUMPY
from tests.kernels.compared import COMPARED, all_kernels, compares

if USE_NUMPY:
    pytest.skip("MINNMT_KERNELS=numpy: there are only twins", allow_module_level=True)

ROOT = Path(kernels.__file__).parent.parent
BH, BG = ("B", "H"), ("B", "2H")
SBC = ("S", "B", "H")
STATE = [0.9, 0.999, 1e-8]

# kernel: (shapes of its inputs, shapes of its outputs).
# Inputs: "gate" is in (0,1), "value" in (-1,1), "mask" 0 or 1; other inputs are normal.
KERNELS = {
    gru_gates: ([BG, BH, BG, BH, BH, ("mask", "B")], [BG, BH, BH]),
    gru_gates_backward: ([BH, ("gate", *BG), ("value", *BH), BH, BH, ("mask", "B")], [BG, BH, BH, BH]),
    context_gates: ([BG, BG, BH, BH, BH], [BG, BH, BH]),
    context_gates_backward: ([BH, ("gate", *BG), ("value", *BH), BH, BH], [BG, BH, BH, BH]),
    attention_energy: ([SBC, BH, ("H",)], [("S", "B")]),
    attention_energy_backward: ([("value", "S", "B"), SBC, BH, ("value", "H")], [SBC, BH, ("H",)]),
    attention_context: ([("gate", "S", "B"), SBC], [BH]),
    attention_context_backward: ([BH, SBC], [("S", "B")]),
}
DRAW = {
    "gate": lambda rng, shape: rng.random(shape),
    "value": lambda rng, shape: rng.uniform(-1, 1, shape),
    "mask": lambda rng, shape: rng.integers(0, 2, shape),
}


def draw(rng, spec, sizes, scale):
    kind, axes = (spec[0], spec[1:]) if spec[0] in DRAW else (None, spec)
    shape = tuple(sizes[axis] for axis in axes)
    array = DRAW[kind](rng, shape) if kind else scale * rng.standard_normal(shape)
    return array.astype(np.float32)


def assert_close(name, ours, theirs):
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5, err_msg=name)


@compares(*KERNELS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.__name__)
@settings(max_examples=25, deadline=None)
@given(
    S=st.integers(0, 5), B=st.integers(0, 5), H=st.integers(0, 21),
    scale=st.sampled_from([0.01, 1.0, 20.0]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_kernel_equals_its_twin(kernel, S, B, H, scale, seed):
    rng = np.random.default_rng(seed)
    sizes = {"S": S, "B": B, "H": H, "2H": 2 * H}
    inputs, outputs = KERNELS[kernel]
    given_arrays = [draw(rng, spec, sizes, scale) for spec in inputs]
    ours = [draw(rng, spec, sizes, 1.0) for spec in outputs]  # some kernels add to them
    theirs = [a.astype(np.float64) for a in ours]
    before = [a.copy() for a in given_arrays]
    kernel(*given_arrays, *ours)
    kernel.twin(*(a.astype(np.float64) for a in before), *theirs)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.dtype == np.float32
        assert_close(f"output {i}", a, b)
    for a, b in zip(given_arrays, before):
        np.testing.assert_array_equal(a, b, err_msg="an input was changed")


@compares(adam)
@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 70), dtype=st.sampled_from([np.float32, np.float64]), rate=st.floats(1e-6, 1.0),
    scale=st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 1e6]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_adam_equals_its_twin(n, dtype, rate, scale, seed):
    rng = np.random.default_rng(seed)
    p, m = (rng.standard_normal(n).astype(dtype) for _ in range(2))
    g, v = (scale * rng.standard_normal(n)).astype(dtype), rng.random(n).astype(dtype)
    ours, theirs = [p.copy(), m.copy(), v.copy()], [p.copy(), m.copy(), v.copy()]
    before = g.copy()
    for function, (p, m, v) in ((adam, ours), (adam.twin, theirs)):
        function(p, g, m, v, rate, *STATE)
    np.testing.assert_array_equal(g, before)
    for name, a, b in zip("pmv", ours, theirs):
        assert a.dtype == b.dtype == dtype
        assert_close(name, a, b)


@compares(adam_rows)
@settings(max_examples=40, deadline=None)
@given(
    V=st.integers(0, 9), E=st.integers(0, 20), dtype=st.sampled_from([np.int32, np.int64]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_adam_of_rows_equals_its_twin_and_leaves_the_others_alone(V, E, dtype, seed):
    rng = np.random.default_rng(seed)
    p, g, m, v = (rng.random((V, E)).astype(np.float32) for _ in range(4))
    ids = np.flatnonzero(rng.integers(0, 2, V)).astype(dtype)
    others = np.setdiff1d(np.arange(V), ids)
    ours, theirs = ([a.copy() for a in (p, m, v)] for _ in range(2))
    for function, (p_new, m_new, v_new) in ((adam_rows, ours), (adam_rows.twin, theirs)):
        function(p_new, g, m_new, v_new, ids, 0.01, *STATE)
    for name, a, b, before in zip("pmv", ours, theirs, (p, m, v)):
        assert_close(name, a, b)
        np.testing.assert_array_equal(a[others], before[others])
        assert E == 0 or (a[ids] != before[ids]).any(axis=1).all()


def test_every_kernel_is_compared_with_its_plain_function():
    for path in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.kernels.{path.stem}")  # they say what they compare
    assert all_kernels() == COMPARED


def test_tanh_and_sigmoid_are_as_exact_as_float32_allows():
    x = np.concatenate([np.linspace(-12, 12, 20001), np.logspace(-8, 0, 500), [0.0, 1e30, -1e30]]).astype(np.float32)
    exact = np.tanh(x.astype(np.float64))
    found = np.array([tanh(value) for value in x])
    assert np.abs(found).max() <= 1
    np.testing.assert_allclose(found, exact, rtol=1e-6, atol=1e-30)
    np.testing.assert_allclose(
        [sigmoid(v) for v in x], 1 / (1 + np.exp(-x.astype(np.float64).clip(-700, 700))), atol=2e-7
    )


def test_a_nan_stays_visible_in_every_kernel():
    """A number that went wrong must reach the loss, where training looks for it."""
    rng = np.random.default_rng(1)
    sizes = {"S": 2, "B": 2, "H": 67, "2H": 134}  # wide enough for the vectorised part of the loops
    hidden_nans = []
    for kernel, (inputs, outputs) in KERNELS.items():
        for i, spec in enumerate(inputs):
            arrays = [draw(rng, spec, sizes, 1.0) + np.float32(0.01) for spec in inputs]
            arrays[i].reshape(-1)[0] = np.nan
            out = [draw(rng, spec, sizes, 1.0) for spec in outputs]
            kernel(*arrays, *out)
            if not any(np.isnan(a).any() for a in out):
                hidden_nans.append(f"{kernel.__name__}, input {i}")
    assert not hidden_nans


def test_a_nan_in_the_gradient_stays_visible_in_adam():
    p, g, m, v = (np.ones(5, np.float32) for _ in range(4))
    g[2] = np.nan
    adam(p, g, m, v, 0.1, *STATE)
    assert np.isnan(p).tolist() == [False, False, True, False, False]


def python(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env={**os.environ, **environment},
        capture_output=True, text=True, check=True,
    ).stdout.strip()  # fmt: skip


def test_the_environment_switches_every_kernel_to_its_twin():
    code = (
        "import kernels.adam as k, kernels.gates as g; print(k.adam is k.adam_numpy, g.gru_gates is g.gru_gates_numpy)"
    )
    assert python(code, MINNMT_KERNELS="numpy") == "True True"
    assert python(code, MINNMT_KERNELS="") == "False False"


def test_kernels_import_nothing_of_minnmt():
    code = (
        "import sys, pkgutil, importlib, kernels; "
        "[importlib.import_module('kernels.' + m.name) for m in pkgutil.iter_modules(kernels.__path__)]; "
        "print([m for m in sys.modules if m.split('.')[0] == 'minnmt'])"
    )
    assert python(code) == "[]"
