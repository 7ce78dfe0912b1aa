"""Made-up instances: random, clustered, the lower bound's hard ones, and the paper's own 30."""

from __future__ import annotations

import math

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.errors import InputError
from fairduel.instance import Instance

Seed = int | np.random.Generator

JUST_ABOVE_HALF = float(np.nextafter(0.5, 1.0))

# Section 5.3, as the paper's experiments have it.
CLUSTER_NOISE = 0.1  # standard deviation around the first member's preferences
OUTSIDER_LEAST = 0.9  # how surely an outsider's winner beats the cluster's, at least

# Appendix A.1.
HARD_C = 0.9  # c in epsilon = c (|A*| / (2304 T))^(1/3); any c in (0, 1) gives the bound
HARD_EPSILON_LIMIT = 0.2  # epsilon has to be below
HARD_EPSILON_MOST = 0.199  # the default epsilon is at most this, however short the horizon
HARD_ALPHA = 2  # epsilon' < 1 / (2 T^(alpha + 1) D)
HARD_EPSILON_PRIME_LEAST = 2.0**-52  # 1/2 plus and minus this are still exact

PAPER_SEED = 42
PAPER_RUNS = 30


def random_instance(users: int, arms: int, gap: float = 0.1, seed: Seed = 0) -> Instance:
    """Random preferences in which every user has a Condorcet winner (Section 5.1).

    Each user's winner is any arm; it beats each other arm with probability uniform on
    [1/2 + gap, 1]. Two arms that are not the winner have a probability uniform on [0, 1], moved
    out to 1/2 - gap or 1/2 + gap where it is nearer to 1/2 than that.
    """
    users, arms, gap = _count("users", users), _count("arms", arms), _gap(gap)
    rng = random_generator(seed)
    tensor = np.empty((users, arms, arms))
    for d in range(users):
        winner = int(rng.integers(0, arms))
        tensor[d] = _random_user(rng, arms, winner, gap)
    return Instance(tensor)


def clustered_instance(
    users: int, arms: int, share: float, gap: float = 0.1, seed: Seed = 0
) -> Instance:
    """A share of the users has one common winner, which the others dislike (Section 5.3).

    The first ceil(share * users) users are the cluster. Its first member is as in
    ``random_instance``; the others beat with the common winner as the first member does, plus
    normal noise of standard deviation 0.1, kept within [1/2 + gap, 1]. Each user outside has a
    winner among the other arms, and it beats the cluster's winner with probability uniform on
    [0.9, 1] (or [1/2 + gap, 1] if that is narrower). Everything else is as in
    ``random_instance``.
    """
    users, arms, gap = _count("users", users), _count("arms", arms), _gap(gap)
    members = _members(users, share)
    if arms == 1 and members < users:
        raise InputError(
            "with one arm every user has the same winner; give at least 2 arms or share 1."
        )
    rng = random_generator(seed)
    common = int(rng.integers(0, arms))
    others = np.delete(np.arange(arms), common)
    tensor = np.empty((users, arms, arms))
    for d in range(members):
        tensor[d] = _random_user(rng, arms, common, gap)
        if d > 0:
            noisy = tensor[0, common, others] + rng.normal(0.0, CLUSTER_NOISE, arms - 1)
            _set_row(tensor[d], common, others, np.clip(noisy, _winning(0.5 + gap), 1.0))
    for d in range(members, users):
        winner = int(rng.choice(others))
        tensor[d] = _random_user(rng, arms, winner, gap)
        least = max(OUTSIDER_LEAST, 0.5 + gap)
        _set_row(tensor[d], winner, common, least + (1.0 - least) * rng.random())
    return Instance(tensor)


def hard_instance(
    users: int,
    arms: int,
    rounds: int,
    epsilon: float | None = None,
    instance: int = 0,
    *,
    seed: Seed | None = None,
) -> Instance:
    """An instance of the lower bound's proof: I^0, or I^m for ``instance`` m (Appendix A.1).

    With M = min(users, arms), user d (from 1) has its own winner w_d for d <= M; users beyond M
    share w_1. The winners of the first floor(M / 2) users are good: nearly everybody's best. The
    others are bad: worth nothing to any but their own user. User r = floor(M / 2) + 1, with a
    bad winner, scores good winners lower by 2 epsilon than the others do; in I^m all but the
    m-th, w_m, the arm to find. To tell it from the rest one has to play r's winner, which costs.

    ``rounds`` is the horizon T; m goes from 0 to floor(M / 2). ``epsilon`` in (0, 0.2) is by
    default the proof's c (M / (2304 T))^(1/3), with c = 0.9, and never above 0.199. The winner
    of user d is arm d; a ``seed`` draws which arms w_1, ..., w_M are instead (``.winners`` tells
    in either case, and the same seed gives the same arms in every I^m).

    What the paper leaves open is decided as follows. Odd M: floor(M / 2) winners are good, at
    least two, which is what the proof needs. Two arms neither of which is the user's winner: the
    lower-numbered w wins for certain, and arms that are nobody's winner come last; this is the
    same in every I^m, so it says nothing about m, and no pair is at 1/2, as Theorem 4.2 asks.
    epsilon' is half its bound min(1 / (2 T^3 D), 0.05), but at least 2^-52, because 1/2 plus
    less than that is 1/2 in floating point and nobody would have a winner. The proof loses at
    most 2 epsilon' D T of regret to it, and 2^-51 D T is nothing beside the bound epsilon T / 2.
    """
    users, arms = _count("users", users, 4), _count("arms", arms, 4)
    rounds = _count("rounds", rounds)
    winners = min(users, arms)
    good = winners // 2
    perturbed = _count("instance", instance, 0)
    if perturbed > good:
        raise InputError(
            f"instance is {perturbed}; with {users} users and {arms} arms there are I^0 to "
            f"I^{good}, so give a number from 0 to {good}."
        )
    epsilon = _hard_epsilon(winners, rounds) if epsilon is None else _epsilon(epsilon)
    epsilon_prime = _hard_epsilon_prime(users, rounds)
    tensor = _hard_tensor(users, arms, perturbed, epsilon, epsilon_prime)
    if seed is not None:
        position = random_generator(seed).permutation(arms)
        tensor = tensor[:, position][:, :, position]
    return Instance(tensor)


def paper_instances(users: int = 10, arms: int = 10, gap: float = 0.1) -> list[Instance]:
    """The 30 random instances of the paper's experiments, to the bit.

    Table 1 has the default 10 users, 10 arms and gap; the other sizes use the same seeds.
    """
    seeds = np.random.default_rng(PAPER_SEED).integers(0, 100_000, size=PAPER_RUNS)
    return [random_instance(users, arms, gap, int(seed)) for seed in seeds]


def random_generator(seed: Seed) -> np.random.Generator:
    """The generator given, or a new one from a whole number."""
    if isinstance(seed, np.random.Generator):
        return seed
    return np.random.default_rng(_count("seed", seed, 0))


# Preferences


def _random_user(rng: np.random.Generator, arms: int, winner: int, gap: float) -> Floats:
    """One draw for each pair i < j, row by row: the paper's order, kept to the bit."""
    first, second = np.triu_indices(arms, 1)
    draw = rng.random(len(first))
    upper = _keep_gap(draw, gap)
    won, lost = first == winner, second == winner
    upper[won] = _winning(0.5 + gap + (0.5 - gap) * draw[won])
    upper[lost] = np.minimum((0.5 - gap) * draw[lost], 1.0 - JUST_ABOVE_HALF)
    matrix = np.full((arms, arms), 0.5)
    matrix[first, second] = upper
    matrix[second, first] = 1.0 - upper
    return matrix


def _keep_gap(probability: Floats, gap: float) -> Floats:
    """Move what is nearer to 1/2 than the gap out to it; 1/2 itself goes down."""
    high, low = 0.5 + gap, 0.5 - gap
    moved = np.where((probability > 0.5) & (probability < high), high, probability)
    return np.where((probability <= 0.5) & (probability > low), low, moved)


def _winning(probability: float | Floats) -> Floats:
    """Above 1/2 even where the gap is too small for floating point, so that the winner wins."""
    return np.maximum(probability, JUST_ABOVE_HALF)


def _set_row(matrix: Floats, arm: int, against: int | Ints, row: float | Floats) -> None:
    """Set P[arm, against], and the reverse with it."""
    matrix[arm, against] = row
    matrix[against, arm] = 1.0 - np.asarray(row)


def _hard_tensor(
    users: int, arms: int, perturbed: int, epsilon: float, epsilon_prime: float
) -> Floats:
    """The preferences of I^perturbed, with w_d = arm d."""
    winners = min(users, arms)
    good = winners // 2
    # How a user's winner does against w_1, w_2, ...: good winners come close, no other arm does.
    row = np.ones(arms)
    row[:good] = 0.5 + epsilon_prime
    tensor = np.tile(_ordered(arms), (users, 1, 1))
    for d in range(users):
        own = d if d < winners else 0
        others = np.delete(np.arange(arms), own)
        _set_row(tensor[d], own, others, row[others])
    # User r, whose winner is b, tells the m-th good winner from the others.
    wanted = np.arange(good) == perturbed - 1
    _set_row(tensor[good], good, np.flatnonzero(~wanted), 0.5 + epsilon_prime + epsilon)
    return tensor


def _ordered(arms: int) -> Floats:
    """The lower-numbered arm wins for certain."""
    return np.triu(np.ones((arms, arms)), 1) + 0.5 * np.eye(arms)


def _hard_epsilon(winners: int, rounds: int) -> float:
    # Case 1 of the proof.
    return min(HARD_C * math.cbrt(winners / (2304 * rounds)), HARD_EPSILON_MOST)


def _hard_epsilon_prime(users: int, rounds: int) -> float:
    power: int = rounds ** (HARD_ALPHA + 1)
    bound = min(1 / (2 * power * users), 0.05)
    return max(bound / 2, HARD_EPSILON_PRIME_LEAST)


# Checking


def _count(name: str, value: object, least: int = 1) -> int:
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise InputError(f"{name} is {value!r}; give a whole number from {least} up.")
    return int(value)


def _number(name: str, value: object, rule: str, low: float, high: float) -> float:
    """A number that is neither NaN nor outside [low, high]."""
    if not isinstance(value, int | float | np.integer | np.floating) or not low <= value <= high:
        raise InputError(f"{name} is {value!r}; give a number {rule}.")
    return float(value)


def _gap(value: float) -> float:
    return _number("gap", value, "from 0 to below 0.5", 0.0, math.nextafter(0.5, 0.0))


def _epsilon(value: float) -> float:
    low, high = math.nextafter(0.0, 1.0), math.nextafter(HARD_EPSILON_LIMIT, 0.0)
    return _number("epsilon", value, f"above 0 and below {HARD_EPSILON_LIMIT}", low, high)


def _members(users: int, share: float) -> int:
    share = _number("share", share, "from 0 to 1", 0.0, 1.0)
    # 0.07 * 100 is 7.000000000000001, and that is 7 users.
    return min(users, math.ceil(share * users - 1e-9))
