"""Adam (Kingma and Ba, 2015) over a whole Parameters object, and clipping by the global norm. Notebook 04.

    g <- g * min(1, limit / |g|)                                                (14)  |g| of all gradients together
    m <- beta1 m + (1 - beta1) g,   v <- beta2 v + (1 - beta2) g * g            (15)
    w <- w - rate * m / (1 - beta1^t) / (sqrt(v / (1 - beta2^t)) + eps)         (16)  update number t

In the embeddings, and in a softmax over lists, only a few rows have gradients. They are given in `rows`, {array's name:
ids}; an array that is not named has gradients everywhere. Adam may still update all rows (dense): those without a
gradient go on for a while in the direction of their last ones. Or the other rows rest, parameters and moments (sparse,
also called lazy). That saves a pass over the tables, but a word then moves only when it is seen, about a tenth as far:
on the embedded corpus, five epochs, it cost 2 BLEU.
"""

from dataclasses import dataclass

import numpy as np

from ..compiled import compiled
from ..model.parameters import Parameters, array_pieces, named_arrays, zeros_like

BETA1, BETA2, EPS = 0.9, 0.999, 1e-8
ALL_ROWS = {}  # no array is named: every row of each has a gradient


@compiled("adam.adam")
def adam(p, g, m, v, rate, beta1, beta2, eps):
    """Update the parameters p and the moments m, v from the gradient g, all flat (N), in place; g stays.

    `rate` and `eps` already hold both bias corrections (see `Adam.update`).
    """
    m *= beta1
    m += (1 - beta1) * g  # (15)
    v *= beta2
    v += (1 - beta2) * (g * g)  # (15)
    p -= rate * m / (np.sqrt(v) + eps)  # (16)


@compiled("adam.adam_rows")
def adam_rows(p, g, m, v, ids, rate, beta1, beta2, eps):
    """The same for the rows `ids` (n), each once, of p, g, m, v (V,E); the other rows stay."""
    p_rows, m_rows, v_rows = p[ids], m[ids], v[ids]
    adam(p_rows, g[ids], m_rows, v_rows, rate, beta1, beta2, eps)
    p[ids], m[ids], v[ids] = p_rows, m_rows, v_rows


@dataclass
class Adam:
    """The moments of the gradient so far, and how many updates there were."""

    m: Parameters
    v: Parameters
    n_updates: int = 0

    @classmethod
    def for_parameters(cls, params):
        return cls(zeros_like(params), zeros_like(params))

    def update(self, params, grads, learning_rate, rows=ALL_ROWS, map=map, owned=None):
        """One step: params -= learning_rate * m_hat / (sqrt(v_hat) + eps) (16). `map` may spread the work.

        `owned` is a Slice (slices.py) if this rank updates but a part of the parameters.
        """
        self.n_updates += 1
        t = self.n_updates
        # m_hat = m / (1 - beta1^t) and v_hat = v / (1 - beta2^t), both moved into the step size and eps
        root = float(np.sqrt(1 - BETA2**t))
        rate, eps = learning_rate * root / (1 - BETA1**t), EPS * root
        arrays = [dict(named_arrays(tree)) for tree in (params, grads, self.m, self.v)]

        def update_piece(piece):
            name, index = piece
            if name in rows:
                tables = (tree[name].reshape(len(tree[name]), -1) for tree in arrays)
                adam_rows(*tables, index, rate, BETA1, BETA2, eps)
            else:
                adam(*(tree[name][index].reshape(-1) for tree in arrays), rate, BETA1, BETA2, eps)

        list(map(update_piece, pieces_of(params, rows, owned)))


def global_norm(grads, rows=ALL_ROWS, map=map, owned=None):
    """The Euclidean norm of all gradients together."""
    arrays = dict(named_arrays(grads))

    def squares(piece):
        name, index = piece
        numbers = arrays[name][index].reshape(-1)
        return float(np.dot(numbers, numbers))

    pieces = pieces_of(grads, rows, owned)
    found = list(map(squares, pieces))
    return float(np.sqrt(sum(owned.all_values(pieces, found) if owned else found)))


def clip_gradients(grads, limit, rows=ALL_ROWS, map=map, owned=None):
    """Scale all gradients so that their global norm is at most `limit`, 0 = none (14); return the norm before."""
    norm = global_norm(grads, rows, map, owned)
    if limit and norm > limit:
        arrays, factor = dict(named_arrays(grads)), limit / norm

        def scale(piece):
            name, index = piece
            arrays[name][index] *= factor

        list(map(scale, pieces_of(grads, rows, owned)))
    return norm


def pieces_of(tree, rows, owned):
    """The pieces that are looked at: all, or those of a Slice."""
    return owned.pieces(tree, rows) if owned else array_pieces(tree, rows)
