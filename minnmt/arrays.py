"""Plain arrays on disk: .npz files that are written whole or not at all, and looked at before they are read.

Nothing is ever pickled or unpickled. ArrayFile is the one gate for arrays that come from a file: only wanted ones are
read, and kind, shape and size are those that were asked for before any memory is taken.
"""

import contextlib
import io
import json
import math
import os
import stat
import zipfile
from typing import NamedTuple

import numpy as np

from .errors import UserError
from .files import atomic_file, reason

MOST_PACKED = 100  # times that an array may be larger than in its file; weights can hardly be packed at all
MOST_JSON = 1 << 24  # bytes


def save_arrays(path, arrays, compression=zipfile.ZIP_STORED):
    """{name: array} -> an .npz, uncompressed by default, written atomically: numpy.savez, but always the same bytes."""
    with atomic_file(path) as file, zipfile.ZipFile(file, "w") as archive:
        for name, array in arrays.items():
            info = zipfile.ZipInfo(name + ".npy")  # with a fixed date
            info.compress_type = compression
            with archive.open(info, "w", force_zip64=True) as member:  # as numpy does: sizes are not known before
                np.lib.format.write_array(member, np.asanyarray(array), allow_pickle=False)


def as_json_array(record):
    """A dictionary as an array of bytes, for a file of arrays."""
    return np.frombuffer(json.dumps(record).encode(), np.uint8)


class Member(NamedTuple):
    """What a file says of an array."""

    shape: tuple
    dtype: np.dtype


class ArrayFile:
    """An .npz; whatever is wrong with it is a UserError that names the file, the array and a remedy."""

    def __init__(self, path, remedy="copy it again or train again"):
        self.path, self.remedy = path, remedy
        with self._damage():
            self._check_file()
            self._archive = zipfile.ZipFile(path)
            self._infos = {info.filename.removesuffix(".npy"): info for info in self._archive.infolist()}
            if len(self._infos) < len(self._archive.infolist()):
                raise UserError(f"{path} is damaged: it has two arrays of the same name; {remedy}")

    def __enter__(self):
        return self

    def __exit__(self, *exception):
        self._archive.close()

    def __contains__(self, name):
        return name in self._infos

    @property
    def names(self):
        return list(self._infos)

    def member(self, name):
        """The Member of an array; nothing but its header is read."""
        if name not in self:
            raise UserError(f"{self.path} has no array {name}: {self.remedy}")
        with self._damage(name), self._archive.open(self._infos[name]) as file:
            shape, dtype = read_npy_header(file)
            size = file.tell() + math.prod(shape) * dtype.itemsize
        info = self._infos[name]
        if dtype.hasobject:
            raise UserError(
                f"{self.path}: its member {name} is a pickled object, which could run any code when read; "
                "save the model again with plain arrays only (numpy.savez without objects)"
            )
        if size != info.file_size or size > MOST_PACKED * info.compress_size + MOST_JSON:
            raise self._damaged(name)
        return Member(shape, dtype)

    def read(self, name, kind, shape, least=None, most=None):
        """An array of a kind (np.floating, np.int64) and a shape (None: any length), finite, from `least` to `most`."""
        found = self.member(name)
        if not np.issubdtype(found.dtype, kind):
            kind = "floating-point numbers" if kind is np.floating else kind.__name__
            raise UserError(f"{self.path}: the array {name} holds {found.dtype}, expected {kind}; {self.remedy}")
        if len(found.shape) != len(shape) or any(n is not None and n != m for n, m in zip(shape, found.shape)):
            expected = str(tuple("any" if n is None else n for n in shape)).replace("'", "")
            raise UserError(
                f"{self.path}: the array {name} has shape {found.shape}, but it must be {expected}; {self.remedy}"
            )
        with self._damage(name):
            data = self._archive.read(self._infos[name])  # the whole of it, so that its checksum is compared
            array = np.lib.format.read_array(io.BytesIO(data), allow_pickle=False)
            array = array.astype(array.dtype.newbyteorder("="), copy=False)  # another machine may have written it
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise UserError(f"{self.path}: the array {name} holds NaN or infinity; {self.remedy}")
        if least is not None and array.size and array.min() < least:
            raise UserError(f"{self.path}: the array {name} holds numbers below {least}; {self.remedy}")
        if most is not None and array.size and array.max() > array.dtype.type(most):
            raise UserError(f"{self.path}: the array {name} holds numbers above {most:g}; {self.remedy}")
        return array

    def read_json(self, name):
        """A dictionary that as_json_array wrote."""
        if self.member(name).shape > (MOST_JSON,):
            raise self._damaged(name)
        with self._damage(name):
            record = json.loads(self.read(name, np.uint8, (None,)).tobytes())
        if not isinstance(record, dict):
            raise self._damaged(name)
        return record

    def _check_file(self):
        if not stat.S_ISREG(os.stat(self.path).st_mode):
            raise UserError(f"{self.path} is not a file: a pipe, a device or a directory cannot hold arrays")
        with open(self.path, "rb") as file:
            if file.read(6) == b"\x93NUMPY":
                raise UserError(f"{self.path} is a single array, not an .npz archive of a model's arrays")

    @contextlib.contextmanager
    def _damage(self, name=None):
        """zipfile, numpy and json meet damaged bytes with errors of every kind."""
        try:
            yield
        except UserError:
            raise
        except OSError as error:
            if error.errno is not None:
                raise UserError(f"cannot read {self.path}: {reason(error)}") from None
            raise self._damaged(name) from None
        except Exception:
            raise self._damaged(name) from None

    def _damaged(self, name):
        where = f" (in its member {name})" if name else ""
        return UserError(f"{self.path} is damaged or not a complete .npz file{where}: {self.remedy}")


def read_npy_header(file):
    """The header of a .npy file -> shape, dtype; the file is then at its first number."""
    version = np.lib.format.read_magic(file)
    readers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
    shape, _, dtype = readers[version](file)
    if not all(type(n) is int and n >= 0 for n in shape):
        raise ValueError("no array has such a shape")
    return shape, dtype
