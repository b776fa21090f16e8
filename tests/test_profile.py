"""Profiles: which stages are booked, whose time is whose, and that everything is as before afterwards."""

import sys
from itertools import count

import numpy as np
import pytest

from minnmt.profile import FUNCTIONS, find_functions, profile_table, take_profile
from minnmt.search import batch_beam, beam
from minnmt.search.fast import FastEngine
from minnmt.threads import threads
from minnmt.train.updates import Updater
from tests.conftest import random_parameters
from tests.train.toy import toy_run

PLACES = [place for places in FUNCTIONS.values() for place in places]
NETWORK = {"encoder", "GRU", "attention", "readout", "softmax"}


def ticks():
    """A clock on which every look takes a second."""
    return count().__next__


# The functions of the tests, a module's like any other


def outer():
    return inner() + inner()


def inner():
    return 1


def failing():
    inner()
    raise ValueError


def both_threads():
    with threads(2) as each:
        return each(lambda _: inner(), range(4))


HERE = __name__


@pytest.fixture
def here(monkeypatch):
    """This module among those that are looked at, as if it were minnmt's."""
    monkeypatch.setitem(sys.modules, "minnmt.here", sys.modules[HERE])


def named(**stages):
    return {stage: tuple(f"here:{name}" for name in names) for stage, names in stages.items()}


def test_what_another_stage_does_is_not_the_callers_time(here):
    with take_profile(named(A=["outer"], B=["inner"]), ticks()) as seconds:
        assert outer() == 2
    assert seconds == {"A": 3, "B": 2}  # the clock is looked at 6 times: before, between and after


def test_the_encoder_keeps_what_it_calls(here):
    with take_profile(named(encoder=["outer"], GRU=["inner"]), ticks()) as seconds:
        outer()
        inner()
    assert seconds == {"encoder": 1, "GRU": 1}


def test_an_error_passes_and_the_caller_goes_on(here):
    with take_profile(named(A=["failing"], B=["inner"]), ticks()) as seconds:
        with pytest.raises(ValueError):
            failing()
        inner()
    assert seconds == {"A": 2, "B": 2}


def test_work_in_other_threads_is_booked_there_and_waiting_is_nobodys(here):
    def two_threads(own):
        with take_profile(named(A=["both_threads"], **own), ticks()) as seconds:
            assert both_threads() == [1] * 4
        return seconds

    assert set(two_threads({})) == {"A"} and set(two_threads({"B": ["inner"]})) == {"A", "B"}


def test_stages_that_were_not_met_are_not_there(here):
    with take_profile(named(A=["outer"], B=["inner"]), ticks()) as seconds:
        pass
    assert seconds == {} and profile_table(seconds)[-1].split() == ["sum", "0.000", "0.0"]


@pytest.mark.parametrize("place", PLACES)
def test_every_place_of_the_table_has_functions(place):
    assert find_functions(place)


def test_no_function_has_two_stages():
    functions = [found for place in PLACES for found in find_functions(place)]
    assert len(functions) == len(set(functions))


def test_what_a_module_has_imported_is_not_its_own():
    names = [function.__name__ for _, function in find_functions("model.encoder:*")]
    assert names == ["encoder_forward", "encoder_backward"]


def test_everything_is_as_before_afterwards(rng):
    def held():
        modules = [module for name, module in sorted(sys.modules.items()) if name.split(".")[0] == "minnmt"]
        classes = {holder for holder, _ in functions} - set(modules)
        return [(holder.__name__, name, id(value)) for holder in [*modules, *sorted(classes, key=repr)]
                for name, value in list(vars(holder).items()) if callable(value)]  # fmt: skip

    functions = [found for place in PLACES for found in find_functions(place)]  # imports what the table names
    before = held()
    with pytest.raises(ZeroDivisionError), take_profile():
        assert all(vars(holder)[function.__name__].__wrapped__ is function for holder, function in functions)
        raise ZeroDivisionError
    assert held() == before


@pytest.mark.parametrize("kind", ["fast", "plain"])
@pytest.mark.parametrize("with_lists", [False, True])
def test_a_search_is_booked_by_stage(rng, kind, with_lists):
    params, ids, settings = random_parameters(rng, dtype=np.float32), np.arange(5), beam.SearchSettings(beam=2)
    with take_profile(clock=ticks()) as seconds:
        if kind == "plain":
            beam.beam_search([2, 3, 4], params, settings, ids if with_lists else None)
        else:
            batch_beam.batch_beam_search([[2, 3, 4]], FastEngine(params), settings, [ids] if with_lists else None)
    assert set(seconds) == NETWORK | {"bookkeeping"} | ({"selection"} if with_lists or kind == "fast" else set()) | (
        {"products"} if kind == "fast" else set()
    )
    assert list(seconds) == [stage for stage in FUNCTIONS if stage in seconds]
    table = profile_table(seconds)
    assert len(table) == len(seconds) + 2 and table[-1].split()[0] == "sum"


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_update_is_booked_by_stage(tmp_path, n_threads):
    run = toy_run(tmp_path, threads=n_threads)
    with threads(n_threads) as map, take_profile(clock=ticks()) as seconds:
        updater = Updater(run.params, run.src, run.trg, run.settings, map=map)
        updater.update(updater.shares(np.arange(8)), 0.01)
    assert set(seconds) == NETWORK | {"Adam", "bookkeeping"}
