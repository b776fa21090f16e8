"""explore: the page as a file, five sentences by itself, two lists beside each other, and the server."""

import http.client
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from minnmt.report.explorer.examples import LACKS, SHIFTS
from minnmt.report.explorer.page import explore_sentences
from minnmt.report.explorer.server import MOST_BYTES, Server
from minnmt.report.explorer.variant import variant_of
from tests.conftest import run_cli
from tests.report.explorer.conftest import data_of

CLI = Path(__file__).parents[2] / "cli.py"


def explore(*arguments):
    return run_cli("explore", *arguments)


def test_help_has_examples():
    assert "python cli.py explore --serve" in explore("--help").out


def test_a_page_of_several_sentences(tiny_run, tmp_path):
    path = tmp_path / "page.html"
    result = explore("-m", tiny_run, "eins rot.", "Hund <b>", "--topn", 3, "--beam", 2, "-o", path)
    assert (result.code, result.out) == (0, "") and "2 sentences" in result.err and str(path) in result.err
    data = data_of(path.read_text())
    assert [s["source"] for s in data["sentences"]] == ["eins rot.", "Hund <b>"]
    assert data["variants"][0]["lists"]["n"] == 3 and data["variants"][0]["beam"] == 2 and not data["served"]


def test_the_translations_are_those_of_decode(tiny_run, tmp_path):
    path, sentence = tmp_path / "page.html", "eins rot Haus vier."
    assert explore("-m", tiny_run, sentence, "--topn", 2, "-o", path).code == 0
    page = data_of(path.read_text())["sentences"][0]["traces"][0]
    for topn, search in ((0, page["full"]), (2, page["lists"]["searches"][0])):
        options = ["--topn", topn] if topn else []
        expected = run_cli("decode", "-m", tiny_run, "--engine", "plain", *options, stdin=sentence.encode())
        node, units = search["winner"], []
        while node:
            units.insert(0, page["words"][str(page["nodes"]["words"][node - 1])])
            node = page["nodes"]["parents"][node - 1]
        assert units[-1] == "eos"
        assert expected.out.strip() == " ".join(units[:-1]).replace(" ￭", "")


def test_with_no_sentence_five_of_the_test_set_that_teach_something(tiny_run, tmp_path):
    path = tmp_path / "page.html"
    result = explore("-m", tiny_run, "--topn", 1, "-o", path)
    assert result.code == 0, result.err
    sentences = data_of(path.read_text())["sentences"]
    assert len(sentences) == 5 and all(s["note"] for s in sentences)
    lines = (tiny_run.parent / "test.src").read_text().splitlines()
    assert {s["source"] for s in sentences} <= set(lines)
    for s in sentences:
        page, search = s["traces"][0], s["traces"][0]["lists"]["searches"][0]
        changed = search["winner"] != page["full"]["winner"]
        assert search["from"] == 1 and changed == (s["note"] in (LACKS, SHIFTS)), s["note"]


def test_two_lists_and_two_models_beside_each_other(model, tmp_path):
    shutil.copy(model / "alignments.epoch2.npz", model / "alignments.other.npz")
    second = tmp_path / "second"
    shutil.copytree(model, second)
    shutil.copytree(model, tmp_path / "same" / model.name)
    same = str(tmp_path / "same" / model.name)
    for against, name in (("other", "model, other"), (second, "second"), (same, same)):
        result = explore("-m", model, "eins.", "--against", against, "-o", tmp_path / "page.html")
        assert result.code == 0, result.err
        data = data_of((tmp_path / "page.html").read_text())
        names = [variant["name"] for variant in data["variants"]]
        assert names[1] == name and names[0] != name and len(data["sentences"][0]["traces"]) == 2


def test_a_model_without_counts_is_shown_without_lists(model, tmp_path):
    for path in model.glob("alignments*.npz"):
        path.unlink()
    result = explore("-m", model, "eins.", "-o", tmp_path / "page.html")
    assert result.code == 0 and f"align -m {model}" in result.err
    assert data_of((tmp_path / "page.html").read_text())["sentences"][0]["traces"][0]["lists"] is None


def test_opening_it_in_a_browser(tiny_run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or len(opened) > 1)
    path = tmp_path / "a page?.html"
    first, second = (explore("-m", tiny_run, "eins.", "--open", "-o", path) for _ in range(2))
    assert opened == [path.as_uri()] * 2 and "%20" in opened[0]
    assert "no browser" in first.err and "no browser" not in second.err


def test_to_standard_output(tiny_run):
    result = explore("-m", tiny_run, "eins.", "-o", "-")
    assert result.code == 0 and result.out.startswith("<!DOCTYPE html>") and result.err == ""


@pytest.mark.parametrize(
    "arguments, code, text",
    [
        ([""], 1, "blank"),
        (["  "], 1, "blank"),
        (["a " * 300], 1, "300 units"),
        (["eins.", "--topn", "0"], 2, "--topn"),
        (["eins.", "--counts", "nothing"], 1, "nothing does not exist"),
        (["eins.", "--counts", "frequent"], 2, "control"),
        (["eins.", "--against", "nothing"], 1, "nothing does not exist"),
        (["eins.", "--serve", "99999"], 2, "99999"),
        (["--serve", "eins."], 2, "before --serve"),
        (["eins.", "--serve", "0", "-o", "page.html"], 2, "choose one"),
        (["eins.", "-o", "-", "--open"], 2, "--open"),
        (["eins.", "-o", "no/such/place.html"], 1, "no/such/place.html"),
        (["eins.", "-o", ""], 2, "empty"),
    ],
)
def test_wrong_input_is_answered_with_a_sentence(tiny_run, tmp_path, monkeypatch, arguments, code, text):
    monkeypatch.chdir(tmp_path)
    result = explore("-m", tiny_run, *arguments)
    assert (result.code, result.out) == (code, "") and text in result.err
    assert list(tmp_path.iterdir()) == []


def test_the_model_is_not_overwritten(model):
    result = explore("-m", model, "eins.", "-o", model / "model.npz")
    assert result.code == 2 and "destroy" in result.err


def test_a_single_npz_needs_a_sentence(tiny_run):
    vocabularies = ["--vocab-src", tiny_run / "vocab.src.json", "--vocab-trg", tiny_run / "vocab.trg.json"]
    result = explore("--npz", tiny_run / "model.npz", *vocabularies)
    assert result.code == 2 and "give a sentence" in result.err


def test_an_interrupted_writing_leaves_the_old_page(tiny_run, tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def interrupted(data):
        raise KeyboardInterrupt

    monkeypatch.setattr("minnmt.report.explorer.page.make_page", interrupted)
    result = explore("-m", tiny_run, "eins.", "-o", path)
    assert result.code == 130 and path.read_text() == "old" and list(tmp_path.iterdir()) == [path]


# The server


@pytest.fixture(scope="module")
def served(tiny_run):
    variants = [variant_of(tiny_run)]
    with Server(explore_sentences(["eins."], variants), variants, 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def ask(server, method="POST", path="/trace", body=b"", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=20)
    headers = {"Content-Type": "application/json"} | {name.replace("_", "-"): value for name, value in headers.items()}
    connection.request(method, path, json.dumps(body) if isinstance(body, dict) else body, headers)
    response = connection.getresponse()
    data = response.read().decode()
    connection.close()
    return response.status, data


def test_it_serves_the_page_to_this_machine_alone(served):
    assert served.server_address[0] == "127.0.0.1"
    status, text = ask(served, "GET", "/")
    assert status == 200 and data_of(text)["served"] and "connect-src 'self'" in text


def test_it_translates_what_is_typed_with_any_n_and_forced_words(served, tiny_run):
    status, text = ask(served, body={"sentence": "rot Haus <b>.", "n": 3, "forced": [4, 2]})
    assert status == 200 and "<b>" not in text
    answer = json.loads(text)
    found = answer["sentence"]["traces"][0]
    assert answer["sentence"]["source"] == "rot Haus <b>." and answer["variants"][0]["lists"]["n"] == 3
    assert found["forced"] == [4, 2]
    node = found["full"]["winner"]
    while found["nodes"]["parents"][node - 1]:
        node = found["nodes"]["parents"][node - 1]
    assert found["nodes"]["words"][node - 1] == 4
    status, text = ask(served, body={"sentence": "rot.", "n": 100000})
    assert status == 200 and json.loads(text)["variants"][0]["lists"]["n"] == 11  # all words


@pytest.mark.parametrize(
    "request_, status, text",
    [
        (dict(body={"sentence": " "}), 422, "blank"),
        (dict(body={"sentence": 5}), 400, "sentence"),
        (dict(body={}), 400, "sentence"),
        (dict(body={"sentence": "eins.", "n": 0}), 400, "n:"),
        (dict(body={"sentence": "eins.", "n": True}), 400, "n:"),
        (dict(body={"sentence": "eins.", "forced": [99999]}), 400, "forced"),
        (dict(body={"sentence": "eins.", "forced": [0]}), 400, "forced"),
        (dict(body={"sentence": "eins.", "forced": "x"}), 400, "forced"),
        (dict(body={"sentence": "eins.", "variant": 4}), 400, "variant"),
        (dict(body={"sentence": "\ud800"}), 422, "UTF-8"),
        (dict(body=b"[1]"), 400, "object"),
        (dict(body=b"{"), 400, "not JSON"),
        (dict(body=b"[" * 60000), 400, "not JSON"),
        (dict(body=b"x" * (MOST_BYTES + 1)), 413, "64 kB"),
        (dict(body={"sentence": "eins."}, Content_Type="text/plain"), 415, "not JSON"),
        (dict(body={"sentence": "eins."}, Host="evil.example"), 403, "127.0.0.1"),
        (dict(body={"sentence": "eins."}, Origin="http://evil.example"), 403, "page alone"),
        (dict(body={"sentence": "eins."}, path="/other"), 404, "/trace"),
        (dict(body={"sentence": "eins."}, Content_Length="²".encode()), 411, "how long"),
        (dict(method="GET", path="/etc/passwd"), 404, "nothing here"),
        (dict(method="GET", path="/", Host="evil.example"), 403, "127.0.0.1"),
    ],
)
def test_wrong_questions_are_answered_with_a_sentence(served, request_, status, text):
    found, data = ask(served, **request_)
    assert found == status and text in json.loads(data)["error"]


def test_a_port_in_use_is_named(served, tiny_run):
    result = explore("-m", tiny_run, "eins.", "--serve", served.server_port)
    assert result.code == 1 and str(served.server_port) in result.err and "another" in result.err


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_ends_the_server(tiny_run):
    command = [sys.executable, CLI, "explore", "-m", tiny_run, "eins.", "--serve", "0"]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    line = process.stderr.readline()
    assert "serving http://127.0.0.1:" in line
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=20) == 130
    assert process.stderr.read().strip() == "error: interrupted"


def test_only_errors_of_the_connection_are_silent(served, capsys):
    for error, silent in ((ConnectionResetError(), True), (TimeoutError(), True), (KeyError("a slip"), False)):
        try:
            raise error
        except Exception:
            served.handle_error(None, ("127.0.0.1", 1))
        assert ("Traceback" not in capsys.readouterr().err) == silent
