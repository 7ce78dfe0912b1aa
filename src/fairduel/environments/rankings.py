"""Real people from their rankings: groups of them as users, or some of them one by one."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass

from fairduel._arrays import Bools
from fairduel._checks import Seed, number_within, random_generator, whole_number
from fairduel.data.cluster import GAP, group
from fairduel.data.rankings import Rankings
from fairduel.environments.bradley_terry import logistic_preferences
from fairduel.environments.environment import Environment, generator
from fairduel.environments.random import check_gap
from fairduel.errors import InputError
from fairduel.instance import Instance

USUAL_PEOPLE = 1000  # grouping them takes a tenth of a second
ATTEMPTS = 100
MOST_SLOPE = 1000.0


@dataclass(frozen=True)
class RankedGroups(Environment):
    """Groups of other people in every run: see ``groups_instance``."""

    rankings: Rankings
    users: int = 5
    people: int | None = None
    gap: float = GAP

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        return _groups(self, run, seed)


@dataclass(frozen=True)
class RankedPeople(Environment):
    """Other people in every run: see ``people_instance``."""

    rankings: Rankings
    users: int = 5
    slope: float = 0.5

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        return people_instance(self.rankings, self.users, self.slope, generator(run, seed))


def groups_instance(
    rankings: Rankings,
    users: int = 5,
    people: int | None = None,
    gap: float = GAP,
    seed: Seed = 0,
) -> Instance:
    """Draw some of the people who ranked, and group them by how alike they rank, into ``users``.

    P[d, i, j] is the share of group d that ranks item i above item j, kept ``gap`` away from 1/2
    as in Section 5.4 of the paper. ``people`` are drawn, by default half of those there are, and
    1000 at most; those who tie all items say nothing and are left out. Where a group has no
    Condorcet winner other people are drawn.
    """
    users, gap = whole_number("users", users), check_gap(gap)
    least = max(users, 2)
    telling = (rankings.ranks != rankings.ranks[:, :1]).any(axis=1)
    rankings = _only(rankings, telling, "do not tie all items", least)
    if people is None:
        people = max(least, min(USUAL_PEOPLE, rankings.people // 2))
    people = whole_number("people", people, least, rankings.people)
    rng = random_generator(seed)
    for _ in range(ATTEMPTS):
        instance = group(rankings.sample(people, rng), users).projected(gap)
        if instance.has_winner.all():
            return instance
    raise InputError(
        f"of {ATTEMPTS} times {people} people none fell into {users} groups that all have a "
        "Condorcet winner: ask for fewer users or more people."
    )


def people_instance(
    rankings: Rankings, users: int = 5, slope: float = 0.5, seed: Seed = 0
) -> Instance:
    """Draw some of the people who ranked, as ``users``.

    A person prefers an item to another with a log-odds of ``slope`` for each place that it is
    ahead of it: 0.5 means a probability of 0.62 for neighbours and of 0.99 for the first of ten
    against the last. Tied items share the mean of their places. Only people with one favourite
    are drawn, since others have no Condorcet winner.
    """
    users = whole_number("users", users)
    rule = f"above 0, and {MOST_SLOPE:g} at most"
    slope = number_within("slope", slope, rule, math.nextafter(0.0, 1.0), MOST_SLOPE)
    decided = (rankings.ranks == 0).sum(axis=1) == 1
    people = _only(rankings, decided, "have one favourite", users)
    drawn = people.sample(users, random_generator(seed)).individuals()
    return Instance(logistic_preferences(-slope * drawn.positions), arms=rankings.items)


def _only(rankings: Rankings, rows: Bools, who: str, least: int) -> Rankings:
    """Return the people of these rows alone, ``who`` they are and how many they have to be."""
    people = int(rankings.counts[rows].sum())
    if people < least:
        raise InputError(
            f"{least} people are needed and {people} of {rankings.people} {who}: "
            "ask for fewer users, or give more rankings."
        )
    return rankings.rows(rows)


# All learners play the same groups, and finding them takes longer than short runs do.
@functools.lru_cache(maxsize=128)
def _groups(environment: RankedGroups, run: int, seed: int) -> Instance:
    rng = generator(run, seed)
    return groups_instance(
        environment.rankings, environment.users, environment.people, environment.gap, rng
    )
