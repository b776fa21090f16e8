"""Updates on several ranks (minnmt/ranks.py): each owns a slice of the parameters.

It gets all ranks' gradients of its slice, adds them up, keeps Adam's moments and makes the update there; then the new
parameters are gathered. It is the first stage of ZeRO (Rajbhandari et al., 2020), and what Marian does. A slice is made
of whole blocks (model/parameters.py), for which all is computed alike, whoever owns them. Of arrays of which a batch
uses few rows, only those travel.
"""

from functools import partial

import numpy as np

from ..model.parameters import PIECE, array_blocks, array_pieces, named_arrays
from .updates import Sum, add_share, total

SMALL = PIECE  # numbers of an array that does not get a message of its own
GOLDEN = 0.618  # of a circle: steps of this size come to no place twice
DENSE = 0.75  # from this part of an array's rows on, all are sent: choosing them would cost more than it saves


class Slice:
    """The part of the parameters that this rank owns."""

    def __init__(self, params, ranks):
        self.params, self.ranks = dict(named_arrays(params)), ranks
        every = array_blocks(params)
        self.blocks, self.bounds = [], {}  # my blocks; where each rank's rows of an array begin, {name: (ranks + 1)}
        for number, name in enumerate(self.params):
            blocks = [block for block in every if block[0] == name]
            owners = owners_of(len(blocks), ranks.size, number)
            self.blocks += [block for block, owner in zip(blocks, owners) if owner == ranks.rank]
            self.bounds[name] = np.zeros(ranks.size + 1, np.int64)
            for (_, _, stop), owner in zip(blocks, owners):
                self.bounds[name][owner + 1 :] = stop

    def pieces(self, tree, rows):
        """As array_pieces, of this slice."""
        return array_pieces(tree, rows, self.blocks)

    def all_values(self, pieces, values):
        """A value for each of my pieces -> those of all ranks, in the order of array_pieces."""
        numbers = {name: number for number, name in enumerate(self.params)}
        keys = [(numbers[name], int(index.start if isinstance(index, slice) else index[0])) for name, index in pieces]
        return [value for _, value in sorted(self.ranks.all_in_order(list(zip(keys, values))))]

    def sum_up(self, sums, n_shares, rows, spread):
        """The Sums of gradients that this rank has of n_shares in all -> the first one's arrays, complete in the slice.

        The values of `sums` are {name: array}; a rank without any share gives Sum(0, 0, zeros).
        """
        plan = [made_of(self.ranks.part(n_shares, r)) for r in range(self.ranks.size)]
        into = sums[0].value
        for parcel in self.parcels(rows):
            found = []
            for turn in range(max(map(len, plan))):
                senders = [r for r, parts in enumerate(plan) if turn < len(parts)]
                arrays = sums[turn if turn < len(sums) else 0].value
                received = self.ranks.exchange_rows(parcel.pack(arrays), parcel.bounds, senders)
                found += [Sum(*plan[r][turn], value) for r, value in zip(senders, received)]
            found.sort(key=lambda part: part.first)
            spread(partial(add_rows, found), cut(found[0].value))
            parcel.unpack(found[0].value, into, self.ranks.rank)
        return into

    def gather_parameters(self, rows):
        """After an update all ranks get all parameters; of arrays that `rows` names, only those rows have changed."""
        for parcel in self.parcels(rows):
            packed = parcel.pack(self.params)
            self.ranks.gather_rows(packed, parcel.bounds)
            self.unpack_all(parcel, packed, self.params)

    def parcels(self, rows):
        """How the arrays travel: large ones each in a parcel of its own, all others together."""
        small = [name for name, array in self.params.items() if array.size <= SMALL]
        for name, array in self.params.items():
            if array.size > SMALL:
                few = name in rows and len(rows[name]) < DENSE * len(array)
                yield RowParcel(name, self.bounds[name], rows[name]) if few else Parcel(name, self.bounds[name])
        yield SmallParcel(small, self.bounds, self.params)

    def collect(self, adam):
        """Rank 0 gets the moments of all slices, for a checkpoint."""
        self._moments(adam, "collect_rows")

    def deal(self, adam):
        """Every rank gets its slice of rank 0's moments."""
        self._moments(adam, "deal_rows")

    def _moments(self, adam, how):
        for tree in (adam.m, adam.v):
            arrays = dict(named_arrays(tree))
            for parcel in self.parcels({}):
                packed = parcel.pack(arrays)
                getattr(self.ranks, how)(packed, parcel.bounds)
                self.unpack_all(parcel, packed, arrays)

    def unpack_all(self, parcel, packed, arrays):
        """What all ranks own, unless the parcel is the array itself."""
        for r in range(self.ranks.size) if parcel.is_copy else ():
            parcel.unpack(packed[slice(*parcel.bounds[r:][:2])], arrays, r)


class Parcel:
    """An array on its way: `bounds` are where the rows of a rank begin."""

    is_copy = False

    def __init__(self, name, bounds):
        self.name, self.bounds = name, bounds

    def pack(self, arrays):
        """{name: array} -> what is sent."""
        return arrays[self.name]

    def unpack(self, packed, arrays, rank):
        """What a rank owns of it, into {name: array}."""
        arrays[self.name][slice(*self.bounds[rank:][:2])] = packed


class RowParcel(Parcel):
    """Some rows of an array."""

    is_copy = True

    def __init__(self, name, bounds, ids):
        super().__init__(name, np.searchsorted(ids, bounds))
        self.ids = ids

    def pack(self, arrays):
        return arrays[self.name][self.ids]

    def unpack(self, packed, arrays, rank):
        arrays[self.name][self.ids[slice(*self.bounds[rank:][:2])]] = packed


class SmallParcel(Parcel):
    """Several arrays in one message; those of one rank side by side."""

    is_copy = True

    def __init__(self, names, bounds, params):
        n_ranks = len(next(iter(bounds.values()))) - 1
        self.places = [[(name, slice(*bounds[name][r:][:2])) for name in names] for r in range(n_ranks)]
        sizes = [sum(params[name][rows].size for name, rows in places) for places in self.places]
        self.bounds = np.cumsum([0, *sizes])

    def pack(self, arrays):
        return np.concatenate([arrays[name][rows].reshape(-1) for places in self.places for name, rows in places])

    def unpack(self, packed, arrays, rank):
        start = 0
        for name, rows in self.places[rank]:
            array = arrays[name][rows]
            array.reshape(-1)[:] = packed[start : start + array.size]
            start += array.size


def owners_of(n_blocks, n_ranks, number):
    """The owner of each block of an array: as evenly as can be; a few blocks go to others for each array's number."""
    shift = number * GOLDEN % 1
    return [int((block + shift) * n_ranks / n_blocks) for block in range(n_blocks)]


def made_of(shares):
    """Share numbers in a row -> (first, n) of the Sums that they come to."""
    sums = []
    for number in shares:
        add_share(sums, Sum(number, 1, None), lambda a, b: None)
    return [(each.first, each.n) for each in sums]


def cut(array, n=16):
    """Slices of the first axis, for threads to share."""
    step = -(-len(array) // n) or 1
    return [slice(i, i + step) for i in range(0, len(array), step)]


def add_rows(parts, rows):
    """Add up some rows of all parts, into the first."""
    total([part._replace(value=part.value[rows]) for part in parts], lambda a, b: np.add(a, b, out=a))


def slice_of(params, ranks):
    """This rank's Slice; None for a process alone, which owns all."""
    return Slice(params, ranks) if ranks.size > 1 else None
