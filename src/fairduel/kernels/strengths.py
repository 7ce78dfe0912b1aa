"""Compiled: what answers say of users who give every arm a strength, and deviate from it a little.

logit P[d, i, j] = theta_d[i] - theta_d[j] + r_d[i, j], with theta_d[k] ~ N(0, spread^2) and an
antisymmetric residual r ~ N(0, residual^2). A residual of 0 is the Bradley-Terry model. What users
think of an arm is correlated: theta_d = c + e_d, where c has that share of the variance which is
called correlation, and all else is independent. Laplace's method at the joint mode of c, theta and
r: given c users are apart, and given theta every pair has a normal posterior of its own, so that
only theta_d and c need a matrix each.
"""

import math

import numpy as np
from numba import types

from fairduel._arrays import Floats, Ints
from fairduel.kernels.bradley_terry import factorize, solve_lower, solve_upper
from fairduel.kernels.compiler import kernel, part

_INTS = types.int64[::1]
_ROW, _TABLE, _CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]

MOST_STEPS = 100  # of Newton's method; a handful is usual
NEAR = 1e-2  # of the mode: what the last step gained; the next would gain about its square
FAR = -30.0  # the log of how much less likely a winner is that need not be computed further
ROOT_HALF = math.sqrt(0.5)


@part
def density(wins: Floats, theta: Floats, residuals: Floats, own: float) -> float:
    """Return the log likelihood of a user's answers and of the residuals, but for constants."""
    value = 0.0
    for i in range(theta.size):
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
def log_density(
    wins: Floats, thetas: Floats, common: Floats, residuals: Floats, law: tuple[float, float, float]
) -> float:
    """Return the log of likelihood and prior, but for constants.

    law: the variances of what users have in common, of what each has for themselves, and of the
    residuals.
    """
    shared, apart, own = law
    value = 0.0
    for k in range(common.size):
        if shared > 0.0:
            value -= 0.5 * common[k] ** 2 / shared
        for d in range(len(wins)):
            value -= 0.5 * (thetas[d, k] - common[k]) ** 2 / apart
    for d in range(len(wins)):
        value += density(wins[d], thetas[d], residuals[d], own)
    return value


@part
def curve(
    wins: Floats,
    theta: Floats,
    common: Floats,
    residuals: Floats,
    apart: float,
    own: float,
    factor: Floats,
    slope: Floats,
) -> None:
    """Write the gradient (K,) for a user's theta, and the Cholesky factor of minus the Hessian.

    The residuals are eliminated: a pair whose answers weigh w counts for theta by w / (1 + own w).
    """
    n = theta.size
    for i in range(n):
        slope[i] = -(theta[i] - common[i]) / apart
        factor[i, i] = 1.0 / apart
        for j in range(i + 1, n):
            factor[i, j] = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            answers = wins[i, j] + wins[j, i]
            if answers > 0.0:
                chance = 1.0 / (1.0 + math.exp(theta[j] - theta[i] - residuals[i, j]))
                weight = answers * chance * (1.0 - chance)
                shrunk = 1.0 / (1.0 + own * weight)
                effect = (wins[i, j] - answers * chance + weight * residuals[i, j]) * shrunk
                slope[i] += effect
                slope[j] -= effect
                factor[i, j] -= weight * shrunk
                factor[i, i] += weight * shrunk
                factor[j, j] += weight * shrunk
    factorize(factor)


@part
def residual_steps(
    wins: Floats, theta: Floats, residuals: Floats, own: float, step: Floats, steps: Floats
) -> None:
    """Write Newton's step (K, K), i < j, for a user's residuals, given that of theta."""
    for i in range(theta.size):
        for j in range(i + 1, theta.size):
            answers = wins[i, j] + wins[j, i]
            if answers > 0.0:
                chance = 1.0 / (1.0 + math.exp(theta[j] - theta[i] - residuals[i, j]))
                weight = answers * chance * (1.0 - chance)
                pull = wins[i, j] - answers * chance
                moved = own * (pull - weight * (step[i] - step[j])) - residuals[i, j]
                steps[i, j] = moved / (1.0 + own * weight)


@part
def invert(factor: Floats, inverse: Floats) -> None:
    """Write the inverse of U'U, given U: one half of it, and its mirror image."""
    inverse[:] = 0.0
    for k in range(len(factor)):
        inverse[k, k] = 1.0
        solve_lower(factor, inverse[k], k)
        solve_upper(factor, inverse[k], k)
        for j in range(k):
            inverse[k, j] = inverse[j, k]


@part
def newton_step(
    wins: Floats,
    thetas: Floats,
    common: Floats,
    residuals: Floats,
    law: tuple[float, float, float],
    fit: tuple[Floats, Floats, Floats],
    moves: tuple[Floats, Floats, Floats],
) -> None:
    """Write Newton's step for the strengths (D, K), what is common (K,), and the residuals.

    Given what is common users are apart, so each has a matrix of their own, and what is common the
    one that is left when they are eliminated. fit: the Cholesky factors and inverses (D, K, K) of
    users' precisions, and the factor of that of what is common.
    """
    shared, apart, own = law
    factors, inverses, factor = fit
    steps, step, all_steps = moves
    n_users, n = thetas.shape
    step[:] = 0.0
    factor[:] = 0.0
    for d in range(n_users):
        curve(wins[d], thetas[d], common, residuals[d], apart, own, factors[d], steps[d])
        if shared > 0.0:
            invert(factors[d], inverses[d])
            for i in range(n):
                step[i] += (thetas[d, i] - common[i]) / apart
                for j in range(n):
                    step[i] += inverses[d, i, j] * steps[d, j] / apart
                    factor[i, j] -= inverses[d, i, j] / apart**2
    if shared > 0.0:
        for i in range(n):
            step[i] -= common[i] / shared
            factor[i, i] += 1.0 / shared + n_users / apart
        factorize(factor)
        solve_lower(factor, step)
        solve_upper(factor, step)
    for d in range(n_users):
        for i in range(n):
            steps[d, i] += step[i] / apart
        solve_lower(factors[d], steps[d])
        solve_upper(factors[d], steps[d])
        if own > 0.0:
            residual_steps(wins[d], thetas[d], residuals[d], own, steps[d], all_steps[d])


@part
def fit_users(
    wins: Floats,
    thetas: Floats,
    common: Floats,
    residuals: Floats,
    law: tuple[float, float, float],
    fit: tuple[Floats, Floats, Floats],
) -> float:
    """Move strengths and residuals to their mode, from where they are; return the log evidence."""
    shared, apart, own = law
    factors, _, factor = fit
    n_users, n = thetas.shape
    steps, step, all_steps = np.empty((n_users, n)), np.empty(n), np.zeros(residuals.shape)
    value = log_density(wins, thetas, common, residuals, law)
    for _ in range(MOST_STEPS):
        newton_step(wins, thetas, common, residuals, law, fit, (steps, step, all_steps))
        size = 1.0
        higher = log_density(wins, thetas + steps, common + step, residuals + all_steps, law)
        while higher < value and size > 1e-6:
            size *= 0.5
            higher = log_density(
                wins,
                thetas + size * steps,
                common + size * step,
                residuals + size * all_steps,
                law,
            )
        thetas += size * steps
        common += size * step
        residuals += size * all_steps
        gain = higher - value
        value = higher
        if size == 1.0 and gain < NEAR:
            break
    evidence = value
    for i in range(n):
        if shared > 0.0:
            evidence -= 0.5 * math.log(shared) + math.log(factor[i, i])
        for d in range(n_users):
            evidence -= 0.5 * math.log(apart) + math.log(factors[d, i, i])
            for j in range(i + 1, n):
                answers = wins[d, i, j] + wins[d, j, i]
                if answers > 0.0 and own > 0.0:
                    z = thetas[d, i] - thetas[d, j] + residuals[d, i, j]
                    chance = 1.0 / (1.0 + math.exp(-z))
                    evidence -= 0.5 * math.log1p(own * answers * chance * (1.0 - chance))
    return evidence


@part
def law_of(spread: float, residual: float, correlation: float) -> tuple[float, float, float]:
    """Return the variances of what is common, of what is users' own, and of residuals."""
    variance = spread * spread
    return correlation * variance, (1.0 - correlation) * variance, residual * residual


@part
def room(n_users: int, n_arms: int) -> tuple[Floats, Floats, Floats]:
    """Return arrays for the factors and inverses of users, and the factor of what is common."""
    shape = (n_users, n_arms, n_arms)
    return np.empty(shape), np.empty(shape), np.empty((n_arms, n_arms))


@kernel((_CUBE, _ROW, _ROW, _ROW))
def evidence(wins: Floats, spreads: Floats, residual_sizes: Floats, correlations: Floats) -> Floats:
    """Return the log evidence (H,) of every hypothesis (spread, residual, correlation)."""
    n_users, n_arms = wins.shape[0], wins.shape[1]
    found = np.empty(spreads.size)
    fit, residuals = room(n_users, n_arms), np.empty(wins.shape)
    thetas = np.zeros((n_users, n_arms))  # each hypothesis begins where the one before has ended
    common = np.zeros(n_arms)
    for h in range(spreads.size):
        residuals[:] = 0.0
        law = law_of(spreads[h], residual_sizes[h], correlations[h])
        if correlations[h] == 0.0:
            common[:] = 0.0
        found[h] = fit_users(wins, thetas, common, residuals, law, fit)
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
def differences(
    inverse: Floats, factor: Floats, law: tuple[float, float, float], variances: Floats
) -> None:
    """Write the variances (K, K) of a user's theta_i - theta_j.

    inverse: of the user's precision, given what is common; factor: of the precision of that. What
    is common moves theta by the inverse over ``apart`` for each unit.
    """
    shared, apart, _ = law
    n = len(inverse)
    covariance = inverse.copy()
    if shared > 0.0:
        moved = inverse / apart
        for i in range(n):
            solve_lower(factor, moved[i])
        covariance += moved @ moved.T
    for i in range(n):
        for j in range(n):
            variances[i, j] = covariance[i, i] + covariance[j, j] - 2.0 * covariance[i, j]


@part
def shift_users(
    normals: Floats,
    law: tuple[float, float, float],
    fit: tuple[Floats, Floats, Floats],
    shifts: Floats,
) -> None:
    """Write deviations (D, K) of strengths from their mode, with the variates (D + 1, K) given.

    The last row of the variates is for what is common.
    """
    shared, apart, _ = law
    factors, inverses, factor = fit
    n_users, n = shifts.shape
    moved = normals[n_users].copy()
    if shared > 0.0:
        solve_upper(factor, moved)
    for d in range(n_users):
        shift = shifts[d]
        for k in range(n):
            shift[k] = normals[d, k]
        solve_upper(factors[d], shift)
        if shared > 0.0:
            for k in range(n):
                for j in range(n):
                    shift[k] += inverses[d, k, j] * moved[j] / apart


@part
def draw_winner(
    theta: Floats, seen: Floats, weights: Floats, own: float, logs: Floats, spin: float
) -> int:
    """Draw the winner given theta: the strongest arm, or by chance where pairs deviate."""
    if own == 0.0:
        return int(theta.argmax())
    n = theta.size
    strongest_first, most = np.argsort(-theta), -math.inf
    for w in strongest_first:
        logs[w] = 0.0
        for k in strongest_first:
            if k != w and logs[w] > most + FAR:
                mean, deviation = given_strengths(
                    theta[w] - theta[k], seen[w, k], weights[w, k], own
                )
                logs[w] += log_normal_cdf(mean / deviation)
        most = max(most, logs[w])
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


@kernel((_CUBE, _INTS, _ROW, _CUBE, _TABLE, _CUBE))
def draw(
    wins: Floats,
    known: Ints,
    hypothesis: Floats,
    normals: Floats,
    spins: Floats,
    uniforms: Floats,
) -> tuple[Floats, Floats, Floats, Ints, Floats]:
    """Draw strengths, winners and scores from the posterior, with the variates given.

    ``hypothesis`` is spread, residual and correlation. ``normals`` are (n, D + 1, K), ``uniforms``
    (n, D, K), ``spins`` (n, D); ``known[d]`` is d's winner if it is known, else -1. Given theta, w
    is the winner with probability in proportion to the product over k of P(w beats k), and then
    its pairs are known to be won. The scores take the place of the uniforms, to save memory.

    Returns strengths (n, D, K), their deviations from the mode, scores (n, D, K), winners (n, D),
    and the probabilities (D, K, K) that w beats k, at [d, k, w].
    """
    n_draws, n_users, n_arms = uniforms.shape
    law = law_of(hypothesis[0], hypothesis[1], hypothesis[2])
    own = law[2]
    shifts, scores = np.empty(uniforms.shape), uniforms
    winners, beats = np.empty((n_draws, n_users), np.int64), np.empty((n_users, n_arms, n_arms))
    modes, common, residuals = np.zeros((n_users, n_arms)), np.zeros(n_arms), np.zeros(wins.shape)
    fit = room(n_users, n_arms)
    fit_users(wins, modes, common, residuals, law, fit)
    for m in range(n_draws):
        shift_users(normals[m], law, fit, shifts[m])
    thetas = shifts + modes
    seen, weights = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    variances, logs = np.empty((n_arms, n_arms)), np.empty(n_arms)
    for d in range(n_users):
        mode = modes[d]
        pairs(wins[d], mode, residuals[d], seen, weights)
        invert(fit[0][d], fit[1][d])
        differences(fit[1][d], fit[2], law, variances)
        for k in range(n_arms):
            for w in range(n_arms):
                mean, deviation = given_strengths(mode[k] - mode[w], seen[k, w], weights[k, w], own)
                share = 1.0 / (1.0 + own * weights[k, w])
                deviation = math.sqrt(deviation**2 + share**2 * variances[k, w] + 1e-30)
                beats[d, k, w] = 0.5 * math.erfc(mean / deviation * ROOT_HALF)
            beats[d, k, k] = 1.0
        for m in range(n_draws):
            theta = thetas[m, d]
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
            scores[m, d, w] = 1.0
    return thetas, shifts, scores, winners, beats


@kernel((_CUBE, _ROW, _CUBE, _CUBE))
def draw_chances(wins: Floats, hypothesis: Floats, normals: Floats, deviations: Floats) -> Floats:
    """Draw the probabilities (n, D, P) of the pairs i < j, whether or not there is a winner.

    ``normals`` (n, D + 1, K) and ``deviations`` (n, D, P) are the variates to use, of the
    strengths and of what single pairs deviate by. The probabilities take the place of the latter,
    to save memory.
    """
    n_draws, n_users, _ = deviations.shape
    n_arms = wins.shape[1]
    law = law_of(hypothesis[0], hypothesis[1], hypothesis[2])
    chances, shifts = deviations, np.empty((n_draws, n_users, n_arms))
    modes, common, residuals = np.zeros((n_users, n_arms)), np.zeros(n_arms), np.zeros(wins.shape)
    fit = room(n_users, n_arms)
    fit_users(wins, modes, common, residuals, law, fit)
    for m in range(n_draws):
        shift_users(normals[m], law, fit, shifts[m])
    seen, weights = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    for d in range(n_users):
        pairs(wins[d], modes[d], residuals[d], seen, weights)
        for m in range(n_draws):
            p = 0
            for i in range(n_arms):
                for j in range(i + 1, n_arms):
                    z = modes[d, i] - modes[d, j] + shifts[m, d, i] - shifts[m, d, j]
                    mean, deviation = given_strengths(z, seen[i, j], weights[i, j], law[2])
                    x = mean + deviation * deviations[m, d, p]
                    chances[m, d, p] = 1.0 / (1.0 + math.exp(-x))
                    p += 1
    return chances
