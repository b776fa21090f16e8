"""Several ranks translate in order (minnmt/tasks/translating.py); here threads stand for the others."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from minnmt.errors import UserError
from minnmt.tasks import translating


@pytest.fixture
def pool(monkeypatch):
    """Whoever translates writes capitals; `hold` keeps the pool from its work until it is set."""
    hold = threading.Event()
    hold.set()
    main = threading.get_ident()

    by_main = []

    def translate(lines):
        if threading.get_ident() != main:
            assert hold.wait(20)
        else:
            by_main.append(lines)
        return [line.upper() for line in lines]

    monkeypatch.setattr(translating, "translate_here", translate)
    with ThreadPoolExecutor(2) as pool:
        pool.hold, pool.by_main = hold, by_main
        yield pool
        hold.set()


def test_translations_keep_their_order(pool):
    chunks = [[f"line {i}", "x"] for i in range(50)]
    found = list(translating.in_order(iter(chunks), pool, 2))
    assert found == [(lines, [line.upper() for line in lines]) for lines in chunks]


def test_a_pipe_is_answered_while_its_next_line_is_waited_for(pool):
    answered = threading.Event()

    def pipe():
        yield ["a"]
        assert answered.wait(20), "the next line comes only after the answer to the first"
        yield ["b"]

    for lines, _ in translating.in_order(pipe(), pool, 2):
        if lines == ["a"]:
            answered.set()


def test_what_was_read_before_an_error_is_translated(pool):
    def damaged():
        yield ["a"]
        yield ["b"]
        raise UserError("line 3 is no text")

    found = []
    with pytest.raises(UserError, match="line 3"):
        for lines, translations in translating.in_order(damaged(), pool, 2):
            found.append((lines, translations))
    assert found == [(["a"], ["A"]), (["b"], ["B"])]


def test_when_all_others_are_busy_rank_0_translates_too_and_takes_the_last(pool):
    pool.hold.clear()
    chunks = [[str(i)] for i in range(7)]
    timer = threading.Timer(0.3, pool.hold.set)
    timer.start()
    assert [lines for lines, _ in translating.in_order(iter(chunks), pool, 2)] == chunks
    timer.join()
    assert pool.by_main[:2] == [["4"], ["5"]], "two of the pool have two chunks each: the next are done here"
    assert ["3"] in pool.by_main or ["2"] in pool.by_main, "nobody has begun with the last of the pool's chunks"


def test_an_error_of_a_translator_is_not_lost(pool, monkeypatch):
    def fail(lines):
        raise MemoryError

    monkeypatch.setattr(translating, "translate_here", fail)
    with pytest.raises(MemoryError):
        list(translating.in_order(iter([["a"]]), pool, 2))
