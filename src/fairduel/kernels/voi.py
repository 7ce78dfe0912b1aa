"""Compiled: what more answers would be worth, and what is best to play meanwhile.

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


@part
def limits(slope: Floats, bend: Floats) -> Floats:
    """Return the limits of gains that begin with these slopes and bend like those of all users.

    g m / (m + n) begins as m g / n - m^2 g / n^2; summed over users whose n differ, the sum of
    g / n is the slope and that of g / n^2 the bend. So who never answers sets no limit. Where a
    gain is not positive, slope and limit become 0.
    """
    limit = np.zeros(slope.shape)
    for i in range(slope.shape[0]):
        for j in range(slope.shape[1]):
            if slope[i, j] > 0.0 and bend[i, j] > 0.0:
                limit[i, j] = slope[i, j] ** 2 / bend[i, j]
            else:
                slope[i, j] = 0.0
    return limit


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
    slope, bend = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
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
                    gain = pull * shifts[m, d, k] / counts[d, k, w]
                    slope[i, j] += gain
                    bend[i, j] += gain / counts[d, k, w]
    return slope, limits(slope, bend), winner_gains


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
    slope, bend = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    for k in range(n_arms):
        for j in range(n_arms):
            if j != k and gains[k] > 0.0:
                a, b = min(j, k), max(j, k)
                for d in range(n_users):
                    gain = gains[k] * parts[d, k] * chances[d, j] / counts[d, k, j]
                    slope[a, b] += gain
                    bend[a, b] += gain / counts[d, k, j]
    return slope, limits(slope, bend)


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
    slope, bend = np.zeros((n_arms, n_arms)), np.zeros((n_arms, n_arms))
    for c in range(which.shape[0]):
        d, w = which[c, 0], which[c, 1]
        for j in range(n_arms):
            if j != w and losses[c] > 0.0:
                a, b = min(j, w), max(j, w)
                # The loss holds if w beats all, j too. What is in doubt of it is the less likely of
                # "beats j" and "loses to j", by the chance that w beats all but j.
                gain = losses[c] * math.exp(min(0.0, log_beats[d, w, j] - log_beats[d, j, w]))
                slope[a, b] += gain / counts[d, j, w]
                bend[a, b] += gain / counts[d, j, w] ** 2
    return slope, limits(slope, bend)


@kernel((_CUBE, _CUBE, _CUBE, _CUBE, _ROW))
def value_strengths(
    pulls: Floats, strengths: Floats, shifts: Floats, moves: Floats, scales: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return what strengths are worth, their covariance, and what an answer tells (D, K, K).

    Draw m has ``strengths`` (D, K), their ``shifts`` from the mode, and ``moves`` of the scores
    from their mean; ``pulls`` are what a higher score would gain, to be summed with ``scales``.
    The log-odds x = b' theta of a pair, b = e_i - e_j, move a score s by Cov(s, x) / Var(x) for
    each unit, so that knowing x gains b' W b / Var(x); an answer adds E[p (1 - p)] to its
    precision.
    """
    n_draws, n_users, n_arms = pulls.shape
    shape = (n_users, n_arms, n_arms)
    worth, covariance, information = np.zeros(shape), np.zeros(shape), np.zeros(shape)
    joint, pulled = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    for d in range(n_users):
        joint[:], pulled[:] = 0.0, 0.0
        for m in range(n_draws):
            for a in range(n_arms):
                for b in range(n_arms):
                    joint[a, b] += shifts[m, d, a] * moves[m, d, b] / n_draws
                    pulled[a, b] += scales[m] * pulls[m, d, a] * shifts[m, d, b]
                    if b >= a:
                        covariance[d, a, b] += shifts[m, d, a] * shifts[m, d, b] / n_draws
                        if m % 4 == 0:  # a part of them will do
                            e = math.exp(-abs(strengths[m, d, a] - strengths[m, d, b]))
                            information[d, a, b] += 4.0 * e / (1.0 + e) ** 2 / n_draws
        for a in range(n_arms):
            for b in range(a, n_arms):
                for k in range(n_arms):
                    worth[d, a, b] += 0.5 * joint[a, k] * pulled[k, b]
                    worth[d, a, b] += 0.5 * joint[b, k] * pulled[k, a]
                worth[d, b, a], covariance[d, b, a] = worth[d, a, b], covariance[d, a, b]
                information[d, b, a] = information[d, a, b]
    return worth, covariance, information


@kernel((_TABLE, _TABLE, _CUBE, _CUBE, _CUBE))
def overlap(
    first: Floats, second: Floats, worth: Floats, covariance: Floats, information: Floats
) -> tuple[Floats, Floats]:
    """Return tr(W A) and tr(W A S A), both (P, D), for what a round of two policies tells.

    A is a Laplacian: a round compares i and j as often as the policies ``first[p]`` and
    ``second[p]`` show them, and an answer adds ``information[d, i, j]`` to the precision of the
    difference. Arms that are not shown have no part in either trace.
    """
    n_plays, n_arms = first.shape
    n_users = worth.shape[0]
    slope, bend = np.zeros((n_plays, n_users)), np.zeros((n_plays, n_users))
    told, shown = np.empty((n_arms, n_arms)), np.empty(n_arms, np.int64)
    by_worth, by_covariance = np.empty((n_arms, n_arms)), np.empty((n_arms, n_arms))
    for p in range(n_plays):
        n = 0
        for k in range(n_arms):
            if first[p, k] + second[p, k] > 0.0:
                shown[n] = k
                n += 1
        for d in range(n_users):
            for i in range(n):
                told[i, i] = 0.0
            for i in range(n):
                for j in range(i + 1, n):
                    a, b = shown[i], shown[j]
                    often = first[p, a] * second[p, b] + first[p, b] * second[p, a]
                    told[i, j] = told[j, i] = -often * information[d, a, b]
                    told[i, i] -= told[i, j]
                    told[j, j] -= told[i, j]
            by_worth[:], by_covariance[:] = 0.0, 0.0
            for i in range(n):
                for k in range(n):
                    w, s = worth[d, shown[i], shown[k]], covariance[d, shown[i], shown[k]]
                    for j in range(n):
                        by_worth[i, j] += w * told[k, j]
                        by_covariance[i, j] += s * told[k, j]
            for i in range(n):
                slope[p, d] += by_worth[i, i]
                for j in range(n):
                    bend[p, d] += by_worth[i, j] * by_covariance[j, i]
            slope[p, d], bend[p, d] = max(slope[p, d], 0.0), max(bend[p, d], 0.0)
    return slope, bend


# What to play


@kernel((_INT, _ROW, _CUBE, _ROW, _ROW, _INT))
def climb(
    objective: int, weights: Floats, sample: Floats, scales: Floats, policy: Floats, steps: int
) -> Floats:
    """Return a policy whose mean of ``scales`` times welfare over a sample (n, D, K) is higher.

    By Baum and Eagon's growth transform: each arm's share is multiplied by its derivative. That
    never lowers a polynomial with positive coefficients, which the Nash welfare is.
    """
    n_draws, n_users, n_arms = sample.shape
    found, derivative = policy.copy(), np.empty(n_arms)
    utilities, slopes = np.empty(n_users), np.empty(n_users)
    for _ in range(steps):
        derivative[:] = 0.0
        for m in range(n_draws):
            find_utilities(sample[m], found, utilities)
            evaluate(objective, weights, utilities, slopes)
            for d in range(n_users):
                slope = scales[m] * slopes[d]
                for k in range(n_arms):
                    derivative[k] += slope * sample[m, d, k]
        total = 0.0
        for k in range(n_arms):
            total += found[k] * derivative[k]
        if not 0.0 < total < math.inf:
            break
        for k in range(n_arms):
            found[k] *= derivative[k] / total
    return found
