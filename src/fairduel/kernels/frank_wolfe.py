"""Compiled: the paper's Frank-Wolfe (Section 5.1)."""

import math

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part


@part
def find_gradient(scores: Floats, inverse: Floats, gradient: Floats) -> None:
    """Write g_k = sum_d S[d, k] / u_d; four users at a time, as in the Newton method."""
    n_users, n_arms = scores.shape
    for k in range(n_arms):
        gradient[k] = 0.0
    four = n_users - n_users % 4
    for d in range(0, four, 4):
        y0, y1, y2, y3 = inverse[d], inverse[d + 1], inverse[d + 2], inverse[d + 3]
        for k in range(n_arms):
            gradient[k] += (y0 * scores[d, k] + y1 * scores[d + 1, k]) + (
                y2 * scores[d + 2, k] + y3 * scores[d + 3, k]
            )
    for d in range(four, n_users):
        for k in range(n_arms):
            gradient[k] += inverse[d] * scores[d, k]


@part
def begin(scores: Floats, policy: Floats, utility: Floats) -> None:
    """Write the uniform policy and its utilities."""
    n_users, n_arms = scores.shape
    for k in range(n_arms):
        policy[k] = 1.0 / n_arms
    for d in range(n_users):
        total = 0.0
        for k in range(n_arms):
            total += scores[d, k] * policy[k]
        utility[d] = total


@part
def climb(
    scores: Floats,
    iterations: int,
    tolerance: float,
    floor: float,
    policy: Floats,
    utility: Floats,
    inverse: Floats,
    gradient: Floats,
) -> int:
    """Write the policy; return the number of iterations."""
    begin(scores, policy, utility)
    before = -math.inf
    for t in range(iterations):
        objective = 0.0
        for d in range(utility.size):
            u = max(utility[d], floor)
            objective += math.log(u)
            inverse[d] = 1.0 / u
        if abs(objective - before) < tolerance:
            return t
        before = objective
        find_gradient(scores, inverse, gradient)
        best = 0
        for k in range(policy.size):
            if gradient[k] > gradient[best]:
                best = k
        size = 2.0 / (t + 2.0)
        for k in range(policy.size):
            policy[k] *= 1.0 - size
        policy[best] += size
        for d in range(utility.size):
            utility[d] = (1.0 - size) * utility[d] + size * scores[d, best]
    return iterations


@kernel("Tuple((f8[:, ::1], i8[::1]))(f8[:, :, ::1], i8, f8, f8)")
def follow(scores: Floats, iterations: int, tolerance: float, floor: float) -> tuple[Floats, Ints]:
    """Return the policy for each of many score matrices, and the number of iterations."""
    n_matrices, n_users, n_arms = scores.shape
    policies, taken = np.empty((n_matrices, n_arms)), np.empty(n_matrices, np.int64)
    utility, inverse, gradient = np.empty(n_users), np.empty(n_users), np.empty(n_arms)
    for b in range(n_matrices):
        taken[b] = climb(
            scores[b], iterations, tolerance, floor, policies[b], utility, inverse, gradient
        )
    return policies, taken
