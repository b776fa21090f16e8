"""fast_align: against a plain version in double precision, and against the C++ program where its output is at hand."""

import math
import os
from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma

from minnmt.align.bitext import Bitext, find_shapes
from minnmt.align.fastalign import diagonal_positions, normaliser, normaliser_slope, train_fastalign
from minnmt.align.links import alignment_error_rate, parse_pharaoh
from minnmt.align.model1 import pharaoh_lines, train_model1
from minnmt.errors import UsageError
from minnmt.files import read_lines
from tests.align.sound import assert_sound

DATA = Path(os.environ.get("MINNMT_DATA", "no such directory"))
TRAIN = DATA / "multi30k.de-en" / "train.lc.tok"
CPP_LINKS = DATA.parent / "golden" / "fast_align.multi30k.de-en.pharaoh.gz"


def trained(bitext, **options):
    reports = []
    return train_fastalign(bitext, report=lambda *report: reports.append(report), **options), reports


class PlainFastAlign:
    """Word by word, in Python's floats, with dictionaries; NULL is None."""

    def __init__(self, pairs, p0, tension):
        self.pairs, self.p0, self.tension = pairs, p0, tension
        self.prob = defaultdict(lambda: 1e-9)

    def near(self, i, j, S, T):
        return math.exp(-self.tension * abs(i / S - j / T))

    def scores(self, src, j, word, T):
        S = len(src)
        Z = sum(self.near(i, j, S, T) for i in range(1, S + 1))
        diagonal = [(1 - self.p0) * self.near(i, j, S, T) / Z for i in range(1, S + 1)]
        return [self.p0 * self.prob[None, word]] + [p * self.prob[s, word] for p, s in zip(diagonal, src)]

    def iterate(self, alpha, optimise):
        """One iteration -> bits a word, links of each pair, and a function that makes the update."""
        counts, feature, log_prob, n_words, links = defaultdict(float), 0.0, 0.0, 0, []
        for src, trg in self.pairs:
            links.append([])
            for j, word in enumerate(trg, start=1):
                scores = self.scores(src, j, word, len(trg))
                log_prob, n_words = log_prob + math.log2(sum(scores)), n_words + 1
                best = scores.index(max(scores))
                links[-1] += [f"{best - 1}-{j - 1}"] if best else []
                for i, (s, score) in enumerate(zip([None, *src], scores)):
                    counts[s, word] += score / sum(scores)
                    feature -= abs(i / len(src) - (j - 1) / len(trg)) * score / sum(scores) if i else 0

        def update():
            if optimise:
                for _ in range(8):
                    slope = sum(self.mean(j, len(s), len(t)) for s, t in self.pairs for j in range(1, len(t) + 1))
                    self.tension = min(max(self.tension + 20 * (feature - slope) / n_words, 0.1), 14)
            self.normalise(counts, alpha)

        return -log_prob / n_words, [" ".join(line) for line in links], update

    def mean(self, j, S, T):
        """The C++ program's mean of the feature: its sum over Z with exchanged lengths, up to T or without an end."""
        total = sum(-abs(i / S - j / T) * self.near(i, j, S, T) for i in range(1, S + 1))
        end = T if j * T // S <= T else j * T + 600 * T
        return total / sum(self.near(i, j, T, S) for i in range(1, end + 1))

    def normalise(self, counts, alpha):
        rows = defaultdict(list)
        for s, t in counts:
            rows[s].append(t)
        for s, words in rows.items():
            total = sum(counts[s, t] + alpha for t in words)
            for t in words:
                if alpha:
                    self.prob[s, t] = math.exp(digamma(counts[s, t] + alpha) - digamma(total))
                else:
                    self.prob[s, t] = counts[s, t] / total


def random_pairs(rng, n_pairs=30, n_words=12):
    """A made-up language: each word has a translation, some are left out or doubled, the order is almost kept."""
    pairs = []
    for _ in range(n_pairs):
        src = rng.integers(0, n_words, rng.integers(1, 9)).tolist()
        trg = [word for word in src for _ in range(rng.choice([0, 1, 1, 1, 2]))] or [0]
        k = rng.integers(len(trg))
        pairs.append((src, trg[:k] + trg[k:][::-1]))
    return pairs


@pytest.mark.parametrize("alpha, optimise", [(0.01, True), (0.0, True), (0.01, False)])
def test_a_plain_version_finds_the_same(rng, alpha, optimise):
    pairs = random_pairs(rng)
    bitext = Bitext.from_lists([src for src, _ in pairs], [trg for _, trg in pairs], 12, 12)
    aligner, reports = trained(bitext, alpha=alpha, optimise_tension=optimise)
    plain = PlainFastAlign(pairs, 0.08, 4.0)
    for iteration, bits, extra in reports:
        plain_bits, plain_links, update = plain.iterate(alpha, optimise and iteration > 1)
        assert bits == pytest.approx(plain_bits, rel=1e-5)
        assert extra == f"tension {plain.tension:.2f}"
        if iteration < 5:
            update()
    assert optimise == (plain.tension != 4)
    assert aligner.info["tension"] == pytest.approx(plain.tension, rel=1e-4)
    assert pharaoh_lines(bitext, aligner.links(bitext)) == plain_links
    table = {(s, t): p for s, t, p in zip(aligner.table.rows, aligner.table.indices, aligner.table.data)}
    assert table == pytest.approx({k: p for k, p in plain.prob.items() if p >= 1e-7 and k[0] is not None}, rel=1e-3)
    assert aligner.null == pytest.approx(np.array([plain.prob[None, t] for t in range(12)]), rel=1e-3, abs=1e-7)


@given(st.integers(1, 30), st.integers(1, 30), st.floats(0.1, 14))
def test_the_closed_forms_are_the_sums(S, T, tension):
    i, j = np.arange(1, S + 1)[:, None], np.arange(1, T + 1)
    f = -np.abs(i / S - j / T)
    np.testing.assert_allclose(normaliser(j, S, T, tension), np.exp(tension * f).sum(axis=0), rtol=1e-9)
    slope = (f * np.exp(tension * f)).sum(axis=0)
    np.testing.assert_allclose(normaliser_slope(j, S, T, tension), slope, rtol=1e-6, atol=1e-9)


def test_position_probabilities_sum_to_one_and_peak_at_the_diagonal():
    shapes, _ = find_shapes(Bitext.from_lists([[0] * 4, [0], []], [[0] * 8, [0] * 3, [0]], 1, 1))
    positions = diagonal_positions(shapes, 5.0, 0.1)
    for S, _, table in shapes.tables(positions):
        np.testing.assert_allclose(table[0], 0.1)
        np.testing.assert_allclose(table.sum(axis=0), 1 if S else 0.1)
        if S == 4:
            assert (table[1:].argmax(axis=0)[1::2] == [0, 1, 2, 3]).all()


def test_without_the_prior_rows_sum_to_one(rng):
    pairs = random_pairs(rng)
    bitext = Bitext.from_lists([src for src, _ in pairs], [trg for _, trg in pairs], 12, 12)
    table = trained(bitext, alpha=0.0)[0].table
    np.testing.assert_allclose(np.bincount(table.rows, table.data, minlength=12), 1, rtol=1e-5)
    assert_sound(table)


def test_the_diagonal_decides_between_words_that_are_alike():
    """Two words that always come together: Model 1 cannot tell them apart, this can."""
    src, trg = ["a b", "a b", "a b c", "c"], ["x y", "x y", "x y z", "z"]
    bitext = Bitext.from_lines(src, trg)[0]
    lines = [pharaoh_lines(bitext, train(bitext).links(bitext)) for train in (train_model1, train_fastalign)]
    assert lines[0][0] != "0-0 1-1"
    assert lines[1] == ["0-0 1-1", "0-0 1-1", "0-0 1-1 2-2", "0-0"]


def test_all_to_null_links_nothing():
    bitext = Bitext.from_lines(["a b", "a"], ["x y", "x"])[0]
    aligner, _ = trained(bitext, p0=0.999)
    assert pharaoh_lines(bitext, aligner.links(bitext)) == ["", ""]


@pytest.mark.parametrize("lines", [([], []), (["", "a"], ["x", ""])])
def test_nothing_to_align(lines):
    bitext = Bitext.from_lines(*lines)[0]
    aligner, reports = trained(bitext)
    assert aligner.table.n_cells == 0 and len(reports) == 5
    assert pharaoh_lines(bitext, aligner.links(bitext)) == [""] * len(lines[0])


def test_blank_sides_change_nothing():
    src, trg = ["a b", "a b c", "c"], ["x y", "x y z", "z"]
    (_, plain), (blank, reports) = (
        trained(Bitext.from_lines(*lines)[0]) for lines in ((src, trg), ([*src, "", "a"], [*trg, "x", ""]))
    )
    assert reports == plain
    assert blank.info["pairs"] == 3


def test_a_single_iteration_would_learn_nothing():
    with pytest.raises(UsageError, match="at least 2 iterations"):
        train_fastalign(Bitext.from_lines(["a"], ["x"])[0], iterations=1)


@pytest.mark.skipif(not CPP_LINKS.exists(), reason="MINNMT_DATA names no directory with Multi30k and golden links")
def test_the_cpp_program_finds_the_same_in_multi30k():
    bitext, _, _ = Bitext.from_lines(*(read_lines(f"{TRAIN}.{side}.gz") for side in ("de", "en")))
    aligner, reports = trained(bitext)
    bits = [bits for _, bits, _ in reports]
    assert bits == pytest.approx([29.90, 6.02, 4.21, 3.86, 3.76], abs=0.006)
    assert aligner.info["tension"] == pytest.approx(7.22, abs=0.006)
    found, cpp = (
        [parse_pharaoh(line) for line in lines]
        for lines in (pharaoh_lines(bitext, aligner.links(bitext)), read_lines(CPP_LINKS))
    )
    assert len(found) == len(cpp)
    assert alignment_error_rate(found, cpp) < 0.001  # words that are alike may swap places by rounding
