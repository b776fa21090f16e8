"""Candidate lists in the formats of other programs: FORMATS has them all, and a new one is added there.

Every format has a module with two functions: write(path, candidates, source Words, target Words, ...) and
scan(file, Scan), which yields cells (scan.py), to `import` and to `lint`. Tables of lines share a module; there they
are methods of a layout. numpy is not imported before it is needed, so that the names are there for --help.
"""

import importlib
from typing import NamedTuple

from ...errors import UserError
from ...streams import open_bytes

BEGINNING = 8192  # bytes from which a format can be told


class Format(NamedTuple):
    text: str  # for --help
    use: str  # how the other program reads it
    module: str
    layout: str = ""  # a Layout in that module, if it has several
    always: bool = False  # does it hold words that are always included?

    @property
    def codec(self):
        """What has write() and scan()."""
        module = importlib.import_module(f".{self.module}", __package__)
        return getattr(module, self.layout) if self.layout else module


FORMATS = {
    "marian": Format(
        "text of Marian and amun: target source probability",
        "marian-decoder --shortlist {path} {always} {topn}",
        "word_tables", "MARIAN",
    ),
    "marian-bin": Format(
        "binary shortlist of Marian (bergamot)",
        "marian-decoder --shortlist {path}",
        "marian_bin", always=True,
    ),
    "ct2": Format(
        "vmap.txt of CTranslate2",
        "copy it to vmap.txt in the CTranslate2 model's directory, then translate_batch(..., use_vmap=True)",
        "vmap", always=True,
    ),
    "sockeye": Format(
        "input of sockeye-lexicon: a fast_align table, grouped by source word",
        "sockeye-lexicon create -i {path} -m MODEL -k {topn} -o OUTPUT",
        "word_tables", "SOCKEYE",
    ),
    "sockeye-npy": Format(
        "compiled lexicon of Sockeye (ids shifted for pad, unk, bos, eos)",
        "sockeye-translate --restrict-lexicon {path}",
        "sockeye_npy",
    ),
    "fastalign": Format(
        "table of fast_align -p: source, target, ln p",
        "read it as the table that fast_align -p writes",
        "word_tables", "FASTALIGN",
    ),
}  # fmt: skip


def export_candidates(name, path, candidates, src_vocab, trg_vocab, topn, frequent=0, phrases=None):
    """Write candidates with a probability above 0 -> how many, of how many source words, how many it cannot spell.

    phrases: for ct2 alone, their source ids (P,3) and Candidates with a row for each.
    """
    from ..selector import always_words
    from .words import Words

    candidates = candidates.select(candidates.probs > 0)
    always = len(always_words(candidates.n_trg, frequent))
    words = Words(src_vocab), Words(trg_vocab)
    more = {"phrases": phrases} if phrases else {}
    n_left_out = FORMATS[name].codec.write(path, candidates, *words, always=always, topn=topn, **more)
    return candidates.n_cells - n_left_out, candidates.n_rows, n_left_out


def import_counts(name, path, src_vocab, trg_vocab):
    """A file of another program -> (Counts, sentences about what was left out, the format's name)."""
    found, name = _scan(name, path, src_vocab, trg_vocab)
    counts = found.counts({"method": f"imported from {name}", "file": str(path)})
    return counts, found.left_out(), name


def import_phrases(path, src_vocab, trg_vocab):
    """The phrases of a vmap of CTranslate2 -> PhraseCounts."""
    from ..phrases import PhraseCounts
    from .scan import Scan
    from .vmap import read_phrases
    from .words import Words

    found = Scan(path, Words(src_vocab), Words(trg_vocab))
    with open_bytes(path) as file:
        cells = read_phrases(file, found)
    info = {"method": "imported from ct2", "file": str(path)}
    return PhraseCounts.from_cells(*cells, len(src_vocab), len(trg_vocab), info)


def lint(name, path, src_vocab, trg_vocab, limit=20):
    """Read a file strictly -> (its Scan with the problems, the format's name)."""
    found, name = _scan(name, path, src_vocab, trg_vocab, lint=True, limit=limit)
    found.finish_lint()
    return found, name


def _scan(name, path, src_vocab, trg_vocab, **options):
    from .scan import Scan
    from .words import Words

    found = Scan(path, Words(src_vocab), Words(trg_vocab), **options)
    with open_bytes(path) as file:
        name = name or guess_format(file.peek(BEGINNING), path)
        found.read(FORMATS[name].codec.scan, file)
    return found, name


def guess_format(data, path):
    """The format of a file's bytes by how it begins."""
    if data.startswith(b"\xf5\x17\x34\x01\xd5\x48\x1a\xf1"):
        return "marian-bin"
    if data.startswith(b"\x93NUMPY"):
        return "sockeye-npy"
    line = next((line for line in data[:BEGINNING].split(b"\n") if line.strip()), b"")
    tabs = line.count(b"\t")
    if tabs == 1:
        return "ct2"
    if tabs == 2:
        return "fastalign"
    if tabs == 0 and len(line.split()) == 3:
        return "marian"
    raise UserError(f"{path}: its format cannot be recognised; name it with --format")
