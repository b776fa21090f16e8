"""The benchmarks measure what they say, at a tiny size; how fast anything is, is not tested."""

from dataclasses import replace

import numpy as np
import pytest

from minnmt.compiled import reading_mode
from minnmt.lab.bench import MEASURES, SIZES, bench_record, mpi_speed, run_benchmarks
from minnmt.lab.bench import kernel_speed as kernel_bench
from minnmt.lab.bench import limits as machine_bench
from minnmt.lab.bench.decode_speed import variants
from minnmt.lab.bench.kernel_cases import Maker
from minnmt.lab.bench.train_speed import BATCH_LIST, FULL, random_pairs
from minnmt.lab.bench.variants import Task, Variant, decoder
from minnmt.lab.bench.yardstick import NEVER, Bench, Limits, make_network, random_lists, random_sentences, with_words
from minnmt.lab.tables import Table, format_table
from minnmt.lab.timing import calls_for, interleave, number, spread, steady
from minnmt.nn.bf16 import has_bf16
from minnmt.search import fast, stages
from minnmt.search.cost import Shape, decoding_cost
from minnmt.search.packed import fastest_precision, pack, product
from tests.kernels.compared import all_kernels

TINY = replace(
    SIZES["small"], embedding=6, hidden=8, src_words=50, vocabularies=(1500, 1600), growing_vocabularies=(1000, 1700),
    n_sentences=2, batch=4, train_words=100, train_list=20, count_pairs=130, count_embedding=6, count_hidden=8,
    length=5,
)  # fmt: skip


def shrink(monkeypatch):
    """Make the size "small" tiny, and rounds short."""
    monkeypatch.setitem(SIZES, "small", TINY)
    monkeypatch.setattr(machine_bench, "ROUND", 1e-3)
    monkeypatch.setattr(machine_bench, "MEMORY", 1 << 20)
    monkeypatch.setattr(machine_bench, "PRODUCT", 64)
    monkeypatch.setattr(kernel_bench, "ROUND", 1e-4)


@pytest.fixture
def tiny(monkeypatch):
    shrink(monkeypatch)


def measure(sections, n_threads=2, **options):
    """-> {section: tables}, the machine's among them."""
    found = {}
    for table in run_benchmarks(sections, "small", 1, n_threads, **options):
        found.setdefault(table.section, []).append(table)
    return found


def test_cases_take_turns_and_the_first_round_does_not_count():
    calls = []
    found = interleave({name: lambda name=name: calls.append(name) or len(calls) for name in "abc"}, repeats=9)
    rounds = ["".join(calls[i : i + 3]) for i in range(0, 30, 3)]
    assert len(calls) == 30 and all(sorted(order) == list("abc") for order in rounds)
    assert len({order[0] for order in rounds}) == 3 and len(set(rounds)) > 3  # each begins, in many orders
    assert [len(found[name].seconds) for name in "abc"] == [9, 9, 9]
    assert [found[name].output for name in rounds[-1]] == [28, 29, 30]
    calls.clear()
    interleave({"a": lambda: calls.append("a")}, repeats=2, warm_up=False)
    assert calls == ["a", "a"]


def test_numbers_and_spreads():
    values = {0: "0", 0.01234: "0.0123", 1.5: "1.5", 99.94: "99.9", 99.96: "100", 12345.6: "12,346"}
    assert [number(value) for value in values] == list(values.values())
    assert spread([1, 2, 3, 4, 5]) == "3 (2 to 4)"


def test_repeats_are_steady_if_the_quartiles_of_every_case_are_close():
    assert steady({"a": [1, 1.01, 1.1, 5], "b": [20, 20, 20]}, apart=2.5)
    assert not steady({"a": [1, 1.01, 1.02], "b": [20, 20, 30, 40]})
    assert calls_for(0.0, lambda: None) == 1


def test_a_table_is_aligned_and_keeps_its_records():
    table = Table("decode", "title", ("list", "ms"), ("A note.",))
    table.add({"list": "full", "seconds": [0.1]}, "full", "100")
    table.add({"list": "top-100"}, "top-100", 7)
    expected = ["== decode: title", "A note.", "list      ms", "-------  ---", "full     100", "top-100    7"]
    assert list(format_table(table)) == expected
    assert table.record()["rows"] == [{"list": "full", "seconds": [0.1]}, {"list": "top-100"}]


def test_the_roofline():
    limits = Limits({1: 100.0, 2: 200.0}, {1: 10.0, 2: 10.0}, {1: 500.0})
    assert limits.least_seconds(1000, 10) == 10 and limits.least_seconds(1000, 10, 2) == 5
    assert limits.least_seconds(1000, 1000) == 100 and limits.least_seconds(1000, 10, precision="int8") == 2


@pytest.mark.parametrize("topn", [0, 20])
@pytest.mark.parametrize("beam", [1, 3])
def test_the_cost_is_what_decoding_multiplies(monkeypatch, beam, topn):
    """By its parts, a step multiplies with `product`, `attend` and `word_logits` alone."""
    E, H, length = TINY.embedding, TINY.hidden, TINY.length
    S, C, rows = length + 1, 2 * H, 1 + beam * length
    counted = []

    def count(x, weights):
        if len(weights.bias) != 3 * H + E or x.shape[1] != E:  # those of target words are looked up
            counted.append(len(x) * len(weights.bias) * x.shape[1])
        return product(x, weights)

    for module in (fast, stages):
        monkeypatch.setattr(module, "product", count)
    monkeypatch.setattr(fast, "shared_product", lambda x, weights, desk: count(x, weights))
    monkeypatch.setattr(fast, "decoder_step", stages.decoder_step.plain)
    monkeypatch.setattr(fast, "annotate", stages.annotate.plain)
    n_words = 7 * topn + 2 if topn else 1500
    packed = {"float32": pack(make_network(TINY, 1500), "float32")}
    task = Task(packed, 1500, random_sentences(1, length, TINY.src_words), length, 1)
    assert len(decoder(task, Variant(beam, 1, 1, topn, "float32"))()[0].ids) == length
    elsewhere = rows * S * (C + 3 * H + E) + rows * n_words * E
    assert decoding_cost(Shape(E, H, length, beam, n_words)).flops == 2 * (sum(counted) + elsewhere)


def test_verified_lists_miss_and_are_made_up_for(tiny):
    tables = measure(["verify"], n_threads=1)["verify"]
    assert len(tables) == 2 * len({"float32", fastest_precision()})
    for table in tables:
        rows = {(row["list"], row["beam"]): row for row in table.records}
        assert len(rows) == len(table.rows) == 8
        for beam in (1, 5):
            row = rows["top-100, verify all", beam]
            assert row["equal"] == 1 and row["drafted"] >= row["kept"] > 0 and len(row["gain"]) == 1
        assert rows["top-100, verify best", 1]["equal"] == 1
    assert sum(row["misses"] for table in tables for row in table.records) > 0


def test_lists_and_pairs():
    lists = random_lists(3, 20, 1500)
    assert [len(ids) for ids in lists] == [142] * 3 and random_lists(3, 0, 1500) is None
    assert all((np.diff(ids) > 0).all() and ids[:2].tolist() == [0, 1] and ids[-1] < 1500 for ids in lists)
    pairs = random_pairs(TINY, 1500)
    assert all(set(trg) <= set(ids.tolist()) for trg, ids in zip(pairs.trg, pairs.lists))
    assert {len(s) for s in pairs.src + pairs.trg} == {TINY.length}
    assert all(len(ids) == 22 and (np.diff(ids) > 0).all() for ids in pairs.lists)


def test_a_smaller_vocabulary_is_the_first_part_of_a_larger_one():
    params = make_network(TINY, 40)
    smaller = with_words(params, 30)
    assert smaller.sizes()["trg_words"] == 30 and len(smaller.softmax.W) == len(smaller.softmax.b) == 30
    assert np.shares_memory(smaller.softmax.W, params.softmax.W) and smaller.softmax.b[0] == NEVER


def test_the_grid_compares_lists_with_all_words():
    grid = variants(4)
    assert len(set(grid)) == len(grid) and all(variant.group in grid for variant in grid)
    assert {variant.threads for variant in grid} == {1, 4} and {variant.threads for variant in variants(1)} == {1}


with_kernels = pytest.mark.skipif(reading_mode(), reason="only plain functions run")


@with_kernels
def test_every_kernel_has_a_case():
    measured = {case.kernel.counterpart for case in Maker(TINY).cases()}
    elsewhere = {name for name in all_kernels() if name.split(".")[0] in ("model1", "limits")}  # count and machine
    assert measured == all_kernels() - elsewhere


@with_kernels
def test_kernels_can_be_called_again_and_again_with_the_same_arguments():
    for case in Maker(TINY).cases():
        assert case.nbytes > 0 and case.flops >= 0
        for _ in range(20):
            case.kernel(*case.arguments)
        case.kernel.plain(*case.arguments)
        for array in (argument for argument in case.arguments if isinstance(argument, np.ndarray)):
            assert array.dtype.kind != "f" or np.isfinite(array).all(), case.kernel.__name__


def test_a_plan_for_many_machines(monkeypatch):
    """What is calculated from the jobs of ranks, whose own test is tests/test_ranks.py."""
    part = {"alone": [2.0], "seconds": [2.5], "exchange": [0.4], "waiting": [0.1], "bytes": 8e6, "same_bits": True}
    jobs = []

    def run_ranks(n, *arguments):
        jobs.append((n, arguments[0]))
        return {softmax: part for softmax in (FULL, BATCH_LIST)}

    monkeypatch.setattr(mpi_speed, "run_ranks", run_ranks)
    updates, crowds, full, lists = mpi_speed.measure_mpi(Bench(SIZES["small"], ["mpi"], 1, 2))
    assert jobs == [*[(2, "small")] * (1 + has_bf16()), (4, "small"), (8, "small")]
    assert updates.rows[0][4].startswith("0.8 ") and {row[-1] for row in updates.rows + crowds.rows} == {"yes"}
    for table in (full, lists):
        for row in table.records:
            slow, _, fast = (row["plans"][link] for link in (10, 25, 100))
            assert slow[1] < fast[1] < 2 / 2.5 and slow[0] < fast[0] and slow[2] > fast[2]
            words = row["machines"] * 80 * 25 / (2.5 + row["bytes"] * 8 / 10e9)
            assert slow[0] == pytest.approx(words) and slow[2] == pytest.approx(3.9e6 * 25 / words / 3600)
    assert all(a["bytes"] >= b["bytes"] for a, b in zip(full.records, lists.records))


def test_all_sections(tiny):
    found = measure(["growth", "kernels", "count", "train", "decode", "verify"])
    assert list(found) == ["machine", *(name for name in MEASURES if name != "mpi")]
    assert {(row["limit"], row["threads"]) for row in found["machine"][0].records} == {
        (limit, n) for limit in ("sgemm", "memory read", "int8", *["bf16"] * has_bf16()) for n in (1, 2)
    }
    variants, loaded, others = found["decode"]
    assert [table.records[0]["vocabulary"] for table in (variants, others)] == [1500, 1600]
    assert [(row["batch"], row["threads"]) for row in loaded.records] == [(1, 1), (1, 2), (16, 1), (16, 2)]
    for row in variants.records:
        assert row["seconds_per_sentence"][0] > 0 and (row["share_of_memory"] is None) == (row["batch"] == 16)
        assert row["topn"] or row["gain"] == [1]
    rows = [row for row in found["train"][0].records if row["precision"] == "float32"]
    assert [row["softmax_words"] for row in rows][::2] == [22, 1500]
    assert {row["precision"] for row in found["train"][0].records} == {"float32", *["bf16"] * has_bf16()}
    assert [row["work"] for row in found["count"][0].records] == ["counting", "update", "update", "update", "fastalign"]
    axes = [[(row["value"], row["topn"]) for row in table.records] for table in found["growth"]]
    assert axes[0] == [(1000, 0), (1000, 100), (1700, 0), (1700, 100)]
    assert axes[1] == [(None, 0), (20, 20), (50, 50), (100, 100), (200, 200)]
    for tables in found.values():
        for table in tables:
            assert bool(table.rows) != (reading_mode() and table.section == "kernels")
            assert {len(row) for row in table.rows} <= {len(table.headings)}
            aligned = list(format_table(table))[-len(table.rows) - 2 :]  # headings, a rule, rows
            assert len({len(line) for line in aligned}) <= 3
    n_verify = 2 * len({"float32", fastest_precision()})
    record = bench_record([table for tables in found.values() for table in tables], {"size": "small"})
    assert record["machine"]["numpy"] == np.__version__ and len(record["tables"]) == 11 + n_verify


def test_the_peer_gives_the_same_translations_and_losses(tiny):
    torch = pytest.importorskip("torch")
    n_before = torch.get_num_threads()
    found = measure(["decode", "train"], peer="torch")
    torch.set_num_threads(n_before)
    assert "torch" in found["machine"][0].title
    compared = [table for table in found["decode"] if "PyTorch" in table.title]
    assert [table.records[0]["vocabulary"] for table in compared] == [1500, 1600]
    for row in (row for table in compared for row in table.records):
        assert row["compared"] == (2 if row["batch"] == 1 else 16), row
        if row["precision"] == "float32":
            assert row["identical"] == row["compared"] and row["largest_score_difference"] < 1e-5
        assert row["largest_score_difference"] < 0.1
        assert len(row["peer_seconds_per_sentence"]) == len(row["peer_int8_seconds_per_sentence"]) == 1
    rows = [row for row in found["train"][0].records if "loss" in row]
    assert len(rows) == 2 * len({row["precision"] for row in rows})
    assert all(len(row["peer_bf16_seconds"]) == 1 for row in rows)
    losses = [(row["loss"], row["peer_loss"]) for row in rows]
    np.testing.assert_allclose(*np.array(losses).T, rtol=1e-5)
