"""Every kernel does what its plain function does, over shapes drawn by hypothesis, empty ones included."""

import ast
import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import kernels
import minnmt
from kernels.functions import sigmoid, tanh
from minnmt.compiled import find_kernel, reading_mode
from minnmt.nn.attention import (
    attention_context,
    attention_context_backward,
    attention_energy,
    attention_energy_backward,
)
from minnmt.nn.conditional_gru import context_gates, context_gates_backward
from minnmt.nn.functions import add_rows
from minnmt.nn.gru import gru_gates, gru_gates_backward
from minnmt.train.adam import adam, adam_rows
from tests.kernels.compared import COMPARED, all_kernels, both, compares, decorated

if reading_mode():
    pytest.skip("MINNMT_KERNELS=numpy: only plain functions run", allow_module_level=True)

ROOT = Path(kernels.__file__).parent.parent
BH, BG = ("B", "H"), ("B", "2H")
SBC = ("S", "B", "H")
STATE = [0.9, 0.999, 1e-8]

# function: (shapes of its inputs, how many of the last it adds to).
# Inputs: "gate" is in (0,1), "value" in (-1,1); other inputs are normal.
FUNCTIONS = {
    gru_gates: ([BG, BH, BG, BH, BH], 0),
    gru_gates_backward: ([BH, ("gate", *BG), ("value", *BH), BH, BH], 0),
    context_gates: ([BG, BH, BG, BH, BH], 0),
    context_gates_backward: ([BH, ("gate", *BG), ("value", *BH), BH, BH], 0),
    attention_energy: ([SBC, BH, ("H",)], 0),
    attention_energy_backward: ([("value", "S", "B"), SBC, BH, ("value", "H"), SBC, ("H",)], 2),
    attention_context: ([("gate", "S", "B"), SBC], 0),
    attention_context_backward: ([BH, SBC], 0),
}
DRAW = {
    "gate": lambda rng, shape: rng.random(shape),
    "value": lambda rng, shape: rng.uniform(-1, 1, shape),
}


def draw(rng, spec, sizes, scale):
    kind, axes = (spec[0], spec[1:]) if spec[0] in DRAW else (None, spec)
    shape = tuple(sizes[axis] for axis in axes)
    array = DRAW[kind](rng, shape) if kind else scale * rng.standard_normal(shape)
    return array.astype(np.float32)


def assert_close(name, ours, theirs):
    largest = np.abs(theirs).max(initial=1.0)  # a sum of large numbers may be small, and has their rounding
    np.testing.assert_allclose(ours, theirs, rtol=2e-5, atol=2e-5 * largest, err_msg=name)


def outputs(function, arrays, n_added):
    """All that a function gives: its results, and the arrays that it adds to."""
    found = function(*arrays)
    return [*(found if isinstance(found, tuple) else (found,)), *arrays[len(arrays) - n_added :]]


@compares(*FUNCTIONS)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
@settings(max_examples=25, deadline=None)
@given(
    S=st.integers(0, 5), B=st.integers(0, 5), H=st.integers(0, 21),
    scale=st.sampled_from([0.01, 1.0, 20.0]), seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_a_kernel_equals_its_plain_function(function, S, B, H, scale, seed):
    rng, sizes = np.random.default_rng(seed), {"S": S, "B": B, "H": H, "2H": 2 * H}
    inputs, n_added = FUNCTIONS[function]
    arrays = [draw(rng, spec, sizes, scale) for spec in inputs]
    before = [a.copy() for a in arrays]
    kernel, plain = both(function)
    ours, theirs = outputs(kernel, arrays, n_added), outputs(plain, [a.astype(np.float64) for a in before], n_added)
    assert len(ours) == len(theirs)
    for i, (a, b) in enumerate(zip(ours, theirs)):
        assert a.dtype == np.float32 and a.shape == b.shape
        assert_close(f"output {i}", a, b)
    for a, b in zip(arrays[: len(arrays) - n_added], before):
        np.testing.assert_array_equal(a, b, err_msg="an input was changed")


@compares(add_rows)
@settings(max_examples=60, deadline=None)
@given(
    V=st.integers(1, 8), E=st.integers(0, 20), K=st.integers(0, 12), dtype=st.sampled_from([np.int32, np.int64]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_add_rows_with_repeated_ids(V, E, K, dtype, seed):
    rng = np.random.default_rng(seed)
    rows, ids = rng.standard_normal((K, E)).astype(np.float32), rng.integers(0, V, K).astype(dtype)
    ours, theirs = (np.ones((V, E), np.float32) for _ in range(2))
    for function, table in zip(both(add_rows), (ours, theirs)):
        function(rows, ids, table)
    np.testing.assert_array_equal(ours, theirs)


@compares(adam)
@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(0, 70), rate=st.floats(1e-6, 1.0), scale=st.sampled_from([0.0, 1e-12, 1e-3, 1.0, 1e6]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_adam_equals_its_plain_function(n, rate, scale, seed):
    rng = np.random.default_rng(seed)
    p, m = (rng.standard_normal(n).astype(np.float32) for _ in range(2))
    g, v = (scale * rng.standard_normal(n)).astype(np.float32), rng.random(n).astype(np.float32)
    ours, theirs = [p.copy(), m.copy(), v.copy()], [p.copy(), m.copy(), v.copy()]
    before = g.copy()
    for function, (p, m, v) in zip(both(adam), (ours, theirs)):
        function(p, g, m, v, rate, *STATE)
    np.testing.assert_array_equal(g, before)
    for name, a, b in zip("pmv", ours, theirs):
        assert a.dtype == b.dtype == np.float32
        assert_close(name, a, b)


@compares(adam_rows)
@settings(max_examples=40, deadline=None)
@given(
    V=st.integers(0, 9), E=st.integers(0, 20), dtype=st.sampled_from([np.int32, np.int64]),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_adam_of_rows_equals_its_plain_function_and_leaves_the_others_alone(V, E, dtype, seed):
    rng = np.random.default_rng(seed)
    p, g, m, v = (rng.random((V, E)).astype(np.float32) for _ in range(4))
    ids = np.flatnonzero(rng.integers(0, 2, V)).astype(dtype)
    others = np.setdiff1d(np.arange(V), ids)
    ours, theirs = ([a.copy() for a in (p, m, v)] for _ in range(2))
    for function, (p_new, m_new, v_new) in zip(both(adam_rows), (ours, theirs)):
        function(p_new, g, m_new, v_new, ids, 0.01, *STATE)
    for name, a, b, before in zip("pmv", ours, theirs, (p, m, v)):
        assert_close(name, a, b)
        np.testing.assert_array_equal(a[others], before[others])
        assert E == 0 or (a[ids] != before[ids]).any(axis=1).all()


# The contract of plain and compiled


def all_counterparts():
    """What plain functions name as their counterparts -> {counterpart: [(file, function)]}."""
    found = {}
    for path in sorted((ROOT / "minnmt").rglob("*.py")):
        for name, counterpart in decorated(path, "compiled").items():
            found.setdefault(counterpart, []).append((path, name))
    return found


def test_every_kernel_is_the_counterpart_of_a_plain_function_and_compared_with_it():
    assert set(all_counterparts()) == all_kernels()
    for path in Path(__file__).parent.glob("test_*.py"):
        importlib.import_module(f"tests.kernels.{path.stem}")  # they say what they compare
    assert COMPARED == all_kernels()


def test_a_plain_function_and_its_counterpart_have_equally_many_arguments():
    for counterpart, functions in all_counterparts().items():
        kernel = find_kernel(counterpart)
        python = getattr(kernel, "py_func", None) or kernel.__wrapped__
        for path, name in functions:
            module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            plain = getattr(importlib.import_module(module), name).plain
            assert plain.__code__.co_argcount == python.__code__.co_argcount, (path, name)


def test_kernels_hold_compiled_functions_only():
    """No function of kernels/ is ordinary Python but those that compile, or choose by type what is compiled."""
    python = "jit.py", "intrinsics.py", "weights.py"
    for path in sorted((ROOT / "kernels").glob("*.py")):
        functions = [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]
        compiled = decorated(path, "kernel") | decorated(path, "device_function") | decorated(path, "helper")
        assert path.name in python or set(functions) == set(compiled), path


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
    for function, (inputs, n_added) in FUNCTIONS.items():
        for i in range(len(inputs) - n_added):
            arrays = [draw(rng, spec, sizes, 1.0) + np.float32(0.01) for spec in inputs]
            arrays[i].reshape(-1)[0] = np.nan
            if not any(np.isnan(a).any() for a in outputs(both(function)[0], arrays, n_added)):
                hidden_nans.append(f"{function.__name__}, input {i}")
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


def test_in_reading_mode_a_plain_function_is_itself():
    code = "import minnmt.nn.gru as g; print(g.gru_gates is g.gru_gates.plain)"
    assert python(code, MINNMT_KERNELS="numpy") == "True"
    assert python(code, MINNMT_KERNELS="") == "False"


def test_kernels_import_nothing_of_minnmt():
    code = (
        "import sys, pkgutil, importlib, kernels; "
        "[importlib.import_module('kernels.' + m.name) for m in pkgutil.iter_modules(kernels.__path__)]; "
        "print([m for m in sys.modules if m.split('.')[0] == 'minnmt'])"
    )
    assert python(code) == "[]"


def test_every_module_of_the_package_is_importable():
    names = [m.name for m in pkgutil.walk_packages(minnmt.__path__, "minnmt.")]
    assert len(names) > 60
    for name in names:
        if name != "minnmt.lab.peer_torch":  # needs PyTorch
            importlib.import_module(name)
