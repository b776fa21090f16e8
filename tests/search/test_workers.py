"""Workers: the translations of one process in the same order, one copy of the weights, and what becomes of the dead."""

import contextlib
import os
import signal
import tempfile
import threading
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from minnmt.align.candidates import random_candidates
from minnmt.align.selector import Selector
from minnmt.errors import UserError
from minnmt.model.directory import Model
from minnmt.model.parameters import named_arrays
from minnmt.search.beam import SearchSettings
from minnmt.search.output import Output
from minnmt.search.translate import Translator
from minnmt.search.unknown import Replacer
from minnmt.search.workers import LARGE, WorkerPool, attempt, load_shared, share
from minnmt.text.pipeline import Pipeline
from minnmt.text.vocab import Vocab
from minnmt.threads import n_processors
from tests.conftest import random_parameters

WORDS = ["eos", "UNK", *(f"w{i}" for i in range(1200))]
needs_proc = pytest.mark.skipif(not Path("/proc/self/smaps").exists(), reason="needs /proc")


@pytest.fixture(scope="module")
def translator():
    """A random network whose embeddings and lists are large enough to be shared, and all that a search can have."""
    rng = np.random.default_rng(7)
    params = random_parameters(rng, len(WORDS), len(WORDS), embedding=20, hidden=12, dtype=np.float32)
    side = Pipeline(Vocab(WORDS))
    model = Model(params, side, side, {})
    settings = SearchSettings(beam=4, n_best=3, max_length=12, keep_attention=True)
    selector = Selector(random_candidates(len(WORDS), len(WORDS), 30))
    return Translator(model, settings, 64, 2, selector, Replacer(model))


@pytest.fixture(scope="module")
def lines():
    rng = np.random.default_rng(8)
    lines = [" ".join(rng.choice(WORDS[2:] + ["unknown"], size=n)) for n in rng.integers(0, 9, size=40)]
    return ["", *lines, "  ", "w1 w2 unknown", ""]


@pytest.fixture(scope="module")
def pool(translator, tmp_path_factory):
    """Two workers, made while `pool.directory` was the place for temporary files."""
    directory, environment = tmp_path_factory.mktemp("temporary"), dict(os.environ)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tempfile, "tempdir", str(directory))
        pool = WorkerPool(translator, 2)
    pool.directory, pool.same_environment = directory, dict(os.environ) == environment
    with pool:
        yield pool


def assert_same(found, expected):
    assert [(t.src_units, t.lines, t.list_size) for t in found] == [
        (t.src_units, t.lines, t.list_size) for t in expected
    ]
    for one, other in zip(found, expected):
        assert [h.ids for h in one.hypotheses] == [h.ids for h in other.hypotheses]
        for h, g in zip(one.hypotheses, other.hypotheses):
            np.testing.assert_allclose((h.score, h.logp), (g.score, g.logp), rtol=1e-5)
            np.testing.assert_allclose(h.alpha, g.alpha, atol=1e-5)


# The same translations


@pytest.mark.parametrize("batch_size", [1, 3, 16, 64])
def test_workers_translate_as_one_process_does(pool, translator, lines, monkeypatch, batch_size):
    monkeypatch.setattr(pool, "batch_size", batch_size)
    expected = replace(translator, batch_size=batch_size).translate(lines)
    assert len({t.best for t in expected}) > 20  # or the order could not be seen
    assert_same(pool.translate(lines), expected)


@pytest.mark.parametrize("text", [[], [""], ["", " "], ["w3"]])
def test_little_or_nothing_to_translate(pool, translator, text):
    assert_same(pool.translate(text), translator.translate(text))


def test_output_takes_a_pool_for_a_translator(pool, translator, lines, tmp_path):
    reports = []
    for name, one in (("pool", pool), ("translator", translator)):
        output = Output(one, tmp_path / name, tmp_path / f"{name}.links")
        output.add(lines)
        output.close()
        reports.append(output.list_report())
    assert (tmp_path / "pool").read_text() == (tmp_path / "translator").read_text()
    assert (tmp_path / "pool.links").read_text() == (tmp_path / "translator.links").read_text()
    assert reports[0] == reports[1] != ""


# One copy of the weights


def test_any_object_comes_back_with_its_large_arrays_mapped(tmp_path, translator):
    share(translator, tmp_path)
    found = load_shared(tmp_path)
    arrays = [*named_arrays(translator.model.params), ("candidates", translator.selector.candidates.ids)]
    copies = [*named_arrays(found.model.params), ("candidates", found.selector.candidates.ids)]
    for (name, array), (_, copy) in zip(arrays, copies):
        np.testing.assert_array_equal(copy, array, err_msg=name, strict=True)
        assert isinstance(copy.base, np.memmap) == (array.nbytes > LARGE), name
        assert type(copy) is np.ndarray and copy.flags.aligned and copy.flags.writeable, name
    assert sum(isinstance(copy.base, np.memmap) for _, copy in copies) == 4  # embeddings, output layer, lists
    assert found.replacer.model is found.model and found.settings == translator.settings


def test_an_array_that_is_met_twice_is_stored_once(tmp_path):
    large, objects = np.zeros(LARGE), np.array([{}] * LARGE)
    share({"one": large, "two": [large, large.reshape(-1, 2).T], "objects": objects}, tmp_path)
    found = load_shared(tmp_path)
    assert found["one"] is found["two"][0] and found["two"][1].flags.f_contiguous
    assert len(np.load(tmp_path / "arrays.npz").files) == 2 and found["objects"][-1] == {}


def test_a_full_disk_is_named(tmp_path):
    with pytest.raises(UserError, match="cannot write the weights .*nowhere: no such file or directory; .*TMPDIR"):
        share([], tmp_path / "nowhere")


@needs_proc
def test_workers_map_the_same_file_and_write_none_of_it(pool, translator, lines):
    pool.translate(lines)
    inodes = []
    for process in pool.processes:
        smaps = Path(f"/proc/{process.pid}/smaps").read_text().split("VmFlags")
        (mapping,) = [text for text in smaps if "arrays.npz" in text]
        rows = [row.split() for row in mapping.strip().split("\n")]
        inodes += [row[4] for row in rows if row[-1] == "(deleted)"]
        sizes = {row[0]: int(row[1]) for row in rows if row[-1] == "kB"}
        assert sizes["Rss:"] > 0 and sizes["Anonymous:"] == 0  # a page that is written to becomes anonymous
        assert sizes["Size:"] * 1024 > translator.model.params.softmax.W.nbytes
    assert len(inodes) == 2 and len(set(inodes)) == 1


def test_the_files_are_gone_as_soon_as_the_workers_have_them(pool):
    assert list(pool.directory.iterdir()) == []


# Processes


@needs_proc
def test_a_worker_has_one_thread_and_one_processor(pool):
    for process in pool.processes:
        environment = Path(f"/proc/{process.pid}/environ").read_text().split("\0")
        assert {"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1", "NUMBA_NUM_THREADS=1"} <= set(environment)
    processors = [os.sched_getaffinity(process.pid) for process in pool.processes]
    if n_processors() == 2:
        assert set.union(*processors) == os.sched_getaffinity(0) and {len(p) for p in processors} == {1}
    else:
        assert processors == [os.sched_getaffinity(0)] * 2


def test_the_parent_is_left_as_it_was(pool):
    assert pool.same_environment
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, [])


def test_workers_do_not_hear_ctrl_c(pool, capfd):
    for process in pool.processes:
        os.kill(process.pid, signal.SIGINT)
    assert len(pool.translate(["w1", "w2"])) == 2
    assert all(process.is_alive() for process in pool.processes) and capfd.readouterr().err == ""


# Deaths and exceptions


@contextlib.contextmanager
def killed_at_work(*processes, seconds=0.2):
    """Workers that take what they are given, do not answer and are killed, one after the other."""
    for process in processes:
        os.kill(process.pid, signal.SIGSTOP)
    timers = [threading.Timer(seconds * i, process.kill) for i, process in enumerate(processes, start=1)]
    for timer in timers:
        timer.start()
    yield
    for timer in timers:
        timer.join()


def test_the_lines_of_a_dead_worker_are_translated_by_the_others(translator, lines, capsys):
    translator = replace(translator, batch_size=5)
    expected = translator.translate(lines)
    with WorkerPool(translator, 2) as pool:
        first, second = pool.processes
        with killed_at_work(first):
            assert_same(pool.translate(lines), expected)
        report = capsys.readouterr().err
        assert report.startswith(f"warning: worker 1 (process {first.pid}) died while it translated lines ")
        assert "(killed by SIGKILL, " in report and report.endswith("; the others translate them again\n")
        assert report.count("\n") == 1

        assert_same(pool.translate(lines), expected)
        assert capsys.readouterr().err == ""  # once is enough

        with killed_at_work(second), pytest.raises(UserError, match=r"all 2 workers died, the last .*SIGKILL") as error:
            pool.translate(lines)
        assert error.value.exit_code == 1
        with pytest.raises(RuntimeError, match="closed"):
            pool.translate(lines)


def test_lines_that_kill_two_workers_are_named(translator, capsys):
    with WorkerPool(translator, 3) as pool:
        pool.processes[2].terminate()  # with nothing to do: no line is to blame
        pool.processes[2].join()
        assert [t.best != "" for t in pool.translate(["w1", "", "w2"])] == [True, False, True]
        with killed_at_work(*pool.processes[:2]):
            with pytest.raises(UserError, match=r"two workers died while they translated line 4 \(.*SIGKILL"):
                pool.translate(["w3 w4"])
        assert not any(process.is_alive() for process in pool.processes)
    reports = capsys.readouterr().err.split("\n")
    assert [report[:16] for report in reports] == ["warning: worker ", "warning: worker ", ""]
    assert "worker 3" in reports[0] and "died with nothing to do (killed by SIGTERM)" in reports[0]


@dataclass
class Faulty:
    """A Translator that fails: when it is loaded, or when it translates."""

    model: Model
    load_error: Exception | None = None
    settings = selector = None
    batch_size = 1

    def __setstate__(self, state):
        self.__dict__.update(state)
        if self.load_error:
            raise self.load_error

    def translate(self, lines):
        raise FileNotFoundError(2, "No such file or directory", lines[0])


def test_an_exception_in_a_worker_is_raised_here(translator):
    """Also one that looks like the end of a pipe."""
    with WorkerPool(Faulty(translator.model), 1) as pool:
        with pytest.raises(FileNotFoundError) as error:
            pool.translate(["a.txt"])
        assert error.value.filename == "a.txt" and "in translate" in str(error.value.__cause__)
        assert not pool.processes[0].is_alive()


def test_an_exception_while_a_worker_loads_is_raised_here(translator):
    with pytest.raises(UserError, match="too heavy"):
        WorkerPool(Faulty(translator.model, UserError("too heavy")), 1)


class Stubborn(Exception):
    def __init__(self, one, two):
        super().__init__(one)


def test_an_exception_that_cannot_travel_is_described():
    def fail(argument):
        raise Stubborn(argument, 2)

    failure = attempt(fail, "this")
    assert isinstance(failure.error, RuntimeError) and "Stubborn('this')" in str(failure.error)
    assert "in fail" in failure.traceback


def test_a_pool_that_is_closed_leaves_no_process(translator):
    with WorkerPool(translator, 1) as pool:
        pass
    assert [process.is_alive() for process in pool.processes] == [False]
