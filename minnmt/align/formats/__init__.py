"""Candidate lists in the formats of other programs: a file each, their names here.

Every format has two functions: write(path, candidates, source Words, target Words, ...) and scan(bytes, Scan), which
both `import` and `lint` use. numpy is not imported before it is needed, so that the names are there for --help.
"""

from functools import partial
from typing import NamedTuple

from ...errors import UserError
from ...files import read_bytes

FORMATS = {
    "marian": "text of Marian and amun: target source probability",
    "marian-bin": "binary shortlist of Marian (bergamot)",
    "ct2": "vmap.txt of CTranslate2",
    "sockeye": "input of sockeye-lexicon: a fast_align table, grouped by source word",
    "sockeye-npy": "compiled lexicon of Sockeye (ids shifted for pad, unk, bos, eos)",
    "fastalign": "table of fast_align -p: source, target, ln p",
}
USE = {
    "marian": "marian-decoder --shortlist {path} {always} {topn}",
    "marian-bin": "marian-decoder --shortlist {path}",
    "ct2": "copy it to vmap.txt in the CTranslate2 model's directory, then translate_batch(..., use_vmap=True)",
    "sockeye": "sockeye-lexicon create -i {path} -m MODEL -k {topn} -o OUTPUT",
    "sockeye-npy": "sockeye-translate --restrict-lexicon {path}",
    "fastalign": "read it as the table that fast_align -p writes",
}
ALWAYS = ("ct2", "marian-bin")  # these hold words that are always included


class Format(NamedTuple):
    write: callable
    scan: callable


def get_format(name):
    from . import marian_bin, sockeye_npy, tables, vmap

    layouts = {"marian": tables.MARIAN, "sockeye": tables.SOCKEYE, "fastalign": tables.FASTALIGN}
    modules = {"marian-bin": marian_bin, "ct2": vmap, "sockeye-npy": sockeye_npy}
    if name in layouts:
        return Format(partial(tables.write, layouts[name]), partial(tables.scan, layouts[name]))
    return Format(modules[name].write, modules[name].scan)


class Written(NamedTuple):
    n_candidates: int
    n_src: int
    n_left_out: int  # words that the format cannot spell


def export_candidates(name, path, candidates, src_vocab, trg_vocab, topn, frequent=0):
    """Write candidates; those without a probability above 0 are left out."""
    import numpy as np

    from ..selector import always_words
    from .words import Words, select

    rows = np.repeat(np.arange(candidates.n_src), np.diff(candidates.indptr))
    candidates = select(candidates, rows, candidates.probs > 0)
    always = len(always_words(candidates.n_trg, frequent))
    n_left_out = get_format(name).write(
        path, candidates, Words(src_vocab), Words(trg_vocab), always=always, topn=topn
    )
    return Written(len(candidates.ids) - n_left_out, int((np.diff(candidates.indptr) > 0).sum()), n_left_out)


def import_counts(name, path, src_vocab, trg_vocab):
    """A file of another program -> (Counts, sentences about what was left out, the format's name)."""
    found, name = _scan(name, path, src_vocab, trg_vocab)
    counts = found.counts({"method": f"imported from {name}", "file": str(path)})
    return counts, found.left_out(), name


def lint(name, path, src_vocab, trg_vocab, limit=20):
    """Read a file strictly -> (its Scan with the problems, the format's name)."""
    found, name = _scan(name, path, src_vocab, trg_vocab, lint=True, limit=limit)
    found.finish_lint()
    return found, name


def _scan(name, path, src_vocab, trg_vocab, **options):
    from .scan import Scan
    from .words import Words

    data = read_bytes(path)
    name = name or guess_format(data, path)
    found = Scan(path, Words(src_vocab), Words(trg_vocab), **options)
    get_format(name).scan(data, found)
    return found, name


def guess_format(data, path):
    """The format of a file's bytes by how it begins."""
    if data.startswith(b"\xf5\x17\x34\x01\xd5\x48\x1a\xf1"):
        return "marian-bin"
    if data.startswith(b"\x93NUMPY"):
        return "sockeye-npy"
    line = next((line for line in data[:100_000].split(b"\n") if line.strip()), b"")
    tabs = line.count(b"\t")
    if tabs == 1:
        return "ct2"
    if tabs == 2:
        return "fastalign"
    if tabs == 0 and len(line.split()) == 3:
        return "marian"
    raise UserError(f"{path}: its format cannot be seen from its beginning; name it with --format")
