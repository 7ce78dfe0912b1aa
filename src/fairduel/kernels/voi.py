"""Compiled: what more answers would be worth, and what to play for them.

``objective`` is the address of a welfare as in ``kernels.objectives``, and ``weights`` its users'.
"""

import math

import numpy as np
from numba import types

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part
from fairduel.kernels.objectives import evaluate

_INT, _FLOAT = types.int64, types.float64
_INTS, _PAIRS = types.int64[::1], types.int64[:, ::1]
_ROW, _TABLE, _CUBE = types.float64[::1], types.float64[:, ::1], types.float64[:, :, ::1]


@part
def find_utilities(scores: Floats, policy: Floats, utilities: Floats) -> None:
    for d in range(scores.shape[0]):
        total = 0.0
        for k in range(scores.shape[1]):
            total += scores[d, k] * policy[k]
        utilities[d] = total


@part
def copy(table: Floats, into: Floats) -> None:
    """Copy a table. An assignment of slices would have its shapes checked, seconds to compile."""
    for i in range(table.shape[0]):
        for j in range(table.shape[1]):
            into[i, j] = table[i, j]


# What more answers would be worth


@kernel((_INT, _ROW, _TABLE, _ROW, _CUBE, _TABLE, _ROW, _PAIRS, _CUBE, _CUBE, _CUBE))
def value_scores(
    objective: int,
    weights: Floats,
    scores: Floats,
    policy: Floats,
    drawn: Floats,
    best: Floats,
    shares: Floats,
    winners: Ints,
    shifts: Floats,
    means: Floats,
    counts: Floats,
) -> tuple[Floats, Floats, Floats]:
    """Return what better knowledge is worth per round, split among pairs and winners.

    Draw m is what the mean scores may become: ``drawn[m]``, the scores moved by ``shifts`` and by
    taking ``winners[m]`` for granted, both shrunk so that a share lambda = ``shares[m]`` of the
    posterior's variance is resolved. Its best policy ``best[m]`` then gains on ``policy``. The
    derivative of the mean gain in lambda is a sum over the entries that moved (envelope theorem:
    policies stay as they are); integrated over lambda it splits the gain among them.

    Returns slopes (K, K), i < j: a pair's gains, each over the answers that it rests on; limits:
    its gains; and what it is worth to know that w is d's winner (D, K).
    """
    n_draws, n_users, n_arms = drawn.shape
    utilities, best_slopes, slopes = np.empty(n_users), np.empty(n_users), np.empty(n_users)
    slope, limit = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    winner_gains = np.zeros((n_users, n_arms))
    for m in range(n_draws):
        root, scale = math.sqrt(shares[m]), 0.5 / (shares[m] * n_draws)
        find_utilities(drawn[m], best[m], utilities)
        evaluate(objective, weights, utilities, best_slopes)
        find_utilities(drawn[m], policy, utilities)
        evaluate(objective, weights, utilities, slopes)
        for d in range(n_users):
            w = winners[m, d]
            for k in range(n_arms):
                pull = scale * (best_slopes[d] * best[m, k] - slopes[d] * policy[k])
                winner_gains[d, w] += pull * root * (means[d, k, w] - scores[d, k])
                if k != w:
                    i, j = min(k, w), max(k, w)
                    limit[i, j] += pull * shifts[m, d, k]
                    slope[i, j] += pull * shifts[m, d, k] / counts[d, k, w]
    for i in range(n_arms):
        for j in range(i + 1, n_arms):
            if limit[i, j] <= 0.0 or slope[i, j] <= 0.0:
                slope[i, j] = limit[i, j] = 0.0
    return slope, limit, winner_gains


@part
def surprising(score: float, variance: float, surprise: float) -> float:
    """Return a score that is ``surprise`` standard deviations better than its mean, or worse.

    A few lost duels leave a long tail, which a normal distribution would cut off. So deviations
    are measured by likelihood: n KL(p, q) = surprise^2 / 2 for a probability p from n answers.
    """
    p = min(max(0.5 * score, 1e-6), 0.5 - 1e-6)
    n = max(4.0 * p * (1.0 - p) / variance - 1.0, 1.0)
    far = 0.5 * surprise * surprise / n
    q = 0.5 if surprise > 0.0 else max(p * math.exp(-far / p - 1.0), 1e-12)
    for _ in range(50):  # Newton's steps from beyond: the divergence is convex in q, and in log q
        more = p * math.log(p / q) + (1.0 - p) * math.log((1.0 - p) / (1.0 - q)) - far
        if more <= 1e-9 * far:
            break
        if surprise > 0.0:
            q -= more * q * (1.0 - q) / (q - p)
        else:
            q *= math.exp(more * (1.0 - q) / (p - q))
    return 2.0 * q


@kernel((_TABLE, _TABLE, _TABLE, _ROW, _ROW))
def suppose(
    scores: Floats, variances: Floats, parts: Floats, signs: Floats, surprises: Floats
) -> Floats:
    """Return scores (.., D, K) if arm k proves different by ``surprises[s]``: case k * S + s.

    ``signs[k]`` is 1 for better and -1 for worse. ``parts[d, k]`` is user d's part of the variance
    of what k is worth; the users' scores share a surprise in the likeliest way.
    """
    n_users, n_arms = scores.shape
    supposed = np.empty((n_arms * surprises.size, n_users, n_arms))
    for k in range(n_arms):
        for s in range(surprises.size):
            case = supposed[k * surprises.size + s]
            copy(scores, case)
            for d in range(n_users):
                own = signs[k] * surprises[s] * math.sqrt(parts[d, k])
                if own != 0.0:
                    case[d, k] = surprising(scores[d, k], variances[d, k], own)
    return supposed


@kernel((_ROW, _TABLE, _TABLE, _CUBE))
def value_arms(
    gains: Floats, parts: Floats, chances: Floats, counts: Floats
) -> tuple[Floats, Floats]:
    """Return what it is worth per round to look again at arms; slopes and limits as above.

    ``gains[k]`` is what it would gain to know arm k's scores. Each user's part of the variance
    lies with the pair of the arm and that user's winner.
    """
    n_users, n_arms = parts.shape
    slope, limit = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    for k in range(n_arms):
        for j in range(n_arms):
            if j != k and gains[k] > 0.0:
                a, b = min(j, k), max(j, k)
                for d in range(n_users):
                    gain = gains[k] * parts[d, k] * chances[d, j]
                    limit[a, b] += gain
                    slope[a, b] += gain / counts[d, k, j]
    return slope, limit


@kernel((_PAIRS, _ROW, _CUBE, _CUBE))
def value_winners(
    which: Ints, losses: Floats, log_beats: Floats, counts: Floats
) -> tuple[Floats, Floats]:
    """Return what it is worth per round to ask who users' winners are; slopes and limits as above.

    ``losses[c]`` is what is lost because (user, arm) ``which[c]`` may be a winner and is not
    taken for it. Each pair (w, j) stands in w's way, not only that with the likeliest winner: an
    early unlucky answer against any arm would hide the true winner for ever.
    """
    n_arms = log_beats.shape[1]
    slope, limit = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    for c in range(which.shape[0]):
        d, w = which[c, 0], which[c, 1]
        for j in range(n_arms):
            if j != w and losses[c] > 0.0:
                a, b = min(j, w), max(j, w)
                # The loss holds if w beats all, j too. What is in doubt of it is the less likely of
                # "beats j" and "loses to j", by the chance that w beats all but j.
                gain = losses[c] * math.exp(min(0.0, log_beats[d, w, j] - log_beats[d, j, w]))
                limit[a, b] += gain
                slope[a, b] += gain / counts[d, j, w]
    return slope, limit


# What to play for them


@part
def price_block(
    objective: int,
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
    """Return what a block of duels of two policies, the ``sides``, is worth; write its gradients.

    The welfare of the sides, and over the rounds left the gain of the answers: m duels of a pair
    gain slope m / (1 + slope m / limit), as the variance of a mean falls.
    """
    n_users, n_arms = scores.shape
    value = 0.0
    for side in range(2):
        find_utilities(scores, sides[side], users[0])
        value += 0.5 * evaluate(objective, weights, users[0], users[1])
        gradients[side] = 0.0
        for d in range(n_users):
            for k in range(n_arms):
                gradients[side, k] += 0.5 * users[1, d] * scores[d, k]
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
    """Take a step of exponentiated gradient ascent, scaled by the largest advantage of any arm."""
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


@kernel((_INT, _ROW, _TABLE, _TABLE, _TABLE, _FLOAT, _INTS, _CUBE, _INT))
def choose(
    objective: int,
    weights: Floats,
    scores: Floats,
    slope: Floats,
    limit: Floats,
    left: float,
    blocks: Ints,
    starts: Floats,
    steps: int,
) -> tuple[float, int, Floats]:
    """Find the two policies and the block of rounds that gain most, from several starts (S, 2, K).

    A long block may be worth its cost where most of its gain comes early, so what counts is what
    the block gains in all, over playing the first start. Returns that, the block and the policies.
    """
    n_users, n_arms = scores.shape
    users, gradients = np.empty((2, n_users)), np.empty((2, n_arms))
    best, best_block, most = starts[0].copy(), blocks[0], 0.0
    for b in range(blocks.size):
        block = float(blocks[b])
        stay = price_block(
            objective, weights, scores, slope, limit, left, block, starts[0], gradients, users
        )
        for s in range(1, starts.shape[0]):
            sides = starts[s].copy()
            for t in range(steps):
                value = price_block(
                    objective, weights, scores, slope, limit, left, block, sides, gradients, users
                )
                if value > stay * (1.0 + 1e-9) and (value - stay) * block > most:
                    most = (value - stay) * block
                    best_block = blocks[b]
                    copy(sides, best)
                for side in range(2):
                    tilt(sides[side], gradients[side], 1.0 / (1.0 + 0.1 * t))
    return most, best_block, best
