"""Byte-pair encoding (Sennrich, Haddow and Birch, 2016): rare words become sequences of frequent pieces.

Learning starts from characters, the last one of a word marked </w>, and merges the most frequent pair of
neighbours, again and again; applying repeats the merges in the order they were learned. Codes, codes file and
segmentation are those of subword-nmt 0.3.8 (format 0.2), ties included: files go both ways.
Left out: dropout, glossaries, splitting by a vocabulary threshold; words that contain white space or the mark
</w> itself (our tokenizer makes none) are learned, but not always as subword-nmt learns them.
Notebook 00 teaches this file.
"""

import heapq
import os
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from itertools import pairwise

from ..errors import UserError, quoted
from ..files import read_text

END = "</w>"  # closes the last symbol of a word
SEPARATOR = "@@"  # closes every unit that its word continues after
HEADER = "#version: 0.2"
LONGEST_WORD = 1000  # characters; a longer one stays whole, and so is unknown
MOST_CACHED = 1 << 17  # words whose units are kept

Pair = tuple[str, str]


def count_words(lines: Iterable[str]) -> Counter[str]:
    """How often each token occurs; tokens are separated by single spaces, blank ones do not count."""
    return Counter(token for line in lines for token in line.strip("\r\n ").split(" ") if token)


# Three helpers that learning and applying share.


def to_symbols(word: str) -> list[str]:
    """abc -> ["a", "b", "c</w>"]."""
    return [*word[:-1], word[-1] + END]


def find_pair(symbols: list[str], first: str, second: str) -> list[int]:
    """Where the pair starts, from left to right and without overlap: (a, a) in a a a starts at 0 alone."""
    starts = []
    i, last = 0, len(symbols) - 1
    while i < last:
        if symbols[i] == first and symbols[i + 1] == second:
            starts.append(i)
            i += 2
        else:
            i += 1
    return starts


def merge_at(symbols: list[str], starts: list[int], merged: str) -> list[str]:
    """Replace the two symbols at every start by the merged one."""
    out = symbols.copy()
    for start in reversed(starts):  # from the right, so that the starts on the left stay valid
        out[start : start + 2] = [merged]
    return out


# Learning.


def learn_bpe(word_counts: Mapping[str, int], n_merges: int, min_frequency: int = 2) -> list[Pair]:
    """The pairs to merge, in order: n_merges, or fewer when no pair left occurs min_frequency times."""
    table = PairTable(word_counts, min_frequency)
    merges: list[Pair] = []
    while len(merges) < n_merges:
        pair = table.most_frequent()
        if pair is None:
            break
        merges.append(pair)
        table.merge(pair)
    return merges


class PairTable:
    """The distinct words as symbols, the counts of all pairs of neighbours, and an index from pairs to words.

    A merge touches only the words that hold its pair, so counts are updated, never recounted. The heap keeps
    the most frequent pair on top. When a count falls, its entry stays as it is, to be put right (or dropped)
    once it comes to the top. That is enough: a merge makes new pairs, and after that their counts only fall.
    """

    def __init__(self, word_counts: Mapping[str, int], min_frequency: int):
        self.words = [to_symbols(word) for word in word_counts if word]
        self.word_counts = [count for word, count in word_counts.items() if word]
        self.min_frequency = max(1, min_frequency)
        self.totals: dict[Pair, int] = defaultdict(int)
        self.where: dict[Pair, set[int]] = defaultdict(set)  # words that hold the pair, or held it once
        for w, symbols in enumerate(self.words):
            for pair in pairwise(symbols):
                self.totals[pair] += self.word_counts[w]
                self.where[pair].add(w)
        self.order: dict[str, tuple[int, ...]] = {}
        self.heap: list[tuple] = []
        for pair in self.totals:
            self._push(pair)

    def most_frequent(self) -> Pair | None:
        """The pair with the largest count; among equals, the last one in the order of characters."""
        while self.heap:
            negative_count, _, _, pair = self.heap[0]
            if -negative_count == self.totals[pair]:
                return pair
            heapq.heappop(self.heap)
            self._push(pair)
        return None

    def _push(self, pair: Pair) -> None:
        count = self.totals[pair]
        if count < self.min_frequency:
            return
        order = self.order
        for symbol in pair:
            if symbol not in order:
                order[symbol] = (*(-ord(character) for character in symbol), 1)  # 1: "ab" comes after "abc"
        # heapq puts the smallest entry on top, hence the minus signs
        heapq.heappush(self.heap, (-count, order[pair[0]], order[pair[1]], pair))

    def merge(self, pair: Pair) -> None:
        """Replace the pair by one symbol in every word, and bring counts, index and heap up to date."""
        merged = "".join(pair)
        totals, where = self.totals, self.where
        new_pairs = set()
        for w in where.pop(pair):
            old, count = self.words[w], self.word_counts[w]
            starts = find_pair(old, *pair)
            if not starts:
                continue
            new = self.words[w] = merge_at(old, starts, merged)
            for lost in pairwise(old):
                totals[lost] -= count
            for kept in pairwise(new):
                totals[kept] += count
                if merged in kept:
                    where[kept].add(w)
                    new_pairs.add(kept)
        for new_pair in new_pairs:
            self._push(new_pair)


# The codes file.


def format_codes(merges: Iterable[Pair]) -> str:
    """The text of a codes file, as subword-nmt writes it, byte for byte."""
    return HEADER + "\n" + "".join(f"{first} {second}\n" for first, second in merges)


def read_codes(path: str | os.PathLike) -> list[Pair]:
    """Read a codes file, ours or subword-nmt's."""
    header, *lines = read_text(path).rstrip("\n").split("\n")
    if header.split() != HEADER.split():
        raise UserError(
            f'{path}, line 1: BPE codes must begin with "{HEADER}", found {quoted(header, 40)}: '
            "learn the codes again with minnmt or with subword-nmt 0.3 or later"
        )
    merges = []
    for line_number, line in enumerate(lines, start=2):
        pair = tuple(line.strip("\r\n ").split(" "))
        if len(pair) != 2 or not all(pair):
            raise UserError(
                f"{path}, line {line_number}: expected two symbols with one space between them, "
                f'found {quoted(line, 40)}: learn the codes again or restore the file'
            )
        merges.append(pair)
    return merges


# Applying.


class BPE:
    """Split tokens into units; every unit but the last of its word ends in @@."""

    def __init__(self, merges: Iterable[Pair]):
        self.ranks: dict[Pair, int] = {}
        for rank, pair in enumerate(merges):
            self.ranks.setdefault(pair, rank)  # a repeated pair keeps its first rank
        self._cache: dict[str, list[str]] = {}

    def segment(self, tokens: Iterable[str]) -> list[str]:
        cache = self._cache
        units: list[str] = []
        for token in tokens:
            pieces = cache.get(token)
            if pieces is None:
                if len(cache) == MOST_CACHED:
                    cache.clear()
                pieces = cache[token] = self._split(token)
            units += pieces
        return units

    def _split(self, word: str) -> list[str]:
        """Apply the earliest-learned merge that fits until none does."""
        if not word:
            return []
        if len(word) > LONGEST_WORD:
            return [word]  # no word of any language: to find its merges would take minutes
        ranks = self.ranks
        never = float("inf")
        symbols = to_symbols(word)
        while len(symbols) > 1:
            pair = min(pairwise(symbols), key=lambda pair: ranks.get(pair, never))
            if pair not in ranks:
                break
            symbols = merge_at(symbols, find_pair(symbols, *pair), "".join(pair))
        return [symbol + SEPARATOR for symbol in symbols[:-1]] + [symbols[-1].removesuffix(END)]


def join_units(units: Iterable[str]) -> list[str]:
    """Glue units back to tokens; a word left open at the end of the sentence is closed."""
    tokens = []
    word = ""
    for unit in units:
        if unit.endswith(SEPARATOR):
            word += unit.removesuffix(SEPARATOR)
        else:
            tokens.append(word + unit)
            word = ""
    if word:
        tokens.append(word)
    return tokens


def unit_words(units: Iterable[str]) -> list[int]:
    """The index of the word that each unit belongs to: ["ab@@", "c", "d"] -> [0, 0, 1]."""
    words = []
    word = 0
    for unit in units:
        words.append(word)
        word += not unit.endswith(SEPARATOR)
    return words
