"""Selectors by name: their union, the neural one, and what the commands make of them."""

import io
from dataclasses import replace

import numpy as np
import pytest

from minnmt.model.directory import load_model
from minnmt.nn.selection import Selection, needed_loss, selection_forward
from minnmt.search.neural_selector import NeuralSelector, annotations, load_selection, save_selection
from minnmt.search.selectors import SELECTORS, Union
from minnmt.tasks import selecting
from minnmt.tasks.selecting import first_selection, selection_gradient, shared_gradient, train_selection
from minnmt.text.batches import make_batch, pad
from minnmt.text.split import Split
from minnmt.train.adam import Adam
from minnmt.train.settings import Settings
from minnmt.train.status import Status
from tests.conftest import run_cli
from tests.search.test_lists import sharp

S, B, C, E, V = 5, 3, 6, 4, 9


def layer(rng, dtype=np.float64, sizes=(C, E, V)):
    C, E, V = sizes
    return Selection(*(rng.standard_normal(shape).astype(dtype) for shape in ((C, E), (E,), (V,))))


def mask_of(lengths):
    return (np.arange(S)[:, None] < np.array(lengths)).astype(float)


def test_the_layer_looks_at_each_position_and_takes_the_most(rng):
    h, mask, W, p = rng.standard_normal((S, B, C)), mask_of([5, 1, 3]), rng.standard_normal((V, E)), layer(rng)
    z, _ = selection_forward(h, mask, W, p)
    for b, length in enumerate([5, 1, 3]):
        for v in range(V):
            scores = [np.tanh(h[i, b] @ p.P + p.p) @ W[v] for i in range(length)]
            assert z[b, v] == pytest.approx(max(scores) + p.b[v])


def test_the_loss_is_finite_for_large_numbers():
    loss, dz = needed_loss(np.array([[800.0, -800.0]]), np.array([[1.0, 0.0]]))
    assert loss.tolist() == [0.0] and np.abs(dz).max() == 0


def test_training_learns_which_words_are_needed(rng):
    """Target words that copy the source's: after some updates they are more probable than others."""
    params = sharp(rng, np.float32, trg_words=9)
    src = [rng.integers(2, 9, 3).tolist() for _ in range(60)]
    chosen = first_selection(params, src, rng)
    adam, batch = Adam.for_parameters(chosen), make_batch(src, src)
    losses = []
    for _ in range(200):
        loss, grads = shared_gradient([batch], params, chosen, map)
        adam.update(chosen, grads, 0.02)
        losses.append(loss)
    assert losses[-1] < 0.6 * losses[0]
    lists = NeuralSelector(params, chosen, 0.7).lists(*pad(src))
    own = np.mean([np.isin(s, ids).mean() for s, ids in zip(src, lists)])
    others = np.mean([np.isin(s, ids).mean() for s, ids in zip(src[1:] + src[:1], lists)])
    assert own > others + 0.2


def test_shares_of_a_batch_add_up_to_its_gradient(rng):
    params = sharp(rng, np.float64, trg_words=9)
    src = [rng.integers(2, 9, n).tolist() for n in (5, 3, 4, 1, 2)]
    chosen = first_selection(params, src, rng)
    loss, grads = selection_gradient(make_batch(src, src), params, chosen)
    parts = [make_batch(src[i::2], src[i::2]) for i in range(2)]
    shared_loss, shared = shared_gradient(parts, params, chosen, map)
    assert shared_loss == pytest.approx(loss)
    for name, array in vars(shared).items():
        expected = getattr(grads, name) / len(src)
        np.testing.assert_allclose(array, expected, rtol=1e-5, atol=1e-5 * np.abs(expected).max(), err_msg=name)


def test_the_layer_does_not_depend_on_the_number_of_threads(tiny_run):
    model = load_model(tiny_run)
    split = Split(["eins zwei blau.", "rot Haus.", "zwei.", "vier", "Haus"] * 4, ["one two blue.", "red"] * 10)
    settings = [replace(Settings(), threads=n) for n in (1, 3)]
    one, other = (train_selection(model, split, each, Status(io.StringIO()), epochs=2)[0] for each in settings)
    for name, array in vars(one).items():
        np.testing.assert_array_equal(array, getattr(other, name))


@pytest.mark.parametrize("method", ["neural", "phrases"])
def test_as_many_threads_as_asked_for_make_it(tiny_run, tmp_path, monkeypatch, method):
    asked, name = [], "train_selection" if method == "neural" else "count_phrases"
    make = getattr(selecting, name)
    monkeypatch.setattr(selecting, name, lambda *given: asked.append(given[2].threads) or make(*given))
    made = run_cli("align", "-m", tiny_run, "--method", method, "-o", tmp_path / "made.npz", "--threads", 3)
    assert made.code == 0 and asked == [3], made.err


def test_a_lower_threshold_only_adds_words(rng):
    params = sharp(rng, np.float32)
    chosen, src = first_selection(params, [[2, 3], [4]], rng), pad([[2, 3, 4], [5]])
    sizes = []
    for threshold in (0.9, 0.1, 1e-6):
        lists = NeuralSelector(params, chosen, threshold).lists(*src)
        assert all(ids[:2].tolist() == [0, 1] and (np.diff(ids) > 0).all() for ids in lists)
        sizes.append([len(ids) for ids in lists])
    assert sizes[0] <= sizes[1] < sizes[2] == [30, 30]


def test_a_list_does_not_depend_on_its_batch(rng):
    params = sharp(rng, np.float64)
    chosen = layer(rng, sizes=(16, 6, 30))
    sentences = [[2, 3, 4], [5], [6, 7, 8, 2, 3]]
    together = NeuralSelector(params, chosen, 0.5).scores(*pad(sentences))
    for row, src in zip(together, sentences):
        np.testing.assert_allclose(NeuralSelector(params, chosen, 0.5).scores(*pad([src]))[0], row, atol=1e-9)
    assert annotations(*pad(sentences), params).shape == (6, 3, 16)


def test_the_file_of_the_layer(rng, tmp_path):
    params, path = sharp(rng, np.float32), tmp_path / "selection.npz"
    chosen = first_selection(params, [[2]], rng)
    save_selection(path, chosen, {})
    for name, array in vars(load_selection(path, params)).items():
        np.testing.assert_array_equal(array, getattr(chosen, name))
    from minnmt.errors import UserError

    with pytest.raises(UserError, match="align --method neural"):
        load_selection(path, sharp(rng, np.float32, trg_words=31))


def test_a_union_has_every_word_once():
    class Fixed:
        def __init__(self, *lists):
            self.found = [np.array(ids) for ids in lists]

        def lists(self, src_ids, src_mask):
            return self.found

    union = Union([Fixed([0, 1, 5], [0, 1]), Fixed([0, 1, 3, 5], [0, 1, 2])])
    assert [ids.tolist() for ids in union.lists(None, None)] == [[0, 1, 3, 5], [0, 1, 2]]


def test_from_align_to_decode(tiny_run, tmp_path):
    import shutil

    run, text = tmp_path / "run", tmp_path / "text"
    shutil.copytree(tiny_run, run)
    text.write_text("eins zwei blau.\nrot Haus vier.\n")
    missing = run_cli("decode", "-m", run, "-i", text, "--select", "neural")
    assert missing.code == 1 and "align" in missing.err and "--method neural" in missing.err
    for method in ("phrases", "neural", "screen"):
        made = run_cli("align", "-m", run, "--method", method)
        assert made.code == 0 and f"--select {method}" in made.err, made.err
        again = run_cli("align", "-m", run, "--method", method)
        assert again.code == 2 and "--overwrite" in again.err
    full = run_cli("decode", "-m", run, "-i", text)
    why = run_cli("candidates", "why", "-m", run, "eins zwei blau.", "blue", "--select", "copy", "--select", "phrases")
    assert why.code == 0 and "copy: does not bring it" in why.out and "phrases: " in why.out, why.err
    vmap = run_cli("candidates", "export", "-m", run, "--format", "ct2", "--phrases", "-o", tmp_path / "vmap.txt")
    files = [tmp_path / "vmap.txt", "-o", tmp_path / "c.npz", "--phrases", tmp_path / "p.npz"]
    assert "phrases with candidates that their words do not bring: " in vmap.err
    back = run_cli("candidates", "import", "-m", run, *files)
    assert vmap.code == back.code == 0 and (tmp_path / "p.npz").exists(), (vmap.err, back.err)
    by_sentence = [name for name in SELECTORS if name != "screen"]
    for names in by_sentence, ("neural",), ("counts", "copy"), ("copy",):
        options = [option for name in names for option in ("--select", name)]
        topn = ["--topn", 2] if "counts" in names else []
        found = run_cli("decode", "-m", run, "-i", text, *topn, *options, "--verify", "all")
        assert found.code == 0 and "words per sentence" in found.err and found.out == full.out, found.err
    for engine in ("int8", "float32", "plain"):  # all words of every group: full decoding
        found = run_cli("decode", "-m", run, "-i", text, "--topn", 10_000, "--select", "screen", "--engine", engine)
        assert found.code == 0 and "words per step" in found.err and found.out == full.out, found.err
    audited = run_cli("audit", "-m", run, "--select", "neural", "--verify", "best", "--examples", 0)
    assert audited.code == 0, audited.err


@pytest.mark.parametrize(
    "options, message",
    [
        (["decode", "--select", "counts"], "--select counts needs --topn N"),
        (["decode", "--select", "phrases"], "--select phrases needs --topn N"),
        (["decode", "--select", "magic"], "'magic'"),
        (["decode", "--select", "screen"], "--select screen needs --topn N"),
        (["decode", "--select", "screen", "--topn", 5, "--verify", "all"], "--verify"),
        (["decode", "--select", "screen", "--select", "copy", "--topn", 5], "give it alone"),
        (["audit", "--select", "screen"], "--select screen has none"),
        (["align", "--method", "phrases", "--frozen"], "--frozen"),
        (["align", "--method", "neural", "--pharaoh", "x"], "--pharaoh"),
        (["align", "--method", "screen", "--threads", 2], "--threads goes with"),
    ],
)
def test_what_is_refused(tiny_run, options, message):
    command, *rest = options
    result = run_cli(command, "-m", tiny_run, *rest)
    assert result.code == 2 and message in result.err
