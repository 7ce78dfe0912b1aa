"""People as the Bradley-Terry model has them: every user gives every arm a strength."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel._checks import Seed, number_within, random_generator, whole_number
from fairduel.environments.environment import Environment, generator
from fairduel.environments.random import set_row, winning
from fairduel.errors import InputError
from fairduel.instance import Instance

MOST_SPREAD = 1000.0  # all duels are certain long before


@dataclass(frozen=True)
class BradleyTerry(Environment):
    """A new ``bradley_terry_instance`` for every run."""

    users: int = 10
    arms: int = 10
    spread: float = 1.0
    correlation: float = 0.0
    camps: int = 0
    agreement: float = 0.8
    indifferent: float = 0.0

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        return bradley_terry_instance(
            self.users,
            self.arms,
            self.spread,
            self.correlation,
            self.camps,
            self.agreement,
            self.indifferent,
            generator(run, seed),
        )


def bradley_terry_instance(
    users: int,
    arms: int,
    spread: float = 1.0,
    correlation: float = 0.0,
    camps: int = 0,
    agreement: float = 0.8,
    indifferent: float = 0.0,
    seed: Seed = 0,
) -> Instance:
    """Draw users who prefer arm i to arm j with probability 1 / (1 + exp(theta_j - theta_i)).

    Each user has a strength theta for each arm, normal with standard deviation ``spread``. Any
    two users' strengths of an arm have this ``correlation``. With ``camps``, user d belongs to
    camp d modulo their number, and ``agreement`` is the share of what is not common to all that a
    camp has in common: two users of one camp correlate by
    correlation + (1 - correlation) * agreement. Without camps it means nothing.

    ``indifferent`` is the share of each user's pairs that are exactly 1/2: those whose strengths
    are closest, since people can't tell apart what they like about equally. Pairs with the user's
    favourite stay as they are, so that everybody has a Condorcet winner and the same scores as
    without; that leaves (arms - 2) / arms of the pairs.

    >>> bradley_terry_instance(users=4, arms=5, spread=2, camps=2).without_winner
    ()
    """
    users, arms = whole_number("users", users), whole_number("arms", arms)
    spread = _spread(spread)
    correlation = number_within("correlation", correlation, "from 0 to 1", 0.0, 1.0)
    camps = whole_number("camps", camps, 0, users)
    agreement = number_within("agreement", agreement, "from 0 to 1", 0.0, 1.0)
    equal = _equal_pairs(arms, indifferent)
    theta = spread * strengths(users, arms, correlation, camps, agreement, random_generator(seed))
    tensor = logistic_preferences(theta)
    for own, matrix in zip(theta, tensor, strict=True):
        _forget_closest(own, matrix, equal)
    return Instance(tensor)


def strengths(
    users: int,
    arms: int,
    correlation: float,
    camps: int,
    agreement: float,
    rng: np.random.Generator,
) -> Floats:
    """Draw (users, arms) strengths of standard deviation 1."""
    common, own = rng.standard_normal(arms), rng.standard_normal((users, arms))
    if camps:
        taste = rng.standard_normal((camps, arms))[np.arange(users) % camps]
        own = math.sqrt(agreement) * taste + math.sqrt(1 - agreement) * own
    return math.sqrt(correlation) * common + math.sqrt(1 - correlation) * own


def logistic_preferences(theta: Floats) -> Floats:
    """Return (D, K, K) the preferences of users with strengths theta, (D, K).

    The strongest arm wins every duel, be it by the last bit.
    """
    users, arms = theta.shape
    tensor = np.empty((users, arms, arms))
    for own, matrix in zip(theta, tensor, strict=True):
        ahead = own[:, np.newaxis] - own
        # This is 1 / (1 + exp(-x)), and nothing overflows.
        likely = 0.5 + 0.5 * np.tanh(np.abs(ahead) / 2)
        matrix[:] = np.where(ahead >= 0, likely, 1 - likely)
        best = int(own.argmax())
        others = np.delete(np.arange(arms), best)
        set_row(matrix, best, others, winning(matrix[best, others]))
    return tensor


def _forget_closest(theta: Floats, matrix: Floats, pairs: int) -> None:
    """Set the ``pairs`` closest pairs without the strongest arm to 1/2."""
    others = np.delete(np.arange(len(theta)), theta.argmax())
    first, second = (others[places] for places in np.triu_indices(len(others), 1))
    closest = np.argsort(np.abs(theta[first] - theta[second]), kind="stable")[:pairs]
    matrix[first[closest], second[closest]] = 0.5
    matrix[second[closest], first[closest]] = 0.5


def _equal_pairs(arms: int, indifferent: float) -> int:
    """Return how many pairs of a user are 1/2."""
    share = number_within("indifferent", indifferent, "from 0 to 1", 0.0, 1.0)
    pairs = round(share * arms * (arms - 1) / 2)
    if pairs > (arms - 1) * (arms - 2) // 2:
        raise InputError(
            f"indifferent is {share:g}, which leaves some users without a favourite among {arms} "
            f"arms: give {math.floor(100 * (arms - 2) / arms) / 100:g} or less."
        )
    return pairs


def _spread(value: float) -> float:
    rule = f"above 0, and {MOST_SPREAD:g} at most"
    return number_within("spread", value, rule, math.nextafter(0.0, 1.0), MOST_SPREAD)
