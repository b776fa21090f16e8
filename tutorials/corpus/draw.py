"""Seeded random choices: Zipf-like draws with a coverage pass.

Only random.Random.random() is used: its stream is the same on every Python version, which choice() and
shuffle() do not promise. Left out: any knowledge of what is drawn.
"""

from bisect import bisect
from collections.abc import Sequence
from functools import cache
from itertools import accumulate
from random import Random

EXPONENT = 1.1  # weight of the word at rank r: 1 / (r + OFFSET) ** EXPONENT
OFFSET = 2.0
COVERAGE = 0.2  # this share of the draws goes to words that were seldom used
CANDIDATES = 8  # ... the least used of so many


@cache
def _zipf_sums(n: int) -> list[float]:
    return list(accumulate((rank + OFFSET) ** -EXPONENT for rank in range(n)))


def weights(text: str) -> tuple[tuple[str, int], ...]:
    """'present 38, future 6' -> (("present", 38), ("future", 6)), for Draw.weighted."""
    return tuple((name, int(weight)) for name, weight in (pair.split() for pair in text.split(",")))


class Draw:
    """One stream of random choices."""

    def __init__(self, seed: int):
        self.random = Random(seed).random
        self._used: dict[
            int, int
        ] = {}  # id of an item -> how often it was drawn; the lexicon keeps items alive

    def chance(self, p: float) -> bool:
        return self.random() < p

    def below(self, n: int) -> int:
        return int(self.random() * n)

    def between(self, low: int, high: int) -> int:
        return low + self.below(high - low + 1)

    def choice(self, options: Sequence):
        return options[int(self.random() * len(options))]

    def weighted(self, options: Sequence[tuple]):
        """One of (value, weight) pairs."""
        point = self.random() * sum(weight for _, weight in options)
        for value, weight in options:
            point -= weight
            if point < 0:
                return value
        return options[-1][0]

    def zipf(self, pool: Sequence):
        """Early items more often; now and then the least used of a few, so that every item gets its turn."""
        random = self.random
        if random() < COVERAGE:
            n, used = len(pool), self._used
            item = min(
                (pool[int(random() * n)] for _ in range(CANDIDATES)), key=lambda item: used.get(id(item), 0)
            )
        else:
            sums = _zipf_sums(len(pool))
            item = pool[bisect(sums, random() * sums[-1], 0, len(pool) - 1)]
        self._used[id(item)] = self._used.get(id(item), 0) + 1
        return item
