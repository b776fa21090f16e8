"""One file, nothing from elsewhere, and a user's text is only ever data."""

import base64
import hashlib
import re
from html.parser import HTMLParser

import pytest

import minnmt
from minnmt.errors import UserError
from minnmt.model.directory import load_model
from minnmt.report.explorer.page import FILES, SCRIPTS, as_json, explore_sentences, make_page
from tests.report.explorer.conftest import data_of

HOSTILE = """</script><script>alert(1)</script><img src=x onerror=alert(2)> "2" '1' & {{script}} <!-- \u2028 \u2029"""


class Elements(HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.found.append((tag, dict(attributes)))


@pytest.fixture(scope="module")
def page(variant):
    return make_page(explore_sentences(["eins rot Haus."], [variant])).html


def test_hostile_text_is_data_and_nothing_else(variant, page):
    hostile = make_page(explore_sentences([HOSTILE], [variant])).html
    assert [tag for tag, _ in Elements(hostile).found] == [tag for tag, _ in Elements(page).found]
    assert data_of(hostile)["sentences"][0]["source"] == HOSTILE
    assert "\u2028" not in hostile and "alert(1)</script>" not in hostile


def test_json_that_ends_no_script_element():
    text = as_json({"a": "<&>\u2028\u2029é\"\\"})
    assert not set("<>&\u2028\u2029") & set(text) and "é" in text


def test_numbers_that_are_not_finite_are_no_page():
    with pytest.raises(UserError, match="finite"):
        as_json({"a": float("nan")})


def test_nothing_is_asked_for_from_elsewhere(page):
    for tag, attributes in Elements(page).found:
        for name in ("src", "href", "action", "srcset", "data"):
            value = attributes.get(name) or ""
            assert value.startswith(("#", "data:")) or not value, (tag, name, value)
    for word in ("http://", "https://", "@import", "url("):
        assert word not in page.replace("http://www.w3.org/2000/svg", ""), word


def test_the_policy_allows_the_pages_own_script_and_style_alone(page):
    policy = next(a["content"] for tag, a in Elements(page).found if "http-equiv" in a)
    assert "default-src 'none'" in policy and "connect-src 'none'" in policy and "unsafe" not in policy
    for element, directive in (("script", "script-src"), ("style", "style-src")):
        text = re.findall(rf"<{element}>(.*?)</{element}>", page, re.S)[-1]
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{directive} 'sha256-{digest}'" in policy


def test_scripts_set_text_never_markup():
    for path in FILES.glob("*.js"):
        text = path.read_text()
        for word in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("):
            assert word not in text, f"{path.name}: {word}"
    assert {path.name for path in FILES.glob("*.js")} == set(SCRIPTS)


def test_in_a_notebook_it_is_a_frame_whose_content_is_escaped(tiny_run):
    page = minnmt.explore(tiny_run, 'eins "rot" </iframe>', topn=7)
    shown = page._repr_html_()
    assert [tag for tag, _ in Elements(shown).found] == ["iframe"]
    assert Elements(shown).found[0][1]["srcdoc"] == page.html
    assert data_of(page.html)["variants"][0]["lists"]["n"] == 7


def test_a_model_in_memory_and_other_counts(tiny_run):
    data = data_of(minnmt.explore(load_model(tiny_run), "eins.").html)
    assert data["variants"][0]["lists"] is None
    data = data_of(minnmt.explore(str(tiny_run), "eins.", counts="epoch2").html)
    assert data["variants"][0]["lists"]["n"] == 100
    with pytest.raises(TypeError):
        minnmt.explore(tiny_run)


def test_several_sentences_and_two_variants(variant):
    data = explore_sentences(["eins.", "rot Haus."], [variant, variant], ["first"])
    assert [s["note"] for s in data["sentences"]] == ["first", ""]
    assert [len(s["traces"]) for s in data["sentences"]] == [2, 2]


def test_the_files_of_the_page_are_installed():
    import configparser
    from pathlib import Path

    setup = configparser.ConfigParser()
    setup.read(Path(minnmt.__file__).parents[1] / "setup.cfg")
    assert setup["options.package_data"]["minnmt.report.explorer"] == "page/*"
