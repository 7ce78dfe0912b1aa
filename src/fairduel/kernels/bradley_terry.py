"""Compiled: what answers say under the Bradley-Terry model, by Laplace's method.

P[d, i, j] = sigma(theta_d[i] - theta_d[j]), theta_d ~ N(0, scale^2 I), users independent.
"""

import math

import numpy as np
from numba import types

from fairduel._arrays import Floats
from fairduel.kernels.compiler import kernel, part

_FLOAT = types.float64
_TABLE, _CUBE = types.float64[:, ::1], types.float64[:, :, ::1]

MOST_STEPS = 100  # of Newton's method; a handful is usual
NEAR = 1e-10  # of the mode: what the log density may still gain, doubled


@part
def log_density(wins: Floats, precision: float, theta: Floats) -> float:
    """Return the log of likelihood and prior at theta (K,), but for the prior's constant."""
    value = 0.0
    for i in range(theta.size):
        value -= 0.5 * precision * theta[i] ** 2
        for j in range(i):
            answers = wins[i, j] + wins[j, i]
            if answers > 0.0:
                x = theta[i] - theta[j]
                against = wins[j, i] if x > 0.0 else wins[i, j]
                value -= against * abs(x) + answers * math.log1p(math.exp(-abs(x)))
    return value


@part
def slope_and_curvature(
    wins: Floats, precision: float, theta: Floats, slope: Floats, curvature: Floats
) -> None:
    """Write the gradient (K,) of the log density and minus its Hessian (K, K), upper half."""
    for i in range(theta.size):
        slope[i] = -precision * theta[i]
        curvature[i, i] = precision
    for i in range(theta.size):
        for j in range(i + 1, theta.size):
            answers = wins[i, j] + wins[j, i]
            curvature[i, j] = 0.0
            if answers > 0.0:
                chance = 1.0 / (1.0 + math.exp(theta[j] - theta[i]))
                pull = wins[i, j] - answers * chance
                weight = answers * chance * (1.0 - chance)
                slope[i] += pull
                slope[j] -= pull
                curvature[i, j] = -weight
                curvature[i, i] += weight
                curvature[j, j] += weight


@part
def factorize(matrix: Floats) -> None:
    """Replace the upper half of a positive definite matrix U'U by U (Cholesky)."""
    for k in range(len(matrix)):
        root = math.sqrt(matrix[k, k])
        for i in range(k, len(matrix)):
            matrix[k, i] /= root
        for j in range(k + 1, len(matrix)):
            if matrix[k, j] != 0.0:  # of many arms most were never compared with each other
                for i in range(j, len(matrix)):
                    matrix[j, i] -= matrix[k, j] * matrix[k, i]


@part
def solve_lower(factor: Floats, x: Floats, first: int = 0) -> None:
    """Replace x by U'^-1 x, where x is 0 before the ``first``."""
    for k in range(first, x.size):
        x[k] /= factor[k, k]
        if x[k] != 0.0:
            for i in range(k + 1, x.size):
                x[i] -= factor[k, i] * x[k]


@part
def solve_upper(factor: Floats, x: Floats, first: int = 0) -> None:
    """Replace x by U^-1 x, from the ``first`` on."""
    for k in range(x.size - 1, first - 1, -1):
        for i in range(k + 1, x.size):
            x[k] -= factor[k, i] * x[i]
        x[k] /= factor[k, k]


@part
def climb(wins: Floats, precision: float, theta: Floats, factor: Floats) -> float:
    """Move theta to the mode, by Newton's method with halved steps; return the log density there.

    ``factor`` becomes the Cholesky factor of the curvature at the mode.
    """
    step = np.empty(theta.size)
    value = log_density(wins, precision, theta)
    for _ in range(MOST_STEPS):
        slope_and_curvature(wins, precision, theta, step, factor)
        factorize(factor)
        solve_lower(factor, step)
        gain = (step * step).sum()  # twice what the quadratic model promises
        if gain < NEAR:
            break
        solve_upper(factor, step)
        size = 1.0
        higher = log_density(wins, precision, theta + step)
        while higher < value and size > 1e-6:
            size *= 0.5
            higher = log_density(wins, precision, theta + size * step)
        theta += size * step
        value = higher
    return value


@kernel((_CUBE, _FLOAT, _TABLE))
def fit(wins: Floats, scale: float, start: Floats) -> tuple[float, Floats, Floats]:
    """Fit a normal distribution to every user's theta (Laplace's method).

    ``wins`` (D, K, K) are the answers and ``start`` (D, K) is where to begin. Returns the log
    evidence of the scale, the modes (D, K), and the Cholesky factors (D, K, K) of the precisions,
    upper halves.
    """
    n_users, n_arms = start.shape
    modes, factors = start.copy(), np.zeros((n_users, n_arms, n_arms))
    evidence = 0.0
    for d in range(n_users):
        evidence += climb(wins[d], scale**-2.0, modes[d], factors[d])
        for k in range(n_arms):
            evidence -= math.log(scale * factors[d, k, k])
    return evidence, modes, factors


@part
def write_borda(row: Floats, means: Floats) -> None:
    """Replace theta by Borda scores."""
    for k in range(row.size):
        means[k] = 0.0
        for j in range(row.size):
            if j != k:
                means[k] += 1.0 / (1.0 + math.exp(row[j] - row[k]))
        means[k] /= max(row.size - 1, 1)
    best = means.max()
    for k in range(row.size):
        row[k] = 1.0 - (best - means[k])


@kernel((_TABLE, _CUBE, _CUBE, types.boolean))
def sample_scores(modes: Floats, factors: Floats, normals: Floats, borda: bool) -> Floats:
    """Draw scores (n, D, K) with the normal variates given.

    2 sigma(theta_k - max theta), which is the paper's score and maximin's, or Borda scores.
    """
    scores, means = normals.copy(), np.empty(modes.shape[1])
    for m in range(len(scores)):
        for d in range(len(modes)):
            row = scores[m, d]
            solve_upper(factors[d], row)
            row += modes[d]
            top = row.max()
            if borda:
                write_borda(row, means)
                continue
            for k in range(row.size):
                row[k] = 2.0 / (1.0 + math.exp(top - row[k]))
    return scores
