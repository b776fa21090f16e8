"""decode: where text comes from and goes to, n-best lists, alignments, foreign models, the run's own test set."""

import gzip
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import run_cli

CLI = Path(__file__).parents[2] / "cli.py"
LINES = ["eins zwei.", "", "Hund Haus rot.", "   ", "vier unbekannt drei!"]
TEXT = "".join(line + "\n" for line in LINES).encode()


@pytest.fixture(scope="module")
def expected(tiny_run):
    """The translations of LINES."""
    result = run_cli("decode", "-m", tiny_run, stdin=TEXT)
    assert result.code == 0, result.err
    return result.out


def test_a_line_out_for_every_line_in(expected):
    lines = expected.split("\n")
    assert len(lines) == len(LINES) + 1 and lines[-1] == ""
    assert [line == "" for line in lines[:-1]] == [False, True, False, True, False]


def test_stdout_carries_only_results(tiny_run, expected):
    result = run_cli("decode", "-m", tiny_run, "--topn", 100, stdin=TEXT)
    assert result.out == expected and result.err.startswith("lists: ")


def test_from_a_real_pipe(tiny_run, expected):
    found = subprocess.run([sys.executable, CLI, "decode", "-m", tiny_run], input=TEXT, capture_output=True, check=True)
    assert found.stdout.decode() == expected and found.stderr == b""


def test_from_file_to_file(tiny_run, expected, tmp_path):
    (tmp_path / "in").write_bytes(TEXT)
    result = run_cli("decode", "-m", tiny_run, "-i", tmp_path / "in", "-o", tmp_path / "out")
    assert (result.code, result.out) == (0, "")
    assert (tmp_path / "out").read_text() == expected


def test_packed_files_both_ways(tiny_run, expected, tmp_path):
    (tmp_path / "in.gz").write_bytes(gzip.compress(TEXT))
    assert run_cli("decode", "-m", tiny_run, "-i", tmp_path / "in.gz", "-o", tmp_path / "out.gz").code == 0
    assert gzip.decompress((tmp_path / "out.gz").read_bytes()).decode() == expected


@pytest.mark.parametrize("text", [TEXT.replace(b"\n", b"\r\n"), TEXT[:-1], b"\xef\xbb\xbf" + TEXT])
def test_other_line_ends_and_a_byte_order_mark(tiny_run, expected, text, tmp_path):
    (tmp_path / "in").write_bytes(text)
    assert run_cli("decode", "-m", tiny_run, stdin=text).out == expected
    assert run_cli("decode", "-m", tiny_run, "-i", tmp_path / "in").out == expected


def test_no_lines_in_no_lines_out(tiny_run, tmp_path):
    result = run_cli("decode", "-m", tiny_run, "-o", tmp_path / "out", stdin=b"")
    assert (result.code, (tmp_path / "out").read_bytes()) == (0, b"")


@pytest.mark.parametrize("options", [["--batch-size", 1], ["--batch-size", 2, "--threads", 2], ["--threads", 1]])
def test_batches_and_threads_change_nothing(tiny_run, expected, options):
    assert run_cli("decode", "-m", tiny_run, *options, stdin=TEXT).out == expected


@pytest.mark.parametrize("way", ["stdin", "-i"])
def test_more_lines_than_are_read_at_once(tiny_run, expected, tmp_path, way):
    (tmp_path / "in").write_bytes(TEXT * 9)
    given = {"stdin": TEXT * 9} if way == "stdin" else {}
    more = [] if way == "stdin" else ["-i", tmp_path / "in"]
    assert run_cli("decode", "-m", tiny_run, "--batch-size", 2, *more, **given).out == expected * 9


def test_n_best_lists(tiny_run, expected):
    result = run_cli("decode", "-m", tiny_run, "--n-best", 3, "--beam", 5, stdin=TEXT)
    rows = [line.split(" ||| ") for line in result.out.splitlines()]
    assert {len(row) for row in rows} == {3}
    assert [int(row[0]) for row in rows] == [0, 0, 0, 1, 2, 2, 2, 3, 4, 4, 4]
    best = expected.split("\n")
    for number in (0, 2, 4):
        mine = [row for row in rows if int(row[0]) == number]
        scores = [float(row[2]) for row in mine]
        assert scores == sorted(scores, reverse=True) and max(scores) < 0
        assert mine[0][1] == best[number] and len({row[1] for row in mine}) == 3


def test_a_longest_length(tiny_run):
    lines = run_cli("decode", "-m", tiny_run, "--max-length", 1, stdin=TEXT).out.split("\n")
    assert len(lines) == len(LINES) + 1 and max(len(line.split()) for line in lines) <= 1
    assert run_cli("decode", "-m", tiny_run, "--max-length", 0, stdin=TEXT).out == "\n" * len(LINES)


def test_pharaoh_alignments(tiny_run, expected, tmp_path):
    result = run_cli("decode", "-m", tiny_run, "--alignments", tmp_path / "links", stdin=TEXT)
    assert result.out == expected
    lines = (tmp_path / "links").read_text().split("\n")
    assert len(lines) == len(LINES) + 1 and lines[1] == lines[3] == ""
    for line, n_src in ((lines[0], 3), (lines[2], 4), (lines[4], 4)):
        assert line
        assert all(0 <= int(link.split("-")[0]) < n_src for link in line.split())


def test_full_attention_weights(tiny_run, tmp_path):
    options = ["--alignments", tmp_path / "w", "--alignment-format", "weights"]
    assert run_cli("decode", "-m", tiny_run, *options, stdin=TEXT).code == 0
    records = [json.loads(line) for line in (tmp_path / "w").read_text().splitlines()]
    assert len(records) == len(LINES) and records[1]["weights"] == []
    assert records[0]["src"] == ["eins", "zwei", "￭.", "eos"]
    assert all(len(row) == 4 and abs(sum(row) - 1) < 1e-4 for row in records[0]["weights"])
    assert len(records[0]["weights"]) == len(records[0]["trg"])


def npz_options(run):
    return ["--npz", run / "model.npz", "--vocab-src", run / "vocab.src.json", "--vocab-trg", run / "vocab.trg.json"]


def test_a_single_npz_translates_as_the_directory_does(tiny_run, expected):
    result = run_cli("decode", *npz_options(tiny_run), stdin=TEXT)
    assert (result.code, result.out) == (0, expected)


def test_a_single_npz_with_pretokenized_text(tiny_run):
    text = b"eins zwei .\n"  # a full stop of its own is not a word of this vocabulary, and the output stays in tokens
    plain, cut = (run_cli("decode", *npz_options(tiny_run), *more, stdin=text) for more in ([], ["--pretokenized"]))
    assert plain.code == cut.code == 0, cut.err
    assert "￭" in cut.out and "￭" not in plain.out


def test_vocabularies_of_another_size_on_request(tiny_run, expected, tmp_path):
    words = json.loads((tiny_run / "vocab.src.json").read_text())
    (tmp_path / "longer.json").write_text(json.dumps({**words, "never": len(words)}))
    options = npz_options(tiny_run)
    options[3] = tmp_path / "longer.json"
    refused = run_cli("decode", *options, stdin=TEXT)
    assert refused.code == 1 and "longer.json has" in refused.err and "--any-vocab-size" in refused.err
    taken = run_cli("decode", *options, "--any-vocab-size", stdin=TEXT)
    assert (taken.code, taken.out) == (0, expected), taken.err


def test_nothing_to_read_translates_the_test_set(tiny_run):
    with open(os.devnull) as nothing:
        found = subprocess.run(
            [sys.executable, CLI, "decode", "-m", tiny_run], stdin=nothing, capture_output=True, text=True, check=True
        )
    source = (tiny_run.parent / "test.src").read_bytes()
    assert found.stdout == run_cli("decode", "-m", tiny_run, stdin=source).out
    assert [line.split()[0] for line in found.stderr.splitlines()] == ["BLEU", "TER", "chrF2"]


def test_nothing_to_read_and_no_test_set(tiny_run):
    with open(os.devnull) as nothing:
        found = subprocess.run(
            [sys.executable, CLI, "decode", *npz_options(tiny_run)], stdin=nothing, capture_output=True, text=True
        )
    assert found.returncode == 2 and "-i" in found.stderr and found.stdout == ""


def test_a_reader_that_leaves_early_ends_the_command_quietly(tiny_run, tmp_path):
    (tmp_path / "many").write_bytes(TEXT * 2000)
    command = f'"{sys.executable}" "{CLI}" decode -m "{tiny_run}" --beam 1 < many | head -n 1; echo ${{PIPESTATUS[0]}}'
    found = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True)
    first, code = found.stdout.splitlines()
    assert first and found.stderr == "" and int(code) == 1


def test_a_closed_stdout(tiny_run):
    command = f'echo eins | "{sys.executable}" "{CLI}" decode -m "{tiny_run}" >&-'
    found = subprocess.run(["bash", "-c", command], capture_output=True, text=True)
    assert found.returncode == 1 and found.stderr.startswith("error: standard output is closed")


def test_outputs_do_not_swallow_each_other(tiny_run, tmp_path):
    same = run_cli("decode", "-m", tiny_run, "-o", tmp_path / "x", "--alignments", tmp_path / "x", stdin=TEXT)
    mixed = run_cli("decode", "-m", tiny_run, "--alignments", "-", stdin=TEXT)
    assert same.code == mixed.code == 2 and not (tmp_path / "x").exists() and mixed.out == ""


def test_a_full_disk_behind_stdout(tiny_run):
    with open("/dev/full", "w") as full:
        found = subprocess.run(
            [sys.executable, CLI, "decode", "-m", tiny_run], input=TEXT, stdout=full, stderr=subprocess.PIPE
        )
    assert found.returncode == 1
    assert found.stderr.decode().lower().count("no space left on device") == 1 and b"Exception" not in found.stderr


def test_a_model_that_was_copied_elsewhere(tiny_run, expected, tmp_path):
    shutil.copytree(tiny_run, tmp_path / "copy")
    for name in ("checkpoint.npz", "log.tsv"):
        (tmp_path / "copy" / name).unlink()
    assert run_cli("decode", "-m", tmp_path / "copy", stdin=TEXT).out == expected


@pytest.mark.parametrize("option", ["-o", "--alignments"])
def test_the_input_is_not_written_over(tiny_run, tmp_path, option):
    (tmp_path / "text").write_bytes(TEXT)
    result = run_cli("decode", "-m", tiny_run, "-i", tmp_path / "text", option, tmp_path / "text")
    assert result.code == 2 and "is the input" in result.err and (tmp_path / "text").read_bytes() == TEXT


def test_an_output_keeps_its_permissions(tiny_run, tmp_path):
    (tmp_path / "out").touch(mode=0o600)
    assert run_cli("decode", "-m", tiny_run, "-o", tmp_path / "out", stdin=TEXT).code == 0
    assert (tmp_path / "out").stat().st_mode & 0o777 == 0o600
