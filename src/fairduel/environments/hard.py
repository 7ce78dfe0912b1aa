"""The hard instances of the lower bound's proof (Appendix A.1)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from fairduel._arrays import Floats
from fairduel._checks import Seed, number_within, random_generator, whole_number
from fairduel.environments.environment import Environment, generator
from fairduel.environments.random import set_row
from fairduel.errors import InputError
from fairduel.instance import Instance

HARD_C = 0.9  # c in epsilon = c (|A*| / (2304 T))^(1/3); any c in (0, 1) gives the bound
HARD_EPSILON_LIMIT = 0.2  # epsilon has to be below
HARD_EPSILON_MOST = 0.199  # the default epsilon is at most this, however short the horizon
HARD_ALPHA = 2  # epsilon' < 1 / (2 T^(alpha + 1) D)
HARD_EPSILON_PRIME_LEAST = 2.0**-52  # 1/2 plus and minus this are still exact


@dataclass(frozen=True)
class Hard(Environment):
    """The instances I^0, I^1 and so on in turn, each with its arms in random order."""

    users: int = 10
    arms: int = 10
    epsilon: float | None = None

    def draw(self, run: int, rounds: int, seed: int) -> Instance:
        perturbed = run % (min(self.users, self.arms) // 2 + 1)
        rng = generator(run, seed)
        return hard_instance(self.users, self.arms, rounds, self.epsilon, perturbed, seed=rng)


def hard_instance(
    users: int,
    arms: int,
    rounds: int,
    epsilon: float | None = None,
    instance: int = 0,
    *,
    seed: Seed | None = None,
) -> Instance:
    """Return an instance of the lower bound's proof: I^m for ``instance`` = m (Appendix A.1).

    With M = min(users, arms), user d (from 1) has its own winner w_d for d <= M; users beyond M
    share w_1. The winners of the first floor(M / 2) users are good: nearly best for every user.
    The others are bad: worth nothing to any but their own user. User r = floor(M / 2) + 1, with a
    bad winner, scores good winners lower by 2 epsilon than the others do; in I^m all but the m-th,
    w_m, the arm to find. Telling it from the rest takes playing r's winner, which costs welfare.

    ``rounds`` is the horizon T; m goes from 0 to floor(M / 2). ``epsilon`` lies in (0, 0.2);
    default: the proof's c (M / (2304 T))^(1/3), with c = 0.9, and at most 0.199. The winner of
    user d is arm d; a ``seed`` draws which arms w_1, ..., w_M are instead (``.winners`` tells in
    either case, and the same seed gives the same arms in every I^m).

    What the paper leaves open is decided as follows. Odd M: floor(M / 2) winners are good, at
    least two, which is what the proof needs. Two arms neither of which is the user's winner: the
    lower-numbered w wins for certain, and arms that are no user's winner come last; this is the
    same in every I^m, so it says nothing about m, and no pair is at 1/2, as Theorem 4.2 asks.
    epsilon' is half its bound min(1 / (2 T^3 D), 0.05), but at least 2^-52, because 1/2 plus
    less than that is 1/2 in floating point and no user would have a winner. The proof loses at
    most 2 epsilon' D T of regret to it, and 2^-51 D T is nothing beside the bound epsilon T / 2.
    """
    users, arms = whole_number("users", users, 4), whole_number("arms", arms, 4)
    rounds = whole_number("rounds", rounds)
    winners = min(users, arms)
    good = winners // 2
    perturbed = whole_number("instance", instance, 0)
    if perturbed > good:
        raise InputError(
            f"instance is {perturbed}, but {users} users and {arms} arms have I^0 to I^{good}: "
            f"give a number from 0 to {good}."
        )
    epsilon = _hard_epsilon(winners, rounds) if epsilon is None else _epsilon(epsilon)
    epsilon_prime = _hard_epsilon_prime(users, rounds)
    tensor = _hard_tensor(users, arms, perturbed, epsilon, epsilon_prime)
    if seed is not None:
        position = random_generator(seed).permutation(arms)
        tensor = tensor[:, position][:, :, position]
    return Instance(tensor)


def _hard_tensor(
    users: int, arms: int, perturbed: int, epsilon: float, epsilon_prime: float
) -> Floats:
    """Return the preferences of I^perturbed, with w_d = arm d."""
    winners = min(users, arms)
    good = winners // 2
    # How a user's winner does against w_1, w_2, ...: good winners come close, no other arm does.
    row = np.ones(arms)
    row[:good] = 0.5 + epsilon_prime
    tensor = np.tile(_ordered(arms), (users, 1, 1))
    for d in range(users):
        own = d if d < winners else 0
        others = np.delete(np.arange(arms), own)
        set_row(tensor[d], own, others, row[others])
    # User r, whose winner is b, tells the m-th good winner from the others.
    wanted = np.arange(good) == perturbed - 1
    set_row(tensor[good], good, np.flatnonzero(~wanted), 0.5 + epsilon_prime + epsilon)
    return tensor


def _ordered(arms: int) -> Floats:
    """Return preferences in which the lower-numbered arm always wins."""
    return np.triu(np.ones((arms, arms)), 1) + 0.5 * np.eye(arms)


def _hard_epsilon(winners: int, rounds: int) -> float:
    # Case 1 of the proof.
    return min(HARD_C * math.cbrt(winners / (2304 * rounds)), HARD_EPSILON_MOST)


def _hard_epsilon_prime(users: int, rounds: int) -> float:
    power: int = rounds ** (HARD_ALPHA + 1)
    bound = min(1 / (2 * power * users), 0.05)
    return max(bound / 2, HARD_EPSILON_PRIME_LEAST)


def _epsilon(value: float) -> float:
    low, high = math.nextafter(0.0, 1.0), math.nextafter(HARD_EPSILON_LIMIT, 0.0)
    return number_within("epsilon", value, f"above 0 and below {HARD_EPSILON_LIMIT}", low, high)
