"""Small tables of counts, drawn by hypothesis, and their way through a file."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import strategies as st

from minnmt.align.candidates import best_candidates
from minnmt.align.counts import Counts
from minnmt.align.formats import export_candidates, import_counts, lint
from minnmt.text.vocab import Vocab

# words that careless reading would cut, join or take for something else
SRC = Vocab(["eos", "UNK", "Haus", "ein@@", "￭.", "a\u00a0b", "0.5"])
TRG = Vocab(["eos", "UNK", "house", "t@@", "日本", "\u3000", "|", "-1", "unk"])


def make_counts(cells, n_src=7, n_trg=9):
    """{(source id, target id): weight} -> Counts, for SRC and TRG if not told otherwise."""
    src_ids, trg_ids = (np.array([cell[i] for cell in cells], np.int64) for i in (0, 1))
    return Counts.from_cells(src_ids, trg_ids, np.array(list(cells.values()), np.float32), n_src, n_trg)


weights = st.floats(2**-10, 2**10, width=32) | st.sampled_from([1.0, 1.0, 2.0])
tables = st.dictionaries(
    st.tuples(st.integers(0, len(SRC) - 1), st.integers(0, len(TRG) - 1)), weights, max_size=25
).map(make_counts)  # fmt: skip


def as_lists(candidates):
    """Candidates -> {source id: its target ids, best first}, empty lists left out."""
    lists = {i: candidates.row(i)[0].tolist() for i in range(candidates.n_src)}
    return {i: ids for i, ids in lists.items() if ids}


def as_cells(counts):
    """Counts -> {(source id, target id): weight}."""
    return dict(zip(zip(counts.rows.tolist(), counts.indices.tolist()), counts.data.tolist()))


def through_a_file(name, counts, topn=100, frequent=0, by="source"):
    """Export, lint, import -> (exported Candidates, imported Counts, what was left out, problems)."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "lists"
        candidates = best_candidates(counts, topn, by)
        export_candidates(name, path, candidates, SRC, TRG, topn, frequent)
        found, _ = lint(name, path, SRC, TRG)
        imported, left_out, _ = import_counts(name, path, SRC, TRG)
        return candidates, imported, left_out, found.problems


def lint_text(name, text, directory, **options):
    """The problems of a file with this text (or these bytes), as (line, text)."""
    path = Path(directory) / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return lint(name, path, SRC, TRG, **options)[0].problems


def import_text(name, text, directory):
    """Counts and what was left out."""
    path = Path(directory) / "file"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return import_counts(name, path, SRC, TRG)[:2]
