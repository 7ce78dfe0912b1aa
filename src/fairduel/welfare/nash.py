"""The Nash welfare: the product of the users' utilities."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats, Ints
from fairduel.welfare.checks import (
    check_tolerance,
    mean_one,
    policy_of,
    score_matrices,
    score_matrix,
    start_policy,
    unserved_users,
    user_weights,
)
from fairduel.welfare.solution import Solution
from fairduel.welfare.welfare import Objective, Welfare


@dataclass(frozen=True)
class Nash(Welfare):
    """The Nash welfare prod_d u_d^{w_d} (Eq. 3 of the paper), maximised exactly.

    weights: a positive number for each user, such as the number of people it stands for; None for
    equal weights. They are scaled to have mean 1, so that equal weights give the plain product.
    tolerance: the gap to reach.

    The gap is in the logarithm: no policy has a welfare above ``value * exp(gap)``. It is
    computed from the policy that is returned, whether or not the tolerance was reached, and exact
    but for rounding (about 1e-11 with 100,000 users).

    Users whose scores are all zero get nothing from any policy. They are named in ``unserved``,
    the welfare is 0, and policy and gap are those of the other users; if no user is left, the
    policy is uniform.

    Where several policies are best, the one returned depends on scores, weights and start alone:
    ``start`` if it is best to the tolerance (without a start, the uniform policy if that is), and
    otherwise the one at which the method arrives from there.
    """

    name = "nash"
    label = "Nash welfare"
    summary = (
        "The product of the users' utilities: fair to everyone, efficient where it can be; "
        "a small minority gets about its share."
    )
    relative = True

    weights: tuple[float, ...] | None = None
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", user_weights(self.weights))
        check_tolerance(self.tolerance)

    def value(self, utilities: ArrayLike) -> Floats:
        """Return the Nash welfare of utilities, over the last axis."""
        utilities = np.asarray(utilities, np.float64)
        with np.errstate(over="ignore", divide="ignore"):
            if self.weights is None:
                return np.asarray(np.multiply.reduce(utilities, axis=-1))
            weights = mean_one(self.weights, utilities.shape[-1])
            return np.asarray(np.exp(np.log(utilities) @ weights))

    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return the value times w_d / u_d; all zero where some user gets nothing."""
        utilities = np.asarray(utilities, np.float64)
        weights = mean_one(self.weights, utilities.shape[-1])
        value = self.value(utilities)[..., np.newaxis]
        return np.asarray(value * weights / np.maximum(utilities, 1e-12))

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return the policy of highest Nash welfare for ``scores``; ``start`` may save time."""
        scores = score_matrix(scores)
        users, arms = scores.shape
        policies, gaps = _newton().follow(
            scores[None], mean_one(self.weights, users), start_policy(start, arms), self.tolerance
        )
        policy = policies[0]
        utilities = scores.dot(policy)
        value = float(self.value(utilities))
        unserved = () if value > 0.0 else unserved_users(scores)
        return Solution(policy, utilities, value, float(gaps[0]), unserved, self.label)

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return how much higher the log of the welfare can be, at most.

        Users whom no policy serves are left out; inf where another user gets nothing.
        """
        scores = score_matrix(scores)
        tops = scores.max(axis=1)
        served = tops > 0.0
        rows = scores[served] / tops[served, None]  # the same gap, and nothing overflows
        utilities = rows @ policy_of(policy, scores.shape[1])
        return log_gap(rows, utilities, mean_one(self.weights, len(scores))[served])

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the best policy for each of ``scores``, all in one compiled loop."""
        scores = score_matrices(scores)
        _, users, arms = scores.shape
        policies, _ = _newton().follow(
            scores, mean_one(self.weights, users), start_policy(start, arms), self.tolerance
        )
        return np.asarray(policies)

    def compiled(self, users: int) -> Objective:
        """Return the product as the kernels call it."""
        from fairduel.kernels import objectives

        return Objective(objectives.PRODUCT, mean_one(self.weights, users))

    def stays_best(
        self,
        policy: Floats,
        won: Floats,
        heard: Floats,
        winners: Ints,
        pairs: Ints,
        answers: Floats,
    ) -> int | None:
        """Return after how many answered duels the certificate exceeds the tolerance."""
        from fairduel.kernels import course

        if type(self) is not Nash:  # a subclass may maximise something else
            return None
        weights = mean_one(self.weights, len(winners))
        return int(
            course.stays_best(won, heard, winners, pairs, answers, policy, weights, self.tolerance)
        )


def log_gap(scores: Floats, utilities: Floats, weights: Floats) -> float:
    """Return the gap of utilities: max_k sum_d w_d S[d, k] / u_d - sum_d w_d, at least 0."""
    if not utilities.size:
        return 0.0
    if not utilities.all():
        return float("inf")
    slopes = (weights[:, None] * (scores / utilities[:, None])).sum(axis=0)
    return max(0.0, float(slopes.max()) - float(weights.sum()))


@functools.cache
def _newton() -> ModuleType:
    """Import the kernels, which takes long the first time, and a microsecond every time."""
    from fairduel.kernels import newton

    return newton
