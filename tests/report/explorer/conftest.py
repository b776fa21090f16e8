"""A tiny model's variant, and the data that a page holds."""

import base64
import json
import re

import numpy as np
import pytest

from minnmt.report.explorer.variant import ListChoice, variant_of


@pytest.fixture(scope="session")
def variant(tiny_run):
    """Its vocabulary has 11 words: only the lists of the smallest n leave any out, so the slider begins at 1."""
    return variant_of(tiny_run, ListChoice(topn=1))


def numbers(packed):
    """As the page reads them: [type, bytes in base64]."""
    return np.frombuffer(base64.b64decode(packed[1]), f"<{packed[0]}").tolist()


def data_of(html):
    """The data of a page, as its script reads them."""
    return json.loads(re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.S)[1])
