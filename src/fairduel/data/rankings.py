"""What people ranked: the items, their orders, and how many people gave each order."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Bools, Floats, Ints
from fairduel._checks import Seed, random_generator
from fairduel._names import check_names
from fairduel.errors import InputError

UNRANKED = -1
MOST_PEOPLE = 10**9  # the limit of numpy's sampling without replacement

Array = TypeVar("Array", bound=np.ndarray[Any, Any])


@dataclass(frozen=True, eq=False, repr=False, init=False)
class Rankings:
    """Orders of preference over named items, checked and frozen.

    ``ranks[row, item]`` is 0 for the item liked most, 1 for the next and so on; tied items share
    a rank, and -1 marks an item that the order leaves out. ``counts[row]`` people gave the order
    of that row; default: one each. ``Rankings.of`` takes orders instead of ranks.

    An item that a person left out counts as liked less than every item that they ranked, and all
    such items as tied. This is how PrefLib itself completes such orders. Where people left out
    what they were never asked about, as with Sushi's set B, it is not a sound reading.
    """

    items: tuple[str, ...]
    ranks: Ints
    counts: Ints

    def __init__(
        self, items: Iterable[str], ranks: ArrayLike, counts: ArrayLike | None = None
    ) -> None:
        names = check_names("item", tuple(items))
        table = _checked_ranks(ranks, names)
        object.__setattr__(self, "items", names)
        object.__setattr__(self, "ranks", table)
        object.__setattr__(self, "counts", _checked_counts(counts, len(table)))

    @classmethod
    def of(
        cls,
        items: Iterable[str],
        orders: Iterable[Sequence[int | Sequence[int]]],
        counts: ArrayLike | None = None,
    ) -> Rankings:
        """Return rankings from orders of item numbers (from 0), best first; a tuple is a tie.

        >>> lunch = Rankings.of(["soup", "rice", "stew"], [[2, 0, 1], [1, (0, 2)]], counts=[3, 1])
        >>> lunch
        Rankings(4 people, 2 orders, 3 items)
        >>> lunch.ranks.tolist()
        [[1, 2, 0], [1, 0, 1]]
        """
        names = check_names("item", tuple(items))
        rows = []
        for number, order in enumerate(orders):
            try:
                rows.append(ranks_of([_group(entry) for entry in order], len(names)))
            except InputError as error:
                raise InputError(f"in orders[{number}], {error}") from error
        return cls(names, rows, counts)

    @property
    def people(self) -> int:
        """The number of people."""
        return int(self.counts.sum())

    @cached_property
    def positions(self) -> Floats:
        """(rows, items) Places in the order, from 1; tied items share the mean of theirs."""
        ranks = np.where(self.ranks == UNRANKED, len(self.items), self.ranks)
        places = np.empty(ranks.shape)
        for item in range(len(self.items)):
            own = ranks[:, item, np.newaxis]
            tied = (ranks == own).sum(axis=1)
            places[:, item] = (ranks < own).sum(axis=1) + (tied + 1) / 2
        return frozen(places)

    @cached_property
    def shares(self) -> Floats:
        """(items, items) The share of people who rank item i above item j; a tie is half.

        >>> Rankings.of("xyz", [[0, 1, 2], [1, (0, 2)]], counts=[3, 1]).shares.tolist()
        [[0.5, 0.75, 0.875], [0.25, 0.5, 1.0], [0.125, 0.0, 0.5]]
        """
        table = np.empty((len(self.items), len(self.items)))
        for item in range(len(self.items)):
            own = self.positions[:, item, np.newaxis]
            above = (own < self.positions) + 0.5 * (own == self.positions)
            table[item] = self.counts @ above / self.people
        return frozen(table)

    def individuals(self) -> Rankings:
        """Return the same people with one row for each, in the order of the rows."""
        return Rankings(self.items, np.repeat(self.ranks, self.counts, axis=0))

    def rows(self, which: Ints | Bools) -> Rankings:
        """Return only these rows, in this order."""
        return Rankings(self.items, self.ranks[which], self.counts[which])

    def sample(self, people: int, seed: Seed = 0) -> Rankings:
        """Draw ``people`` of the people without replacement, in the order of the rows."""
        people = checked_count("people", people, self.people, "how many there are")
        if self.people >= MOST_PEOPLE:
            raise InputError(
                f"there are {self.people} people: a sample needs fewer than {MOST_PEOPLE}."
            )
        rng = random_generator(seed)
        counts = rng.multivariate_hypergeometric(self.counts, people, method="marginals")
        drawn = counts > 0
        return Rankings(self.items, self.ranks[drawn], counts[drawn])

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rankings):
            return NotImplemented
        same = np.array_equal(self.ranks, other.ranks) and np.array_equal(self.counts, other.counts)
        return same and self.items == other.items

    def __hash__(self) -> int:
        return hash((self.items, self.ranks.tobytes(), self.counts.tobytes()))

    def __repr__(self) -> str:
        return f"Rankings({self.people} people, {len(self.ranks)} orders, {len(self.items)} items)"

    def __reduce__(self) -> tuple[type[Rankings], tuple[object, ...]]:
        # A copy made by pickle or copy is checked and read-only like the original.
        return Rankings, (self.items, self.ranks, self.counts)


def ranks_of(groups: Sequence[Sequence[int]], items: int, first: int = 0) -> list[int]:
    """Return a row of ranks from groups of tied items, best first, numbered from ``first``."""
    row = [UNRANKED] * items
    for rank, tied in enumerate(groups):
        for number in tied:
            if not isinstance(number, int | np.integer) or not first <= number < first + items:
                raise InputError(
                    f"an order names item {number!r}, which does not exist: "
                    f"items are numbered from {first} to {first + items - 1}."
                )
            if row[number - first] != UNRANKED:
                raise InputError(f"an order names item {number} twice: name each item once only.")
            row[number - first] = rank
    return row


def _group(entry: int | Sequence[int]) -> Sequence[int]:
    if isinstance(entry, Sequence) and not isinstance(entry, str):
        return entry
    return (entry,)  # ranks_of refuses what is not an item


def frozen(array: Array) -> Array:
    """Make an array read-only, and return it."""
    array.flags.writeable = False
    return array


def totals(index: Ints, amounts: Floats, size: int = 0) -> Floats:
    """Return the sum of the amounts at each index, from 0 up to ``size`` or further."""
    return np.bincount(index, amounts, size).astype(np.float64, copy=False)


# Checking


def checked_count(what: str, value: object, most: int | None = None, why: str = "") -> int:
    """Return a whole number from 1 up to ``most``, which is ``why``."""
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        number = int(value)
        if number >= 1 and (most is None or number <= most):
            return number
    limit = "up" if most is None else f"to {most}, {why}"
    raise InputError(f"{what} is {value!r}: give a whole number from 1 {limit}.")


def _checked_ranks(given: ArrayLike, names: tuple[str, ...]) -> Ints:
    try:
        table = np.asarray(given)
    except ValueError as error:
        raise InputError("ranks have rows of different lengths: give each item a rank.") from error
    if table.ndim != 2 or table.shape[1] != len(names) or 0 in table.shape:
        raise InputError(
            f"ranks have shape {table.shape}: give at least one row with a rank for each of the "
            f"{len(names)} items."
        )
    if table.dtype.kind not in "iu":
        raise InputError("ranks have to be whole numbers: give 0 for the best, -1 for unranked.")
    table = table.astype(np.int64)
    _refuse_gaps(table)
    return frozen(table)


def _refuse_gaps(table: Ints) -> None:
    """Refuse ranks that do not start at 0 or skip one, so that equal orders are equal rows."""
    items = table.shape[1]
    used = np.column_stack([(table == rank).any(axis=1) for rank in range(items)])
    good = used[:, 0] & (used[:, 1:] <= used[:, :-1]).all(axis=1)
    good &= ((table >= UNRANKED) & (table < items)).all(axis=1)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        raise InputError(
            f"ranks[{row}] is {table[row].tolist()}: ranks have to start at 0 and leave out no "
            "number, with -1 for an item that is not ranked."
        )


def _checked_counts(given: ArrayLike | None, rows: int) -> Ints:
    table = np.ones(rows, np.int64) if given is None else np.asarray(given)
    if table.shape != (rows,) or table.dtype.kind not in "iu" or not (table >= 1).all():
        raise InputError(f"counts have to be {rows} whole numbers from 1 up, one for each order.")
    return frozen(table.astype(np.int64))
