"""What people say in a file of votes or of orders, as counts of who prefers what to what."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel._checks import one_of, whole_number
from fairduel._names import check_names
from fairduel.data.cluster import cluster_names
from fairduel.data.divide import divided
from fairduel.data.rankings import UNRANKED, frozen, totals
from fairduel.errors import InputError

Kind = Literal["votes", "orders"]

MOST_OPTIONS = 1000
BLOCK = 1 << 22  # numbers in the matrices of a block of users: 32 MB
WEIGHTS = ("person", "group")


@dataclass(frozen=True, eq=False)
class PairCounts:
    """Counted votes, sorted by user: ``wins[n]`` times ``user[n]`` preferred one to another."""

    user: Ints
    winner: Ints
    loser: Ints
    wins: Floats

    def matrices(self, start: int, stop: int, options: int) -> Floats:
        """Return (users, options, options) wins of the users from ``start`` up to ``stop``."""
        first, last = np.searchsorted(self.user, (start, stop))
        part = slice(first, last)
        place = (self.user[part] - start) * options + self.winner[part]
        size = (stop - start) * options * options
        flat = totals(place * options + self.loser[part], self.wins[part], size)
        return flat.reshape(stop - start, options, options)

    def answers(self, users: int, options: int) -> Floats:
        """Return the number of votes of each user."""
        return totals(self.user, self.wins, users)

    def joined(self, group: Ints) -> PairCounts:
        """Return the counts with ``group[d]`` in the place of user d."""
        order = np.argsort(group[self.user], kind="stable")
        counts = (self.winner[order], self.loser[order], self.wins[order])
        return PairCounts(group[self.user][order], *counts)


@dataclass(frozen=True, eq=False)
class Orders:
    """Stated orders, sorted by user: ``people[n]`` people of ``user[n]`` gave ``ranks[n]``.

    Ranks are those of ``Rankings``. A tie is half a win for either; options that an order leaves
    out are below those that it ranks, and it says nothing among them.
    """

    user: Ints
    ranks: Ints
    people: Floats

    def matrices(self, start: int, stop: int, options: int) -> Floats:
        """Return (users, options, options) wins of the users from ``start`` up to ``stop``."""
        first, last = np.searchsorted(self.user, (start, stop))
        ranks, people = self.ranks[first:last], self.people[first:last, np.newaxis]
        below = np.where(ranks == UNRANKED, options, ranks)
        begins = np.searchsorted(self.user[first:last], np.arange(start, stop))
        wins = np.empty((stop - start, options, options))
        for i in range(options):
            own = below[:, i, np.newaxis]
            above = (own < below) + 0.5 * ((own == below) & (own < options))
            wins[:, i] = np.add.reduceat(people * above, begins, axis=0)
            wins[:, i, i] = 0.0
        return wins

    def answers(self, users: int, options: int) -> Floats:
        """Return the number of pairs on which each user says something."""
        left_out = (self.ranks == UNRANKED).sum(axis=1)
        pairs = (options * (options - 1) - left_out * (left_out - 1)) / 2
        return totals(self.user, self.people * pairs, users)

    def joined(self, group: Ints) -> Orders:
        """Return the orders with ``group[d]`` in the place of user d."""
        order = np.argsort(group[self.user], kind="stable")
        return Orders(group[self.user][order], self.ranks[order], self.people[order])


@dataclass(frozen=True, eq=False, repr=False)
class Ballots:
    """What was read: who prefers what to what, how often, and how that was understood.

    kind: "votes" are answers to pairs, which may be noisy; "orders" are stated, and meant as they
    are. people: how many people each user stands for; None if the file does not say who voted.
    said: what the file was taken for, with an example. grouped: whether users are groups that a
    column names. both_bad: how many of the ties said that both are bad. notes: what else to know
    about the file.
    """

    kind: Kind
    users: tuple[str, ...]
    options: tuple[str, ...]
    counts: PairCounts | Orders
    people: Floats | None
    said: str
    grouped: bool = False
    both_bad: float = 0.0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.options) > MOST_OPTIONS:
            raise InputError(
                f"there are {len(self.options):,} options: {MOST_OPTIONS:,} at most can be "
                "compared, so leave some out."
            )
        check_names("option", self.options)
        check_names("user", self.users)
        _refuse_single("option", self.options, "a choice needs two.")
        _refuse_single("user", self.users, "a fair choice is one between two users or more.")

    def __repr__(self) -> str:
        return f"Ballots({self.kind}, {len(self.users)} users, {len(self.options)} options)"

    def wins(self, start: int = 0, stop: int | None = None) -> Floats:
        """Return ``wins[d, i, j]``, how often a user preferred option i to j; a tie is half.

        start, stop: which users; default: all. For many users go by ``blocks``.
        """
        stop = len(self.users) if stop is None else stop
        return self.counts.matrices(start, stop, len(self.options))

    def shares(self, start: int = 0, stop: int | None = None) -> Floats:
        """Return which share of what a user says on options i and j is for i; 1/2 if nothing."""
        wins = self.wins(start, stop)
        both = wins + wins.transpose(0, 2, 1)
        return np.where(both > 0, wins / np.where(both > 0, both, 1.0), 0.5)

    def blocks(self) -> Iterator[tuple[slice, Floats]]:
        """Return all users in blocks, each with its ``wins``, that fit into little memory."""
        size = max(1, BLOCK // len(self.options) ** 2)
        for start in range(0, len(self.users), size):
            stop = min(start + size, len(self.users))
            yield slice(start, stop), self.wins(start, stop)

    @cached_property
    def answers(self) -> Floats:
        """(D,) The number of votes, or of pairs that are ordered, of each user."""
        return frozen(self.counts.answers(len(self.users), len(self.options)))

    def weights(self, per: str | None = None) -> Floats:
        """Return the weights of the users: ``per`` "person" or "group".

        Per person, a user counts as often as it has people; per group, all users count the same.
        Default: per group where a column names the groups, and else per person.
        """
        per = one_of("weight per", self.per if per is None else per, WEIGHTS)
        if per == "group":
            return np.ones(len(self.users))
        if self.people is None:
            raise InputError(
                "the file does not say who voted, so groups have no size: name the column of "
                "people too (--column user=NAME), or weigh per group (--per group)."
            )
        return self.people

    @property
    def per(self) -> str:
        """How users are weighted by default: per "person" or per "group"."""
        return "group" if self.grouped else "person"

    def clustered(self, users: int) -> Ballots:
        """Return the same with people who say alike joined into ``users`` groups.

        No group has fewer than two people, and the groups do not depend on the order of the rows:
        see ``divided``.
        """
        if self.grouped or self.people is None:
            raise InputError(
                "users are the groups of a column already: give a column of groups (--by) or a "
                "number of them (--users), not both."
            )
        users = whole_number("users", users, 2, len(self.users))
        labels = divided(self._tastes(), self.people, users)
        sizes = totals(labels, self.people)
        names = cluster_names(sizes)
        joined = self.counts.joined(labels)
        return replace(self, users=names, counts=joined, people=frozen(sizes))

    def _tastes(self) -> Floats:
        """Return (D, K) numbers from -1 to 1: how often a user has each option win or lose."""
        tastes = np.empty((len(self.users), len(self.options)))
        for part, wins in self.blocks():
            won, lost = wins.sum(axis=2), wins.sum(axis=1)
            tastes[part] = (won - lost) / (won + lost + 2.0)  # near 0 after few votes
        return tastes[:, np.argsort(self.options)]

    @property
    def warnings(self) -> tuple[str, ...]:
        """What makes the answer doubtful, each in one sentence that says what to do."""
        pairs = len(self.options) * (len(self.options) - 1) // 2
        usual = float(np.median(self.answers))
        if self.kind == "orders" or usual >= pairs:
            return self.notes
        return (
            *self.notes,
            f"a user has {usual:g} votes (the median) for {pairs:,} pairs of options, too few to "
            "know what each user wants: make larger users by a column of groups (--by) or by "
            "clusters (--users).",
        )


def _refuse_single(what: str, names: tuple[str, ...], why: str) -> None:
    if len(names) == 1:
        raise InputError(f"there is only one {what}, {names[0]!r}: {why}")
