"""Compiled: the policy of highest Nash welfare, by an active-set Newton method.

Maximise F(x) = sum_d w_d log u_d, u = S x, over policies x. This is also the problem of mixture
proportions (mixsqp: Kim, Carbonetto, Stephens, Anitescu 2020) and of the log-optimal portfolio
(Cover 1984), so their method serves: replace F by its quadratic model, maximise that exactly over
a few arms, and repeat.

The certificate costs one pass over the scores. With the gradient g_k = sum_d w_d S[d, k] / u_d,
F is concave and x'g = sum_d w_d, so no policy has more than F(x) + max_k g_k - sum_d w_d. What is
kept here is the centred gradient q_k = sum_d w_d (S[d, k] - u_d) / u_d = g_k - sum_d w_d, summed
as it stands: its digits survive when it comes close to zero. So gap = max_k q_k.

The scores stay as given, users in rows: sums over users then run along the arms, which vectorises
while each sum keeps its order, and results do not depend on the machine. Rows are taken four at a
time, so that running sums are loaded and stored a quarter as often.
"""

import math
from functools import partial

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part

MANY_STEPS = 12  # from here on no shortcuts
MOST_STEPS = 200  # what is not solved by then is returned with its honest gap
LEAST_TOP, MOST_TOP = 1e-100, 1e100  # rows whose best score lies beyond are rescaled

# Memory is in tables, passed around whole: numba counts references to everything smaller.
# ``users[UTILITY, d]``: weight (0 if unserved) and its root, best score, utility and its inverse,
# and the utility under the policy that is tried next.
WEIGHT, ROOT, TOP, UTILITY, INVERSE, TRIAL = range(6)
# ``arms[POLICY, k]``: policy and centred gradient of each arm; then, for each arm of the working
# set, its share in the model's best policy, its gradient, what the model leaves of that, its next
# move, and its pivot's inverse root.
POLICY, GRADIENT, SHARE, SLOPE, RESIDUAL, MOVE, PIVOT = range(7)
# ``index[CHOSEN, j]``: the arms of the working set, its free members, and whether j is free.
CHOSEN, FREE, IS_FREE = range(3)


# Where to begin


@part
def survey(scores: Floats, weights: Floats, users: Floats) -> float:
    """Write each user's best score and uniform utility; return the weight that is served."""
    n_users, n_arms = scores.shape
    four = n_users - n_users % 4
    for d in range(0, four, 4):
        top0, top1, top2, top3 = 0.0, 0.0, 0.0, 0.0
        sum0, sum1, sum2, sum3 = 0.0, 0.0, 0.0, 0.0
        for k in range(n_arms):
            s0, s1, s2, s3 = scores[d, k], scores[d + 1, k], scores[d + 2, k], scores[d + 3, k]
            sum0, sum1, sum2, sum3 = sum0 + s0, sum1 + s1, sum2 + s2, sum3 + s3
            top0, top1 = s0 if s0 > top0 else top0, s1 if s1 > top1 else top1
            top2, top3 = s2 if s2 > top2 else top2, s3 if s3 > top3 else top3
        users[TOP, d], users[TOP, d + 1], users[TOP, d + 2], users[TOP, d + 3] = (
            top0, top1, top2, top3,
        )  # fmt: skip
        users[UTILITY, d], users[UTILITY, d + 1] = sum0 / n_arms, sum1 / n_arms
        users[UTILITY, d + 2], users[UTILITY, d + 3] = sum2 / n_arms, sum3 / n_arms
    for d in range(four, n_users):
        top, total = 0.0, 0.0
        for k in range(n_arms):
            total += scores[d, k]
            top = max(top, scores[d, k])
        users[TOP, d], users[UTILITY, d] = top, total / n_arms
    served = 0.0
    for d in range(n_users):
        users[WEIGHT, d] = weights[d] if users[TOP, d] > 0.0 else 0.0
        users[ROOT, d] = math.sqrt(users[WEIGHT, d])
        served += users[WEIGHT, d]
    invert(users)
    return served


@part
def invert(users: Floats) -> None:
    """Write 1 / u, and 0 for unserved users, who then weigh nothing anywhere."""
    for d in range(users.shape[1]):
        users[INVERSE, d] = 1.0 / users[UTILITY, d] if users[WEIGHT, d] > 0.0 else 0.0


@part
def out_of_range(users: Floats) -> bool:
    for d in range(users.shape[1]):
        if users[WEIGHT, d] > 0.0 and not LEAST_TOP <= users[TOP, d] <= MOST_TOP:
            return True
    return False


@part
def rescale(scores: Floats, users: Floats) -> Floats:
    """Return every row over its best score: the same problem, and no inverse overflows."""
    n_users, n_arms = scores.shape
    copy = np.zeros((n_users, n_arms))
    for d in range(n_users):
        if users[WEIGHT, d] > 0.0:
            total = 0.0
            for k in range(n_arms):
                copy[d, k] = scores[d, k] / users[TOP, d]
                total += copy[d, k]
            users[TOP, d] = 1.0
            users[UTILITY, d] = total / n_arms
    invert(users)
    return copy


@part
def fill_policy(arms: Floats, value: float) -> None:
    for k in range(arms.shape[1]):
        arms[POLICY, k] = value


@part
def usable(arms: Floats, index: Ints, n_users: int) -> bool:
    """Scale a given start to 1; refuse one with far more arms than any best policy needs (D)."""
    total = 0.0
    for k in range(arms.shape[1]):
        total += arms[POLICY, k]
    for k in range(arms.shape[1]):
        arms[POLICY, k] /= total
    return list_support(arms, index) <= 2 * n_users + 64


@part
def choose_start(arms: Floats, index: Ints, n_users: int) -> None:
    """Begin with the arms of steepest ascent from the uniform policy, weighted by gradients.

    Where users are many more than arms, most arms will be needed: start from all of them.
    """
    n_arms = arms.shape[1]
    if n_arms <= 64 and n_users >= 8 * n_arms:
        fill_policy(arms, 1.0 / n_arms)
        return
    fill_policy(arms, 0.0)
    wanted = max(4, min(32, min(n_arms, n_users) // 4))
    count = list_support(arms, index)  # none
    count = add_steepest(arms, index, 0.0, wanted, count)
    total = 0.0
    for j in range(count):
        total += arms[GRADIENT, index[CHOSEN, j]]
    for j in range(count):
        k = index[CHOSEN, j]
        arms[POLICY, k] = arms[GRADIENT, k] / total


@part
def cover(scores: Floats, served: float, users: Floats, arms: Floats, index: Ints) -> None:
    """Bring users who get next to nothing to what any best policy gives: w_d max_k S[d, k] / sum w.

    For there w_d S[d, k] / u_d <= g_k <= sum w. So every logarithm is finite from the start. Half
    of that passes: a start that is best but for rounding must stay what it is.
    """
    find_utilities(scores, arms, index, list_support(arms, index), users[UTILITY])
    added = 0.0
    for d in range(users.shape[1]):
        share = users[WEIGHT, d] / served
        if users[UTILITY, d] < 0.5 * share * users[TOP, d]:
            k = 0
            while scores[d, k] < users[TOP, d]:
                k += 1
            arms[POLICY, k] += share
            added += share
    if added > 0.0:
        for k in range(arms.shape[1]):
            arms[POLICY, k] /= 1.0 + added
        find_utilities(scores, arms, index, list_support(arms, index), users[UTILITY])
    invert(users)


# Utilities and the certificate


@part
def list_support(arms: Floats, index: Ints) -> int:
    """Choose the arms in use; return how many."""
    count = 0
    for k in range(arms.shape[1]):
        if arms[POLICY, k] > 0.0:
            index[CHOSEN, count] = k
            arms[SHARE, count] = arms[POLICY, k]
            count += 1
    return count


@part
def find_utilities(
    scores: Floats, arms: Floats, index: Ints, count: int, utilities: Floats
) -> None:
    """Write u = S x for the chosen arms: sums of what is positive, so all digits hold."""
    n_users = scores.shape[0]
    four = n_users - n_users % 4
    for d in range(0, four, 4):
        u0, u1, u2, u3 = 0.0, 0.0, 0.0, 0.0
        for j in range(count):
            k, share = index[CHOSEN, j], arms[SHARE, j]
            u0 += scores[d, k] * share
            u1 += scores[d + 1, k] * share
            u2 += scores[d + 2, k] * share
            u3 += scores[d + 3, k] * share
        utilities[d], utilities[d + 1], utilities[d + 2], utilities[d + 3] = u0, u1, u2, u3
    for d in range(four, n_users):
        u0 = 0.0
        for j in range(count):
            u0 += scores[d, index[CHOSEN, j]] * arms[SHARE, j]
        utilities[d] = u0


@part
def price(scores: Floats, users: Floats, arms: Floats) -> float:
    """Write the centred gradient; return the gap."""
    n_users, n_arms = scores.shape
    for k in range(n_arms):
        arms[GRADIENT, k] = 0.0
    four = n_users - n_users % 4
    for d in range(0, four, 4):
        y0, y1 = users[WEIGHT, d] * users[INVERSE, d], users[WEIGHT, d + 1] * users[INVERSE, d + 1]
        y2 = users[WEIGHT, d + 2] * users[INVERSE, d + 2]
        y3 = users[WEIGHT, d + 3] * users[INVERSE, d + 3]
        centre = (y0 * users[UTILITY, d] + y1 * users[UTILITY, d + 1]) + (
            y2 * users[UTILITY, d + 2] + y3 * users[UTILITY, d + 3]
        )
        for k in range(n_arms):
            arms[GRADIENT, k] += (
                (y0 * scores[d, k] + y1 * scores[d + 1, k])
                + (y2 * scores[d + 2, k] + y3 * scores[d + 3, k])
            ) - centre
    for d in range(four, n_users):
        y, u = users[WEIGHT, d] * users[INVERSE, d], users[UTILITY, d]
        for k in range(n_arms):
            arms[GRADIENT, k] += y * (scores[d, k] - u)
    gap = 0.0
    for k in range(n_arms):
        gap = gap if arms[GRADIENT, k] <= gap else arms[GRADIENT, k]
    return gap


# The quadratic model on a working set of arms
#
# Around x: F(p) - F(x) ~ q'p - p'Gp / 2, where G = B'B, B[d, k] = sqrt(w_d) (S[d, k] / u_d - 1).
# Both are centred: q'x = 0 and Gx = 0.


@part
def choose_working_set(arms: Floats, index: Ints, tolerance: float) -> int:
    """Choose the arms in use and the steepest others: two, and half as many as are in use."""
    count = list_support(arms, index)
    count = add_steepest(arms, index, tolerance, 2 + count // 2, count)
    for j in range(count):
        arms[SHARE, j] = arms[POLICY, index[CHOSEN, j]]
        arms[SLOPE, j] = arms[GRADIENT, index[CHOSEN, j]]
    return count


@part
def add_steepest(arms: Floats, index: Ints, least: float, wanted: int, first: int) -> int:
    """Append the ``wanted`` unused arms of highest gradient above ``least``; lower index first."""
    count = first
    for k in range(arms.shape[1]):
        gradient = arms[GRADIENT, k]
        if gradient > least and arms[POLICY, k] == 0.0:
            if count < first + wanted:
                count += 1
            elif gradient <= arms[GRADIENT, index[CHOSEN, count - 1]]:
                continue
            j = count - 1
            while j > first and arms[GRADIENT, index[CHOSEN, j - 1]] < gradient:
                index[CHOSEN, j] = index[CHOSEN, j - 1]
                j -= 1
            index[CHOSEN, j] = k
    return count


@part
def build_model(
    scores: Floats, users: Floats, index: Ints, count: int, rows: Floats, curvature: Floats
) -> None:
    """Write G, from four users at a time."""
    n_users = scores.shape[0]
    for i in range(count):
        for j in range(i + 1):
            curvature[i, j] = 0.0
    for d in range(0, n_users, 4):
        for h in range(4):
            if d + h < n_users:
                root = users[ROOT, d + h]
                scale = root * users[INVERSE, d + h]
                for j in range(count):
                    rows[h, j] = scores[d + h, index[CHOSEN, j]] * scale - root
            else:
                for j in range(count):
                    rows[h, j] = 0.0
        for i in range(count):
            b0, b1, b2, b3 = rows[0, i], rows[1, i], rows[2, i], rows[3, i]
            for j in range(i + 1):
                curvature[i, j] += (b0 * rows[0, j] + b1 * rows[1, j]) + (
                    b2 * rows[2, j] + b3 * rows[3, j]
                )
    for i in range(count):
        for j in range(i):
            curvature[j, i] = curvature[i, j]


@part
def solve_model(
    arms: Floats,
    index: Ints,
    count: int,
    careful: bool,
    slack: float,
    floor: float,
    curvature: Floats,
    factor: Floats,
) -> None:
    """Maximise q'p - p'Gp / 2 over policies p on the working set, into ``arms[SHARE]``.

    An active-set method from p = x. Until the first move that stays within the simplex, all arms
    that would become negative are dropped together; from then on, one at a time where the move
    leaves the simplex. Then the worst dropped arm comes back, while one is worth more than
    ``slack``. Each move is exact on the arms that are free. Dropping many at once is fast, but
    where arms are nearly mixtures of each other it can lose what a ``careful`` start keeps: every
    move improves the model.
    """
    for j in range(count):
        index[IS_FREE, j] = 1
        arms[RESIDUAL, j] = arms[SLOPE, j]
    inside = careful
    back = -1
    for _ in range(4 * count + 10):
        n_free = find_move(arms, index, count, floor, curvature, factor)
        reach, first = find_reach(arms, index, n_free)
        if first < 0:
            inside = True
            for i in range(n_free):
                arms[SHARE, index[FREE, i]] += arms[MOVE, i]
            if n_free == count:
                return
            find_residual(arms, count, curvature)
            back = worst_dropped(arms, index, count, slack)
            if back < 0:
                return
            index[IS_FREE, back] = 1
        elif inside:
            for i in range(n_free):
                j = index[FREE, i]
                arms[SHARE, j] = max(0.0, arms[SHARE, j] + reach * arms[MOVE, i])
            arms[SHARE, first] = 0.0
            index[IS_FREE, first] = 0
            if reach == 0.0 and first == back:  # it came back by rounding alone: leave it out
                return
            find_residual(arms, count, curvature)
        else:
            for i in range(n_free):
                j = index[FREE, i]
                if arms[SHARE, j] + arms[MOVE, i] < 0.0:
                    arms[SHARE, j] = 0.0
                    index[IS_FREE, j] = 0
            find_residual(arms, count, curvature)


@part
def find_reach(arms: Floats, index: Ints, n_free: int) -> tuple[float, int]:
    """Return how much of the move stays within the simplex, and which arm stops it (or -1)."""
    reach, first = 1.0, -1
    for i in range(n_free):
        j = index[FREE, i]
        if arms[SHARE, j] + arms[MOVE, i] < 0.0:
            part = -arms[SHARE, j] / arms[MOVE, i]
            if first < 0 or part < reach:
                reach, first = part, j
    return reach, first


@part
def find_residual(arms: Floats, count: int, curvature: Floats) -> None:
    """Write the model's gradient at the shares: q - Gp."""
    for i in range(count):
        arms[RESIDUAL, i] = arms[SLOPE, i]
    for j in range(count):
        share = arms[SHARE, j]
        if share != 0.0:
            for i in range(count):
                arms[RESIDUAL, i] -= curvature[j, i] * share


@part
def worst_dropped(arms: Floats, index: Ints, count: int, slack: float) -> int:
    """Return the dropped arm of highest residual, if above the level of the free ones; or -1."""
    most = slack
    for j in range(count):
        most += arms[RESIDUAL, j] * arms[SHARE, j]
    worst = -1
    for j in range(count):
        if index[IS_FREE, j] == 0 and arms[RESIDUAL, j] > most:
            worst, most = j, arms[RESIDUAL, j]
    return worst


@part
def find_move(
    arms: Floats, index: Ints, count: int, floor: float, curvature: Floats, factor: Floats
) -> int:
    """Write the best move of the free arms, shares summing to 1; return how many are free.

    One arm, the base, takes what the others leave: with columns taken relative to the base's the
    sum is no constraint any more, and the rest is a Cholesky factorisation.
    """
    n_free, base, missing = 0, 0, 1.0
    for j in range(count):
        if index[IS_FREE, j] == 1:
            index[FREE, n_free] = j
            missing -= arms[SHARE, j]
            if arms[SHARE, j] > arms[SHARE, index[FREE, base]]:
                base = n_free
            n_free += 1
    last = n_free - 1
    b = index[FREE, base]
    index[FREE, base] = index[FREE, last]
    index[FREE, last] = b
    factorise(arms, index, last, floor, curvature, factor)
    for i in range(last):
        j = index[FREE, i]
        arms[MOVE, i] = (arms[RESIDUAL, j] - arms[RESIDUAL, b]) - missing * (
            curvature[j, b] - curvature[b, b]
        )
    substitute(arms, last, factor)
    for i in range(last):
        missing -= arms[MOVE, i]
    arms[MOVE, last] = missing
    return n_free


@part
def factorise(
    arms: Floats, index: Ints, n: int, floor: float, curvature: Floats, factor: Floats
) -> None:
    """Write L with L'L = M, the curvature of n free arms relative to the base, the next one.

    Rows are eliminated from the last to the first, so that inner loops start at 0 and vectorise.
    An arm that equals a mixture of others has a pivot of zero, and rounding alone in its row. A
    small pivot and zeros stand in for these: that only shortens moves which change (almost) no
    utility, and such a move still goes all the way where it pays.
    """
    b = index[FREE, n]
    for i in range(n):
        a = index[FREE, i]
        rest = curvature[b, b] - curvature[a, b]
        for j in range(i + 1):
            factor[i, j] = (curvature[a, index[FREE, j]] - curvature[b, index[FREE, j]]) + rest
    for i in range(n - 1, -1, -1):
        a = index[FREE, i]
        least = floor + 1e-13 * (curvature[a, a] + curvature[b, b])
        if factor[i, i] < least:
            arms[PIVOT, i] = 1.0 / math.sqrt(least)
            for j in range(i):
                factor[i, j] = 0.0
            continue
        scale = 1.0 / math.sqrt(factor[i, i])
        arms[PIVOT, i] = scale
        for j in range(i):
            factor[i, j] *= scale
        for k in range(i):
            pull = factor[i, k]
            for j in range(k + 1):
                factor[k, j] -= pull * factor[i, j]


@part
def substitute(arms: Floats, n: int, factor: Floats) -> None:
    """Solve L'L move = move."""
    for i in range(n - 1, -1, -1):
        pull = arms[MOVE, i] * arms[PIVOT, i]
        arms[MOVE, i] = pull
        for j in range(i):
            arms[MOVE, j] -= factor[i, j] * pull
    for i in range(n):
        rest = arms[MOVE, i]
        for j in range(i):
            rest -= factor[i, j] * arms[MOVE, j]
        arms[MOVE, i] = rest * arms[PIVOT, i]


# The step


@part
def advance(
    scores: Floats, served: float, users: Floats, arms: Floats, index: Ints, count: int
) -> None:
    """Go towards the model's best policy, the whole way unless that is too far."""
    rise = find_trial(scores, users, arms, index, count)
    length = step_length(users, 0.5 * rise + 1e-13 * served)
    move_by(length, scores, users, arms, index, count)
    if length < 1.0:
        invert(users)


@part
def find_trial(scores: Floats, users: Floats, arms: Floats, index: Ints, count: int) -> float:
    """Write the utilities of the model's best policy; return how steep the way there begins."""
    total = 0.0
    for j in range(count):
        total += arms[SHARE, j]
    rise = 0.0
    for j in range(count):
        arms[SHARE, j] /= total
        rise += arms[SLOPE, j] * arms[SHARE, j]
    find_utilities(scores, arms, index, count, users[TRIAL])
    return rise


@part
def move_by(
    length: float, scores: Floats, users: Floats, arms: Floats, index: Ints, count: int
) -> None:
    """Go so much of the way to the model's best policy; write the utilities there."""
    if length == 1.0:
        for j in range(count):
            arms[POLICY, index[CHOSEN, j]] = arms[SHARE, j]
        for d in range(users.shape[1]):
            users[UTILITY, d] = users[TRIAL, d]
        return
    for j in range(count):
        k = index[CHOSEN, j]
        arms[POLICY, k] = (1.0 - length) * arms[POLICY, k] + length * arms[SHARE, j]
        arms[SHARE, j] = arms[POLICY, k]
    find_utilities(scores, arms, index, count, users[UTILITY])


@part
def step_length(users: Floats, enough: float) -> float:
    """Return 1 if F falls there by at most ``enough`` a step; else where it is that flat."""
    low, high, length = 0.0, 1.0, 1.0
    for _ in range(60):
        slope = slope_at(users, length)
        if slope < -enough:
            high = length
        elif slope > enough and length < 1.0:
            low = length
        else:
            break
        length = 0.5 * (low + high)
    return length


@part
def slope_at(users: Floats, length: float) -> float:
    """Return the slope of F at a part of the way from u to the trial; leave inverses there."""
    slope = 0.0
    for d in range(users.shape[1]):
        if users[WEIGHT, d] > 0.0:
            way = users[TRIAL, d] - users[UTILITY, d]
            users[INVERSE, d] = 1.0 / (users[UTILITY, d] + length * way)
            slope += users[WEIGHT, d] * users[INVERSE, d] * way
    return slope


# The whole


@partial(part, inline="always")  # it is all there is in the kernel: do not optimise it twice
def climb(
    scores: Floats,
    weights: Floats,
    warm: bool,
    tolerance: float,
    users: Floats,
    arms: Floats,
    index: Ints,
    rows: Floats,
    curvature: Floats,
    factor: Floats,
) -> float:
    """Make ``arms[POLICY]`` the best one, from what it is if ``warm``; return its gap."""
    n_users, n_arms = scores.shape
    served = survey(scores, weights, users)
    if served == 0.0:  # no user can be served, so all policies are equally good
        fill_policy(arms, 1.0 / n_arms)
        return 0.0
    if out_of_range(users):
        scores = rescale(scores, users)
    if not (warm and usable(arms, index, n_users)):
        gap = price(scores, users, arms)  # at the uniform policy, where survey left us
        if gap <= tolerance:
            fill_policy(arms, 1.0 / n_arms)
            return gap
        choose_start(arms, index, n_users)
    cover(scores, served, users, arms, index)
    for taken in range(MOST_STEPS):
        gap = price(scores, users, arms)
        if gap <= tolerance:
            return gap
        count = choose_working_set(arms, index, tolerance)
        if count > rows.shape[1]:
            size = min(n_arms, 2 * count)
            rows, curvature = np.empty((4, size)), np.empty((size, size))
            factor = np.empty((size, size))
        build_model(scores, users, index, count, rows, curvature)
        careful = taken >= MANY_STEPS
        solve_model(arms, index, count, careful, 0.1 * tolerance, 1e-14 * served, curvature, factor)
        advance(scores, served, users, arms, index, count)
    return price(scores, users, arms)


@kernel("Tuple((f8[:, ::1], f8[::1]))(f8[:, :, ::1], f8[::1], f8[::1], f8)")
def follow(
    scores: Floats, weights: Floats, start: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    """Return the best policy for each score matrix, begun from the one before, and the gaps.

    An empty ``start`` leaves it open where to begin with the first.
    """
    n_matrices, n_users, n_arms = scores.shape
    users, arms = np.empty((6, n_users)), np.empty((7, n_arms))
    index = np.empty((3, n_arms), np.int64)
    size = min(n_arms, 64)
    rows, curvature, factor = np.empty((4, size)), np.empty((size, size)), np.empty((size, size))
    policies, gaps = np.empty((n_matrices, n_arms)), np.empty(n_matrices)
    for k in range(start.size):
        arms[POLICY, k] = start[k]
    for b in range(n_matrices):
        warm = b > 0 or start.size > 0
        gaps[b] = climb(
            scores[b], weights, warm, tolerance, users, arms, index, rows, curvature, factor
        )
        for k in range(n_arms):
            policies[b, k] = arms[POLICY, k]
    return policies, gaps
