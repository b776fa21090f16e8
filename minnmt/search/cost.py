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
    weight_bytes: int = 4


def step_numbers(shape):
    """Of one step -> weights of the cells and the readout, numbers that attention looks at, weights of the softmax."""
    E, H, C = shape.embedding, shape.hidden, 2 * shape.hidden
    attention = (shape.length + 1) * (C + 3 * H + E)  # energies, and the mean of what context is multiplied with
    return (3 * H + C) * H + (3 * H + E) * H, attention, shape.n_words * E


def step_cost(shape):
    """Of one step with a full beam: the products of the decoder and the attention, and of the softmax -> two Costs.

    The second is `n_words` times the same: a row of the output layer, and its bias. Bytes: what is read once for all
    hypotheses, though each has its own attention.
    """
    step, attention, softmax = step_numbers(shape)
    rest = Cost(2 * shape.beam * (step + attention), shape.weight_bytes * step + 4 * attention)
    return rest, Cost(2 * shape.beam * softmax, shape.weight_bytes * softmax + 4 * shape.n_words)


def decoding_cost(shape):
    """Operations of the matrix products, and bytes of weights and annotations read when the sentence is alone.

    Not counted: the products of target words, which are looked up (minnmt/search/fast.py keeps them), tanh and exp.
    Annotations are float32, whatever the weights are.
    """
    E, H, C = shape.embedding, shape.hidden, 2 * shape.hidden
    S = steps = shape.length + 1
    rows = 1 + shape.beam * (steps - 1)  # of all steps: the first has one hypothesis
    inputs, recurrent, annotations = 2 * 3 * H * E, 2 * 3 * H * H, C * (C + 3 * H + E)
    start = C * H + (3 * H + E) * H  # the first state, and its products
    step, attention, softmax = step_numbers(shape)
    products = S * (inputs + recurrent + annotations) + start + rows * (step + attention + softmax)
    # the encoder's recurrent weights are read for every word, the decoder's for every step, the others once
    weights = inputs + S * recurrent + annotations + start + steps * (step + softmax)
    return Cost(2 * products, shape.weight_bytes * weights + 4 * steps * attention)


# The gain of a list: it saves a part of the softmax, and the rest of the network costs as much as R words of it


def gain(rest, n_all, n_listed):
    """How many times as fast a softmax over n_listed words makes decoding; rest is R. Notebook 07 derives it."""
    return (rest + n_all) / (rest + n_listed)


def rest_in_words(gain, n_all, n_listed):
    """R, from a gain that was measured; at most 1,000 vocabularies: where nothing is gained, R has no end."""
    return max(0.0, n_all - gain * n_listed) / max(gain - 1, 0.001)


def computed_rest(shape):
    """R, from the operations of the products alone; shape.n_words does not matter."""
    none, one = (decoding_cost(shape._replace(n_words=n)).flops for n in (0, 1))
    return none / (one - none)


class Limits(NamedTuple):
    """What the machine can do at best, by number of threads."""

    flops: dict  # {threads: operations per second of matrix products in float32}
    bytes: dict  # {threads: bytes per second read from memory}
    int8: dict  # {threads: operations per second in 8 bits}
    bf16: dict | None = None  # {threads: operations per second of matrix products in bfloat16}

    def least_seconds(self, flops, nbytes, n_threads=1, precision="float32"):
        """The roofline: no faster than the products allow, nor than memory does."""
        per_second = {"int8": self.int8, "bf16": self.bf16 or self.flops}.get(precision, self.flops)
        return max(flops / per_second[n_threads], nbytes / self.bytes[n_threads])  # (25)
