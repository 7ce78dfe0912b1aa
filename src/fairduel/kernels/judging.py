"""Compiled: one judgement of the tournament (Algorithm 3, lines 9-22)."""

import math

from numba import types

from fairduel._arrays import Bools, Floats
from fairduel.kernels.compiler import kernel

_WINS = types.float64[:, :, ::1]
_BEFORE = types.float64[:, ::1]
_SETS = types.boolean[:, ::1]
_INT = types.int64
_FLOAT = types.float64


@kernel((_WINS, _BEFORE, _SETS, _INT, _INT, _FLOAT, _FLOAT, types.boolean))
def judge(
    wins: Floats,
    before: Floats,
    candidates: Bools,
    i: int,
    j: int,
    samples: float,
    width: float,
    for_all: bool,
) -> bool:
    """Take the loser of i and j out of ``candidates`` for every user whose answers make it sure.

    ``width`` is that of ``samples`` duels; fewer answers have a wider one. Returns whether any
    user has answered at all.
    """
    users, arms = candidates.shape
    answered = False
    for user in range(users):
        answered |= wins[user, i, j] + wins[user, j, i] > before[user, 0] + before[user, 1]
        if not for_all and not (candidates[user, i] and candidates[user, j]):  # line 9
            continue
        left = 0
        for arm in range(arms):
            left += candidates[user, arm]
        won = wins[user, i, j] - before[user, 0]
        lost = wins[user, j, i] - before[user, 1]
        answers = won + lost
        if left == 1 or answers == 0:  # even an unlikely error leaves an arm
            continue
        needed = width * math.sqrt(max(1.0, samples / answers))
        # |p - 1/2| > width / 2 (line 12), with p = won / answers.
        if abs(won - lost) > needed * answers:
            candidates[user, j if won > lost else i] = False
    return answered
