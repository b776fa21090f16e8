"""All parameters of the network as small dataclasses, how they start, and how to walk over them.

The names used in stored files are not here: minnmt/model/npz.py translates between the two. Notebook 04.
"""

from dataclasses import dataclass, fields, is_dataclass

import numpy as np

from ..nn.attention import Attention
from ..nn.conditional_gru import ContextCell
from ..nn.gru import GRU
from ..nn.readout import Readout
from ..nn.softmax import Softmax
from ..nn.start_state import StartState


@dataclass
class Parameters:
    """The whole network. A gradient is an object of the same class."""

    src_embedding: np.ndarray  # (Vs,E)
    trg_embedding: np.ndarray  # (Vt,E)
    encoder_forward: GRU
    encoder_backward: GRU
    start: StartState
    decoder_gru: GRU
    attention: Attention
    decoder_cell: ContextCell
    readout: Readout
    softmax: Softmax

    def sizes(self):
        """The network's dimensions: {"src_words": Vs, "trg_words": Vt, "embedding": E, "hidden": H}."""
        (Vs, E), Vt, H = self.src_embedding.shape, len(self.trg_embedding), len(self.start.b)
        return {"src_words": Vs, "trg_words": Vt, "embedding": E, "hidden": H}


def named_arrays(tree, prefix=""):
    """Walk a Parameters object: yields ("encoder_forward.W", array) for every array, always in the same order."""
    for field in fields(tree):
        value = getattr(tree, field.name)
        if is_dataclass(value):
            yield from named_arrays(value, f"{prefix}{field.name}.")
        else:
            yield prefix + field.name, value


def from_named(arrays, cls=Parameters, prefix=""):
    """{"encoder_forward.W": array, ...} -> Parameters: the way back from named_arrays."""
    values = []
    for field in fields(cls):
        name = prefix + field.name
        values.append(from_named(arrays, field.type, name + ".") if is_dataclass(field.type) else arrays[name])
    return cls(*values)


def map_arrays(f, tree):
    """A new object of the same classes with f applied to every array."""
    values = (getattr(tree, field.name) for field in fields(tree))
    return type(tree)(*(map_arrays(f, v) if is_dataclass(v) else f(v) for v in values))


def zeros_like(params):
    """A gradient object for these parameters, all zero."""
    return map_arrays(np.zeros_like, params)


PIECE = 1 << 18  # numbers; so many that calling Python for each piece costs nothing


def array_blocks(params):
    """Cut all arrays into blocks of rows: [(name, first row, row behind the last)], always the same ones in order."""
    found = []
    for name, array in named_arrays(params):
        n = max(1, PIECE // (array.size // max(len(array), 1) or 1))
        found += [(name, i, min(i + n, len(array))) for i in range(0, len(array), n)]
    return found


def array_pieces(params, rows, blocks=None):
    """What threads share: [(name, index)] for each of the blocks (all of them, unless some are given), in order.

    The index is a slice of the first axis. Of an array that `rows` ({name: ids, ascending}) names, only those rows are
    taken, and the index is an array of ids; blocks without any are left out.
    """
    found = []
    for name, start, stop in array_blocks(params) if blocks is None else blocks:
        if name not in rows:
            found.append((name, slice(start, stop)))
        else:
            first, last = np.searchsorted(rows[name], (start, stop))
            if first < last:
                found.append((name, rows[name][first:last]))
    return found


def init_parameters(src_words, trg_words, embedding, hidden, rng, style="glorot"):
    """New float32 parameters: square recurrent matrices orthogonal, biases zero, the rest by `style`.

    "glorot" scales each matrix by its sizes and draws embeddings as 0.5 * normal, large enough for the GRUs to feel
    (with 0.1 the embedded corpus was at dev BLEU 5 after two epochs, with 0.5 at 39); "dl4mt" draws 0.01 * normal, as
    the original does (it stays at unigram perplexity for more than a thousand updates on small corpora). A run may
    replace the softmax's bias (minnmt/train/run.py: first_parameters).
    """
    E, H, C = embedding, hidden, 2 * hidden

    def matrix(n_in, n_out):
        if style == "dl4mt":
            return (0.01 * rng.standard_normal((n_in, n_out))).astype(np.float32)
        limit = float(np.sqrt(6 / (n_in + n_out)))
        return rng.uniform(-limit, limit, (n_in, n_out)).astype(np.float32)

    def table(n_words):
        scale = 0.01 if style == "dl4mt" else 0.5
        return (scale * rng.standard_normal((n_words, E))).astype(np.float32)

    def square(n):
        return np.linalg.qr(rng.standard_normal((n, n)))[0].astype(np.float32)

    def zeros(n):
        return np.zeros(n, np.float32)

    def gates():
        return np.concatenate([square(H), square(H)], axis=1)

    def gru():
        return GRU(matrix(E, 2 * H), zeros(2 * H), gates(), matrix(E, H), zeros(H), square(H))

    return Parameters(
        src_embedding=table(src_words),
        trg_embedding=table(trg_words),
        encoder_forward=gru(),
        encoder_backward=gru(),
        start=StartState(matrix(C, H), zeros(H)),
        decoder_gru=gru(),
        attention=Attention(matrix(C, C), zeros(C), matrix(H, C), matrix(C, 1)[:, 0], zeros(1)),
        decoder_cell=ContextCell(gates(), zeros(2 * H), square(H), zeros(H), matrix(C, 2 * H), matrix(C, H)),
        readout=Readout(matrix(H, E), zeros(E), matrix(E, E), zeros(E), matrix(C, E), zeros(E)),
        softmax=Softmax(np.ascontiguousarray(matrix(E, trg_words).T), zeros(trg_words)),
    )
