"""The egalitarian welfare: the smallest of the users' utilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.welfare.checks import policy_of, score_matrix, unserved_users
from fairduel.welfare.solution import Solution
from fairduel.welfare.welfare import Objective, Welfare

# A user with a score this high, where 1 could be promised to all, needs next to nothing.
EASY = 1e12
ATTEMPTS = (("highs-ds", 1e-10), ("highs-ds", 1e-7), ("highs-ipm", 1e-7))


@dataclass(frozen=True)
class Egalitarian(Welfare):
    """The smallest utility of any user, maximised as a linear program (HiGHS, through scipy).

    The gap is in units of utility: no policy gives every user more than ``value + gap``. For any
    weights y of the users that sum to 1, the smallest utility is at most the weighted mean, and
    that is at most max_k sum_d y_d S[d, k]; the multipliers of the program make it tight.

    Users whose scores are all zero get nothing from any policy. They are named in ``unserved``,
    the welfare is 0, and policy and gap are those of the other users; if no user is left, the
    policy is uniform. Among several best policies, the program's own vertex is returned.
    """

    name = "egalitarian"
    label = "smallest utility"
    summary = "The smallest of the users' utilities: only the worst off counts."
    slow = True

    def value(self, utilities: ArrayLike) -> Floats:
        """Return the smallest of utilities, over the last axis."""
        return np.asarray(np.min(np.asarray(utilities, np.float64), axis=-1))

    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return equal shares of 1 for the users who tie for the smallest utility."""
        utilities = np.asarray(utilities, np.float64)
        ties = utilities <= utilities.min(axis=-1, keepdims=True) + 1e-9
        return np.asarray(ties / ties.sum(axis=-1, keepdims=True))

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return the policy of highest smallest utility; ``start`` is not used."""
        scores = score_matrix(scores)
        unserved = unserved_users(scores)
        policy, gap = _max_min(np.delete(scores, unserved, axis=0))
        utilities = scores @ policy
        return Solution(policy, utilities, float(utilities.min()), gap, unserved, self.label)

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return how much more any policy can give every user whom some policy serves, at most.

        By the linear program: one tangent would not do where several users are the worst off.
        """
        scores = score_matrix(scores)
        policy = policy_of(policy, scores.shape[1])
        served = np.delete(scores, unserved_users(scores), axis=0)
        if not served.size:
            return 0.0
        best, gap = _max_min(served)
        return max(0.0, float((served @ best).min() + gap - (served @ policy).min()))

    def compiled(self, users: int) -> Objective:
        """Return the minimum as the kernels call it."""
        from fairduel.kernels import objectives

        return Objective(objectives.SMALLEST, np.ones(users))


def _max_min(scores: Floats) -> tuple[Floats, float]:
    """Return the best policy for users who can all be served, and its gap.

    Shifting and scaling all scores changes nothing: the lowest becomes 0, and the most that could
    be promised to every user, min_d max_k S[d, k], becomes 1.
    """
    uniform = np.full(scores.shape[1], 1.0 / scores.shape[1])
    if not scores.size:
        return uniform, 0.0
    lowest = scores.min()
    unit = scores.max(axis=1).min() - lowest
    if unit == 0.0:  # the worst-off user has the same under every policy
        return uniform, 0.0
    scaled = (scores - lowest) / unit
    tops = scaled.max(axis=1)
    hard = scaled[tops < EASY]
    policy, level, multipliers = _linear_program(hard)
    # The program keeps its constraints to a tolerance only, and the easy users are not in it:
    # users below the level get what they lack from the arm that costs least.
    np.add.at(policy, scaled.argmax(axis=1), np.maximum(level - scaled @ policy, 0.0) / tops)
    policy /= policy.sum()
    gap = min(1.0, (multipliers @ hard).max()) - (scaled @ policy).min()
    return policy, max(0.0, float(gap * unit))


def _linear_program(scores: Floats) -> tuple[Floats, float, Floats]:
    """Maximise v with S x >= v, sum x = 1, x >= 0; return x, v and the users' multipliers."""
    from scipy.optimize import linprog

    users, arms = scores.shape
    for method, tolerance in ATTEMPTS:
        result = linprog(
            np.append(np.zeros(arms), -1.0),
            A_ub=np.hstack([-scores, np.ones((users, 1))]),
            b_ub=np.zeros(users),
            A_eq=np.append(np.ones(arms), 0.0)[None],
            b_eq=[1.0],
            method=method,
            options={
                "primal_feasibility_tolerance": tolerance,
                "dual_feasibility_tolerance": tolerance,
            },
        )
        if result.x is not None:
            break
    else:
        raise RuntimeError(f"HiGHS could not solve the egalitarian program: {result.message}")
    policy = np.maximum(result.x[:arms], 0.0)
    multipliers = np.maximum(-result.ineqlin.marginals, 0.0)
    return policy / policy.sum(), float(result.x[arms]), multipliers / multipliers.sum()
