"""The neural selector: lists from the encoder's annotations, every word above a threshold; and its file.

The layer is in minnmt/nn/selection.py, its training in minnmt/tasks/selecting.py. Notebook 11.
"""

import numpy as np

from ..align.selector import always_words
from ..arrays import ArrayFile, as_json_array, save_arrays
from ..errors import UserError
from ..model.encoder import encoder_forward
from ..nn.embedding import embedding_forward
from ..nn.selection import Selection, selection_forward

FILE = "selection.npz"
THRESHOLD = 0.01
REMEDY = "make it again with align --method neural"


def annotations(src_ids, src_mask, params):
    """src_ids, src_mask (S,B) -> h (S,B,C)."""
    x, _ = embedding_forward(src_ids, params.src_embedding)
    return encoder_forward(x, src_mask, params.encoder_forward, params.encoder_backward)[0]


class NeuralSelector:
    """Lists of the words that are needed with a probability above the threshold; eos and UNK are in all of them."""

    def __init__(self, params, layer, threshold=THRESHOLD):
        self.params, self.layer, self.threshold = params, layer, threshold
        self.always = always_words(len(layer.b), 0)

    def lists(self, src_ids, src_mask):
        """src_ids, src_mask (S,B) -> B arrays of target ids, ascending, each once."""
        needed = self.scores(src_ids, src_mask) > np.log(self.threshold) - np.log1p(-self.threshold)
        needed[:, self.always] = True
        return [np.flatnonzero(row) for row in needed]

    def scores(self, src_ids, src_mask):
        """-> z (B,V), the log-odds of being needed."""
        h = annotations(src_ids, src_mask, self.params)
        return selection_forward(h, src_mask, self.params.softmax.W, self.layer)[0]


def save_selection(path, layer, info):
    save_arrays(path, {**vars(layer), "info": as_json_array(info)})


def load_selection(path, params):
    """-> Selection; one of another model is refused."""
    (V, E), C = params.softmax.W.shape, len(params.attention.v)
    with ArrayFile(path, REMEDY) as file:
        shapes = {"P": (C, E), "p": (E,), "b": (V,)}
        for name, shape in shapes.items():
            if file.member(name).shape != shape:
                raise UserError(f"{path}: {name} has the shape {file.member(name).shape}, the model {shape}: {REMEDY}")
        return Selection(*(file.read(name, np.float32, shape) for name, shape in shapes.items()))
