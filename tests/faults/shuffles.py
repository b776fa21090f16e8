"""The same sentences in another order, in other batches, with other threads, through another engine."""

import tempfile
from pathlib import Path

import numpy as np

from tests.conftest import run_cli, toy_lines

ENGINES = {"int8": "int8", "float32": "float32", "plain": "float32"}  # and the one whose translations it must find


def sentences(n, seed):
    """Toy sentences, some with unknown words, some blank."""
    rng = np.random.default_rng(seed)
    lines = toy_lines(rng, n, longest=12)[0]
    return ["" if i % 97 == 0 else f"{line} Quark" if i % 13 == 0 else line for i, line in enumerate(lines)]


def translate(run, lines, *options):
    with tempfile.TemporaryDirectory() as place:
        text = Path(place, "text")
        text.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        result = run_cli("decode", "-m", run, "-i", text, *options)
    assert result.code == 0, result.err
    found = result.out.split("\n")[:-1]
    assert len(found) == len(lines)
    return found


def other_ways(run, lines, seed, n_ways, topn):
    """Yields (engine, all options, translations in the order of the lines): in random orders, batches, threads."""
    rng = np.random.default_rng(seed)
    for i in range(n_ways):
        order = rng.permutation(len(lines))
        sizes = int(rng.choice([1, 2, 7, 16, 64, 1000])), int(rng.integers(1, 4))
        engine = list(ENGINES)[i % 3]
        options = ["--batch-size", sizes[0], "--threads", sizes[1], "--engine", engine, "--topn", topn]
        found = translate(run, [lines[k] for k in order], *options)
        yield engine, options, [found[k] for k in np.argsort(order)]


def compare(run, n_sentences, seed, n_ways):
    """Translate in many ways, with lists and without -> (ways, [(sentence, one way, the other way)] that differ)."""
    lines, different, ways = sentences(n_sentences, seed), [], 0
    for topn in (0, 3):
        usual = ("--threads", 1, "--topn", topn, "--engine")
        expected = {engine: translate(run, lines, *usual, engine) for engine in set(ENGINES.values())}
        for engine, options, found in other_ways(run, lines, [seed, topn], n_ways, topn):
            ways += 1
            pairs = zip(lines, expected[ENGINES[engine]], found)
            different += [(a, b, c, options) for a, b, c in pairs if b != c]
    return ways, different
