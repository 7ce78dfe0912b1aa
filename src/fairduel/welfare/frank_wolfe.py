"""The paper's own solver for the Nash welfare, for reproduction."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.welfare.checks import score_matrices, score_matrix, unserved_users
from fairduel.welfare.nash import Nash
from fairduel.welfare.solution import Solution


@dataclass(frozen=True)
class FrankWolfe:
    """Nash welfare by Frank-Wolfe, as in Section 5.1 of the paper. Use ``Nash`` for the best one.

    It climbs sum_d log max(u_d, floor) from the uniform policy. Iteration t = 0, 1, ... finds the
    arm of highest gradient sum_d S[d, k] / max(u_d, floor), the first among equals, and moves
    2 / (t + 2) of the way to it; so the first step goes all the way to one arm, and forgets the
    uniform policy but for the choice of that arm. It stops before an iteration if the objective
    differs by less than ``tolerance`` from the one before, and after so many ``iterations``.

    Two values may come close by chance far from the best policy, so the result can be poor. Its
    gap says how poor, at most: no policy has more than ``value * exp(gap)``; inf where a user
    who could be served gets nothing.
    """

    iterations: int = 300
    tolerance: float = 2e-4
    floor: float = 1e-12

    def __post_init__(self) -> None:
        if self.iterations < 0:
            raise InputError(f"iterations is {self.iterations}; it must not be negative.")
        if not self.tolerance >= 0.0:
            raise InputError(f"tolerance is {self.tolerance}; it must not be negative.")
        if not 0.0 < self.floor < np.inf:
            raise InputError(f"floor is {self.floor}; it must be positive.")

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """What the paper computes for ``scores`` (D, K). ``start`` is ignored, as in the paper."""
        scores = score_matrix(scores)
        policy = self.follow(scores[None])[0]
        utilities = scores @ policy
        unserved = unserved_users(scores)
        gap = _gap(np.delete(scores, unserved, axis=0), np.delete(utilities, unserved))
        return Solution(policy, utilities, float(self.value(utilities)), gap, unserved)

    def value(self, utilities: ArrayLike) -> Floats:
        """The Nash welfare of utilities, over the last axis."""
        return Nash().value(utilities)

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """The policy (B, K) for each of ``scores`` (B, D, K), each from the uniform policy."""
        from fairduel.kernels import frank_wolfe

        scores = score_matrices(scores)
        policies, _ = frank_wolfe.follow(scores, self.iterations, self.tolerance, self.floor)
        return np.asarray(policies)


def _gap(scores: Floats, utilities: Floats) -> float:
    """How much more the log of the welfare could be: max_k sum_d S[d, k] / u_d - D, at most."""
    if not utilities.size:
        return 0.0
    if not utilities.all():
        return float("inf")
    return max(0.0, float((scores / utilities[:, None]).sum(axis=0).max()) - len(utilities))
