"""The utilitarian welfare: the mean of the users' utilities."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from fairduel._arrays import Floats
from fairduel.welfare.checks import (
    mean_one,
    score_matrices,
    score_matrix,
    unserved_users,
    user_weights,
)
from fairduel.welfare.solution import Solution
from fairduel.welfare.welfare import Objective, Welfare


@dataclass(frozen=True)
class Utilitarian(Welfare):
    """The (weighted) mean of the utilities (Section 5.1), maximised by one arm.

    weights: a positive number for each user; None for equal weights. The best arm is the one
    whose scores have the highest (weighted) sum, and the one of lowest index among equals. The
    gap is 0: the mean is linear in the policy, so the best arm is the best policy.
    """

    name = "utilitarian"
    label = "mean utility"
    summary = (
        "The mean of the users' utilities: the most in total, whoever gets it; "
        "a small minority may get nothing."
    )

    weights: tuple[float, ...] | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "weights", user_weights(self.weights))

    def value(self, utilities: ArrayLike) -> Floats:
        """Return the (weighted) mean of utilities, over the last axis."""
        utilities = np.asarray(utilities, np.float64)
        return np.asarray((utilities * mean_one(self.weights, utilities.shape[-1])).mean(axis=-1))

    def gradient(self, utilities: ArrayLike) -> Floats:
        """Return each user's share of the weights, whatever the utilities are."""
        shape = np.shape(utilities)
        return np.broadcast_to(mean_one(self.weights, shape[-1]) / shape[-1], shape).copy()

    def maximize(self, scores: ArrayLike, start: ArrayLike | None = None) -> Solution:
        """Return the best arm for ``scores``, for certain; ``start`` is not needed."""
        scores = score_matrix(scores)
        policy = self.follow(scores[None])[0]
        utilities = scores[:, policy.argmax()].copy()
        value = float(self.value(utilities))
        return Solution(policy, utilities, value, 0.0, unserved_users(scores), self.label)

    def follow(self, scores: ArrayLike, start: ArrayLike | None = None) -> Floats:
        """Return the best policy for each of ``scores``; ``start`` is not needed."""
        scores = score_matrices(scores)
        weights = mean_one(self.weights, scores.shape[1])
        best = np.einsum("d,bdk->bk", weights, scores).argmax(axis=1)
        policies = np.zeros((scores.shape[0], scores.shape[2]))
        policies[np.arange(len(policies)), best] = 1.0
        return policies

    def compiled(self, users: int) -> Objective:
        """Return the mean as the kernels call it."""
        from fairduel.kernels import objectives

        return Objective(objectives.MEAN, mean_one(self.weights, users))
