"""Mistakes that students make in the lessons' own computations, and the words with which check names each of them."""

import numpy as np
import pytest

from minnmt.course import CheckFailed, check
from minnmt.nn.functions import sigmoid
from minnmt.nn.gru import GRU, gru_inputs_forward, gru_step_forward
from minnmt.nn.softmax import Softmax, log_softmax

rng = np.random.default_rng(3)
B, E, H, S, T, V = 3, 2, 4, 5, 6, 7
x, h = rng.standard_normal((B, E)), rng.standard_normal((B, H))
p = GRU(*(rng.standard_normal(shape) for shape in ((E, 2 * H), 2 * H, (H, 2 * H), (E, H), H, (H, H))))
gates = sigmoid(x @ p.W + p.b + h @ p.U)
r, u = gates[:, :H], gates[:, H:]
cand = np.tanh(x @ p.Wx + p.bx + r * (h @ p.Ux))
h_new = u * h + (1 - u) * cand
dh_new = rng.standard_normal((B, H))
energies = rng.standard_normal((S, B))
mask = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0], [1, 0, 0], [1, 0, 0]])
states = rng.standard_normal((S, B, H)) * mask[:, :, None]
alpha = np.exp(energies) * mask / (np.exp(energies) * mask).sum(axis=0)
o, output = rng.standard_normal((T, E)), Softmax(rng.standard_normal((V, E)), rng.standard_normal(V))
logits = o @ output.W.T + output.b
targets = rng.integers(V, size=T)
logp = log_softmax(o, output)
nll = -logp[np.arange(T), targets]
p_words = np.exp(logp)
dlogits = p_words - np.eye(V)[targets]
counts = np.array([[9.0, 0, 0, 0], [0, 6, 1, 3], [0, 1, 3, 0.1], [0, 0.5, 0, 2]])
probs = counts / counts.sum(axis=1, keepdims=True)
alpha_links = np.array([[0.1, 0.7, 0.2], [0.05, 0.1, 0.85], [0.6, 0.4, 0.0]])
linked = np.where(alpha_links > 0.1, alpha_links, 0)
gradient, moment = rng.standard_normal(5), rng.standard_normal(5)
m_new = 0.9 * moment + 0.1 * gradient
words = ["eos", "UNK", "house", "the"]
best = np.argsort(-probs, axis=1, kind="stable")[:, :2]
lengths = mask.sum(axis=0)
bleu_precisions = np.array([5 / 6, 3 / 5, 1 / 4, 1 / 3])

MISTAKES = {  # what was done wrong: (yours, expected, further arguments, words of the answer)
    # 00 data
    "eos is missing from a list": (["UNK", "house", "the"], words, {}, ["3 items instead of 4", "missing: 'eos'"]),
    "a list is not sorted": (["UNK", "eos", "the", "house"], words, {}, ["another order"]),
    "words twice in a union": ([*words, "the"], words, {}, ["more than once"]),
    "capital letters lost": ("das haus ist blau .", "das Haus ist blau .", {}, ["capital letters", "character 4"]),
    "a text joined without spaces": ("dasHaus", "das Haus", {}, ["only spaces differ"]),
    "count of a dictionary off by one": ({"das": 2, "Haus": 1}, {"das": 3, "Haus": 1}, {}, ["['das']", "off by one"]),
    "a mean over padding, too": (states.mean(axis=0), states.sum(axis=0) / lengths[:, None],
        {"usual": {"the mean counts padding: divide by the number of words": states.mean(axis=0)}}, ["counts padding"]),
    "ids one step late": (np.r_[0, targets[:-1]], targets, {}, ["one step late"]),
    # 01 backpropagation
    "no return": (None, x, {}, ["not yet done", "return"]),
    "a blank left empty": (..., x, {}, ["not yet done", "fill in the blank"]),
    "the function instead of its result": (np.tanh, x, {}, ["a function instead of", "call it"]),
    "a missing transpose": (p.Ux @ p.U, (p.Ux @ p.U).T, {}, ["transposed"]),
    "a missing transpose of a square matrix": (p.Ux, p.Ux.T, {}, ["transposed", "[0, 1]"]),
    "bias gradient summed over the wrong axis": (dh_new.sum(axis=1), dh_new.sum(axis=0),
        {"usual": {"summed over the outputs: axis=0 is the batch": dh_new.sum(axis=1)}}, ["axis=0 is the batch"]),
    "a sum along the wrong axis": (dh_new.sum(axis=1), dh_new.sum(axis=0), {}, ["3 numbers", "along the wrong axis"]),
    "everything summed": (dh_new.sum(), dh_new, {}, ["shape () instead of (3, 4)", "summed over everything"]),
    "ids left out of a list": ([3, 9], [0, 3, 8, 9], {}, ["missing: 0, 8"]),
    "bias gradient not summed": (dh_new, dh_new.sum(axis=0), {}, ["not yet summed over axis 0"]),
    "bias gradient averaged": (dh_new.mean(axis=0), dh_new.sum(axis=0), {}, ["1/3", "mean instead of a sum"]),
    "wrong sign of a gradient": (-dh_new, dh_new, {}, ["sign"]),
    "derivative of tanh from its input": (dh_new * (1 - np.arctanh(cand) ** 2), dh_new * (1 - cand**2),
        {"usual": {"the derivative of tanh needs its output": lambda: dh_new * (1 - np.arctanh(cand) ** 2)}},
        ["needs its output"]),
    "a gradient that was not added": (np.zeros((B, H)), dh_new, {}, ["all zeros", "copy"]),
    "a derivative without its factor 2": (gradient, 2 * gradient, {}, ["half the expected"]),
    # 02 gru
    "swapped gates": (np.concatenate([u, r], axis=1), gates, {}, ["two halves of axis 1 are swapped", "r, then u"]),
    "u and 1 - u swapped": ((1 - u) * h + u * cand, h_new,
        {"usual": {"u keeps the old state: u * h + (1 - u) * candidate": lambda: (1 - u) * h + u * cand}},
        ["u keeps the old state"]),
    "missing 1 - u": (1 - u, u, {}, ["1 minus the expected"]),
    "tanh twice": (np.tanh(cand), cand, {}, ["one tanh too many"]),
    "sigmoid twice": (sigmoid(gates), gates, {}, ["one sigmoid too many"]),
    "no tanh": (np.arctanh(cand), cand, {}, ["a tanh is missing"]),
    "no sigmoid": (x @ p.W + p.b + h @ p.U, gates, {}, ["a sigmoid is missing"]),
    "no bias": (x @ p.W, x @ p.W + p.b, {}, ["same vector", "bias"]),
    "only one of two gates": (r, gates, {}, ["shape (3, 4) instead of (3, 8)", "half as long"]),
    "backward states not turned around": (states[::-1], states, {}, ["backwards along axis 0"]),
    "states one step early": (np.r_[states[1:], states[:1]], states, {}, ["one step early along axis 0"]),
    "the last state forgotten": (states[:-1], states, {}, ["the last entry of axis 0 is missing"]),
    "no mask": (np.where(mask, 1.0, 3.0), mask * 1.0, {"mask": mask}, ["only padding differs", "mask"]),
    # 03 attention
    "softmax over the wrong axis": (
        np.exp(logits) / np.exp(logits).sum(axis=0), p_words, {}, ["axis 0, the wrong axis"]),
    "softmax over everything": (np.exp(logits) / np.exp(logits).sum(), p_words, {}, ["over all numbers", "keepdims"]),
    "exp without the sum": (np.exp(logits), p_words, {}, ["does not sum to 1 along axis 1"]),
    "exp without the sum, three weights": (np.array([1.0, 2, 5]), np.array([1, 2, 5]) / 8, {},
        ["does not sum to 1 along axis 0", "divide by the sum"]),
    "a running sum of weights": (np.cumsum(alpha, axis=0), alpha, {}, ["adds up along axis 0"]),
    "softmax without a mask": (np.exp(energies) / np.exp(energies).sum(axis=0), alpha,
        {"usual": {"padding has weight, too: multiply by the mask before the sum": lambda: (
            np.exp(energies) / np.exp(energies).sum(axis=0))}}, ["padding has weight"]),
    "context not summed": (alpha[:, :, None] * states, (alpha[:, :, None] * states).sum(axis=0), {},
        ["not yet summed over axis 0"]),
    "overflow": (np.array([np.nan, 1.0]), np.array([0.5, 0.5]), {}, ["nan", "maximum"]),
    # 04 training
    "no log": (p_words, logp, {}, ["the log is missing"]),
    "log of base 2": (nll / np.log(2), nll, {}, ["base 2"]),
    "logits instead of log-probabilities": (logits, logp, {}, ["each row is off by a number of its own"]),
    "sum for mean": (nll.sum(), nll.mean(), {}, ["6 times the expected", "sum instead of a mean"]),
    "perplexity without exp": (nll.mean(), np.exp(nll.mean()), {}, ["an exp is missing"]),
    "dlogits without the target": (p_words, dlogits,
        {"usual": {"1 is to be subtracted at the target": p_words}}, ["subtracted at the target"]),
    "bias correction left out": (m_new, m_new / (1 - 0.9),
        {"usual": {"the bias correction is missing: divide by 1 - beta1 ** t": m_new}}, ["bias correction is missing"]),
    "a factor left out": (m_new, m_new / (1 - 0.9), {}, ["1/10 of the expected", "a factor is missing"]),
    "moments mixed up": (0.1 * moment + 0.9 * gradient, m_new,
        {"usual": {"beta1 keeps the old moment": 0.1 * moment + 0.9 * gradient}}, ["keeps the old moment"]),
    "no square root": (gradient**2, np.abs(gradient), {}, ["the square root is missing"]),
    "epsilon left out": (
        0.3 * np.sign(gradient), 0.3 * gradient / (np.abs(gradient) + 1e-4), {}, ["nearly", "epsilon"]),
    # 05 search
    "score not divided by the length": (-7.5, -1.5, {}, ["5 times the expected"]),
    "no smoothing": (0.0, 1 / 6, {"usual": {"no match gives 0: smooth it": 0.0}}, ["smooth it"]),
    "precision upside down": (1 / bleu_precisions, bleu_precisions, {}, ["upside down"]),
    "beam by the wrong side": (words[::-1], words, {}, ["backwards"]),
    # 06 alignments
    "threshold >= instead of >": (np.where(alpha_links >= 0.1, alpha_links, 0), linked, {},
        ["2 places where 0 is expected", "threshold"]),
    "counts of a row left out": (np.where(np.arange(4)[:, None] == 1, 0, counts), counts, {},
        ["where a number is expected", "left out"]),
    "source and target swapped": (counts.T, counts, {}, ["transposed"]),
    "accumulated without a reset": (np.cumsum(counts, axis=0), counts, {}, ["adds up along axis 0"]),
    # 07 vocabulary selection
    "normalised by columns": (counts / counts.sum(axis=0), probs, {}, ["axis 0, the wrong axis", "axis 1"]),
    "not normalised": (counts, probs, {}, ["does not sum to 1 along axis 1"]),
    "top-n by the wrong side": (np.argsort(probs, axis=1, kind="stable")[:, :2], best,
        {"usual": {"these are the worst: argsort rises": lambda: np.argsort(probs, axis=1, kind="stable")[:, :2]}},
        ["these are the worst"]),
    "eos missing from ids": ([3, 8, 9], [0, 3, 8, 9], {}, ["3 numbers instead of 4", "first entry"]),
    "floor division": (np.array([3.0, 4.0]), np.array([3.25, 4.75]), {}, ["rounded down", "//"]),
    "a mask turned around": (mask == 0, mask == 1, {}, ["True and False have changed places"]),
    "fractions for ids": (np.array([1.5, 2.0, 7.0]), np.array([1, 2, 8]), {}, ["whole numbers"]),
}  # fmt: skip


def answer(yours, expected, capsys, **arguments):
    """What check says."""
    try:
        check("it", yours, expected, **arguments)
    except CheckFailed as error:
        return str(error)
    return capsys.readouterr().out


@pytest.mark.parametrize("mistake", MISTAKES)
def test_the_answer_names_the_mistake(mistake, capsys):
    yours, expected, arguments, said = MISTAKES[mistake]
    text = answer(yours, expected, capsys, **arguments)
    assert all(part in text for part in said), text
    assert text.startswith("it: not ") and "hint: " in text or "not yet done" in text


def test_there_are_enough_of_them():
    assert len(MISTAKES) >= 30


@pytest.mark.parametrize("mistake", MISTAKES)
def test_what_is_right_passes(mistake, capsys):
    _, expected, arguments, _ = MISTAKES[mistake]
    assert answer(expected, expected, capsys, **arguments).startswith("it: right")


def test_the_computations_are_the_packages():
    """So the mistakes are mistakes in these, not in something else."""
    found = gru_step_forward(*gru_inputs_forward(x, p), h, np.ones(B), p)[0]
    assert np.allclose(found, h_new)
