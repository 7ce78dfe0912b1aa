"""A majority that agrees, and a minority that does not (Section 5.3)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._checks import Seed, number_within, random_generator, whole_number
from fairduel.environments.environment import Environment, generator
from fairduel.environments.random import check_gap, random_user, set_row, winning
from fairduel.errors import InputError
from fairduel.instance import Instance

# As the paper's experiments have it.
CLUSTER_NOISE = 0.1  # standard deviation around the first member's preferences
OUTSIDER_LEAST = 0.9  # how surely an outsider's winner beats the cluster's, at least


@dataclass(frozen=True)
class Clustered(Environment):
    """A new ``clustered_instance`` for every run."""

    users: int = 10
    arms: int = 10
    gap: float = 0.1
    share: float = 0.5

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        rng = generator(run, seed)
        return clustered_instance(self.users, self.arms, self.share, self.gap, rng)


def clustered_instance(
    users: int, arms: int, share: float, gap: float = 0.1, seed: Seed = 0
) -> Instance:
    """Draw an instance in which a share of the users has a common winner (Section 5.3).

    The first ceil(share * users) users are the cluster. Its first member is as in
    ``random_instance``; for the others the common winner beats each arm as it does for the first,
    plus normal noise of standard deviation 0.1, kept within [1/2 + gap, 1]. Each user outside has a
    winner among the other arms, and it beats the cluster's winner with probability uniform on
    [0.9, 1] (or [1/2 + gap, 1] if that is narrower). Everything else is as in
    ``random_instance``.
    """
    users, arms, gap = whole_number("users", users), whole_number("arms", arms), check_gap(gap)
    members = _members(users, share)
    if arms == 1 and members < users:
        raise InputError(
            "with one arm every user has the same winner: give at least 2 arms or share 1."
        )
    rng = random_generator(seed)
    common = int(rng.integers(0, arms))
    others = np.delete(np.arange(arms), common)
    tensor = np.empty((users, arms, arms))
    for d in range(members):
        tensor[d] = random_user(rng, arms, common, gap)
        if d > 0:
            noisy = tensor[0, common, others] + rng.normal(0.0, CLUSTER_NOISE, arms - 1)
            set_row(tensor[d], common, others, np.clip(noisy, winning(0.5 + gap), 1.0))
    for d in range(members, users):
        winner = int(rng.choice(others))
        tensor[d] = random_user(rng, arms, winner, gap)
        least = max(OUTSIDER_LEAST, 0.5 + gap)
        set_row(tensor[d], winner, common, least + (1.0 - least) * rng.random())
    return Instance(tensor)


def _members(users: int, share: float) -> int:
    share = number_within("share", share, "from 0 to 1", 0.0, 1.0)
    # 0.07 * 100 is 7.000000000000001, and that is 7 users.
    return min(users, math.ceil(share * users - 1e-9))
