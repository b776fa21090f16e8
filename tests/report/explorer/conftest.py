"""A tiny model's variant, and the data that a page holds."""

import json
import re

import pytest

from minnmt.report.explorer.variants import ListChoice, variant_of


@pytest.fixture(scope="session")
def variant(tiny_run):
    """Its vocabulary has 11 words: only the lists of the smallest n leave any out, so the slider begins at 1."""
    return variant_of(tiny_run, ListChoice(topn=1))


def data_of(html):
    """The data of a page, as its script reads them."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
