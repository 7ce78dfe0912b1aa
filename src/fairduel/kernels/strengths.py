"""Compiled: what answers say of users who give every arm a strength, and deviate from it a little.

logit P[d, i, j] = theta_d[i] - theta_d[j] + r_d[i, j], with theta_d ~ N(0, spread^2 I) and an
antisymmetric residual r ~ N(0, residual^2), all independent. A residual of 0 is the Bradley-Terry
model. Laplace's method at the joint mode of theta and r: given theta, every pair has a normal
posterior of its own, so that only theta needs a matrix.
"""

import math

import numpy as np
from numba import types

from fairduel._arrays import Floats, Ints
from fairduel.kernels.bradley_terry import factorize, solve_lower, solve_upper
from fairduel.kernels.compiler import kernel, part

_FLOAT, _INTS = types.float64, types.int64[::1]
_ROW, _TABLE, _CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]

MOST_STEPS = 100  # of Newton's method; a handful is usual
NEAR = 1e-4  # of the mode: what the log density may still gain
FAR = -30.0  # the log of a probability to win all duels that need not be computed further
ROOT_HALF = math.sqrt(0.5)


@part
def density(wins: Floats, theta: Floats, residuals: Floats, precision: float, own: float) -> float:
    """Return the log of likelihood and prior, but for constants; ``own`` is residual^2."""
    value = 0.0
    for i in range(theta.size):
        value -= 0.5 * precision * theta[i] ** 2
        for j in range(i + 1, theta.size):
            answers = wins[i, j] + wins[j, i]
            if answers > 0.0:
                x = theta[i] - theta[j] + residuals[i, j]
                against = wins[j, i] if x > 0.0 else wins[i, j]
                value -= against * abs(x) + answers * math.log1p(math.exp(-abs(x)))
                if own > 0.0:
                    value -= 0.5 * residuals[i, j] ** 2 / own
    return value


@part
def newton_step(
    wins: Floats,
    theta: Floats,
    residuals: Floats,
    precision: float,
    own: float,
    factor: Floats,
    step: Floats,
    steps: Floats,
) -> None:
    """Write Newton's step for theta (K,) and the residuals (K, K), i < j.

    The residuals are eliminated: a pair whose answers weigh w counts for theta by w / (1 + own w).
    ``factor`` becomes the Cholesky factor of theta's precision, upper half.
    """
    n = theta.size
    for i in range(n):
        step[i] = -precision * theta[i]
        factor[i, i] = precision
        for j in range(i + 1, n):
            factor[i, j] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            answers = wins[i, j] + wins[j, i]
            if answers > 0.0:
                chance = 1.0 / (1.0 + math.exp(theta[j] - theta[i] - residuals[i, j]))
                weight = answers * chance * (1.0 - chance)
                shrunk = 1.0 / (1.0 + own * weight)
                pull = wins[i, j] - answers * chance
                effect = (pull + weight * residuals[i, j]) * shrunk
                step[i] += effect
                step[j] -= effect
                factor[i, j] -= weight * shrunk
                factor[i, i] += weight * shrunk
                factor[j, j] += weight * shrunk
    factorize(factor)
    solve_lower(factor, step)
    solve_upper(factor, step)
    if own > 0.0:
        for i in range(n):
            for j in range(i + 1, n):
                answers = wins[i, j] + wins[j, i]
                if answers > 0.0:
                    chance = 1.0 / (1.0 + math.exp(theta[j] - theta[i] - residuals[i, j]))
                    weight = answers * chance * (1.0 - chance)
                    pull = wins[i, j] - answers * chance
                    moved = own * (pull - weight * (step[i] - step[j])) - residuals[i, j]
                    steps[i, j] = moved / (1.0 + own * weight)


@part
def fit_user(
    wins: Floats, theta: Floats, residuals: Floats, spread: float, residual: float, factor: Floats
) -> float:
    """Move theta and the residuals to their mode, from where they are; return the log evidence."""
    precision, own = spread**-2.0, residual * residual
    n = theta.size
    step, steps = np.empty(n), np.zeros((n, n))
    value = density(wins, theta, residuals, precision, own)
    for _ in range(MOST_STEPS):
        newton_step(wins, theta, residuals, precision, own, factor, step, steps)
        size = 1.0
        higher = density(wins, theta + step, residuals + steps, precision, own)
        while higher < value and size > 1e-6:
            size *= 0.5
            higher = density(wins, theta + size * step, residuals + size * steps, precision, own)
        theta += size * step
        residuals += size * steps
        gain = higher - value
        value = higher
        if size == 1.0 and gain < NEAR:
            break
    evidence = value
    for i in range(n):
        evidence -= math.log(spread * factor[i, i])
        for j in range(i + 1, n):
            answers = wins[i, j] + wins[j, i]
            if answers > 0.0 and own > 0.0:
                chance = 1.0 / (1.0 + math.exp(theta[j] - theta[i] - residuals[i, j]))
                evidence -= 0.5 * math.log1p(own * answers * chance * (1.0 - chance))
    return evidence


@kernel((_CUBE, _ROW, _ROW))
def evidence(wins: Floats, spreads: Floats, residual_sizes: Floats) -> Floats:
    """Return the log evidence (H, D) of every hypothesis (spread, residual) for every user."""
    n_users, n_arms = wins.shape[0], wins.shape[1]
    found = np.empty((spreads.size, n_users))
    factor, residuals = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    for d in range(n_users):
        theta = np.zeros(n_arms)  # each hypothesis begins where the one before has ended
        for h in range(spreads.size):
            residuals[:] = 0.0
            found[h, d] = fit_user(wins[d], theta, residuals, spreads[h], residual_sizes[h], factor)
    return found


@part
def log_normal_cdf(z: float) -> float:
    """Return log Phi(z), to a relative error of 1e-4."""
    if z > -6.0:
        return math.log(0.5 * math.erfc(-z * ROOT_HALF))
    return -0.5 * z * z - math.log(-z) - 0.5 * math.log(2.0 * math.pi) - 1.0 / (z * z)


@part
def normal_quantile(p: float) -> float:
    """Return z with Phi(z) = p <= 1/2, by Newton's steps from a rational start (A&S 26.2.23)."""
    t = math.sqrt(-2.0 * math.log(max(p, 1e-300)))
    top = 2.515517 + 0.802853 * t + 0.010328 * t * t
    z = top / (1.0 + 1.432788 * t + 0.189269 * t * t + 0.001308 * t * t * t) - t
    if p > 1e-12:
        for _ in range(2):
            density_here = math.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)
            z -= (0.5 * math.erfc(-z * ROOT_HALF) - p) / density_here
    return z


@part
def given_strengths(z: float, seen: float, weight: float, own: float) -> tuple[float, float]:
    """Return mean and standard deviation of a pair's log-odds, given theta's difference z.

    ``seen`` is what the pair's answers alone would say, and ``weight`` how much they weigh.
    """
    share = own * weight / (1.0 + own * weight)
    return z + share * (seen - z), math.sqrt(own / (1.0 + own * weight))


@part
def pairs(wins: Floats, theta: Floats, residuals: Floats, seen: Floats, weights: Floats) -> None:
    """Write what the answers about each pair alone would say, and how much they weigh."""
    for i in range(theta.size):
        seen[i, i] = weights[i, i] = 0.0
        for j in range(i + 1, theta.size):
            answers = wins[i, j] + wins[j, i]
            seen[i, j] = seen[j, i] = weights[i, j] = weights[j, i] = 0.0
            if answers > 0.0:
                x = theta[i] - theta[j] + residuals[i, j]
                chance = 1.0 / (1.0 + math.exp(-x))
                weight = answers * chance * (1.0 - chance)
                weights[i, j] = weights[j, i] = weight
                seen[i, j] = x + (wins[i, j] - answers * chance) / weight
                seen[j, i] = -seen[i, j]


@part
def differences(factor: Floats, row: Floats, variances: Floats) -> None:
    """Write the variances (K, K) of theta_i - theta_j, for the Cholesky factor of a precision."""
    n = row.size
    covariance = np.zeros((n, n))
    for k in range(n):
        row[:] = 0.0
        row[k] = 1.0
        solve_lower(factor, row)
        solve_upper(factor, row)
        for j in range(n):
            covariance[k, j] = row[j]
    for i in range(n):
        for j in range(n):
            variances[i, j] = covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j]


@part
def draw_winner(
    theta: Floats, seen: Floats, weights: Floats, own: float, logs: Floats, spin: float
) -> int:
    """Draw the winner given theta: the strongest arm, or by chance where pairs deviate."""
    if own == 0.0:
        return int(theta.argmax())
    n = theta.size
    for w in range(n):
        logs[w] = 0.0
        for k in range(n):
            if k != w and logs[w] > FAR:
                mean, deviation = given_strengths(
                    theta[w] - theta[k], seen[w, k], weights[w, k], own
                )
                logs[w] += log_normal_cdf(mean / deviation)
    top, total = logs.max(), 0.0
    for w in range(n):
        logs[w] = math.exp(logs[w] - top)
        total += logs[w]
    w, edge = 0, logs[0]
    while edge < spin * total and w < n - 1:
        w += 1
        edge += logs[w]
    return w


@part
def below_zero(mean: float, deviation: float, uniform: float) -> float:
    """Draw a normal variate given that it is at most 0, by inversion of a uniform one."""
    if deviation == 0.0:
        return min(mean, 0.0)
    below = 0.5 * math.erfc(mean / deviation * ROOT_HALF)
    p = uniform * below
    if p > 0.5:
        return min(mean - deviation * normal_quantile(1.0 - p), 0.0)
    return min(mean + deviation * normal_quantile(p), 0.0)


@kernel((_CUBE, _INTS, _FLOAT, _FLOAT, _CUBE, _TABLE, _CUBE))
def draw(
    wins: Floats,
    known: Ints,
    spread: float,
    residual: float,
    normals: Floats,
    spins: Floats,
    uniforms: Floats,
) -> tuple[Floats, Floats, Floats, Ints, Floats]:
    """Draw strengths, winners and scores from the posterior, with the variates given.

    ``normals`` and ``uniforms`` are (n, D, K), ``spins`` (n, D); ``known[d]`` is d's winner if it
    is known, else -1. Given theta, w is the winner with probability in proportion to the product
    over k of P(w beats k), and then its pairs are known to be won.

    Returns strengths (n, D, K), their deviations from the mode, scores (n, D, K), winners (n, D),
    and the probabilities (D, K, K) that w beats k, at [d, k, w].
    """
    n_draws, n_users, n_arms = normals.shape
    own = residual * residual
    thetas, scores = np.empty(normals.shape), np.ones(normals.shape)
    shifts = np.empty(normals.shape)
    winners, beats = np.empty((n_draws, n_users), np.int64), np.empty((n_users, n_arms, n_arms))
    factor, residuals = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    seen, weights = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    variances, logs, moved = np.empty((n_arms, n_arms)), np.empty(n_arms), np.empty(n_arms)
    for d in range(n_users):
        mode = np.zeros(n_arms)
        residuals[:] = 0.0
        fit_user(wins[d], mode, residuals, spread, residual, factor)
        pairs(wins[d], mode, residuals, seen, weights)
        differences(factor, moved, variances)
        for k in range(n_arms):
            for w in range(n_arms):
                mean, deviation = given_strengths(mode[k] - mode[w], seen[k, w], weights[k, w], own)
                share = 1.0 / (1.0 + own * weights[k, w])
                deviation = math.sqrt(deviation**2 + share**2 * variances[k, w] + 1e-30)
                beats[d, k, w] = 0.5 * math.erfc(mean / deviation * ROOT_HALF)
            beats[d, k, k] = 1.0
        for m in range(n_draws):
            shift = shifts[m, d]
            for k in range(n_arms):
                shift[k] = normals[m, d, k]
            solve_upper(factor, shift)
            theta = thetas[m, d]
            for k in range(n_arms):
                theta[k] = mode[k] + shift[k]
            w = known[d]
            if w < 0:
                w = draw_winner(theta, seen, weights, own, logs, spins[m, d])
            winners[m, d] = w
            for k in range(n_arms):
                if k != w:
                    mean, deviation = given_strengths(
                        theta[k] - theta[w], seen[k, w], weights[k, w], own
                    )
                    x = below_zero(mean, deviation, uniforms[m, d, k])
                    scores[m, d, k] = 2.0 / (1.0 + math.exp(-x))
    return thetas, shifts, scores, winners, beats


@kernel((_CUBE, _FLOAT, _FLOAT, _CUBE, _CUBE))
def draw_chances(
    wins: Floats, spread: float, residual: float, normals: Floats, deviations: Floats
) -> Floats:
    """Draw the probabilities (n, D, P) of the pairs i < j, whether or not there is a winner.

    ``normals`` (n, D, K) and ``deviations`` (n, D, P) are the variates to use, of the strengths and
    of what single pairs deviate by.
    """
    n_draws, n_users, n_arms = normals.shape
    own = residual * residual
    chances, theta = np.empty(deviations.shape), np.empty(n_arms)
    factor, residuals = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    seen, weights = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    for d in range(n_users):
        mode = np.zeros(n_arms)
        residuals[:] = 0.0
        fit_user(wins[d], mode, residuals, spread, residual, factor)
        pairs(wins[d], mode, residuals, seen, weights)
        for m in range(n_draws):
            for k in range(n_arms):
                theta[k] = normals[m, d, k]
            solve_upper(factor, theta)
            theta += mode
            p = 0
            for i in range(n_arms):
                for j in range(i + 1, n_arms):
                    mean, deviation = given_strengths(
                        theta[i] - theta[j], seen[i, j], weights[i, j], own
                    )
                    x = mean + deviation * deviations[m, d, p]
                    chances[m, d, p] = 1.0 / (1.0 + math.exp(-x))
                    p += 1
    return chances
