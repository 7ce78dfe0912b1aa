"""The paper's own solver for the Nash welfare, for reproduction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.welfare.checks import policy_of, score_matrices, score_matrix, unserved_users
from fairduel.welfare.nash import Nash, log_gap
from fairduel.welfare.solution import Solution
from fairduel.welfare.welfare import Objective, Welfare

_NASH = Nash()


@dataclass(frozen=True)
class FrankWolfe(Welfare):
    """Nash welfare by Frank-Wolfe, as in Section 5.1 of the paper; ``Nash`` finds the best policy.

    It climbs sum_d log max(u_d, floor) from the uniform policy. Iteration t = 0, 1, ... finds the
    arm of highest gradient sum_d S[d, k] / max(u_d, floor), the first among equals, and moves
    2 / (t + 2) of the way to it; so the first step goes all the way to one arm, and forgets the
    uniform policy but for the choice of that arm. It stops before an iteration if the objective
    differs by less than ``tolerance`` from the one before, and after ``iterations``.

    Two values may come close by chance far from the best policy, so the result can be poor. Its
    gap bounds how poor: no policy has a welfare above ``value * exp(gap)``. It is inf where a
    user who could be served gets nothing.
    """

    name = "frank-wolfe"
    label = "Nash welfare"
    summary = "Nash welfare by the paper's own solver, for reproduction."
    relative = True

    iterations: int = 300
    tolerance: float = 2e-4
    floor: float = 1e-12

    def __post_init__(self) -> None:
        if self.iterations < 0:
            raise InputError(f"iterations is {self.iterations}: it must not be negative.")
        if not self.tolerance >= 0.0:
            raise InputError(f"tolerance is {self.tolerance}: it must not be negative.")
        if not 0.0 < self.floor < np.inf:
            raise InputError(f"floor is {self.floor}: it must be positive.")

    def value(self, utilities: ArrayLike) -> Floats:
        """Return the Nash welfare of utilities, over the last axis."""
        return _NASH.value(utilities)

    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return the gradient of the Nash welfare."""
        return _NASH.gradient(utilities)

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return what the paper computes for ``scores``; ``start`` is ignored, as in the paper."""
        scores = score_matrix(scores)
        policy = self.follow(scores[None])[0]
        utilities = scores @ policy
        gap, unserved = self.certificate(scores, policy), unserved_users(scores)
        return Solution(policy, utilities, float(self.value(utilities)), gap, unserved, self.label)

    def certificate(self, scores: ArrayLike, policy: ArrayLike) -> float:
        """Return how much higher the log of the Nash welfare can be, at most."""
        scores = score_matrix(scores)
        policy, unserved = policy_of(policy, scores.shape[1]), unserved_users(scores)
        served, utilities = np.delete(scores, unserved, axis=0), scores @ policy
        return log_gap(served, np.delete(utilities, unserved), np.ones(len(served)))

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the policy for each of ``scores``, each from the uniform policy."""
        from fairduel.kernels import frank_wolfe

        scores = score_matrices(scores)
        policies, _ = frank_wolfe.follow(scores, self.iterations, self.tolerance, self.floor)
        return np.asarray(policies)

    def compiled(self, users: int) -> Objective:
        """Return the product as the kernels call it."""
        return _NASH.compiled(users)
