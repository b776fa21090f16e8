"""The quiz of tutorials/teaching: ten questions per lesson, an answer to each; numbers are the package's."""

import re
from pathlib import Path

import numpy as np
import pytest

from minnmt.align.accumulator import Accumulator, find_links
from minnmt.align.bitext import Bitext
from minnmt.align.candidates import best_candidates, probabilities
from minnmt.align.counts import Counts
from minnmt.align.links import alignment_error_rate
from minnmt.align.model1 import train_model1
from minnmt.align.selector import Selector
from minnmt.nn.attention import masked_softmax, masked_softmax_backward
from minnmt.nn.gru import gru_gates
from minnmt.nn.list_softmax import gather_lists, list_log_softmax
from minnmt.nn.softmax import Softmax, log_softmax, softmax_nll, softmax_nll_backward
from minnmt.search.beam import SearchSettings
from minnmt.search.packed import round_rows
from minnmt.text.batches import make_batch, pad
from minnmt.text.bpe import learn_bpe
from minnmt.text.vocab import Vocab
from minnmt.train.adam import Adam, clip_gradients

TEACHING = Path(__file__).parent.parent / "tutorials" / "teaching"
N_LESSONS, N_QUESTIONS = 12, 10


def entries(name):
    """A page -> {lesson's number: [entry 1, entry 2, ...]}."""
    text = (TEACHING / name).read_text(encoding="utf-8")
    sections = re.split(r"^## (\d\d) .*$", text, flags=re.M)
    found = {}
    for number, body in zip(sections[1::2], sections[2::2]):
        parts = re.split(r"^(\d+)\. ", body, flags=re.M)
        assert [int(n) for n in parts[1::2]] == list(range(1, len(parts) // 2 + 1)), number
        found[number] = [" ".join(part.split()) for part in parts[2::2]]
    return found


QUESTIONS, ANSWERS = entries("quiz.md"), entries("quiz_answers.md")


def test_ten_questions_per_lesson_and_an_answer_to_each():
    assert list(QUESTIONS) == list(ANSWERS) == [f"{i:02}" for i in range(N_LESSONS)]
    for lesson in QUESTIONS:
        assert len(QUESTIONS[lesson]) == len(ANSWERS[lesson]) == N_QUESTIONS, lesson


# What the package says


def numbers(values, digits=3):
    return ", ".join(f"{float(value) + 0.0:.{digits}f}" for value in values)


def vocabulary():
    words = Vocab.from_counts({"dog": 3, "the": 3, "sees": 2, "a": 1}).words
    return str(words.index("dog")), str(words.index("the"))


def padded():
    ids, mask = pad([[5, 6, 7], [5, 6, 7, 8, 9]])
    return str(ids.shape), str(int((mask == 0).sum()))


def gate_gradient():
    def h(u):  # sigmoid(x) = u, tanh(x) = c
        x = np.array([[0.0, np.log(u / (1 - u))]])
        return float(gru_gates(x, np.arctanh([[-0.5]]), np.zeros((1, 2)), np.zeros((1, 1)), np.array([[1.0]]))[0][0, 0])

    slope = (h(0.25 + 1e-6) - h(0.25 - 1e-6)) / 2e-6  # h - c = 1.5, a quarter of 4 - (-2)
    return (f"{4 * slope:.0f}",)


def new_state():
    x = np.array([[0.0, np.log(0.8 / 0.2)]])
    h = gru_gates(x, np.arctanh([[-0.5]]), np.zeros((1, 2)), np.zeros((1, 1)), np.array([[0.5]]))[0]
    return (f"{h[0, 0]:.1f}",)


def attention():
    energy = np.log([[1.0, 1.0], [2.0, 2.0], [5.0, 5.0]])
    alpha = masked_softmax(energy, np.array([[1.0, 1], [1, 1], [1, 0]]))
    return numbers(alpha[:, 0]), numbers(alpha[:, 1])


def attention_gradient():
    return (numbers(masked_softmax_backward(np.array([[8.0], [0], [0]]), np.array([[1], [2], [5]]) / 8)[:, 0]),)


def softmax_gradient(logits, target):
    scores = np.array([logits], float)
    targets = np.array([target])
    _, probs = softmax_nll(scores, np.zeros(len(logits)), targets)
    return softmax_nll_backward(np.ones(1), probs, targets)[0][0]


def loss_of(p):
    return float(softmax_nll(np.log([[p, 1 - p]]), np.zeros(2), np.array([0]))[0][0])


def clipped():
    grads = Softmax(np.array([[3.0]]), np.array([4.0]))
    clip_gradients(grads, 1.0)
    return (f"{grads.W[0, 0]:.1f}, {grads.b[0]:.1f}",)


def adam_step():
    layer = Softmax(np.zeros((1, 1)), np.zeros(1))
    Adam.for_parameters(layer).update(layer, Softmax(np.array([[0.5]]), np.array([5.0])), 0.1)
    assert np.isclose(layer.W[0, 0], layer.b[0])
    return (f"{-layer.b[0]:.1f}",)


def das_and_the():
    counts = Accumulator(3, 4)
    for weights in ([0.85, 0.15], [0.70, 0.05]):
        alpha = np.array([[weights[0], 0], [weights[1], 0], [0, 0]])[:, :, None]
        counts.add_attention(alpha, make_batch([[2]], [[2, 3]]))
    found = counts.counts()
    return (f"{probabilities(found)[(found.rows == 2) & (found.indices == 2)][0]:.3f}",)


def sparse_rows():
    indptr = np.array([0, 1, 1, 3, 4, 7])
    counts = Counts(indptr, np.array([0, 2, 3, 3, 0, 2, 4], np.int32), np.ones(7, np.float32), 5)
    sizes = [len(counts.row(i)[0]) for i in range(5)]
    return str(sizes[2]), str(sizes.index(0))


def error_rate():
    found, gold = {(i, i) for i in range(10)}, {(i, i) for i in range(2, 12)}
    return (f"{alignment_error_rate([found], [gold]):.2f}",)


def model1():
    lines = ["das Haus", "das Buch", "ein Buch"], ["the house", "the book", "a book"]
    bitext, src, trg = Bitext.from_lines(*lines)
    ids, probs = train_model1(bitext, iterations=1).table.row(src.index("das"))
    return (f"{dict(zip(ids, probs))[trg.index('the')]:.2f}",)


def candidates_per_word():
    rows, columns = [2, 2, 2, 3, 3, 4, 4, 0], [2, 3, 4, 3, 5, 4, 6, 0]  # a..e are 2..6
    counts = Counts.from_cells(np.array(rows), np.array(columns), np.ones(8), 5, 7)
    words = Selector(best_candidates(counts, 100)).lists(*pad([[2, 3, 4]]))[0]
    return (f"{len(words) / 3:.2f}",)


def counted(threshold):
    alphas = np.array([0.6, 0.25, 0.1, 0.05], np.float32)[None, :, None]
    batch = make_batch([[2, 3, 4]], [[]])
    return sorted(find_links(alphas, batch, threshold)[0].tolist(), reverse=True)


def listed_probability():
    layer = Softmax(np.log([[0.5], [0.3], [0.2]]), np.zeros(3))
    short = list_log_softmax(np.ones((1, 1)), gather_lists([np.array([0, 1])], layer))
    full = np.exp(log_softmax(np.ones((1, 1)), layer))[0]
    assert np.isclose(full[:2].sum(), 0.8)
    return (f"{np.exp(short[0, 0]):.3f}",)


def rounded():
    whole, scale = round_rows(np.array([[0.5, -0.2, 0.1]]), 127.0)
    return ", ".join(f"{value:.0f}" for value in whole[0]), f"{scale[0]:.6f}"


SEARCH = SearchSettings()
COMPUTED = {
    "00.4": vocabulary,
    "00.6": lambda: (" ".join(learn_bpe({"haus": 4, "hausboot": 2, "boot": 3}, 1)[0]),),
    "00.8": padded,
    "01.2": gate_gradient,
    "01.3": lambda: (str((np.zeros((5, 3)).T @ np.zeros((5, 4))).shape),),
    "02.3": new_state,
    "02.8": lambda: (f"{0.5**20:.8f}", f"{0.95**20:.2f}"),
    "03.2": attention,
    "03.8": attention_gradient,
    "04.2": lambda: (f"{loss_of(0.25):.3f}",),
    "04.3": lambda: (f"{loss_of(1 / 3467):.2f}",),
    "04.4": lambda: (numbers(softmax_gradient([2, 1, 0, -1], 1)),),
    "04.5": clipped,
    "04.6": adam_step,
    "05.4": lambda: (f"{SEARCH.score(-4.5, 9):.3f}", f"{SEARCH.score(-3, 5):.3f}"),
    "05.7": lambda: (str(SEARCH.longest([2] * 7)),),
    "06.2": das_and_the,
    "06.4": sparse_rows,
    "06.7": error_rate,
    "06.8": model1,
    "07.4": listed_probability,
    "07.7": lambda: (f"{(12_000 + 34_494) / (12_000 + 700):.2f}", f"{(12_000 + 34_494) / 12_000:.2f}"),
    "08.1": lambda: (f"{2 * 5 / 4}",),
    "09.1": rounded,
    "09.4": lambda: (f"{2 * 5 / 1:.0f}",),
    "10.2": candidates_per_word,
    "10.7": lambda: (f"{1.440 + np.log(0.881):.3f}",),
    "10.8": lambda: (numbers([*softmax_gradient([2, 1], 1), 0, 0]),),
    "11.5": lambda: (f"{(2 * 9 / 0.02) ** 0.5:.0f}",),
}


@pytest.mark.parametrize("place", COMPUTED)
def test_numbers_are_those_of_the_package(place):
    lesson, number = place.split(".")
    answer = ANSWERS[lesson][int(number) - 1]
    assert tuple(re.findall(r"\*\*(.+?)\*\*", answer)) == COMPUTED[place]()


def test_every_bold_number_is_computed():
    bold = {f"{lesson}.{i}" for lesson, answers in ANSWERS.items() for i, a in enumerate(answers, 1) if "**" in a}
    assert bold == set(COMPUTED)


def test_what_thresholds_count():
    assert np.allclose(counted(0.1), [0.6, 0.25]) and np.allclose(counted(0.25), [0.6])
