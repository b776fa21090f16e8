"""The page: data and the files of page/ put together into one HTML file that asks for nothing else.

What a user wrote reaches the page as JSON alone, in a script element that is never run; the page's own scripts set it
as text, never as markup. A policy in the page allows its own script and style and nothing else, by their checksums.
"""

import base64
import hashlib
import html
import json
from dataclasses import dataclass
from pathlib import Path

from ... import __version__
from ...errors import OVERFLOW, UserError
from .trace import trace

FILES = Path(__file__).with_name("page")
SCRIPTS = (  # in this order they make one script
    "model.js", "marks.js", "state.js", "why.js", "drawn.js", "stages.js", "steps.js", "attention.js", "tree.js",
    "cost.js", "epochs.js", "sides.js", "header.js", "share.js", "serve.js", "main.js",
)  # fmt: skip
ESCAPES = {ord(c): f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"}  # in JSON they are only ever inside strings
HEIGHT = 860  # of the frame in a notebook


@dataclass
class Page:
    """A page; in a notebook it shows itself in a frame, so that neither's style meets the other's."""

    html: str

    def _repr_html_(self):
        return (
            f'<iframe srcdoc="{html.escape(self.html)}" style="width:100%;height:{HEIGHT}px;border:0" '
            'title="one translation, step by step"></iframe>'
        )


def explore_sentences(sentences, variants, notes=()):
    """Raw sentences, Variants, and what is to be said of each sentence -> data of a page."""
    notes = [*notes, *[""] * len(sentences)]
    return {
        "minnmt": __version__, "served": False, "variants": [variant.record() for variant in variants],
        "sentences": [
            {"source": sentence, "note": note, "traces": [trace(sentence, variant) for variant in variants]}
            for sentence, note in zip(sentences, notes)
        ],
    }  # fmt: skip


def make_page(data):
    """Data -> Page."""
    script = "(() => {\n\"use strict\";\n" + "\n".join(read(name) for name in SCRIPTS) + "})();\n"
    style = read("page.css")
    connect = "'self'" if data["served"] else "'none'"
    policy = (
        f"default-src 'none'; script-src '{checksum(script)}'; style-src '{checksum(style)}'; img-src data:; "
        f"connect-src {connect}; base-uri 'none'; form-action 'none'"
    )
    text = read("page.html")
    for name, part in (("policy", policy), ("style", style), ("script", script), ("data", as_json(data))):
        before, found, after = text.partition("{{" + name + "}}")
        assert found, f"page.html has no place for {name}"
        text = before + part + after
    return Page(text)


def read(name):
    return (FILES / name).read_text(encoding="utf-8")


def checksum(text):
    """As a Content-Security-Policy names what may run."""
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode("utf-8")).digest()).decode()


def as_json(data):
    """JSON that can stand inside a script element: nothing in it ends the element or a line."""
    try:
        text = json.dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    except ValueError:  # a number that is not finite
        raise UserError(OVERFLOW) from None
    return text.translate(ESCAPES)
