"""Compiled: what the answers say about every user's winner and scores."""

import math

import numpy as np
from numba import types

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part

_FLOAT, _INTS = types.float64, types.int64[::1]
_ROW, _TABLE, _CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]

FEW = 200.0  # with more wins and more losses than this, a Beta distribution is nearly normal
FAR = 4.0  # standard deviations up to which that holds
LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)


@part
def beta_fraction(a: float, b: float) -> float:
    """Return the continued fraction of the incomplete beta at 1/2 (DLMF 8.17.22), a >= b."""
    c, d = 1.0, 1.0 / (1.0 - 0.5 * (a + b) / (a + 1.0))
    value = d
    for m in range(1, 1000):
        odd = 0.5 * m * (b - m) / ((a + 2 * m - 1.0) * (a + 2 * m))
        d, c = 1.0 / (1.0 + odd * d), 1.0 + odd / c
        value *= d * c
        even = -0.5 * (a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1.0))
        d, c = 1.0 / (1.0 + even * d), 1.0 + even / c
        value *= d * c
        if abs(d * c - 1.0) < 1e-14:
            break
    return value


@part
def below_half(a: float, b: float) -> tuple[float, float, float]:
    """Return log P(X < 1/2), and mean and standard deviation of X given that, X ~ Beta(a, b).

    By recurrence (DLMF 8.17.20): one more a takes ``step`` = x^a (1 - x)^b / (a B(a, b)) off
    P(X < 1/2). That is exact to 1e-9; what is nearly normal, to 0.02 standard deviations.
    """
    n = a + b
    z = (b - a) / math.sqrt(n)
    if min(a, b) > FEW and abs(z) < FAR:
        return almost_normal_below_half(a, b)
    log_step = math.lgamma(n) - math.lgamma(a + 1.0) - math.lgamma(b) - n * math.log(2.0)
    if a > b:
        fraction = beta_fraction(a, b)
        log_below, step = log_step + math.log(fraction), 1.0 / fraction
    else:
        below = 1.0 - math.exp(log_step) * beta_fraction(b, a) * a / b
        log_below, step = math.log(below), math.exp(log_step) / below
    first = 1.0 - step
    second = first - 0.5 * step * n / (a + 1.0)
    mean = a / n * first
    square = a * (a + 1.0) / (n * (n + 1.0)) * second
    return log_below, mean, math.sqrt(max(square - mean * mean, 1e-14))


@part
def almost_normal_below_half(a: float, b: float) -> tuple[float, float, float]:
    """Return this for many answers: cube roots are nearly normal (Abramowitz, Stegun 26.5.22)."""
    n = a + b
    deviation = math.sqrt(a * b / (n + 1.0)) / n
    w1, w2 = (0.5 * b) ** (1.0 / 3.0), (0.5 * a) ** (1.0 / 3.0)
    z = 3.0 * (w1 * (1.0 - 1.0 / (9.0 * b)) - w2 * (1.0 - 1.0 / (9.0 * a)))
    z /= math.sqrt(w1 * w1 / b + w2 * w2 / a)
    below = 0.5 * math.erfc(-z / math.sqrt(2.0))
    pull = math.exp(-0.5 * z * z - LOG_ROOT_2PI) / below
    shrink = math.sqrt(max(1.0 - z * pull - pull * pull, 1e-12))
    whole = a / n if z > 0.0 else 0.5 - deviation * z  # the mean, or what goes with such a tail
    return math.log(below), whole - deviation * pull, deviation * shrink


@part
def exponentiate(logs: Floats) -> None:
    """Turn logarithms of weights into probabilities."""
    most, total = -math.inf, 0.0
    for k in range(logs.size):
        most = max(most, logs[k])
    for k in range(logs.size):
        logs[k] = math.exp(logs[k] - most)
        total += logs[k]
    for k in range(logs.size):
        logs[k] /= total


@kernel((_CUBE, _INTS, _FLOAT))
def posterior(
    wins: Floats, known: Ints, prior: float
) -> tuple[Floats, Floats, Floats, Floats, Floats, Floats, Floats]:
    """Infer every user's winner and scores, given the answers and that there is a winner.

    P[d, i, j] ~ Beta(wins + prior, losses + prior), independent, and conditioned on some arm
    beating all others. So the probability that arm w is d's winner is in proportion to the product
    over k of P(w beats k); and given that it is, only the pairs of w are known to be above 1/2.

    Returns the fields of ``inference.Posterior``, in order. ``known[d]`` is d's winner if it is
    known, else -1.
    """
    n_users, n_arms = wins.shape[0], wins.shape[1]
    log_beats = np.zeros((n_users, n_arms, n_arms))
    means = np.ones((n_users, n_arms, n_arms))
    stds = np.zeros((n_users, n_arms, n_arms))
    counts = np.empty((n_users, n_arms, n_arms))
    probabilities = np.zeros((n_users, n_arms))
    scores, variances = np.zeros((n_users, n_arms)), np.zeros((n_users, n_arms))
    for d in range(n_users):
        for k in range(n_arms):
            for w in range(n_arms):
                counts[d, k, w] = wins[d, k, w] + wins[d, w, k] + 2.0 * prior
                if k != w:
                    log_beats[d, k, w], mean, deviation = below_half(
                        wins[d, k, w] + prior, wins[d, w, k] + prior
                    )
                    means[d, k, w], stds[d, k, w] = 2.0 * mean, 2.0 * deviation
        if known[d] >= 0:
            probabilities[d, known[d]] = 1.0
        else:
            for w in range(n_arms):
                for k in range(n_arms):
                    probabilities[d, w] += log_beats[d, k, w]
            exponentiate(probabilities[d])
        for k in range(n_arms):
            for w in range(n_arms):
                scores[d, k] += probabilities[d, w] * means[d, k, w]
            for w in range(n_arms):
                square = stds[d, k, w] ** 2 + (means[d, k, w] - scores[d, k]) ** 2
                variances[d, k] += probabilities[d, w] * square
            variances[d, k] = max(variances[d, k], 1e-12)
    return probabilities, log_beats, means, stds, scores, variances, counts


@kernel((_TABLE, _TABLE, _CUBE, _CUBE, _ROW, _TABLE, _CUBE))
def draw(
    scores: Floats,
    probabilities: Floats,
    means: Floats,
    stds: Floats,
    shares: Floats,
    spins: Floats,
    normals: Floats,
) -> tuple[Floats, Ints, Floats]:
    """Draw what the mean scores may become when shares (n,) of the variance are resolved.

    ``spins`` (n, D) and ``normals`` (n, D, K) are the uniform and the normal variates to use. Two
    draws (mirror images) for each share: first all of one kind, then all of the other. Returns
    scores (2n, D, K), the winners (2n, D) in them, and the shifts (2n, D, K) beyond these winners.
    """
    n_draws, n_users, n_arms = normals.shape
    drawn, shifts = (
        np.empty((2 * n_draws, n_users, n_arms)),
        np.empty((2 * n_draws, n_users, n_arms)),
    )
    winners = np.empty((2 * n_draws, n_users), np.int64)
    for m in range(n_draws):
        root = math.sqrt(shares[m])
        for d in range(n_users):
            w, edge = 0, probabilities[d, 0]
            while edge < spins[m, d] and w < n_arms - 1:
                w += 1
                edge += probabilities[d, w]
            winners[m, d] = winners[n_draws + m, d] = w
            for k in range(n_arms):
                centre = scores[d, k] + root * (means[d, k, w] - scores[d, k])
                shift = root * stds[d, k, w] * normals[m, d, k]
                shifts[m, d, k], shifts[n_draws + m, d, k] = shift, -shift
                drawn[m, d, k] = min(max(centre + shift, 1e-6), 1.0)
                drawn[n_draws + m, d, k] = min(max(centre - shift, 1e-6), 1.0)
    return drawn, winners, shifts
