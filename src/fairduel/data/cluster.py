"""People who rank alike, grouped into users of the bandit (Section 5.4, Data Preprocessing)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from fairduel._arrays import Bools, Floats, Ints
from fairduel._checks import Seed, random_generator
from fairduel.data.rankings import Rankings, checked_count, frozen
from fairduel.errors import InputError
from fairduel.instance import Instance

GAP = 0.1  # Delta of Section 5.4
MOST_PEOPLE = 10_000  # a tree holds two distances for each pair: 0.8 GB


@dataclass(frozen=True, eq=False)
class Clusters:
    """People in groups; the largest is group 0, and of equal groups the one that starts first.

    ``people`` has one row for each person and ``labels`` their groups.
    """

    people: Rankings
    labels: Ints

    @cached_property
    def sizes(self) -> Ints:
        """(D,) The number of people in each group."""
        return frozen(np.bincount(self.labels))

    @cached_property
    def digest(self) -> str:
        """The sha256 of the labels: two results are comparable where it is the same."""
        return hashlib.sha256(" ".join(map(str, self.labels)).encode()).hexdigest()

    @cached_property
    def names(self) -> tuple[str, ...]:
        """The names of the groups, such as "cluster 1 (2598 people)"."""
        return cluster_names(self.sizes)

    @cached_property
    def shares(self) -> Floats:
        """(D, K, K) The share of each group that ranks item i above item j; a tie is half."""
        groups = range(len(self.sizes))
        return frozen(np.array([self.people.rows(self.labels == d).shares for d in groups]))

    def instance(self, gap: float = GAP) -> Instance:
        """Return an instance with a user per group: its shares, kept ``gap`` away from 1/2.

        A share nearer to 1/2 than the gap moves out to 1/2 - gap or 1/2 + gap, whichever is
        nearer; exactly 1/2 becomes 1/2 + gap for the item with the lower number. Every group must
        have a Condorcet winner after that (Assumption 3.1).
        """
        instance = self.projected(gap)
        without = [self.names[d] for d in np.flatnonzero(~instance.has_winner)]
        if without:
            raise InputError(
                f"there is no Condorcet winner in {' and in '.join(without)}, where no item "
                "is preferred to every other: group the people into another number of users."
            )
        return instance

    def projected(self, gap: float = GAP) -> Instance:
        """Return the same as ``instance``, but allow groups without a Condorcet winner."""
        if not isinstance(gap, int | float) or not 0 <= gap < 0.5:
            raise InputError(f"gap is {gap!r}: give a number from 0 to below 0.5.")
        return Instance(_kept_apart(self.shares, gap), self.names, self.people.items)


@dataclass(frozen=True, eq=False)
class Tree:
    """All groupings of some people by average linkage: cut it into any number of groups.

    ``merges`` is scipy's linkage matrix over the rows of ``people``.
    """

    people: Rankings
    merges: Floats

    def cut(self, users: int) -> Clusters:
        """Return the people in ``users`` groups."""
        total = len(self.people.ranks)
        different = len(np.unique(self.people.positions, axis=0))
        users = checked_count("users", users, different, "the number of different orders")
        group = np.arange(2 * total - users)
        # The merge in row k makes node total + k. From the top down, each node passes its group
        # on to the two that it was made of.
        for k in reversed(range(total - users)):
            group[self.merges[k, :2].astype(np.int64)] = group[total + k]
        return Clusters(self.people, by_size(group[:total]))


@dataclass(frozen=True, eq=False)
class Stability:
    """How much a grouping depends on the order of the rows, which should not matter.

    One entry for each shuffle of the rows:
    ``all_winners``, whether every group had a Condorcet winner, as ``instance`` needs;
    ``all_clear_winners``, whether it had one already before shares of exactly 1/2 were given to
    the item with the lower number;
    ``agreement``, the adjusted Rand index of the groups with those of the rows as they are (1
    where they are the same, about 0 where they have nothing in common).
    """

    users: int
    all_winners: Bools
    all_clear_winners: Bools
    agreement: Floats


def cluster_names(sizes: Ints | Floats) -> tuple[str, ...]:
    """Return the names of groups of these sizes, such as "cluster 1 (2598 people)"."""
    return tuple(
        f"cluster {d} ({size:.12g} {'person' if size == 1 else 'people'})"
        for d, size in enumerate(sizes, 1)
    )


def group(rankings: Rankings, users: int) -> Clusters:
    """Group people into users by how alike they rank.

    >>> twos = Rankings.of("xyz", [[0, 1, 2], [0, 2, 1], [2, 1, 0]], counts=[5, 4, 3])
    >>> group(twos, users=2).instance().users
    ('cluster 1 (9 people)', 'cluster 2 (3 people)')

    The distance of two people is (1 - r) / 2, r being Spearman's correlation of the positions
    that they give to the items; groups are joined by average linkage. For more than one number
    of users, take ``tree(rankings)`` once and cut it.

    Beware: with few items only few distances are possible (166 with ten), so that ties, broken
    by the order of the rows and by the last bit of each distance, decide what becomes one group.
    ``stability`` measures how much.
    """
    return tree(rankings).cut(users)


def tree(rankings: Rankings) -> Tree:
    """Compute the average linkage of all people: about 1.5 s and 0.3 GB for 5000."""
    from scipy.cluster.hierarchy import linkage

    if not 2 <= rankings.people <= MOST_PEOPLE:
        raise InputError(
            f"there are {rankings.people} people, and from 2 to {MOST_PEOPLE} can be grouped: "
            f"take a part of them, such as rankings.sample({MOST_PEOPLE}, seed=0)."
        )
    people = rankings.individuals()
    return Tree(people, linkage(distances(people), method="average"))


def distances(people: Rankings) -> Floats:
    """Return (1 - r) / 2 for each pair of rows, r being Spearman's correlation of the positions.

    In the order of ``scipy.spatial.distance.pdist``. The last bit decides the groups, so the
    steps are those of ``numpy.corrcoef`` one for one: the products of centred positions are sums
    of quarters, exact in any order, and the rest is single operations, rounded alike everywhere.
    """
    items = len(people.items)
    centred = people.positions - (items + 1) / 2
    flat = np.flatnonzero(~centred.any(axis=1))
    if len(flat):
        raise InputError(
            f"person {flat[0] + 1} ties all items, so has no correlation with others: "
            "leave such orders out."
        )
    scale = 1 / (items - 1)
    spread = np.sqrt((centred * centred).sum(axis=1) * scale)
    condensed = np.empty(len(centred) * (len(centred) - 1) // 2)
    end = 0
    for k in range(len(centred) - 1):
        start, end = end, end + len(centred) - 1 - k
        correlation = (centred[k + 1 :] @ centred[k]) * scale / spread[k] / spread[k + 1 :]
        condensed[start:end] = (1 - np.clip(correlation, -1, 1)) / 2
    return condensed


def stability(
    rankings: Rankings,
    users: Sequence[int],
    permutations: int = 20,
    seed: Seed = 0,
    executor: Executor | None = None,
) -> tuple[Stability, ...]:
    """Group the people again with their rows shuffled, for each number of users.

    Each shuffle costs one ``tree`` of all people, however many numbers of users there are. A
    sample of the people would answer another question: fewer people tie less often. ``executor``
    runs the shuffles in parallel; the result is the same without it.
    """
    permutations = checked_count("permutations", permutations)
    rng = random_generator(seed)
    people = rankings.individuals()
    whole = tree(people)
    originals = [whole.cut(number).labels for number in users]
    del whole
    shuffles = [rng.permutation(len(people.ranks)) for _ in range(permutations)]
    apply = map if executor is None else executor.map
    outcomes = list(apply(partial(_regrouped, people, originals), shuffles))
    # From one list per shuffle to one per number of users, and there to one per measure.
    by_users = zip(*outcomes, strict=True)
    return tuple(
        Stability(number, *(frozen(np.array(measure)) for measure in zip(*measured, strict=True)))
        for number, measured in zip(users, by_users, strict=True)
    )


def _regrouped(
    people: Rankings, originals: list[Ints], shuffle: Ints
) -> list[tuple[bool, bool, float]]:
    """Return what ``Stability`` holds of one shuffle, for each of the original groupings."""
    whole = tree(people.rows(shuffle))
    measured = []
    for labels in originals:
        clusters = whole.cut(int(labels.max()) + 1)
        winners = bool(clusters.projected().has_winner.all())
        clear = bool(clusters.projected(gap=0).has_winner.all())
        measured.append((winners, clear, adjusted_rand(labels[shuffle], clusters.labels)))
    return measured


def adjusted_rand(first: Ints, second: Ints) -> float:
    """Return the adjusted Rand index of two groupings (Hubert and Arabie, 1985)."""
    table = np.zeros((first.max() + 1, second.max() + 1))
    np.add.at(table, (first, second), 1)
    together = _pairs(table)
    in_first, in_second = _pairs(table.sum(axis=1)), _pairs(table.sum(axis=0))
    chance = in_first * in_second / max(_pairs(table.sum()), 1.0)
    most = (in_first + in_second) / 2
    return 1.0 if most == chance else float((together - chance) / (most - chance))


def _pairs(counts: Floats) -> float:
    return float(np.sum(counts * (counts - 1) / 2))


def by_size(labels: Ints, weights: Floats | None = None) -> Ints:
    """Return the labels renumbered from 0, by size and then by first appearance.

    weights: how many people each label is for; default: one each.
    """
    _, start, group = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(start), np.int64)
    rank[np.lexsort((start, -np.bincount(group, weights)))] = np.arange(len(start))
    return frozen(rank[group])


def _kept_apart(shares: Floats, gap: float) -> Floats:
    """Return the projection of Section 5.4, done above the diagonal and mirrored below."""
    i, j = np.triu_indices(shares.shape[1], 1)
    upper = shares[:, i, j]
    upper = np.where(upper >= 0.5, np.maximum(upper, 0.5 + gap), np.minimum(upper, 0.5 - gap))
    apart = np.full(shares.shape, 0.5)
    apart[:, i, j] = upper
    apart[:, j, i] = 1 - upper
    return apart
