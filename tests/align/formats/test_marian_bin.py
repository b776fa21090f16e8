"""Marian's binary shortlist: its exact bytes, and every way in which a file can be damaged."""

import struct

import numpy as np
import pytest

from minnmt.align.candidates import best_candidates
from minnmt.align.formats import export_candidates
from minnmt.errors import UserError
from minnmt.text.vocab import Vocab
from tests.align.formats.toy import SRC, TRG, as_cells, import_text, lint_text, make_counts

MAGIC = 0xF11A48D5013417F5


def plain_checksum(words):
    seed = 0
    for word in words:
        seed = seed ^ ((word + 0x9E3779B9 + (seed << 6) + (seed >> 2)) % 2**64)
    return seed


def shortlist(lists, first=2, best=100):
    """The bytes of a file with these ids for each source word."""
    offsets = [0, *np.cumsum([len(ids) for ids in lists]).tolist()]
    ids = [i for row in lists for i in row]
    body = struct.pack(f"<4Q{len(offsets)}Q{len(ids)}I", first, best, len(offsets), len(ids), *offsets, *ids)
    words = struct.unpack(f"<{len(body) // 8}Q", body[: len(body) // 8 * 8])
    return struct.pack("<QQ", MAGIC, plain_checksum(words)) + body


def test_the_exact_bytes_of_a_small_file(tmp_path):
    src, trg = Vocab(["eos", "UNK", "Haus", "rot"]), Vocab(["eos", "UNK", "house", "red", "home"])
    counts = make_counts({(0, 0): 1.0, (2, 4): 9.0, (2, 2): 1.0, (2, 3): 0.5}, 4, 5)
    export_candidates("marian-bin", tmp_path / "s.bin", best_candidates(counts, 2), src, trg, 2, frequent=1)
    words = [3, 2, 5, 4]  # first (eos, UNK and one word), best, source words + 1, ids
    words += [0, 1, 1, 3, 4]  # offsets; rot, the last one, has eos
    words += [0 | 2 << 32, 4 | 0 << 32]  # the ids 0 | 2 4 | 0, two to a word
    expected = struct.pack("<11Q", *words)
    assert (tmp_path / "s.bin").read_bytes() == struct.pack("<2Q", MAGIC, plain_checksum(words)) + expected


def test_half_a_word_at_the_end_is_not_in_the_checksum():
    data = shortlist([[0]] * 6 + [[1]])
    assert (len(data) - 16) % 8 == 4
    (stored,) = struct.unpack_from("<Q", data, 8)
    assert stored == plain_checksum(np.frombuffer(data[16:-4], "<u8").tolist())


def test_a_sound_file(tmp_path):
    data = shortlist([[], [1], [2, 5], [], [8], [], [0]])
    assert lint_text("marian-bin", data, tmp_path) == []
    assert as_cells(import_text("marian-bin", data, tmp_path)[0]) == {
        (1, 1): 1.0, (2, 2): 1.0, (2, 5): 1.0, (4, 8): 1.0, (6, 0): 1.0,
    }  # fmt: skip


@pytest.mark.parametrize(
    "lists, first, words",
    [
        ([[], [], [5, 2], [], [], [], [0]], 2, "source word 2 (Haus): its ids are not ascending"),
        ([[], [], [5, 5], [], [], [], [0]], 2, "Haus and \u3000 are together a second time"),
        ([[0], [], [2], [], [], [], []], 2, "source word 6 (0.5): the last one has no candidates"),
        ([[2], [], [2], [], [], [], [0]], 0, "eos is not always included"),
    ],
)
def test_what_a_lint_finds_and_an_import_forgives(lists, first, words, tmp_path):
    data = shortlist(lists, first)
    problems = lint_text("marian-bin", data, tmp_path)
    assert len(problems) == 1 and words in problems[0].text
    assert import_text("marian-bin", data, tmp_path)[0].n_cells == len({(i, j) for i in range(7) for j in lists[i]})


def test_eos_may_come_through_the_list_of_eos(tmp_path):
    assert lint_text("marian-bin", shortlist([[0], [], [2], [], [], [], [0]], first=0), tmp_path) == []


def change(data, at, value, kind="<Q"):
    """Another number at this byte, and the checksum made right again."""
    data = bytearray(data)
    struct.pack_into(kind, data, at, value)
    body = np.frombuffer(bytes(data[16 : 16 + (len(data) - 16) // 8 * 8]), "<u8").tolist()
    struct.pack_into("<Q", data, 8, plain_checksum(body))
    return bytes(data)


SOUND = shortlist([[0], [1], [2, 5], [], [8], [], [0, 3]])
DAMAGED = {
    "empty": (b"", "does not begin"),
    "text": (b"house Haus 0.5\n" * 9, "does not begin"),
    "header only": (SOUND[:48], "bytes"),
    "cut": (SOUND[:-4], "bytes"),
    "too long": (SOUND + b"\0\0\0\0", "bytes"),
    "a flipped bit": (SOUND[:50] + bytes([SOUND[50] ^ 1]) + SOUND[51:], "checksum"),
    "a huge size": (change(SOUND, 40, 2**63), "more than any shortlist"),
    "falling offsets": (change(SOUND, 48 + 8 * 3, 2**64 - 1), "offsets"),
    "a late start": (change(SOUND, 48, 1), "offsets"),
    "a foreign id": (change(SOUND, 48 + 8 * 8, len(TRG), "<I"), "source word 0 (</s>): the id 9 is not in the target"),
    "another vocabulary": (shortlist([[0]] * 9), "made for 9 source words"),
}


@pytest.mark.parametrize("name", DAMAGED)
def test_damage(name, tmp_path):
    data, words = DAMAGED[name]
    with pytest.raises(UserError) as error:
        import_text("marian-bin", data, tmp_path)
    assert "file: " in str(error.value) and words in str(error.value) and "; " in str(error.value)
    assert words in lint_text("marian-bin", data, tmp_path)[0].text


def test_every_source_word_has_a_place(tmp_path):
    export_candidates("marian-bin", tmp_path / "s.bin", best_candidates(make_counts({}), 9), SRC, TRG, 9)
    assert (tmp_path / "s.bin").read_bytes() == shortlist([[]] * 6 + [[0]], 2, 9)
