"""Plain arrays on disk: .npz files that are written whole or not at all, and read or mapped into memory.

Nothing is ever pickled or unpickled.
"""

import functools
import io
import math
import struct
import zipfile

import numpy as np

from .errors import UserError
from .files import atomic_file, reason

# Where the numbers of an array begin in the file: at a multiple of this, so that a mapped array is as well placed for
# the processor as one in memory. A .npy header is as long as such a multiple; its member must begin at one, too.
ALIGNMENT = 64
ALIGNMENT_FIELD = 0xD935  # what Android's zipalign calls such padding


def save_arrays(path, arrays):
    """An .npz of plain arrays, written atomically."""
    with atomic_file(path) as file:
        write_arrays(file, arrays)


def write_arrays(file, arrays):
    """{name: array} -> an uncompressed .npz in an open file: numpy.savez, but aligned. The same bytes every time."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(name + ".npy")
            _align(info, archive.fp.tell())
            with archive.open(info, "w", force_zip64=True) as member:  # as numpy does: sizes are not known before
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def _align(info, position):
    """Fill up the member's zip header, which is to be written at `position`, so that its content is aligned."""
    n_header = 30 + len(info.filename.encode("utf-8")) + 20  # the fixed part, the name, the field for large sizes
    n_zeros = -(position + n_header + 6) % ALIGNMENT  # 6: this field without its zeros
    info.extra = struct.pack("<HHH", ALIGNMENT_FIELD, 2 + n_zeros, ALIGNMENT) + bytes(n_zeros)


def load_arrays(path):
    """Every array of an .npz, checked against the file's checksums; pickled members are refused by name."""
    return _read_members(path, _read_member)


def map_arrays_file(path, mode="r"):
    """Every array of an uncompressed .npz as a view into the file, which is mapped into memory once.

    Processes that map the same file share its pages, and only the pages that are used are ever read; hence the
    checksums are not compared. Compressed and pickled members are refused by name.
    With mode "r" the arrays are read-only. With "c" they can be written to, in this process alone: the file stays as it
    is (for Numba, which compiles its kernels once more for read-only arrays).
    """
    whole = functools.cache(lambda: np.memmap(path, np.uint8, mode))
    return _read_members(path, lambda archive, name: _map_member(archive, name, whole()))


def _read_members(path, read_member):
    """{name: read_member(archive, member)} of an .npz; whatever is wrong with the file is a UserError."""
    arrays, name = {}, None
    try:
        with open(path, "rb") as file:
            if file.read(6) == b"\x93NUMPY":
                raise UserError(f"{path} is a single array, not an .npz archive of a model's arrays")
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                arrays[name.removesuffix(".npy")] = read_member(archive, name)
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
    except CompressedMember:
        raise UserError(
            f"{path}: its member {name.removesuffix('.npy')} is compressed, which cannot be mapped into memory; "
            "save the arrays again with numpy.savez"
        ) from None
    except Exception:  # zipfile and numpy meet damaged bytes with errors of every kind
        raise _damaged(path, name) from None
    return arrays


class PickledMember(Exception):
    pass


class CompressedMember(Exception):
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


def _map_member(archive, name, whole):
    """One array as a view into `whole`, the mapped bytes of the archive."""
    info = archive.getinfo(name)
    if info.compress_type != zipfile.ZIP_STORED:
        raise CompressedMember
    with archive.open(info) as member:  # compares the name and the flags of the two headers that a member has
        shape, fortran_order, dtype = _read_npy_header(member)
        n_header = member.tell()
    if dtype.hasobject:
        raise PickledMember
    if n_header + math.prod(shape) * dtype.itemsize != info.file_size:
        raise ValueError("more bytes than the header claims, or fewer")
    # The member's content follows its name and its extra fields, whose lengths end the zip header's fixed part.
    n_name, n_extra = struct.unpack("<HH", whole[info.header_offset + 26 : info.header_offset + 30].tobytes())
    start = info.header_offset + 30 + n_name + n_extra + n_header
    return np.ndarray(shape, dtype, whole, start, order="F" if fortran_order else "C")


def _read_npy_header(file):
    """The header of a .npy file -> shape, fortran_order, dtype; the file is then at its first number."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError(f"no plain array has a header of version {version}")


def _damaged(path, name):
    where = f" (in its member {name.removesuffix('.npy')})" if name else ""
    return UserError(f"{path} is damaged or not a complete .npz file{where}: copy it again or train again")
