"""Every backward against central differences in float64: random non-zero biases, all sizes different, a masked row."""

import ast
import sys
from pathlib import Path

import numpy as np
import pytest

import minnmt
from minnmt.model.decoder import (
    decoder_backward,
    decoder_forward,
    decoder_step_backward,
    decoder_step_forward,
)
from minnmt.model.encoder import encoder_backward, encoder_forward
from minnmt.model.network import (
    Dropout,
    network_backward,
    network_forward,
    word_loss_backward,
    word_loss_forward,
)
from minnmt.model.parameters import named_arrays, zeros_like
from minnmt.nn.attention import (
    attention_backward,
    attention_context,
    attention_context_backward,
    attention_energy,
    attention_energy_backward,
    attention_forward,
    attention_memory_backward,
    attention_memory_forward,
    masked_softmax,
    masked_softmax_backward,
)
from minnmt.nn.conditional_gru import (
    context_cell_add_weight_grads,
    context_cell_backward,
    context_cell_forward,
    context_gates,
    context_gates_backward,
)
from minnmt.nn.embedding import embedding_backward, embedding_forward
from minnmt.nn.functions import dropout_backward, dropout_forward
from minnmt.nn.gradcheck import check_gradients, numerical_gradient, relative_error
from minnmt.nn.gru import (
    gru_gates,
    gru_gates_backward,
    gru_inputs_backward,
    gru_inputs_forward,
    gru_sequence_backward,
    gru_sequence_forward,
    gru_step_backward,
    gru_step_forward,
)
from minnmt.nn.readout import readout_backward, readout_forward
from minnmt.nn.selection import Selection, needed_loss, selection_backward, selection_forward
from minnmt.nn.softmax import (
    softmax_loss_backward,
    softmax_loss_forward,
    softmax_nll,
    softmax_nll_backward,
)
from minnmt.nn.start_state import start_state_backward, start_state_forward
from minnmt.text.batches import make_batch
from tests.conftest import random_parameters

S, T, B, E, H, C, V = 5, 6, 2, 3, 4, 8, 11
NN, MODEL = (Path(minnmt.__file__).parent / name for name in ("nn", "model"))
CHECKED = {}


def checks(*names):
    """Register a test as the gradient check of `name` or `name`_forward, with its `name`_backward."""

    def register(test):
        CHECKED.update(dict.fromkeys(names, test))
        return test

    return register


@pytest.fixture
def params(rng):
    return random_parameters(rng, trg_words=V, embedding=E, hidden=H)


@pytest.fixture
def src_mask():
    mask = np.ones((S, B))
    mask[3:, 1] = 0
    return mask


def draw(rng, *shape):
    return rng.standard_normal(shape)


def arrays_of(p, **inputs):
    """One dictionary of everything to be differentiated: the parameters of p and the inputs."""
    return {**dict(named_arrays(p)), **inputs}


@checks("embedding")
def test_embedding(rng):
    table, ids, weights = draw(rng, V, E), np.array([[1, 5], [5, 5], [0, 2]]), draw(rng, 3, 2, E)
    dtable = np.zeros_like(table)
    embedding_backward(weights, embedding_forward(ids, table)[1], dtable)
    check_gradients(lambda: (embedding_forward(ids, table)[0] * weights).sum(), {"table": table}, {"table": dtable})


def test_embedding_backward_of_no_words(rng):
    dtable = np.zeros((V, E))
    embedding_backward(np.zeros((0, 2, E)), np.zeros((0, 2), int), dtable)
    assert not dtable.any()


@checks("dropout")
def test_dropout(rng):
    x, weights = draw(rng, 7, 5), draw(rng, 7, 5)

    def loss():
        return (dropout_forward(x, 0.4, np.random.default_rng(3))[0] * weights).sum()

    out, mask = dropout_forward(x, 0.4, np.random.default_rng(3))
    assert (out == 0).any() and (out != 0).any()
    check_gradients(loss, {"x": x}, {"x": dropout_backward(weights, mask)})


def test_dropout_keeps_the_mean_and_rate_0_does_nothing(rng):
    x = np.ones((400, 500))
    assert abs(dropout_forward(x, 0.3, rng)[0].mean() - 1) < 0.01
    assert dropout_forward(x, 0.0, rng)[0] is x


@checks("gru_inputs")
def test_gru_inputs(rng, params):
    p, x, weights = params.encoder_forward, draw(rng, S, B, E), (draw(rng, S, B, 2 * H), draw(rng, S, B, H))
    dx = gru_inputs_backward(*weights, p)
    check_gradients(
        lambda: sum((out * w).sum() for out, w in zip(gru_inputs_forward(x, p), weights)), {"x": x}, {"x": dx}
    )


@checks("gru_gates", "context_gates")
@pytest.mark.parametrize("forward, backward", [
    (gru_gates, gru_gates_backward), (context_gates, context_gates_backward),
])  # fmt: skip
def test_gates(rng, forward, backward):
    """Both cells: gradients of all that goes in, from the products to the old state."""
    shapes = dict(x_gates=2 * H, x_cand=H, h_gates=2 * H, h_cand=H, h_prev=H)
    inputs, weights = {name: draw(rng, B, size) for name, size in shapes.items()}, draw(rng, B, H)
    _, gates, c = forward(*inputs.values())
    dgates, dx_cand, dh_cand, dh_prev = backward(weights, gates, c, inputs["h_cand"], inputs["h_prev"])
    grads = dict(x_gates=dgates, x_cand=dx_cand, h_gates=dgates, h_cand=dh_cand, h_prev=dh_prev)
    check_gradients(lambda: (forward(*inputs.values())[0] * weights).sum(), inputs, grads)


@checks("gru_step")
@pytest.mark.parametrize("mask", [None, np.array([1.0, 1.0]), np.array([1.0, 0.0])])
def test_gru_step(rng, params, mask):
    p, weights = params.encoder_forward, draw(rng, B, H)
    inputs = dict(x_gates=draw(rng, B, 2 * H), x_cand=draw(rng, B, H), h_prev=draw(rng, B, H))

    def loss():
        return (gru_step_forward(**inputs, mask=mask, p=p)[0] * weights).sum()

    grads = gru_step_backward(weights, gru_step_forward(**inputs, mask=mask, p=p)[1], p)
    check_gradients(loss, inputs, dict(zip(inputs, grads)))
    # the recurrent weights' gradients are products of what the step returns
    dx_gates, _, _, dh_cand = grads
    expected = {"U": inputs["h_prev"].T @ dx_gates, "Ux": inputs["h_prev"].T @ dh_cand}
    check_gradients(loss, {"U": p.U, "Ux": p.Ux}, expected)


@checks("gru_sequence", "gru_steps")
def test_gru_sequence(rng, params, src_mask):
    p, weights = params.encoder_forward, draw(rng, S, B, H)
    inputs = dict(x=draw(rng, S, B, E), h0=draw(rng, B, H))
    g = zeros_like(p)
    _, cache = gru_sequence_forward(**inputs, mask=src_mask, p=p)
    dx, dh0 = gru_sequence_backward(weights, cache, p, g)
    check_gradients(
        lambda: (gru_sequence_forward(**inputs, mask=src_mask, p=p)[0] * weights).sum(),
        arrays_of(p, **inputs), arrays_of(g, x=dx, h0=dh0),
    )  # fmt: skip


@checks("encoder")
def test_encoder(rng, params, src_mask):
    p, q, x, weights = params.encoder_forward, params.encoder_backward, draw(rng, S, B, E), draw(rng, S, B, C)
    g, k = zeros_like(p), zeros_like(q)
    _, cache = encoder_forward(x, src_mask, p, q)
    dx = encoder_backward(weights, cache, p, q, g, k)

    def loss():
        return (encoder_forward(x, src_mask, p, q)[0] * weights).sum()

    check_gradients(loss, arrays_of(p, x=x), arrays_of(g, x=dx))
    check_gradients(loss, arrays_of(q), arrays_of(k))


@checks("attention_energy")
def test_attention_energy(rng):
    inputs = dict(h_proj=draw(rng, S, B, C), s_proj=draw(rng, B, C), v=draw(rng, C))
    weights, dh_proj, dv = draw(rng, S, B), np.zeros((S, B, C)), np.zeros(C)
    ds_proj = attention_energy_backward(weights, *inputs.values(), dh_proj, dv)
    grads = dict(h_proj=dh_proj, s_proj=ds_proj, v=dv)
    check_gradients(lambda: (attention_energy(*inputs.values()) * weights).sum(), inputs, grads)


@checks("masked_softmax")
def test_masked_softmax(rng, src_mask):
    energy, weights = draw(rng, S, B), draw(rng, S, B)
    denergy = masked_softmax_backward(weights, masked_softmax(energy, src_mask))
    assert not denergy[src_mask == 0].any()
    check_gradients(
        lambda: (masked_softmax(energy, src_mask) * weights).sum(), {"energy": energy}, {"energy": denergy}
    )


@checks("attention_context")
def test_attention_context(rng):
    alpha, h, weights = draw(rng, S, B), draw(rng, S, B, C), draw(rng, B, C)
    dalpha = attention_context_backward(weights, h)
    check_gradients(lambda: (attention_context(alpha, h) * weights).sum(), {"alpha": alpha}, {"alpha": dalpha})


@checks("attention", "attention_memory")
def test_attention(rng, params, src_mask):
    p, s, h, weights = params.attention, draw(rng, B, H), draw(rng, S, B, C), draw(rng, B, C)
    g, memory = zeros_like(p), attention_memory_forward(h, src_mask, p)
    _, alpha, cache = attention_forward(s, memory, p)
    assert np.allclose(alpha.sum(axis=0), 1) and not alpha[src_mask == 0].any()
    dh_proj = np.zeros_like(h)
    ds, ds_proj = attention_backward(weights, cache, memory, p, g, dh_proj)
    g.W_s += s.T @ ds_proj
    dh = attention_memory_backward(dh_proj, alpha[None], weights[None], memory, p, g)
    check_gradients(
        lambda: (attention_forward(s, attention_memory_forward(h, src_mask, p), p)[0] * weights).sum(),
        arrays_of(p, s=s, h=h), arrays_of(g, s=ds, h=dh),
    )  # fmt: skip


@checks("context_cell")
def test_context_cell(rng, params):
    p, weights = params.decoder_cell, draw(rng, B, H)
    inputs = dict(s1=draw(rng, B, H), context=draw(rng, B, C))
    g = zeros_like(p)
    ds1, dcontext, grads = context_cell_backward(weights, context_cell_forward(**inputs, p=p)[1], p)
    context_cell_add_weight_grads(**inputs, grads=grads, g=g)
    check_gradients(
        lambda: (context_cell_forward(**inputs, p=p)[0] * weights).sum(),
        arrays_of(p, **inputs), arrays_of(g, s1=ds1, context=dcontext),
    )  # fmt: skip


@checks("selection")
@pytest.mark.parametrize("weight", [1.0, 3.0])
def test_selection(rng, src_mask, weight):
    h, W, needed = rng.standard_normal((S, B, C)), rng.standard_normal((V, E)), (rng.random((B, V)) < 0.3).astype(float)
    p = Selection(*(rng.standard_normal(shape) for shape in ((C, E), (E,), (V,))))
    g = zeros_like(p)
    z, cache = selection_forward(h, src_mask, W, p)
    dz = needed_loss(z, needed, weight)[1]
    selection_backward(dz, cache, W, g)

    def loss():
        return needed_loss(selection_forward(h, src_mask, W, p)[0], needed, weight)[0].sum()

    check_gradients(loss, arrays_of(p), arrays_of(g))
    check_gradients(lambda: needed_loss(z, needed, weight)[0].sum(), {"z": z}, {"z": dz})


@checks("start_state")
def test_start_state(rng, params, src_mask):
    p, h, weights = params.start, draw(rng, S, B, C), draw(rng, B, H)
    g = zeros_like(p)
    dh = start_state_backward(weights, start_state_forward(h, src_mask, p)[1], p, g)
    check_gradients(
        lambda: (start_state_forward(h, src_mask, p)[0] * weights).sum(), arrays_of(p, h=h), arrays_of(g, h=dh)
    )


@checks("decoder_step")
def test_decoder_step(rng, params, src_mask):
    inputs = dict(y_gates=draw(rng, B, 2 * H), y_cand=draw(rng, B, H), s_prev=draw(rng, B, H))
    h, weights_s, weights_c = draw(rng, S, B, C), draw(rng, B, H), draw(rng, B, C)
    memory = attention_memory_forward(h, src_mask, params.attention)

    def loss():
        s, c, _, _ = decoder_step_forward(**inputs, memory=memory, p=params)
        return (s * weights_s).sum() + (c * weights_c).sum()

    cache = decoder_step_forward(**inputs, memory=memory, p=params)[3]
    dh_proj = np.zeros_like(h)
    ds_prev, step = decoder_step_backward(
        weights_s, weights_c, cache, memory, params, zeros_like(params.attention), dh_proj
    )
    grads = dict(y_gates=step.dx_gates, y_cand=step.dx_cand, s_prev=ds_prev, h_proj=dh_proj)
    check_gradients(loss, {**inputs, "h_proj": memory.h_proj}, grads)


@checks("decoder", "decoder_steps")
def test_decoder(rng, params, src_mask):
    inputs = dict(y=draw(rng, T, B, E), s0=draw(rng, B, H))
    h, weights_s, weights_c = draw(rng, S, B, C), draw(rng, T, B, H), draw(rng, T, B, C)

    def run():
        return decoder_forward(**inputs, memory=attention_memory_forward(h, src_mask, params.attention), p=params)

    def loss():
        states, contexts, _, _ = run()
        return (states * weights_s).sum() + (contexts * weights_c).sum()

    g = zeros_like(params)
    dy, ds0, dh = decoder_backward(weights_s, weights_c, run()[3], params, g)
    for part in ("decoder_gru", "attention", "decoder_cell"):
        check_gradients(loss, arrays_of(getattr(params, part)), arrays_of(getattr(g, part)))
    check_gradients(loss, {**inputs, "h": h}, dict(y=dy, s0=ds0, h=dh))


@checks("readout")
def test_readout(rng, params):
    p, weights = params.readout, draw(rng, 5, E)
    inputs = dict(s=draw(rng, 5, H), y=draw(rng, 5, E), c=draw(rng, 5, C))
    g = zeros_like(p)
    grads = readout_backward(weights, readout_forward(**inputs, p=p)[1], p, g)
    check_gradients(
        lambda: (readout_forward(**inputs, p=p)[0] * weights).sum(),
        arrays_of(p, **inputs), arrays_of(g, **dict(zip(inputs, grads))),
    )  # fmt: skip


@checks("softmax_nll")
def test_softmax_nll(rng):
    scores, b, targets, weights = draw(rng, 4, V), draw(rng, V), np.array([4, 0, 6, 4]), draw(rng, 4)
    _, probs = softmax_nll(scores, b, targets)
    assert np.allclose(probs.sum(axis=1), 1)
    dscores, db = softmax_nll_backward(weights, probs, targets)
    check_gradients(
        lambda: (softmax_nll(scores, b, targets)[0] * weights).sum(),
        dict(scores=scores, b=b), dict(scores=dscores, b=db),
    )  # fmt: skip


@checks("softmax_loss")
@pytest.mark.parametrize("ids", [None, np.array([0, 1, 4, 6])])
def test_softmax_loss(rng, params, ids):
    p, o, targets, weights = params.softmax, draw(rng, 4, E), np.array([4, 0, 6, 1]), draw(rng, 4)
    g = zeros_like(p)
    do = softmax_loss_backward(weights, softmax_loss_forward(o, targets, p, ids)[1], g)
    check_gradients(
        lambda: (softmax_loss_forward(o, targets, p, ids)[0] * weights).sum(), arrays_of(p, o=o), arrays_of(g, o=do)
    )


@checks("word_loss")
@pytest.mark.parametrize("most_logits", [1 << 27, 8, 1])  # at once, in slices of several rows, and one by one
@pytest.mark.parametrize("ids", [None, np.array([0, 1, 4, 6]), [np.array([0, 1, 4, 6]), np.array([0, 1, 2, 4])]])
def test_word_loss(rng, params, ids, most_logits, monkeypatch):
    """Two sentences of three words, also with a list each; the second sentence's last word is padding."""
    monkeypatch.setattr("minnmt.model.network.MOST_LOGITS", most_logits)
    p, o, weights = params.softmax, draw(rng, 6, E), draw(rng, 6)
    targets, mask = np.array([4, 1, 6, 4, 0, 7]), np.array([1.0, 1, 1, 1, 1, 0])  # 7 is no candidate, but masked
    g = zeros_like(p)
    nll, cache = word_loss_forward(o, targets, mask, p, ids)
    assert nll[5] == 0 and nll[:5].all()
    assert any(part.cache is None for part in cache.parts) == (most_logits < 1 << 27)
    do = word_loss_backward(weights, cache, p, g)
    check_gradients(
        lambda: (word_loss_forward(o, targets, mask, p, ids)[0] * weights).sum(), arrays_of(p, o=o), arrays_of(g, o=do)
    )


@checks("network")
@pytest.mark.parametrize("dropout", [0.0, 0.3])
@pytest.mark.parametrize(
    "ids", [None, np.array([0, 1, 2, 3, 5, 7]), [np.array([0, 1, 2, 5, 7, 9]), np.array([0, 1, 2, 3, 5])]]
)
def test_network(rng, params, dropout, ids):
    batch = make_batch([[2, 8, 3, 8], [4]], [[5, 2, 7], [3, 3, 3, 2, 5]])

    def run():
        return network_forward(batch, params, ids, Dropout(dropout, np.random.default_rng(5)))

    g = zeros_like(params)
    network_backward(np.full(2, 0.5), run()[1], params, g)
    check_gradients(lambda: run()[0].nll.mean(), arrays_of(params), arrays_of(g))


# each caller writes its reverse
ARITHMETIC = {
    "in_bf16", "sigmoid", "halves", "flat", "matmul", "multiplier", "product", "rows", "log_normalised",
    "states_before",
}  # fmt: skip


def test_whatever_computes_in_a_forward_pass_has_a_backward_and_a_check(params):
    """Found by what runs, not by name: every function of nn that network_forward reaches needs its reverse."""
    reached = set()

    def note(frame, event, argument):
        path = Path(frame.f_code.co_filename)
        if event == "call" and path.parent in (NN, MODEL):
            reached.add((path, frame.f_code.co_name))

    batch, lists = make_batch([[2, 8, 3], [4]], [[5, 2], [3]]), [np.arange(8), np.arange(6)]
    sys.setprofile(note)
    try:
        network_forward(batch, params, lists, Dropout(0.3, np.random.default_rng(5)))
    finally:
        sys.setprofile(None)
    computing = [
        (path, name) for path, name in reached
        if (path.parent == NN or name.endswith("_forward")) and not name.startswith("<")
    ]  # fmt: skip
    assert len(computing) > 20
    for path, name in computing:
        stem = name.removesuffix("_forward")
        if name not in ARITHMETIC:
            assert f"{stem}_backward" in functions_of(path), f"{path.name}: {name} has no backward"
            assert stem in CHECKED, f"{path.name}: the gradients of {name} are not checked"


def test_every_backward_is_checked():
    paths = sorted(Path(minnmt.__file__).parent.rglob("*.py"))
    backwards = [name for path in paths for name in functions_of(path) if name.endswith("_backward")]
    assert len(backwards) > 20 and {name.removesuffix("_backward") for name in backwards} == set(CHECKED)


def functions_of(path):
    return [node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)]


def test_the_checker_notices_a_wrong_gradient():
    x = np.array([1.0, 2.0])
    with pytest.raises(AssertionError, match="gradient of x"):
        check_gradients(lambda: (x**2).sum(), {"x": x}, {"x": 2 * x + 1e-4})
    assert relative_error(numerical_gradient(lambda: (x**2).sum(), x), 2 * x) < 1e-9


def test_the_checker_says_what_is_right(capsys):
    x = np.array([1.0, 2.0])
    many = {f"x{i}": x for i in range(12)}
    check_gradients(lambda: (x**2).sum(), {"x": x, "y": x}, {"x": 2 * x, "y": 2 * x})
    check_gradients(lambda: (x**2).sum(), many, dict.fromkeys(many, 2 * x))
    assert capsys.readouterr().out == "gradients of x, y: right\ngradients of 12 arrays: right\n"
