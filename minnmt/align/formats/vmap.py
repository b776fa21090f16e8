"""CTranslate2's vocabulary map (vmap.txt in the model's directory, use_vmap=True): a line for every source word.

    source <tab> target target target       best first
    <tab> target target target              always included

CTranslate2 does not look up the </s> that it adds to a sentence itself. Every sentence has one, so eos's candidates
are always included: they are written on the line without a source, and read from there. (That line is always
written: a file without any crashes CTranslate2.) It looks words up by their spelling: an unknown word finds no line,
not even that of <unk>.

    source source source <tab> target target       of a phrase: up to three words here, any number in CTranslate2

A phrase's targets are there beside those of its words. They are written if there are any, and read apart from words
(read_phrases): an import of words passes over them.
"""

from itertools import chain

import numpy as np

from ...errors import quoted
from ...files import write_lines
from ...text.vocab import EOS, UNK
from ..phrases import NO_WORD
from .scan import rank_weight, text_lines
from .words import keep_writable


def write(path, candidates, src, trg, always=2, phrases=None, **_):
    """Write a map; the first `always` ids are always included -> how many candidates it cannot hold.

    phrases: their source ids (P,3), and Candidates with a row for each.
    """
    candidates, n_left_out = keep_writable(candidates, src, trg)
    more = _phrase_lines(*phrases, src, trg) if phrases else ()
    write_lines(path, chain(_lines(candidates, src, trg, always), more))
    return n_left_out


def _phrase_lines(phrases, candidates, src, trg):
    readable, writable = src.writable(), trg.writable()
    for p, phrase in enumerate(phrases.tolist()):
        words = [i for i in phrase if i != NO_WORD and i != EOS]  # CTranslate2's sentences have no </s> to be found
        ids = [i for i in candidates.row(p)[0].tolist() if writable[i]]
        if ids and len(words) == len([i for i in phrase if i != NO_WORD]) and readable[words].all():
            yield " ".join(src.spelled[i] for i in words) + "\t" + " ".join(trg.spelled[i] for i in ids)


def read_phrases(file, found):
    """The lines for phrases -> phrases (P,3), target ids (P), weights (P), by phrase and by target."""
    cells = {}
    for number, line in text_lines(file, found.name):
        source, _, targets = line.partition("\t")
        words = source.split(" ")
        ids = [found.known(number, "source", word) for word in words] if 2 <= len(words) <= 3 else [None]
        if None not in ids:
            phrase = (*ids, *[NO_WORD] * (3 - len(ids)))
            cells |= {(*phrase, trg): rank_weight(i) for i, trg in enumerate(_target_ids(number, targets, found))}
    keys = np.array(sorted(cells), np.int32).reshape(-1, 4)
    weights = np.array([cells[tuple(key)] for key in keys.tolist()], np.float32)
    return keys[:, :3], keys[:, 3], weights


def _lines(candidates, src, trg, always):
    writable = trg.writable()
    eos_ids = candidates.row(EOS)[0].tolist()
    everywhere = dict.fromkeys(eos_ids + [i for i in range(min(always, len(trg))) if writable[i]])
    yield "\t" + " ".join(trg.spelled[i] for i in everywhere)
    for src_id in range(EOS + 1, len(src)):
        ids = candidates.row(src_id)[0].tolist()
        if ids:
            yield f"{src.spelled[src_id]}\t" + " ".join(trg.spelled[i] for i in ids)


def scan(file, found):
    """Yields the cells of a map."""
    first_line = {}  # source -> its line
    lists = {}  # source id, or None for no source -> (line, target ids); of several for a source the last holds
    for number, line in text_lines(file, found.name):
        source, tab, targets = line.partition("\t")
        if not tab or "\t" in targets:
            _not_one_tab(number, line, found)
            continue
        if source in first_line:
            text = f"the source {quoted(source)} has a line already, line {first_line[source]}: only the last one holds"
            found.wrong(number, text, "earlier lines for the same source")
        if source == "" or source in found.src.ids:
            first_line[source] = number
        ids = _target_ids(number, targets, found)
        if source == "":
            lists[None] = (number, ids)
        elif " " in source:
            found.skipped["lines for phrases"] += 1
        elif (src_id := found.known(number, "source", source)) is not None:
            lists[src_id] = (number, ids)
    for src_id, (number, ids) in _with_always(lists, found).items():
        for place, trg_id in enumerate(ids):
            yield number, src_id, trg_id, rank_weight(place)


def _not_one_tab(number, line, found):
    if line.strip():
        found.bad(number, f"expected source<tab>target target ..., found {quoted(line)}")
    else:
        found.wrong(number, "the line is blank: it empties the list of the words that are always included")


def _target_ids(number, targets, found):
    """The ids of a line's target words, each once, unknown ones left out."""
    ids = {}
    for word in targets.split(" ") if targets else []:
        if word == "":
            found.wrong(number, "there are two spaces together, or one at an end: CTranslate2 reads <unk> there")
        elif (trg_id := found.known(number, "target", word)) in ids:
            found.wrong(number, f"the target word {quoted(word)} is there twice")
        elif trg_id is not None:
            ids[trg_id] = True
    return list(ids)


def _with_always(lists, found):
    """The words that are always included become eos's candidates, before any that eos has a line for."""
    number, always = lists.pop(None, (0, []))
    longest = max((len(ids) for _, ids in lists.values()), default=0)
    if always:
        number_of_eos, ids = lists.get(EOS, (number, []))
        lists[EOS] = (number_of_eos, list(dict.fromkeys(always + ids)))
    if sum(i > UNK for i in always) > max(longest, 100):  # eos and UNK are in every list of ours anyway
        found.notes.append(
            f"the {len(always):,} words that are always included became candidates of eos: "
            f"to have them all, decode with --topn {len(always)} or more"
        )
    return lists
