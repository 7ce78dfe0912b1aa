"""Compiled: what the answers say, what more answers would be worth, and what to play for them."""

import math

import numpy as np
from numba import types

from fairduel.arrays import Floats, Ints
from fairduel.compiled import kernel, part

_INT, _FLOAT = types.int64, types.float64
_INTS, _PAIRS = types.int64[::1], types.int64[:, ::1]
_ROW, _TABLE, _CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]

# Welfares: the product, the mean or the smallest of the utilities.
PRODUCT, MEAN, SMALLEST = range(3)

FEW = 60.0  # answers up to which a Beta distribution is not taken for a normal one
LOG_ROOT_2PI = 0.5 * math.log(2.0 * math.pi)


# What the answers say


@part
def beta_fraction(a: float, b: float) -> float:
    """The continued fraction of the incomplete beta function at 1/2 (DLMF 8.17.22)."""
    c, d = 1.0, 1.0 / (1.0 - 0.5 * (a + b) / (a + 1.0))
    value = d
    for m in range(1, 200):
        odd = 0.5 * m * (b - m) / ((a + 2 * m - 1.0) * (a + 2 * m))
        d, c = 1.0 / (1.0 + odd * d), 1.0 + odd / c
        value *= d * c
        even = -0.5 * (a + m) * (a + b + m) / ((a + 2 * m) * (a + 2 * m + 1.0))
        d, c = 1.0 / (1.0 + even * d), 1.0 + even / c
        value *= d * c
        if abs(d * c - 1.0) < 1e-12:
            break
    return value


@part
def below_half(a: float, b: float) -> tuple[float, float, float]:
    """log P(X < 1/2), and mean and deviation of X given that, for X ~ Beta(a, b)."""
    n = a + b
    if n > FEW:
        return almost_normal_below_half(a, b)
    density = math.exp(math.lgamma(n) - math.lgamma(a) - math.lgamma(b) - n * math.log(2.0))
    below = density * beta_fraction(max(a, b), min(a, b)) / max(a, b)
    if a <= b:
        below = 1.0 - below
    first = below - density / a  # the same with a + 1 for a, and next with a + 2
    second = first - 0.5 * density * n / (a * (a + 1.0))
    mean = a / n * first / below
    square = a * (a + 1.0) / (n * (n + 1.0)) * second / below
    return math.log(below), mean, math.sqrt(max(square - mean * mean, 1e-12))


@part
def almost_normal_below_half(a: float, b: float) -> tuple[float, float, float]:
    """The same for many answers: cube roots are nearly normal (Abramowitz, Stegun 26.5.22)."""
    n = a + b
    deviation = math.sqrt(a * b / (n + 1.0)) / n
    w1, w2 = (0.5 * b) ** (1.0 / 3.0), (0.5 * a) ** (1.0 / 3.0)
    z = 3.0 * (w1 * (1.0 - 1.0 / (9.0 * b)) - w2 * (1.0 - 1.0 / (9.0 * a)))
    z /= math.sqrt(w1 * w1 / b + w2 * w2 / a)
    if z < -6.0:  # where the tail is so thin, its asymptotic form is exact enough
        i = 1.0 / (z * z)
        log_below = -0.5 * z * z - math.log(-z) - LOG_ROOT_2PI - i
        return log_below, 0.5 + deviation / z * (1.0 - 2.0 * i), -deviation / z * (1.0 - 3.0 * i)
    below = 0.5 * math.erfc(-z / math.sqrt(2.0))
    pull = math.exp(-0.5 * z * z - LOG_ROOT_2PI) / below
    shrink = math.sqrt(max(1.0 - z * pull - pull * pull, 1e-12))
    whole = a / n if z > 0.0 else 0.5 - deviation * z  # the mean, or what goes with such a tail
    return math.log(below), whole - deviation * pull, deviation * shrink


@kernel((_CUBE, _INTS, _FLOAT))
def posterior(
    wins: Floats, known: Ints, prior: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Every user's winner and scores, given the answers and that there is a winner.

    P[d, i, j] ~ Beta(wins + prior, losses + prior), independent, and conditioned on some arm
    beating all others. So arm w is d's winner with a chance in proportion to the product over k
    of P(w beats k); and given that it is, only the pairs of w are known to be above 1/2.

    Gives, for each d, k and w: log P(w beats k); mean and deviation of d's score of k if w is the
    winner; then for each d and w the chance of that; and the mean scores. ``known[d]`` is d's
    winner if it is known, else -1.
    """
    n_users, n_arms = wins.shape[0], wins.shape[1]
    log_beats = np.zeros((n_users, n_arms, n_arms))
    means = np.ones((n_users, n_arms, n_arms))
    deviations = np.zeros((n_users, n_arms, n_arms))
    chances = np.zeros((n_users, n_arms))
    scores = np.zeros((n_users, n_arms))
    for d in range(n_users):
        for k in range(n_arms):
            for w in range(n_arms):
                if k != w:
                    log_beats[d, k, w], mean, deviation = below_half(
                        wins[d, k, w] + prior, wins[d, w, k] + prior
                    )
                    means[d, k, w], deviations[d, k, w] = 2.0 * mean, 2.0 * deviation
        if known[d] >= 0:
            chances[d, known[d]] = 1.0
        else:
            for w in range(n_arms):
                for k in range(n_arms):
                    chances[d, w] += log_beats[d, k, w]
            chances[d] = np.exp(chances[d] - chances[d].max())
            chances[d] /= chances[d].sum()
        for k in range(n_arms):
            for w in range(n_arms):
                scores[d, k] += chances[d, w] * means[d, k, w]
    return log_beats, means, deviations, chances, scores


# Welfares and their slopes


@part
def find_utilities(scores: Floats, policy: Floats, utilities: Floats) -> None:
    for d in range(scores.shape[0]):
        total = 0.0
        for k in range(scores.shape[1]):
            total += scores[d, k] * policy[k]
        utilities[d] = total


@part
def find_value(kind: int, weights: Floats, utilities: Floats, slopes: Floats) -> float:
    """The welfare of utilities; and its derivative in each, into ``slopes``."""
    n_users = utilities.size
    if kind == PRODUCT:
        value = 1.0
        for d in range(n_users):
            value *= utilities[d] if weights[d] == 1.0 else utilities[d] ** weights[d]
        for d in range(n_users):
            slopes[d] = value * weights[d] / max(utilities[d], 1e-12)
        return value
    if kind == MEAN:
        value = 0.0
        for d in range(n_users):
            slopes[d] = weights[d] / n_users
            value += slopes[d] * utilities[d]
        return value
    least = 0
    for d in range(n_users):
        slopes[d] = 0.0
        if utilities[d] < utilities[least]:
            least = d
    slopes[least] = 1.0
    return float(utilities[least])


# What more answers would be worth


@kernel((_INT, _ROW, _TABLE, _ROW, _CUBE, _TABLE, _INTS, _INT, _PAIRS, _CUBE, _CUBE, _CUBE, _FLOAT))
def value_scores(
    kind: int,
    weights: Floats,
    scores: Floats,
    policy: Floats,
    drawn: Floats,
    best: Floats,
    node: Ints,
    nodes: int,
    winners: Ints,
    shifts: Floats,
    means: Floats,
    counts: Floats,
    left: float,
) -> tuple[Floats, Floats, Floats]:
    """What knowing everything better is worth, a round, split between pairs and winners.

    Draw m is what the mean scores may become: ``drawn[m]``, the scores moved by ``shifts`` and by
    taking ``winners[m]`` for granted, both shrunk so that a share lambda = (node + 1/2) / nodes
    of the posterior's variance is resolved. Its best policy ``best[m]`` then gains on ``policy``.
    The derivative of the mean gain in lambda is a sum over the entries that moved (envelope
    theorem: policies stay as they are); integrated over lambda it splits the gain among them.

    To resolve lambda takes r = lambda / (1 - lambda) times the answers that there are. A pair's
    slope is the highest gain for each answer over r; the limit is the gain at lambda = 1.
    Gives slopes (K, K), i < j; limits; and what it is worth to know that w is d's winner (D, K).
    """
    n_draws, n_users, n_arms = drawn.shape
    utilities, best_slopes, slopes = np.empty(n_users), np.empty(n_users), np.empty(n_users)
    gains = np.zeros((nodes, n_arms, n_arms))
    rates = np.zeros((nodes, n_arms, n_arms))  # the same over the number of answers
    winner_gains = np.zeros((n_users, n_arms))
    for m in range(n_draws):
        share = (node[m] + 0.5) / nodes
        root, scale = math.sqrt(share), 0.5 / (share * n_draws)
        find_utilities(drawn[m], best[m], utilities)
        find_value(kind, weights, utilities, best_slopes)
        find_utilities(drawn[m], policy, utilities)
        find_value(kind, weights, utilities, slopes)
        for d in range(n_users):
            w = winners[m, d]
            for k in range(n_arms):
                pull = scale * (best_slopes[d] * best[m, k] - slopes[d] * policy[k])
                winner_gains[d, w] += pull * root * (means[d, k, w] - scores[d, k])
                if k != w:
                    i, j = min(k, w), max(k, w)
                    gains[node[m], i, j] += pull * shifts[m, d, k]
                    rates[node[m], i, j] += pull * shifts[m, d, k] / counts[d, k, w]
    slope, limit = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            gain, rate, top = 0.0, 0.0, 0.0
            for q in range(nodes):
                gain += gains[q, i, j]
                rate += rates[q, i, j]
                if q < nodes - 1 and gain > 0.0 and rate > 0.0:
                    ratio = (q + 1.0) / (nodes - 1.0 - q)
                    in_time = 1.0 - ratio * gain / rate / left
                    top = max(top, rate / ratio * in_time)
            if gain > 0.0 and top > 0.0:
                slope[i, j], limit[i, j] = top, gain
    return slope, limit, winner_gains


@part
def upper_quantile(log_chance: float) -> float:
    """z with P(N(0, 1) > z) = chance <= 1/2, to 5e-4 (Abramowitz and Stegun 26.2.23)."""
    if log_chance > -0.7:
        return 0.0
    t = math.sqrt(-2.0 * log_chance)
    over = 2.515517 + t * (0.802853 + t * 0.010328)
    return t - over / (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308)))


@kernel((_PAIRS, _ROW, _CUBE, _CUBE, _TABLE, _ROW, _FLOAT, _FLOAT))
def value_winners(
    which: Ints,
    losses: Floats,
    log_beats: Floats,
    counts: Floats,
    falls: Floats,
    ratios: Floats,
    step: float,
    left: float,
) -> tuple[Floats, Floats]:
    """What it is worth a round to ask who a user's winner is; slopes and limits as above.

    ``losses[c]`` is what is lost because (user, arm) ``which[c]`` may be a winner and is not
    taken for it. Each pair (w, j) stands in w's way, not only that with the likeliest winner: an
    early unlucky answer against any arm would hide the true winner for ever. ``falls[r, z]`` is
    by how much the chance of being wrong about a pair falls after ``ratios[r]`` times the answers
    that there are, where the normal quantile of that chance is now -z ``step``. The first of many
    answers may be worth nothing, so the mean over the best number is what counts (KG* of Frazier
    and Powell 2010).
    """
    n_arms = log_beats.shape[1]
    slope, limit = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    for c in range(which.shape[0]):
        d, w = which[c, 0], which[c, 1]
        for j in range(n_arms):
            if j == w or losses[c] <= 0.0:
                continue
            n = counts[d, j, w]
            beats, loses = log_beats[d, j, w], log_beats[d, w, j]
            at = min(upper_quantile(min(beats, loses)) / step, falls.shape[1] - 1.001)
            low = int(at)
            best = 0.0
            for r in range(ratios.size):
                fall = falls[r, low] + (at - low) * (falls[r, low + 1] - falls[r, low])
                best = max(best, fall / ratios[r] * (1.0 - ratios[r] * n / left))
            if best > 0.0 and beats > -600.0:
                a, b = min(j, w), max(j, w)
                # w is the winner if it beats j and, with a chance of so much, all the others.
                slope[a, b] += losses[c] / math.exp(beats) * best / n
                limit[a, b] += losses[c] * math.exp(min(0.0, loses - beats))
    return slope, limit


# What to play for them


@part
def price_block(
    kind: int,
    weights: Floats,
    scores: Floats,
    slope: Floats,
    limit: Floats,
    left: float,
    block: float,
    sides: Floats,
    gradients: Floats,
    users: Floats,
) -> float:
    """What a block of duels of two policies, the ``sides``, is worth a round; and its gradients.

    The welfare of the sides, and over the rounds left the gain of the answers: m duels of a pair
    gain slope m / (1 + slope m / limit), as the variance of a mean falls.
    """
    n_users, n_arms = scores.shape
    value = 0.0
    for side in range(2):
        find_utilities(scores, sides[side], users[0])
        value += 0.5 * find_value(kind, weights, users[0], users[1])
        for k in range(n_arms):
            total = 0.0
            for d in range(n_users):
                total += users[1, d] * scores[d, k]
            gradients[side, k] = 0.5 * total
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            if slope[i, j] > 0.0:
                duels = sides[0, i] * sides[1, j] + sides[0, j] * sides[1, i]
                full = 1.0 + slope[i, j] * block * duels / limit[i, j]
                value += left * slope[i, j] * duels / full
                more = left * slope[i, j] / (full * full)
                for side in range(2):
                    gradients[side, i] += more * sides[1 - side, j]
                    gradients[side, j] += more * sides[1 - side, i]
    return value


@part
def tilt(policy: Floats, gradient: Floats, rate: float) -> None:
    """A step of exponentiated gradient ascent, scaled by the largest advantage of any arm."""
    mean, top, spread, total = 0.0, gradient.max(), 0.0, 0.0
    for k in range(policy.size):
        mean += policy[k] * gradient[k]
    for k in range(policy.size):
        spread = max(spread, abs(gradient[k] - mean))
    if spread > 0.0:
        for k in range(policy.size):
            policy[k] *= math.exp(rate * (gradient[k] - top) / spread)
            total += policy[k]
        for k in range(policy.size):
            policy[k] /= total


@kernel((_INT, _ROW, _TABLE, _TABLE, _TABLE, _FLOAT, _FLOAT, _CUBE, _INT))
def choose(
    kind: int,
    weights: Floats,
    scores: Floats,
    slope: Floats,
    limit: Floats,
    left: float,
    block: float,
    starts: Floats,
    steps: int,
) -> tuple[float, float, Floats]:
    """The two policies whose block is worth most, found from several starts (S, 2, K).

    Gives what the first start is worth a round, what the best is worth, and the best.
    """
    n_users, n_arms = scores.shape
    users, gradients = np.empty((2, n_users)), np.empty((2, n_arms))
    best, best_value, first_value = starts[0].copy(), -math.inf, -math.inf
    for s in range(starts.shape[0]):
        sides = starts[s].copy()
        for t in range(steps if s > 0 else 1):
            value = price_block(
                kind, weights, scores, slope, limit, left, block, sides, gradients, users
            )
            if s == 0:
                first_value = value
            if value > best_value:
                best_value = value
                best[:] = sides
            for side in range(2):
                tilt(sides[side], gradients[side], 1.0 / (1.0 + 0.1 * t))
    return first_value, best_value, best
