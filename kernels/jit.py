"""The one decorator for all kernels: compiled for this machine, cached on disk. Notebook 08."""

import contextlib
import pickle
import zlib
from pathlib import Path

import numba
from numba.core import event
from numba.core.caching import IndexDataCacheFile

import kernels

# Not among them: "nnan" and "ninf", with which isnan would lie. error_model="numpy" drops the check for division by
# zero, which would keep a loop from being vectorised.
OPTIONS = dict(cache=True, nogil=True, error_model="numpy", fastmath={"reassoc", "contract", "nsz", "arcp"})

# When and how long: of all files with kernels, for one calls functions of another, and of those that define the tuples
# that kernels are given, whose fields Numba knows by their order alone.
HERE = Path(__file__).parent
TUPLES = [HERE.parent / "minnmt" / part for part in ("nn", "model", "search", "text", "align")]
SOURCES = tuple(
    (file.name, file.stat().st_size, file.stat().st_mtime)
    for folder in (HERE, *TUPLES) for file in sorted(folder.glob("*.py"))
)  # fmt: skip


def kernel(function):
    """Compile a function for float32 arrays. The plain function whose place it takes is in minnmt/, and names it.

    Kernels use one thread and let go of Python's lock: several threads may run them side by side.
    """
    return stamped(numba.njit(**OPTIONS)(function))


def helper(function):
    """A kernel that another thread runs to take over parts of one (team.py); it has no plain function of its own."""
    return kernel(function)


class CacheFile(IndexDataCacheFile):
    """Numba's cache of one function on disk. What is damaged there is compiled again.

    Numba writes the index before the data. A kill in between would leave an index that names an older version's data:
    here the data come first, with a checksum.
    """

    def save(self, key, data):
        overloads = self._load_index()
        name = self._data_name(zlib.crc32(str(key).encode()))  # by the key: two processes may save at once
        with contextlib.suppress(OSError):  # a full disk, or one that may not be written to
            self._save_data(name, data)
            self._save_index({**overloads, key: name})

    def load(self, key):
        with contextlib.suppress(Exception):  # damaged pickles fail in every way
            return super().load(key)

    def _load_index(self):
        with contextlib.suppress(Exception):
            return super()._load_index()
        return {}

    def _save_data(self, name, data):
        data = self._dump(data)
        super()._save_data(name, (zlib.crc32(data), data))

    def _load_data(self, name):
        checksum, data = super()._load_data(name)
        if zlib.crc32(data) != checksum:
            raise ValueError("damaged")
        return pickle.loads(data)


def stamped(compiled):
    """Numba compiles a function anew when its own file has changed; let it look at all of SOURCES as well."""
    cache = getattr(compiled, "_cache", None)
    file = getattr(cache, "_cache_file", None)
    if isinstance(file, IndexDataCacheFile):  # Numba's own affair, which a later version may arrange otherwise
        stamp = (SOURCES, file._source_stamp)
        cache._cache_file = CacheFile(file._cache_path, file._index_name.removesuffix(".nbi"), stamp)
    return compiled


def device_function(function):
    """A small function that becomes part of every kernel that calls it.

    Left to the compiler, a larger one stays a function of its own. Each kernel then brings a copy under the same name,
    optimised in another way, and which copy runs depends on what was loaded from the cache: the last bits of the
    results would, too.
    """
    return stamped(numba.njit(forceinline=True, **OPTIONS)(function))


class FirstCompilation(event.Listener):
    """Calls kernels.on_compile when Numba starts to compile; kernels that it finds on disk do not count."""

    def on_start(self, event):
        if kernels.on_compile is not None:
            kernels.on_compile()

    def on_end(self, event):
        pass


event.register("numba:compile", FirstCompilation())
