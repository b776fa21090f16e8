"""A model and a text for the tests of align."""

import shutil

import pytest

from tests.conftest import write_toy_text


@pytest.fixture
def model(tiny_run, tmp_path):
    """A copy of the tiny model, to change."""
    return shutil.copytree(tiny_run, tmp_path / "model")


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    """Parallel text of 30 pairs -> the two paths."""
    directory = tmp_path_factory.mktemp("text")
    write_toy_text(directory, n_train=30, seed=11)
    return directory / "train.src", directory / "train.trg"
