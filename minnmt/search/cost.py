"""What decoding one sentence must compute and read, counted from the shapes, and how long that takes at least.

Notebook 08 teaches this file.
"""

from typing import NamedTuple


class Cost(NamedTuple):
    flops: float
    nbytes: float


class Shape(NamedTuple):
    """Of the work on one sentence."""

    embedding: int
    hidden: int
    length: int  # source words, eos not counted; translations have as many words
    beam: int
    n_words: int  # that the softmax runs over
    recurrent_bytes: int = 4  # of a weight that is read again for every word


def step_cost(shape):
    """Of one step with a full beam: the products of the decoder and the attention, and of the softmax -> two Costs.

    The second is `n_words` times the same: a row of the output layer, and its bias. Bytes: what is read once for all
    hypotheses, though each has its own attention.
    """
    E, H, C = shape.embedding, shape.hidden, 2 * shape.hidden
    step = 3 * H * H + (3 * H + C) * H + E * H
    attention = (shape.length + 1) * (C + 3 * H + E)
    softmax = shape.n_words * E
    rest = Cost(2 * shape.beam * (step + attention), shape.recurrent_bytes * step + 4 * attention)
    return rest, Cost(2 * shape.beam * softmax, 4 * (softmax + shape.n_words))


def decoding_cost(shape):
    """Operations of the matrix products, and bytes of weights and annotations read when the sentence is alone.

    Not counted: the products of target words, which are looked up (minnmt/search/fast.py keeps them), tanh and exp.
    """
    E, H, C = shape.embedding, shape.hidden, 2 * shape.hidden
    S = steps = shape.length + 1
    rows = 1 + shape.beam * (steps - 1)  # of all steps: the first has one hypothesis
    inputs, recurrent, start, annotations = 2 * 3 * H * E, 2 * 3 * H * H, C * H, C * (C + 3 * H + E)
    step = 3 * H * H + (3 * H + C) * H + E * H
    attention = S * (C + 3 * H + E)  # energies, and the mean of what context is multiplied with
    softmax = shape.n_words * E
    products = S * (inputs + recurrent + annotations) + start + rows * (step + attention + softmax)
    # the encoder's recurrent weights are read for every word, the decoder's for every step, the others once
    numbers = inputs + start + annotations + steps * (attention + softmax)
    return Cost(2 * products, 4 * numbers + shape.recurrent_bytes * (S * recurrent + steps * step))


class Limits(NamedTuple):
    """What the machine can do at best, by number of threads."""

    flops: dict  # {threads: operations a second of matrix products}
    bytes: dict  # {threads: bytes a second read from memory}

    def least_seconds(self, flops, nbytes, n_threads=1):
        """The roofline: no faster than the products allow, nor than memory does."""
        return max(flops / self.flops[n_threads], nbytes / self.bytes[n_threads])  # (25)
