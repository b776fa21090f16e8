"""MINNMT_KILLS real kills (20 if it is not set): every run ends in the bits of one that was left alone."""

import os

import pytest

from tests.faults.kills import kill_many

SEED = int(os.environ.get("MINNMT_FUZZ_SEED", 1))


@pytest.mark.slow
def test_killed_at_any_moment(tmp_path):
    killing = kill_many(tmp_path, SEED, int(os.environ.get("MINNMT_KILLS", 20)), print)
    assert len(killing.moments) > 1, "all kills came at the same moment: slow machine?"
