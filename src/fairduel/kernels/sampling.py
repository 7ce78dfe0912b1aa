"""Compiled: the arms drawn while policies change often, and answers drawn and counted."""

import numpy as np
from numba import types

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part

_RNG = types.npy_rng
_INTS = types.int64[::1]
_PAIRS = types.int64[:, ::1]
_POLICIES = types.float64[:, ::1]
_WINS = types.float64[:, :, ::1]
_PREFERENCES = types.Array(types.float64, 3, "A", readonly=True)  # laid out anyhow

# Up to this number of rounds, drawing each is cheaper than drawing the counts.
_SINGLY = 64


@part
def _draw_arm(rng: np.random.Generator, policy: Floats) -> int:
    """Draw from the policy, by inversion; the last arm in it takes what rounding leaves over."""
    u = rng.random()
    last = 0
    for arm in range(policy.size):
        if policy[arm] > 0.0:
            last = arm
            u -= policy[arm]
            if u < 0.0:
                return arm
    return last


@part
def _draw_counts(rng: np.random.Generator, policy: Floats, rounds: int, counts: Ints) -> None:
    """Draw from Multinomial(rounds, policy), by conditional binomials."""
    left = 1.0
    for arm in range(policy.size):
        counts[arm] = 0
        if policy[arm] > 0.0 and rounds > 0:
            share = min(1.0, policy[arm] / left)
            counts[arm] = rng.binomial(rounds, share)
            rounds -= counts[arm]
            left -= policy[arm]
            last = arm
    if rounds > 0:
        counts[last] += rounds


@part
def _mix(rng: np.random.Generator, policy: Floats, rounds: int, shown: Ints, plays: Ints) -> None:
    """Draw both arms from the policy, for a number of rounds."""
    if rounds <= _SINGLY:
        for _ in range(rounds):
            i = _draw_arm(rng, policy)
            j = _draw_arm(rng, policy)
            shown[i] += 1
            shown[j] += 1
            plays[i, j] += 1
        return
    lefts = np.empty(policy.size, np.int64)
    rights = np.empty(policy.size, np.int64)
    _draw_counts(rng, policy, rounds, lefts)
    for i in range(policy.size):
        if lefts[i] > 0:
            _draw_counts(rng, policy, lefts[i], rights)
            shown[i] += lefts[i]
            for j in range(policy.size):
                shown[j] += rights[j]
                plays[i, j] += rights[j]


@part
def _same(policies: Floats, a: int, b: int) -> bool:
    arm = 0
    while arm < policies.shape[1] and policies[a, arm] == policies[b, arm]:
        arm += 1
    return bool(arm == policies.shape[1])


@kernel((_RNG, _POLICIES, _INTS, _PAIRS, _INTS))
def walk(
    rng: np.random.Generator, policies: Floats, gaps: Ints, duels: Ints, lengths: Ints
) -> tuple[Ints, Ints]:
    """Play policies and duels in turn, through stretches that end anywhere; see Nature.walk.

    What is counted does not tell the rounds of a stretch apart, so those of one policy are drawn
    together, whatever duels come between.
    """
    arms = policies.shape[1]
    shown = np.zeros((lengths.size, arms), np.int64)
    plays = np.zeros((arms, arms), np.int64)
    step = 0
    gap = gaps[0] if gaps.size > 0 else 0
    for stretch in range(lengths.size):
        left = lengths[stretch]
        of, rounds = step, 0  # to be drawn, from the policy of that step
        while left > 0:
            if gap > 0:
                if not _same(policies, of, step):
                    _mix(rng, policies[of], rounds, shown[stretch], plays)
                    rounds = 0
                of = step
                now = min(gap, left)
                rounds += now
                gap -= now
                left -= now
            else:
                i, j = duels[step]
                shown[stretch, i] += 1
                shown[stretch, j] += 1
                plays[i, j] += 1
                left -= 1
                step += 1
                gap = gaps[step] if step < gaps.size else 0
        if rounds > 0:
            _mix(rng, policies[of], rounds, shown[stretch], plays)
    return shown, plays


@kernel((_RNG, _PREFERENCES, _PAIRS))
def toss(rng: np.random.Generator, preferences: Floats, pairs: Ints) -> Floats:
    """Draw answers (n, D): 1 where a user prefers the left arm of a pair, played once; else 0."""
    answers = np.empty((len(pairs), len(preferences)))
    for row in range(len(pairs)):
        i, j = pairs[row]
        for user in range(len(preferences)):
            answers[row, user] = 1.0 if rng.random() < preferences[user, i, j] else 0.0
    return answers


@kernel((_WINS, _PAIRS, _INTS, _POLICIES))
def count_answers(wins: Floats, pairs: Ints, counts: Ints, answers: Floats) -> None:
    """Add answers (n, D) to ``counts`` duels of each pair; an arm against itself tells nothing."""
    for row in range(len(pairs)):
        i, j = pairs[row]
        if i != j:
            for user in range(wins.shape[0]):
                wins[user, i, j] += answers[row, user]
                wins[user, j, i] += counts[row] - answers[row, user]
