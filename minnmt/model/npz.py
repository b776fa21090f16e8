"""Parameters on disk: an .npz with 41 float32 arrays under the names that dl4mt and Nematus use.

Their models load here and ours load there. The table of names stands here and nowhere else. Nothing is ever
unpickled; what this network cannot compute (layer normalisation, deep models, factors) is refused by name.
"""

import re

import numpy as np

from ..arrays import ArrayFile, save_arrays
from ..errors import UserError
from .parameters import from_named, named_arrays

# our name, stored name, stored shape, and how the file holds it if not as we do: "transpose", or "column" for (n,1)
GRU_SHAPES = {"W": "E 2H", "b": "2H", "U": "H 2H", "Wx": "E H", "bx": "H", "Ux": "H H"}
TABLE = [
    ("src_embedding", "Wemb", "Vs E", ""),
    ("trg_embedding", "Wemb_dec", "Vt E", ""),
    *((f"encoder_forward.{name}", f"encoder_{name}", shape, "") for name, shape in GRU_SHAPES.items()),
    *((f"encoder_backward.{name}", f"encoder_r_{name}", shape, "") for name, shape in GRU_SHAPES.items()),
    ("start.W", "ff_state_W", "C H", ""),
    ("start.b", "ff_state_b", "H", ""),
    *((f"decoder_gru.{name}", f"decoder_{name}", shape, "") for name, shape in GRU_SHAPES.items()),
    ("decoder_cell.U", "decoder_U_nl", "H 2H", ""),
    ("decoder_cell.b", "decoder_b_nl", "2H", ""),
    ("decoder_cell.Ux", "decoder_Ux_nl", "H H", ""),
    ("decoder_cell.bx", "decoder_bx_nl", "H", ""),
    ("decoder_cell.W", "decoder_Wc", "C 2H", ""),
    ("decoder_cell.Wx", "decoder_Wcx", "C H", ""),
    ("attention.W_s", "decoder_W_comb_att", "H C", ""),
    ("attention.W_h", "decoder_Wc_att", "C C", ""),
    ("attention.b", "decoder_b_att", "C", ""),
    ("attention.v", "decoder_U_att", "C 1", "column"),
    ("attention.v_b", "decoder_c_tt", "1", ""),
    ("readout.W_s", "ff_logit_lstm_W", "H E", ""),
    ("readout.b_s", "ff_logit_lstm_b", "E", ""),
    ("readout.W_y", "ff_logit_prev_W", "E E", ""),
    ("readout.b_y", "ff_logit_prev_b", "E", ""),
    ("readout.W_c", "ff_logit_ctx_W", "C E", ""),
    ("readout.b_c", "ff_logit_ctx_b", "E", ""),
    ("softmax.W", "ff_logit_W", "E Vt", "transpose"),
    ("softmax.b", "ff_logit_b", "Vt", ""),
]
STORED_NAMES = [stored for _, stored, _, _ in TABLE]

UNSUPPORTED = [
    (re.compile(r".*(_lns|_lnb|_gamma\d*|ln_[sb])$"), "layer normalisation"),
    (re.compile(r".*_drt(_\d+)?(_.*)?$|.*_nl\d+$"), "deep transitions (more than one recurrent step per word)"),
    (re.compile(r"(encoder|encoder_r|decoder)_\d+_.*"), "a deep model (more than one layer)"),
    (re.compile(r"Wemb\d+"), "input factors"),
    (re.compile(r".*_(wns|wnb)$"), "weight normalisation"),
    (re.compile(r"(encoder|decoder).*"), "a network part that minnmt does not have"),
    (re.compile(r"ff_(state|logit).*"), "an output layer that minnmt does not have"),
]


def to_stored(params):
    """Parameters -> {stored name: array}, in the table's order."""
    named, arrays = dict(named_arrays(params)), {}
    for ours, stored, _, layout in TABLE:
        array = named[ours]
        arrays[stored] = array.T if layout == "transpose" else array[:, None] if layout == "column" else array
    return arrays


def from_stored(arrays):
    """{stored name: array} -> Parameters. The arrays keep their float type; shapes are the caller's concern."""
    named = {}
    for ours, stored, _, layout in TABLE:
        array = arrays[stored]
        array = array.T if layout == "transpose" else array[:, 0] if layout == "column" else array
        named[ours] = np.ascontiguousarray(array)
    return from_named(named)


def save_parameters(path, params):
    """Write model.npz; the file is either complete or untouched."""
    save_arrays(path, {name: np.asarray(a, np.float32) for name, a in to_stored(params).items()})


def load_parameters(path):
    """Read an .npz of ours, dl4mt's or Nematus' into float32 Parameters."""
    with open_model(path) as file:
        return read_parameters(file, sizes_in(file))


def stored_sizes(path):
    """The sizes of the network in an .npz, as Parameters.sizes gives them; no array is read."""
    with open_model(path) as file:
        return sizes_in(file)


def open_model(path):
    """An ArrayFile with all that this network needs, and nothing that it cannot compute."""
    file = ArrayFile(path)
    for name in file.names:
        for pattern, what in UNSUPPORTED:
            if name not in STORED_NAMES and pattern.fullmatch(name):
                raise UserError(f"{path} uses {what} (array {name}), which minnmt cannot compute")
    missing = [name for name in STORED_NAMES if tied(file, name)[0] not in file]
    if missing:
        raise UserError(
            f"{path} is not a model of this network: it lacks {', '.join(missing[:4])}"
            + (f" and {len(missing) - 4} more" if len(missing) > 4 else "")
        )
    return file


def tied(file, name):
    """Nematus can share one matrix between the embeddings or with the output layer and then stores it once.

    -> the name under which a matrix is stored, and whether it has to be transposed.
    """
    if name == "ff_logit_W" and name not in file:
        return tied(file, "Wemb_dec")[0], True
    return ("Wemb" if name == "Wemb_dec" and name not in file else name), False


def sizes_in(file):
    """All sizes follow from Wemb (Vs,E), Wemb_dec (Vt,E) and ff_state_b (H)."""
    shapes = {}
    for name, n_axes in (("Wemb", 2), ("Wemb_dec", 2), ("ff_state_b", 1)):
        shapes[name] = file.member(tied(file, name)[0]).shape
        if len(shapes[name]) != n_axes or 0 in shapes[name]:
            raise UserError(f"{file.path}: the array {name} has shape {shapes[name]}, not {n_axes} axes, none empty")
    (Vs, E), (Vt, _), (H,) = shapes.values()
    return {"src_words": Vs, "trg_words": Vt, "embedding": E, "hidden": H}


def read_parameters(file, sizes, prefix="", least=None):
    """The 41 arrays in an ArrayFile, each of the shape that the sizes ask for -> Parameters."""
    Vs, Vt, E, H = (sizes[name] for name in ("src_words", "trg_words", "embedding", "hidden"))
    lengths = {"Vs": Vs, "Vt": Vt, "E": E, "H": H, "2H": 2 * H, "C": 2 * H, "1": 1}
    arrays = {}
    for _, stored, axes, _ in TABLE:
        shape = tuple(lengths[axis] for axis in axes.split())
        name, transposed = (stored, False) if prefix else tied(file, stored)
        array = file.read(prefix + name, np.floating, shape[::-1] if transposed else shape, least)
        with np.errstate(over="ignore"):
            arrays[stored] = np.asarray(array.T if transposed else array, np.float32)
        if not np.isfinite(arrays[stored]).all():
            raise UserError(f"{file.path}: the array {name} holds numbers too large for float32; {file.remedy}")
    return from_stored(arrays)
