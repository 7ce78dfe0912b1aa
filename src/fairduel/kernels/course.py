"""Compiled: when and what Fair-epsilon-Greedy explores, and what it knows at each step."""

import math

import numpy as np
from numba import types

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part

_RNG = types.npy_rng
_INTS = types.int64[::1]
_PAIRS = types.int64[:, ::1]
_VECTOR = types.float64[::1]
_MATRIX = types.float64[:, ::1]
_CUBE = types.float64[:, :, ::1]

_SPAN = 64  # epsilon_t is bounded over t / 64 rounds at a time, in which it falls by half a percent


@part
def _epsilon(rate: float, size: int, t: int) -> float:
    """Return epsilon_t of Theorem 4.3 with t counted from 1, clipped to a probability."""
    return min(1.0, rate * float((math.log(size * t) / t) ** (1.0 / 3.0)))


@kernel((_RNG, types.float64, types.int64, types.int64, types.int64, types.int64))
def exploration_gaps(
    rng: np.random.Generator, rate: float, size: int, before: int, horizon: int, steps: int
) -> Ints:
    """Draw the rounds without exploration before each of the next ``steps`` explorations.

    Round t explores with probability epsilon_t, independently. By thinning, a span of rounds at a
    time: candidates come after geometric times at the epsilon of the span's first round, which no
    later one exceeds, and are accepted with epsilon_t over that. Most are without computing it,
    as no round has less than the span's last. A time that leads beyond the span ends there, since
    geometric times have no memory. Stops at the first exploration beyond the horizon.
    """
    gaps = np.empty(steps, np.int64)
    t, last, end = before, before, before
    most, least, scale = 0.0, 0.0, 0.0
    for step in range(steps):
        while True:
            if t == end:
                if t >= horizon:
                    return gaps[:step]
                end = min(horizon, t + 1 + t // _SPAN)
                most, least = _epsilon(rate, size, t + 1), _epsilon(rate, size, end)
                scale = -1.0 / np.log1p(-most)  # 0 where it is certain
            wait = rng.standard_exponential() * scale  # its whole part: rounds before a candidate
            if wait >= end - t:
                t = end
                continue
            t += 1 + int(wait)
            level = rng.random() * most
            if level <= least or level <= _epsilon(rate, size, t):
                break
        gaps[step] = t - last - 1
        last = t
    return gaps


@kernel((_INTS, types.int64))
def least_played(plays: Ints, steps: int) -> Ints:
    """Return which pair each step plays: the first of those that were played least."""
    counts = plays.copy()
    chosen = np.empty(steps, np.int64)
    for step in range(steps):
        pair = counts.argmin()
        counts[pair] += 1
        chosen[step] = pair
    return chosen


# What is known. ``won[d, k]`` and ``heard[d, k]``: the duels of arm k with d's winner so far, those
# that k won and all of them. A duel counts for every user whose winner is in it.


@part
def _fill_scores(won: Floats, heard: Floats, winners: Ints, scores: Floats) -> None:
    """Write the empirical scores (Algorithm 1, lines 2-5)."""
    users, arms = won.shape
    for user in range(users):
        for arm in range(arms):
            known = heard[user, arm] > 0.0
            scores[user, arm] = 2.0 * won[user, arm] / heard[user, arm] if known else 0.0
        scores[user, winners[user]] = 1.0


@part
def _hear(
    won: Floats, heard: Floats, user: int, winner: int, left: int, right: int, answer: float
) -> int:
    """Count a user's answer to a duel; return the arm that it is about, or -1."""
    if winner == left:
        arm, share = right, 1.0 - answer
    elif winner == right:
        arm, share = left, answer
    else:
        return -1
    won[user, arm] += share
    heard[user, arm] += 1.0
    return arm


@kernel((_MATRIX, _MATRIX, _INTS, _PAIRS, _MATRIX))
def running_scores(
    won: Floats, heard: Floats, winners: Ints, pairs: Ints, answers: Floats
) -> Floats:
    """Return empirical scores (n+1, D, K) before the first and after each of n answered duels.

    The duels are added to ``won`` and ``heard``.
    """
    users, arms = won.shape
    scores = np.empty((len(pairs) + 1, users, arms))
    _fill_scores(won, heard, winners, scores[0])
    for step in range(len(pairs)):
        for user in range(users):
            for arm in range(arms):
                scores[step + 1, user, arm] = scores[step, user, arm]
        left, right = pairs[step]
        for user in range(users):
            arm = _hear(won, heard, user, winners[user], left, right, answers[step, user])
            if arm >= 0:
                scores[step + 1, user, arm] = 2.0 * won[user, arm] / heard[user, arm]
    return scores


@part
def _write_borda(wins: Floats, scores: Floats) -> None:
    """Write a user's Borda scores: shares of duels won, 1/2 where none were heard, averaged."""
    arms = scores.size
    best = 0.0
    for k in range(arms):
        total = 0.0
        for j in range(arms):
            heard = wins[k, j] + wins[j, k]
            if j != k:
                total += wins[k, j] / heard if heard > 0.0 else 0.5
        scores[k] = total / max(arms - 1, 1)
        best = max(best, scores[k])
    for k in range(arms):
        scores[k] = 1.0 - (best - scores[k])


@kernel((_CUBE, _PAIRS, _MATRIX))
def running_borda(wins: Floats, pairs: Ints, answers: Floats) -> Floats:
    """Return Borda scores (n+1, D, K) before the first and after each of n answered duels.

    The duels are added to ``wins``.
    """
    users, arms = wins.shape[0], wins.shape[1]
    scores = np.empty((len(pairs) + 1, users, arms))
    for user in range(users):
        _write_borda(wins[user], scores[0, user])
        for step in range(len(pairs)):
            left, right = pairs[step]
            wins[user, left, right] += answers[step, user]
            wins[user, right, left] += 1.0 - answers[step, user]
            _write_borda(wins[user], scores[step + 1, user])
    return scores


@part
def _add_user(
    scores: Floats, policy: Floats, weight: float, prices: Floats, user: int, gradient: Floats
) -> None:
    """Add a user to the centred gradient, and write its price: the weight over the utility."""
    utility = 0.0
    for arm in range(policy.size):
        utility += scores[arm] * policy[arm]
    prices[user] = weight / utility
    for arm in range(policy.size):
        gradient[arm] += prices[user] * scores[arm] - weight


@kernel((_MATRIX, _MATRIX, _INTS, _PAIRS, _MATRIX, _VECTOR, _VECTOR, types.float64))
def stays_best(
    won: Floats,
    heard: Floats,
    winners: Ints,
    pairs: Ints,
    answers: Floats,
    policy: Floats,
    weights: Floats,
    tolerance: float,
) -> int:
    """Return after how many of n answered duels the policy no longer has the highest Nash welfare.

    n + 1 if it always is. It is where no entry of the centred gradient, q_k = sum_d w_d
    (S[d, k] - u_d) / u_d, is above the tolerance: the solver's own certificate, by which it would
    give back the policy that it began from. A duel changes one score of few users. Where the
    policy does not play the arm, that changes one entry; else it changes what the user gets and
    so all entries. The duels so far are added to ``won`` and ``heard``.
    """
    users, arms = won.shape
    scores, prices, gradient = np.empty((users, arms)), np.zeros(users), np.zeros(arms)
    _fill_scores(won, heard, winners, scores)
    for user in range(users):
        _add_user(scores[user], policy, weights[user], prices, user, gradient)
    for step in range(len(pairs)):
        left, right = pairs[step]
        for user in range(users):
            arm = _hear(won, heard, user, winners[user], left, right, answers[step, user])
            if arm < 0:
                continue
            score = 2.0 * won[user, arm] / heard[user, arm]
            if policy[arm] == 0.0:
                gradient[arm] += prices[user] * (score - scores[user, arm])
                scores[user, arm] = score
            else:
                for k in range(arms):
                    gradient[k] -= prices[user] * scores[user, k] - weights[user]
                scores[user, arm] = score
                _add_user(scores[user], policy, weights[user], prices, user, gradient)
        for k in range(arms):
            if not gradient[k] <= tolerance:  # NaN where some user gets nothing
                return step + 1
    return len(pairs) + 1
