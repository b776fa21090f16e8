"""Settings are checked alike, whether they come from the command line or from config.json."""

import json
import math
import os
import shutil

import pytest

from minnmt.errors import UserError
from minnmt.model.directory import load_config
from minnmt.train.settings import Settings, allowed_values, help_texts
from tests.conftest import TINY, run_cli, write_toy_text

BAD = {
    "batch_size": [0, -5, 1.5, "8", None, True, 2**40], "pool": [0], "seed": [-1, 2**70], "clip": ["-", -1, math.nan],
    "dropout": [5, 1, -0.1, math.inf, 10**400, -(10**400)], "threads": [0, 1_000_000], "hidden": [0, 10**9],
    "learning_rate": [0, -1],
    "adam": ["other", 3, None], "shared": [1, "yes"], "src": [3, "", "a\0b", "\ud800"], "epochs": [0],
    "init": [["glorot"]], "dynamic_lists": [{}], "align_threshold": [1],
}  # fmt: skip


@pytest.mark.parametrize("name, value", [(name, value) for name in BAD for value in BAD[name]])
def test_what_the_command_line_refuses_is_refused_everywhere(name, value):
    with pytest.raises(UserError, match=f"the setting {name} is .* it must be"):
        Settings(**{name: value})


@pytest.mark.parametrize("given", [
    {"src": "a"}, {"src": "a", "trg": "b"}, {"src": "a", "trg": "b", "dev_src": "c"},
    {"test_src": "a", "test_trg": "b"}, {"dynamic_vocab": 10, "align_from_epoch": 0},
])  # fmt: skip
def test_what_does_not_go_together_is_refused(given):
    with pytest.raises(UserError, match="the settings?"):
        Settings(**given)


def test_a_text_whose_name_is_no_text(tmp_path):
    text = write_toy_text(tmp_path, n_train=16, n_dev=3)
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/f\xfcnf")  # in latin1
    os.rename(text[1], odd)
    result = run_cli("train", "--src", odd, *text[2:], "-o", tmp_path / "run", *TINY, "--bpe", 0, "--max-updates", 1)
    assert result.code == 0, result.err
    assert load_config(tmp_path / "run")["settings"]["src"] == odd
    result = run_cli("train", "-o", tmp_path / "run", "--resume", "--max-updates", 2)
    assert result.code == 0, result.err


def test_every_setting_has_limits_and_every_option_a_help():
    assert set(allowed_values()) == set(vars(Settings()))
    texts = {f"{text}{side}" for text in ("", "dev_", "test_") for side in ("src", "trg")}
    assert set(allowed_values()) - set(help_texts()) == texts


@pytest.fixture
def damaged(tiny_run, tmp_path):
    """A copy of a run whose config.json a test may spoil."""
    shutil.copytree(tiny_run, tmp_path / "run")

    def spoil(text):
        (tmp_path / "run" / "config.json").write_text(text, encoding="utf-8")
        return tmp_path / "run"

    return spoil


def commands(run):
    return [["train", "-o", run, "--resume"], ["align", "-m", run, "--overwrite"], ["decode", "-m", run]]


@pytest.mark.parametrize("name, value", [
    ("batch_size", 0), ("batch_size", -5), ("pool", 0), ("seed", -1), ("clip", "-"), ("dropout", 5), ("threads", 10**6),
])  # fmt: skip
def test_a_bad_value_in_a_file_is_one_sentence(tiny_run, damaged, name, value):
    config = json.loads((tiny_run / "config.json").read_text())
    config["settings"][name] = value
    for command in commands(damaged(json.dumps(config)))[:2]:
        result = run_cli(*command)
        assert result.code == 1 and f"the setting {name}" in result.err and "damaged" in result.err, result.err


@pytest.mark.parametrize("change", [{"hidden": None}, {"more": 3}])
def test_missing_and_unknown_names_are_another_version(tiny_run, damaged, change):
    config = json.loads((tiny_run / "config.json").read_text())
    for name, value in change.items():
        config["settings"][name] = value
        if value is None:
            del config["settings"][name]
    result = run_cli("train", "-o", damaged(json.dumps(config)), "--resume")
    assert result.code == 1 and "another version" in result.err


@pytest.mark.parametrize("text", [
    "[" * 200_000 + "]" * 200_000, '{"data": 1' + "0" * 6000 + "}", "", "{}", "[]", '{"settings": 3, "data": "x"}',
    '{"settings": {"bpe": [], "pretokenized": false}, "data": "x"}', "\x00", '{"settings": null, "data": null}',
])  # fmt: skip
def test_what_is_no_config_is_said_in_one_sentence(damaged, text):
    for command in commands(damaged(text)):
        result = run_cli(*command)
        assert result.code == 1 and result.err.count("\n") == 1 and "config.json" in result.err, result.err
