"""Plain arrays on disk: .npz files that are written whole or not at all.

Nothing is ever pickled or unpickled.
"""

import io
import zipfile

import numpy as np

from .errors import UserError
from .files import atomic_file, reason


def save_arrays(path, arrays):
    """{name: array} -> an uncompressed .npz, written atomically: numpy.savez, but the same bytes every time."""
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(name + ".npy")  # with a fixed date
            with archive.open(info, "w", force_zip64=True) as member:  # as numpy does: sizes are not known before
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def load_arrays(path):
    """Every array of an .npz, checked against the file's checksums; whatever is wrong with the file is a UserError."""
    arrays, name = {}, None
    try:
        with open(path, "rb") as file:
            if file.read(6) == b"\x93NUMPY":
                raise UserError(f"{path} is a single array, not an .npz archive of a model's arrays")
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                arrays[name.removesuffix(".npy")] = _read_member(archive, name)
    except OSError as error:
        if error.errno is not None:
            raise UserError(f"cannot read {path}: {reason(error)}") from None
        raise _damaged(path, name) from None
    except UserError:
        raise
    except PickledMember:
        raise UserError(
            f"{path}: its member {name.removesuffix('.npy')} is a pickled object, which could run any code when read; "
            "save the model again with plain arrays only (numpy.savez without objects)"
        ) from None
    except Exception:  # zipfile and numpy meet damaged bytes with errors of every kind
        raise _damaged(path, name) from None
    return arrays


class PickledMember(Exception):
    pass


def _read_member(archive, name):
    """One array; the whole member is read first, so that its checksum is compared."""
    data = io.BytesIO(archive.read(name))
    try:
        array = np.lib.format.read_array(data, allow_pickle=False)
    except ValueError as error:
        if "allow_pickle" in str(error):
            raise PickledMember from None
        raise
    if data.read(1):
        raise ValueError("more bytes than the header claims")
    return array


def _damaged(path, name):
    where = f" (in its member {name.removesuffix('.npy')})" if name else ""
    return UserError(f"{path} is damaged or not a complete .npz file{where}: copy it again or train again")
