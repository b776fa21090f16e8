"""The page with a server behind it, for this machine alone: sentences that are typed, any n, words that are forced.

GET / is the page. POST /trace takes {"sentence": ..., "n": ..., "forced": [ids], "variant": ...} as JSON and answers
with the sentence's traces, or with {"error": a sentence} and a code of HTTP. Only 127.0.0.1 is listened on, and only
requests that were addressed to it are answered, so that no page of another site can ask. One question is answered at a
time.
"""

import json
import sys
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock

from ...errors import UserError
from ...files import reason
from .page import as_json, make_page
from .trace import trace

HOST = "127.0.0.1"
MOST_BYTES = 1 << 16  # of a request
PATIENCE = 10  # seconds that a request may take to arrive
SECURITY = {"X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer", "Cache-Control": "no-store"}


class Refused(Exception):
    """A request that is not answered: a code of HTTP, and why."""

    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Server(ThreadingHTTPServer):
    """Serves a page's data and translates for it; use it in a `with`. `address` is where."""

    daemon_threads = True

    def __init__(self, data, variants, port):
        self.variants, self.one_at_a_time = variants, Lock()  # recording changes functions for all threads
        self.page = make_page({**data, "served": True}).html.encode("utf-8")
        try:
            super().__init__((HOST, port), Handler)
        except OSError as error:
            raise UserError(
                f"cannot serve on port {port}: {reason(error)}; name another with --serve PORT, or 0 for any"
            ) from None
        self.address = f"http://{HOST}:{self.server_port}/"

    def handle_error(self, request, client_address):
        """A browser that hangs up is no error."""
        if not isinstance(sys.exc_info()[1], (ConnectionError, TimeoutError)):
            super().handle_error(request, client_address)

    def answer(self, question):
        """A question as in the first lines of this file -> the answer."""
        sentence, n, forced, which = checked(question, self.variants)
        variants = [with_n(variant, n) for variant in self.variants]
        chosen = [forced if i == which else () for i in range(len(variants))]
        if forced and max(forced) >= len(variants[which].model.trg.vocab):
            raise Refused(400, f"forced: the model has {len(variants[which].model.trg.vocab)} target words")
        with self.one_at_a_time:
            traces = [trace(sentence, variant, words) for variant, words in zip(variants, chosen)]
        record = {"source": sentence, "note": "", "traces": traces}
        return {"variants": [variant.record() for variant in variants], "sentence": record}


def with_n(variant, n):
    """The variant with its slider at n; more than all words are all words."""
    if n is None or not variant.ranking:
        return variant
    return replace(variant, ranking=variant.ranking.with_n(min(n, max(variant.ranking.counts.n_trg, 1))))


def checked(question, variants):
    """-> sentence, n or None, ids that are forced, the number of the variant they are for."""
    if not isinstance(question, dict):
        raise Refused(400, "the question is no JSON object")
    sentence, n = question.get("sentence"), question.get("n")
    forced, which = question.get("forced") or [], question.get("variant") or 0
    if not isinstance(sentence, str):
        raise Refused(400, "sentence: give a text")
    if n is not None and (type(n) is not int or n < 1):
        raise Refused(400, "n: give a whole number from 1 on")
    if not isinstance(forced, list) or any(type(word) is not int or word < 1 for word in forced):
        raise Refused(400, "forced: give ids of words, which are whole numbers from 1 on")
    if type(which) is not int or not 0 <= which < len(variants):
        raise Refused(400, "variant: there is none of this number")
    return sentence, n, tuple(forced), which


class Handler(BaseHTTPRequestHandler):
    timeout = PATIENCE
    server_version, sys_version = "minnmt", ""

    def do_GET(self):
        try:
            self.check_host()
            if self.path.split("?")[0] != "/":
                raise Refused(404, f"there is nothing here: the page is at {self.server.address}")
            self.reply(200, "text/html; charset=utf-8", self.server.page)
        except Refused as refused:
            self.reply_json(refused.code, {"error": str(refused)})

    def do_POST(self):
        try:
            self.check_host()
            if self.path != "/trace":
                raise Refused(404, "questions go to /trace")
            self.reply_json(200, self.server.answer(self.question()))
        except Refused as refused:
            self.reply_json(refused.code, {"error": str(refused)})
        except UserError as error:
            self.reply_json(422, {"error": str(error)})
        except MemoryError:
            self.reply_json(422, {"error": "not enough memory for this sentence"})

    def check_host(self):
        """A name that somebody has pointed at this machine is not ours."""
        port = self.server.server_port
        ours = {f"{name}:{port}" for name in (HOST, "localhost")} | ({HOST, "localhost"} if port == 80 else set())
        if self.headers.get("Host") not in ours:
            raise Refused(403, f"this server answers to {self.server.address} alone")
        origin = self.headers.get("Origin")
        if origin is not None and origin.removeprefix("http://") not in ours:
            raise Refused(403, "questions are taken from the page alone")

    def question(self):
        """The body of a request, as JSON."""
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdigit()):
            raise Refused(411, "the request does not say how long it is")
        if int(length) > MOST_BYTES:
            raise Refused(413, f"the request has more than {MOST_BYTES >> 10} kB: give one sentence")
        if self.headers.get_content_type() != "application/json":
            raise Refused(415, "the request is not JSON")
        try:
            return json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise Refused(400, "the request is not JSON") from None

    def reply_json(self, code, record):
        self.reply(code, "application/json", as_json(record).encode("utf-8", "replace"))

    def reply(self, code, kind, data):
        self.send_response(code)
        for name, value in {"Content-Type": kind, "Content-Length": str(len(data)), **SECURITY}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *text):
        """Nothing is said of requests."""
