"""Groups of people as Mallows' model has them: orders that scatter around a central one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel._checks import Seed, number_within, random_generator, whole_number
from fairduel.data.mallows import mallows_orders
from fairduel.environments.environment import Environment, generator
from fairduel.environments.random import winning
from fairduel.instance import Instance


@dataclass(frozen=True)
class Mallows(Environment):
    """A new ``mallows_instance`` for every run."""

    users: int = 10
    arms: int = 10
    dispersion: float = 0.5
    camps: int = 1
    within: float = 0.6

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        rng = generator(run, seed)
        return mallows_instance(
            self.users, self.arms, self.dispersion, self.camps, self.within, rng
        )


def mallows_instance(
    users: int,
    arms: int,
    dispersion: float = 0.5,
    camps: int = 1,
    within: float = 0.6,
    seed: Seed = 0,
) -> Instance:
    """Draw users each of whom is a group of people that scatter around one order of the arms.

    Each of the ``camps`` has a central order, drawn uniformly. User d belongs to camp d modulo
    their number, and has an order from Mallows' model around the camp's: with a probability
    proportional to ``dispersion`` to the power of the Kendall distance. So 0 makes a camp of one
    mind, 1 makes users that have nothing in common, and one camp with a small dispersion is near
    consensus.

    The people of a user scatter in the same way around the user's order, with dispersion
    ``within``, below 1, and P[d, i, j] is the share of them who rank arm i above arm j, exactly:
    1 / (1 + within) for neighbours. The first arm of the order is the Condorcet winner.

    >>> mallows_instance(users=3, arms=4, dispersion=0).winners.tolist()
    [2, 2, 2]
    """
    users, arms = whole_number("users", users), whole_number("arms", arms)
    dispersion = number_within("dispersion", dispersion, "from 0 to 1", 0.0, 1.0)
    camps = whole_number("camps", camps, 1, users)
    within = number_within("within", within, "from 0 to below 1", 0.0, math.nextafter(1.0, 0.0))
    rng = random_generator(seed)
    centres = rng.permuted(np.tile(np.arange(arms), (camps, 1)), axis=1)
    places = mallows_orders(arms, np.full(users, dispersion), rng)
    orders = np.take_along_axis(centres[np.arange(users) % camps], places, axis=1)
    ranks = np.argsort(orders, axis=1)
    between = ranks[:, np.newaxis, :] - ranks[:, :, np.newaxis]  # places that i is ahead of j
    ahead = np.concatenate(([0.5], mallows_shares(arms - 1, within)))[np.abs(between)]
    return Instance(np.where(between >= 0, ahead, 1 - ahead))


def mallows_shares(most: int, dispersion: float) -> Floats:
    """Return the share of people who keep two arms in order that are 1, ..., ``most`` places apart.

    With phi the dispersion this is h(m + 1) - h(m) for m places, h(m) = m / (1 - phi^m) (Mallows,
    1957), here as a fraction of sums that stays exact as phi comes near 1.
    """
    powers = dispersion ** np.arange(most + 1)
    sums = np.cumsum(powers)
    weighted = np.cumsum(np.arange(1, most + 1) * powers[:-1])
    return winning(weighted / (sums[:-1] * sums[1:]))
