"""Compiled: when and what Fair-epsilon-Greedy explores, and what it knows at each step."""

import math

import numpy as np
from numba import types

from fairduel.arrays import Floats, Ints
from fairduel.compiled import kernel, part

_RNG = types.npy_rng
_INTS = types.int64[::1]
_PAIRS = types.int64[:, ::1]
_MATRIX = types.float64[:, ::1]


@part
def _epsilon(rate: float, size: int, t: int) -> float:
    """Theorem 4.3 with t counted from 1, clipped to a probability."""
    return min(1.0, rate * float((math.log(size * t) / t) ** (1.0 / 3.0)))


@kernel((_RNG, types.float64, types.int64, types.int64, types.int64, types.int64))
def exploration_gaps(
    rng: np.random.Generator, rate: float, size: int, before: int, horizon: int, steps: int
) -> Ints:
    """Rounds without exploration before each of the next ``steps`` explorations.

    Round t explores with probability epsilon_t, independently. By thinning: a candidate comes
    after a geometric time at the present epsilon, which no later one exceeds, and is accepted
    with epsilon_t / present epsilon. Stops at the first exploration beyond the horizon.
    """
    gaps = np.empty(steps, np.int64)
    t = before
    last = before
    for step in range(steps):
        while True:
            bound = _epsilon(rate, size, t + 1)
            t += rng.geometric(bound)
            if t > horizon:
                return gaps[:step]
            if rng.random() * bound <= _epsilon(rate, size, t):
                break
        gaps[step] = t - last - 1
        last = t
    return gaps


@kernel((_INTS, types.int64))
def least_played(plays: Ints, steps: int) -> Ints:
    """Which pair each step plays: always one that was played least, the first of those."""
    counts = plays.copy()
    chosen = np.empty(steps, np.int64)
    for step in range(steps):
        pair = counts.argmin()
        counts[pair] += 1
        chosen[step] = pair
    return chosen


@kernel((_MATRIX, _MATRIX, _INTS, _PAIRS, _MATRIX))
def running_scores(
    won: Floats, heard: Floats, winners: Ints, pairs: Ints, answers: Floats
) -> Floats:
    """Empirical scores (n+1, D, K) before the first and after each of the n answered duels.

    ``won[d, k]`` and ``heard[d, k]``: duels of arm k with d's winner so far, of those the ones
    that k won. A duel counts for every user whose winner is in it.
    """
    users, arms = won.shape
    won = won.copy()
    heard = heard.copy()
    scores = np.zeros((len(pairs) + 1, users, arms))
    for user in range(users):
        for arm in range(arms):
            if heard[user, arm] > 0:
                scores[0, user, arm] = 2.0 * won[user, arm] / heard[user, arm]
        scores[0, user, winners[user]] = 1.0
    for step in range(len(pairs)):
        scores[step + 1] = scores[step]
        left, right = pairs[step]
        for user in range(users):
            arm = right
            share = 1.0 - answers[step, user]
            if winners[user] == right:
                arm = left
                share = answers[step, user]
            elif winners[user] != left:
                continue
            won[user, arm] += share
            heard[user, arm] += 1.0
            scores[step + 1, user, arm] = 2.0 * won[user, arm] / heard[user, arm]
    return scores
