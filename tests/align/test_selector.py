"""A sentence's list: whose candidates are in it, what always is, and that its neighbours in a batch never matter."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from minnmt.align.candidates import Candidates, random_candidates
from minnmt.align.selector import FrequentSelector, Selector
from minnmt.text.batches import make_batch, pad
from minnmt.text.vocab import EOS, UNK

V = 12


def table(*rows, n_trg=V):
    """The candidates of source ids 0, 1, 2, ..."""
    ids = np.array([i for row in rows for i in row], np.int32)
    return Candidates(np.cumsum([0, *map(len, rows)]), ids, np.ones(len(ids), np.float32), n_trg)


#              eos  UNK      2       3    4   5
ROWS = table([9], [11, 8], [7, 5], [5, 6], [], [10])


def lists(selector, *sentences):
    found = selector.lists(*pad(list(sentences)))
    for ids in found:
        assert ids.dtype == np.int64
    return [ids.tolist() for ids in found]


def test_the_union_of_the_words_and_eos_and_unk():
    selector = Selector(ROWS)
    assert lists(selector, [2, 3]) == [[0, 1, 5, 6, 7, 9]]  # eos is a source word too, with candidate 9
    assert lists(selector, [3, 2, 2, 3]) == [[0, 1, 5, 6, 7, 9]]
    assert lists(selector, [4]) == [[0, 1, 9]]
    assert lists(selector, []) == [[0, 1, 9]]


def test_an_unknown_source_word_brings_the_row_of_unk():
    assert lists(Selector(ROWS), [UNK, 4]) == [[0, 1, 8, 9, 11]]


def test_padding_brings_nothing_and_sentences_keep_their_own():
    """Padding has eos' id: where eos itself is masked out, as it never is in a batch of ours, its row adds nothing."""
    assert lists(Selector(ROWS), [2, 2, 2], [3], [5, 4]) == [[0, 1, 5, 7, 9], [0, 1, 5, 6, 9], [0, 1, 9, 10]]
    src_ids, src_mask = np.array([[2, 5], [EOS, EOS]]), np.array([[1, 1], [0, 1]], np.float32)
    assert [ids.tolist() for ids in Selector(ROWS).lists(src_ids, src_mask)] == [[0, 1, 5, 7], [0, 1, 9, 10]]


@pytest.mark.parametrize(
    "k, expected", [(0, [0, 1]), (1, [0, 1, 2]), (3, [0, 1, 2, 3, 4]), (V - 2, list(range(V))), (10**6, list(range(V)))]
)
def test_frequent_words_are_the_first_ids_after_eos_and_unk(k, expected):
    assert lists(Selector(ROWS, frequent=k), [5]) == [sorted({*expected, 9, 10})]


def test_an_empty_table():
    empty = table([], [], [], [])
    assert lists(Selector(empty), [2, 3], [3]) == [[0, 1], [0, 1]]
    assert lists(Selector(empty, frequent=2), [2, 3]) == [[0, 1, 2, 3]]


def test_a_vocabulary_of_eos_and_unk_alone():
    assert lists(Selector(table([], [], [1, 0], n_trg=2), frequent=5), [2, 2]) == [[0, 1]]


def test_a_table_with_eos_and_unk_in_it():
    assert lists(Selector(table([0, 1], [1], [1, 0, 3])), [2, 1]) == [[0, 1, 3]]


def test_target_words_of_training_and_not_their_padding():
    selector = Selector(table([], [], [3], []))
    batch = make_batch([[2], [2, 3]], [[8, 4, UNK], [10]])
    assert [ids.tolist() for ids in selector.lists(*batch)] == [[0, 1, 3, 4, 8], [0, 1, 3, 10]]
    masked = batch._replace(trg_ids=np.where(batch.trg_mask > 0, batch.trg_ids, 11))
    assert [ids.tolist() for ids in selector.lists(*masked)] == [[0, 1, 3, 4, 8], [0, 1, 3, 10]]


@settings(max_examples=40, deadline=None)
@given(
    sentences=st.lists(st.lists(st.integers(1, 7), max_size=6), min_size=1, max_size=6), frequent=st.integers(0, 4),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
def test_the_same_list_alone_and_in_any_batch(sentences, frequent, seed):
    rng = np.random.default_rng(seed)
    rows = [rng.permutation(20)[: rng.integers(0, 6)].tolist() for _ in range(8)]
    selector = Selector(table(*rows, n_trg=20), frequent)
    alone = [lists(selector, sentence)[0] for sentence in sentences]
    expected = [
        sorted({*range(2 + frequent), *(i for word in [*sentence, EOS] for i in rows[word])}) for sentence in sentences
    ]
    assert alone == expected
    assert lists(selector, *sentences) == alone
    assert lists(selector, *sentences[::-1], [7] * 9)[:-1] == alone[::-1]


# Controls


def test_the_most_frequent_words_instead():
    """As many words a source word, eos counted as in the other selectors; eos and UNK besides."""
    selector = FrequentSelector(2, V)
    assert lists(selector, [5], [5, 4, 3]) == [list(range(2 + 2 * 2)), list(range(2 + 2 * 4))]
    assert lists(selector, [2] * 50, []) == [list(range(V)), list(range(4))]
    assert lists(selector, [5]) == lists(selector, [5], [2] * 9)[:1]


def test_random_words_instead():
    first, second = (lists(Selector(random_candidates(8, 500, 5)), [2, 3], [7]) for _ in range(2))
    assert first == second and first[0] != first[1]
    assert all(ids[:2] == [EOS, UNK] and ids == sorted(set(ids)) for ids in first)
    assert 12 < len(first[0]) <= 2 + 3 * 5
