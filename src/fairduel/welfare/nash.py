"""The Nash welfare: the product of the users' utilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.welfare.checks import (
    mean_one,
    score_matrices,
    score_matrix,
    start_policy,
    unserved_users,
    user_weights,
)
from fairduel.welfare.solution import Solution


@dataclass(frozen=True)
class Nash:
    """The Nash welfare prod_d u_d^{w_d} (Eq. 3 of the paper), maximised exactly.

    weights: one positive number a user, e.g. how many people it stands for; None for all alike.
    They are scaled to have mean 1, so that equal weights give the plain product.
    tolerance: the gap to reach.

    The gap is in log units: no policy has a welfare of more than ``value * exp(gap)``. It is
    computed from the policy that is returned, whether or not the tolerance was reached, and exact
    but for rounding (about 1e-11 with 100,000 users).

    Users whose scores are all zero get nothing from any policy. They are named in ``unserved``,
    the welfare is 0, and policy and gap are those of the other users; if nobody is left, the
    policy is uniform.

    Where several policies are best, the one returned depends on scores, weights and start alone:
    ``start`` if it is best to the tolerance (without a start, the uniform policy if that is), and
    else the one at which the method arrives from there.
    """

    weights: tuple[float, ...] | None = None
    tolerance: float = 1e-9

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", user_weights(self.weights))
        if not self.tolerance >= 0.0:
            raise InputError(f"tolerance is {self.tolerance}; it must not be negative.")

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """The policy of highest Nash welfare for ``scores`` (D, K); ``start`` may save time."""
        from fairduel.kernels import newton

        scores = score_matrix(scores)
        users, arms = scores.shape
        policies, gaps = newton.follow(
            scores[None], mean_one(self.weights, users), start_policy(start, arms), self.tolerance
        )
        policy = policies[0]
        utilities = scores.dot(policy)
        value = float(self.value(utilities))
        unserved = () if value > 0.0 else unserved_users(scores)
        return Solution(policy, utilities, value, float(gaps[0]), unserved)

    def value(self, utilities: ArrayLike) -> Floats:
        """The Nash welfare of utilities, over the last axis."""
        utilities = np.asarray(utilities, np.float64)
        with np.errstate(over="ignore", divide="ignore"):
            if self.weights is None:
                return np.asarray(np.multiply.reduce(utilities, axis=-1))
            weights = mean_one(self.weights, utilities.shape[-1])
            return np.asarray(np.exp(np.log(utilities) @ weights))

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """The best policy (B, K) for each of ``scores`` (B, D, K), each begun from the one before.

        All in one compiled loop: fast where the matrices differ little from one to the next.
        """
        from fairduel.kernels import newton

        scores = score_matrices(scores)
        _, users, arms = scores.shape
        policies, _ = newton.follow(
            scores, mean_one(self.weights, users), start_policy(start, arms), self.tolerance
        )
        return np.asarray(policies)
