"""The printable sheet of tutorials/teaching: every answer is what the package computes from what is given."""

import re
from pathlib import Path

import numpy as np
import pytest

from minnmt.align.accumulator import Accumulator
from minnmt.align.candidates import best_candidates, probabilities
from minnmt.align.selector import Selector
from minnmt.nn.attention import masked_softmax
from minnmt.nn.list_softmax import gather_lists, list_log_softmax
from minnmt.nn.softmax import Softmax, log_softmax
from minnmt.text.batches import make_batch, pad

SHEET = (Path(__file__).parent.parent / "tutorials" / "teaching" / "sheet.html").read_text(encoding="utf-8")
SRC = ["eos", "UNK", "das", "Haus", "Buch"]
TRG = ["eos", "UNK", "the", "house", "book"]
PAIRS = [("das Haus", "the house"), ("das Buch", "the book")]


def marked(kind):
    """The texts of the sheet that carry data-KIND="NAME": {name: [text, ...]} in their order."""
    found = {}
    for name, text in re.findall(rf'data-{kind}="([^"]+)">([^<]*)<', SHEET):
        found.setdefault(name, []).append(text)
    return found


def numbers(texts):
    return np.array([float(text.replace(",", "")) for text in texts])


GIVEN, ANSWERS = marked("given"), marked("answer")


def ids(words, vocabulary):
    return [vocabulary.index(word) for word in words.split()]


def attention():
    """alpha (T,S) of both pairs: computed from the energies of the first, given for the second."""
    energy = np.log(np.array([numbers(GIVEN[f"exp {word}"]) for word in ("the", "house", "eos")]))
    first = masked_softmax(energy.T, np.ones_like(energy)).T  # over source positions
    return [first, np.array([numbers(GIVEN[f"alpha {word}"]) for word in ("the", "book", "eos")])]


def counts():
    accumulator = Accumulator(len(SRC), len(TRG), threshold=float(GIVEN["threshold"][0]))
    for alpha, (src, trg) in zip(attention(), PAIRS):
        accumulator.add_attention(alpha[:, :, None], make_batch([ids(src, SRC)], [ids(trg, TRG)]))
    return accumulator.counts()


def listed(src, n=None):
    """The ids of a sentence's list."""
    selector = Selector(best_candidates(counts(), n or int(GIVEN["n"][0])))
    return selector.lists(*pad([ids(src, SRC)]))[0]


def softmax_layer(exp_logits):
    """An output layer, and a readout with which it has these logits."""
    return np.ones((1, 1)), Softmax(np.log(exp_logits)[:, None], np.zeros(len(exp_logits)))


def expected():
    """What the package computes, spelled as on the sheet: {name: [text, ...]}."""
    answers = {f"alpha {word}": row for word, row in zip(("the", "house", "eos"), attention()[0])}
    answers = {name: [f"{value:.2f}" for value in row] for name, row in answers.items()}
    found = counts()
    table = np.zeros((len(SRC), len(TRG)))
    table[found.rows, found.indices] = found.data
    for word in ("das", "Haus", "Buch", "eos"):
        answers[f"count {word}"] = [f"{value:.2f}" if value else "" for value in table[SRC.index(word)]]
    answers["cells"] = [str(found.n_cells)]
    for f, e, p in zip(found.rows, found.indices, probabilities(found)):
        if SRC[f] != "eos":
            answers[f"p {SRC[f]} {TRG[e]}"] = [f"{p:.3f}"]
    for src in ("das Haus", "das Buch", "Haus"):
        answers[f"list {src}"] = [" ".join(TRG[e] for e in listed(src))]
    answers["added"] = [TRG[e] for e in sorted({*listed("das Buch", 2)} - {*listed("das Buch")})]
    return answers | softmax_answers() | gains()


def softmax_answers():
    given, words = numbers(GIVEN["logit"]), listed("das Buch")
    o, layer = softmax_layer(given)
    full = np.exp(log_softmax(o, layer))[0]
    short = np.exp(list_log_softmax(o, gather_lists([words], layer)))[0]
    by_word = dict(zip(words, short))
    given[TRG.index("house")] = float(GIVEN["other"][0])
    o, layer = softmax_layer(given)
    winner = int(log_softmax(o, layer)[0].argmax())
    of_list = int(words[list_log_softmax(o, gather_lists([words], layer))[0].argmax()])
    return {
        "full": [f"{p:.2f}" for p in full],
        "listed": [f"{by_word[e]:.4f}" if e in by_word else "" for e in range(len(TRG))],
        "mass": [f"{full[words].sum():.2f}"],
        "winner full": [TRG[winner]],
        "winner list": [TRG[of_list]],
    }


def gains():
    network, K, V = (numbers(GIVEN[name])[0] for name in ("network", "listed", "vocabulary"))
    return {"gain": [f"{(network + V) / (network + K):.2f}"], "limit": [f"{(network + V) / network:.2f}"]}


def test_the_sheet_has_an_answer_to_everything():
    assert set(ANSWERS) == set(expected())


@pytest.mark.parametrize("name", sorted(ANSWERS))
def test_every_answer_is_what_the_package_computes(name):
    assert ANSWERS[name] == expected()[name]
