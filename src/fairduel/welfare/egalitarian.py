"""The egalitarian welfare: the smallest of the users' utilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.welfare.checks import (
    NO_START,
    policy_of,
    score_matrices,
    score_matrix,
    unserved_users,
    user_weights,
)
from fairduel.welfare.solution import Solution
from fairduel.welfare.welfare import Objective, Welfare

TOLERANCE = 1e-9  # of the most that could be promised to everybody


@dataclass(frozen=True)
class Egalitarian(Welfare):
    """The smallest utility of any user, maximised exactly as a matrix game.

    The gap is in units of utility: no policy gives every user more than ``value + gap``. For any
    weights y of the users that sum to 1, the smallest utility is at most the weighted mean, and
    that is at most max_k sum_d y_d S[d, k]; the best strategy against the policy makes it tight.

    How many people a user stands for makes no difference: that many users with the same scores have
    the same smallest utility.

    Users whose scores are all zero get nothing from any policy. They are named in ``unserved``,
    the welfare is 0, and policy and gap are those of the other users; if no user is left, the
    policy is uniform. Among several best policies the one returned depends on the scores alone,
    and has no more arms than there are users.
    """

    name = "egalitarian"
    label = "smallest utility"
    summary = (
        "The smallest of the users' utilities: only the worst off counts; "
        "a minority gets as much as everybody else, be it a single person."
    )

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
        policies, gaps = _max_min(scores[None])
        utilities = scores.dot(policies[0])
        value = float(utilities.min())
        unserved = () if value > 0.0 else unserved_users(scores)
        return Solution(policies[0], utilities, value, float(gaps[0]), unserved, self.label)

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return how much more any policy can give every user whom some policy serves, at most.

        By maximising: one tangent would not do where several users are the worst off.
        """
        scores = score_matrix(scores)
        policy = policy_of(policy, scores.shape[1])
        served = np.delete(scores, unserved_users(scores), axis=0)
        if not served.size:
            return 0.0
        best = self.maximize(served)
        return max(0.0, float(best.value + best.gap - (served @ policy).min()))

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the best policy for each of ``scores``; ``start`` is not used."""
        return _max_min(score_matrices(scores))[0]

    def compiled(self, users: int) -> Objective:
        """Return the minimum as the kernels call it."""
        from fairduel.kernels import objectives

        return Objective(objectives.SMALLEST, np.ones(users))

    def weighted(self, weights: tuple[float, ...]) -> Egalitarian:
        """Return this welfare: the smallest utility does not depend on how many people have it."""
        user_weights(weights)
        return self


def _max_min(scores: Floats) -> tuple[Floats, Floats]:
    """Return the best policy for each of ``scores``, and the gaps."""
    from fairduel.kernels import game

    # The worst off alone weighs anything: S-Gini with an infinite delta.
    found: tuple[Floats, Floats] = game.follow(
        scores, NO_START, np.inf, NO_START, NO_START, TOLERANCE
    )
    return found
