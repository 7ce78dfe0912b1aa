"""Compiled: the best policy against the worst weighting of the users, by a simplex method.

Egalitarian welfare and generalised Gini welfares are smallest weighted means: G(u) is the minimum
of y'u over weightings y of the users, from a polytope P. For the former P has all weightings; for
the latter those that a concave function phi of shares of people allows (phi(0) = 0, phi(1) = 1):
any group of users weighs at most phi(its share). Then the worst y ranks the users by utility, and
the i-th from below weighs phi(N_i) - phi(N_{i-1}), where N_i is the share of the first i. With
phi(t) = 1 - (1 - t)^delta this is the S-Gini welfare; delta = inf leaves the worst off alone.

So the best policy and the worst weighting are optimal strategies of a matrix game whose rows are
the corners of P. With all scores between 1 and 2 the game is the linear program

    maximise sum_c w_c   subject to   sum_c w_c a_c <= 1, w >= 0,   a_c = S'y_c,

whose solution is a weighting, y = sum_c w_c y_c / sum w, and whose multipliers z are a policy,
x = z / sum z. Corners are generated as they are needed: the worst weighting at x is the column of
highest reduced cost 1 - z'a.

The certificate needs neither to be exact: for any policy x and any y in P, no policy has more than
max_k (y'S)_k, and x has G(Sx).
"""

from functools import partial

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part
from fairduel.kernels.newton import CHOSEN, POLICY, SHARE, find_utilities, list_support
from fairduel.kernels.objectives import phi, rank

inlined = partial(part, inline="always")  # what is called at every exchange, and small

LEAST_COST = 1e-13  # reduced costs below this are rounding
NEAR, FAR, MANY_ARMS = 0.5, 0.9, 50  # how much of the best policy so far is in the one to look at
MOST_ROUNDS = 6  # in which the inverse is computed afresh
# The right sides are moved by this much, each by another amount: so ties are decided in advance.
# Rounds differ in it, and in how small a pivot may be.
NUDGES = (1e-11, 1e-11, 0.0, 1e-13, 1e-9, 1e-15)
PIVOTS = (1e-10, 1e-10, 1e-10, 1e-9, 1e-8, 1e-11)

# Tables are laid out as in ``newton``. ``arms[POLICY, k]``: the best policy so far; the multipliers
# z; the shares of the arms that are looked at next; the column that enters, the same by the
# inverse of the basis, and the basic variable of each row.
MULTIPLIER, COLUMN, ENTERING, BASIC = 1, 3, 4, 5
# ``place[CHOSEN, j]``: the arms looked at next. ``place[HELD, r]``: the variable that is basic in
# row r: a corner's slot, or -1 - k for the slack of arm k. ``place[SLACK, k]``: the row in which
# that slack is basic, or -1 - j where it is not and has column j of the inverse;
# ``place[OUTSIDE, j]``: the arm of that column. ``place[ROW, s]``: the row of the corner in slot s.
# There are as many corners as slacks outside.
HELD, SLACK, OUTSIDE, ROW = 1, 2, 3, 4
# ``users[UTILITY, d]``: under the policy looked at; weighting; part of the people; phi's step of
# each rank, where parts are equal.
UTILITY, WEIGHTING, PART, STEP = range(4)


# The worst weighting


@part
def find_steps(users: Floats, delta: float, levels: Floats) -> bool:
    """Write phi's steps if all shares are equal; return whether they are."""
    n_users = users.shape[1]
    before = 0.0
    for i in range(n_users):
        if users[PART, i] != users[PART, 0]:
            return False
        now = 1.0 if i == n_users - 1 else phi((i + 1.0) / n_users, delta, levels)
        users[STEP, i] = now - before
        before = now
    return True


@inlined
def find_worst(users: Floats, order: Ints, delta: float, levels: Floats, equal: bool) -> float:
    """Write the worst weighting at the utilities; return their welfare."""
    n_users = users.shape[1]
    if delta == np.inf:
        worst = 0
        for d in range(n_users):
            users[WEIGHTING, d] = 0.0
            worst = d if users[UTILITY, d] < users[UTILITY, worst] else worst
        users[WEIGHTING, worst] = 1.0
        return float(users[UTILITY, worst])
    rank(users[UTILITY], order)
    value, share, before = 0.0, 0.0, 0.0
    for i in range(n_users):
        d = order[i]
        if equal:
            users[WEIGHTING, d] = users[STEP, i]
        else:
            share += users[PART, d]
            now = 1.0 if i == n_users - 1 else phi(min(share, 1.0), delta, levels)
            users[WEIGHTING, d] = now - before
            before = now
        value += users[WEIGHTING, d] * users[UTILITY, d]
    return value


@inlined
def find_column(scores: Floats, weighting: Floats, column: Floats) -> float:
    """Write what a weighting makes of each arm; return the most."""
    n_users, n_arms = scores.shape
    for k in range(n_arms):
        column[k] = 0.0
    for d in range(n_users):
        if weighting[d] != 0.0:
            y = weighting[d]
            for k in range(n_arms):
                column[k] += y * scores[d, k]
    most = 0.0  # scores are positive
    for k in range(n_arms):
        most = max(most, column[k])
    return most


# The program


@part
def reset(arms: Floats, place: Ints, nudge: float) -> None:
    """Make all slacks basic."""
    for k in range(arms.shape[1]):
        arms[MULTIPLIER, k] = 0.0
        arms[BASIC, k] = 1.0 + nudge * ((0.6180339887498949 * k + 0.37) % 1.0)
        place[HELD, k], place[SLACK, k] = -1 - k, k


@inlined
def enter_column(arms: Floats, place: Ints, outside: int, inverse: Floats) -> None:
    """Write the column that enters, by the inverse of the basis."""
    n_arms = arms.shape[1]
    for r in range(n_arms):
        arms[ENTERING, r] = 0.0
    for k in range(n_arms):
        if place[SLACK, k] >= 0:
            arms[ENTERING, place[SLACK, k]] += arms[COLUMN, k]
    for j in range(outside):
        pull = arms[COLUMN, place[OUTSIDE, j]]
        for r in range(n_arms):
            arms[ENTERING, r] += pull * inverse[j, r]


@inlined
def find_leaving(arms: Floats, least: float) -> int:
    """Return the row whose variable reaches 0 first, the largest pivot among equals; or -1."""
    n_arms, most = arms.shape[1], 0.0
    for r in range(n_arms):
        most = max(most, arms[ENTERING, r])
    leaving, first = -1, np.inf
    for r in range(n_arms):
        pivot = arms[ENTERING, r]
        if pivot > least * most:
            reach = max(arms[BASIC, r], 0.0) / pivot
            if reach < first or (reach == first and pivot > arms[ENTERING, leaving]):
                leaving, first = r, reach
    return leaving


@inlined
def pivot(
    arms: Floats, place: Ints, outside: int, inverse: Floats, row: int, slack: int, cost: float
) -> int:
    """Exchange the variable that is basic in a row for the one that enters.

    ``slack``: the arm whose slack that is, or -1 for a corner. Returns how many columns of the
    inverse are not those of the unit matrix: one for each slack that is not basic.
    """
    n_arms = arms.shape[1]
    scale = 1.0 / arms[ENTERING, row]
    left = place[HELD, row]
    if slack >= 0:  # its column becomes that of the unit matrix, and another takes the place
        j = -1 - place[SLACK, slack]
        outside -= 1
        place[OUTSIDE, j] = place[OUTSIDE, outside]
        place[SLACK, place[OUTSIDE, j]] = -1 - j
        for r in range(n_arms):
            inverse[j, r] = inverse[outside, r]
        place[SLACK, slack], place[HELD, row] = row, -1 - slack
        arms[MULTIPLIER, slack] = 0.0
    if left < 0:
        k = -1 - left
        place[OUTSIDE, outside], place[SLACK, k] = k, -1 - outside
        for r in range(n_arms):
            inverse[outside, r] = 0.0
        inverse[outside, row] = 1.0
        outside += 1
    for j in range(outside):
        pull = inverse[j, row] * scale
        if pull != 0.0:
            for r in range(n_arms):
                inverse[j, r] -= pull * arms[ENTERING, r]
            inverse[j, row] = pull
            arms[MULTIPLIER, place[OUTSIDE, j]] += cost * pull
    reach = arms[BASIC, row] * scale
    for r in range(n_arms):
        arms[BASIC, r] -= reach * arms[ENTERING, r]
    arms[BASIC, row] = reach
    return outside


@inlined
def negative_multiplier(arms: Floats, place: Ints, outside: int) -> int:
    """Return the arm whose multiplier is most negative, or -1."""
    worst, least = -1, -LEAST_COST
    for j in range(outside):
        k = place[OUTSIDE, j]
        if arms[MULTIPLIER, k] < least:
            worst, least = k, arms[MULTIPLIER, k]
    return worst


@inlined
def choose_own(arms: Floats, place: Ints, outside: int, total: float) -> int:
    """Choose the program's own policy to look at next; return the number of its arms."""
    count = 0
    for j in range(outside):
        k = place[OUTSIDE, j]
        if arms[MULTIPLIER, k] > 0.0:
            place[CHOSEN, count] = k
            arms[SHARE, count] = arms[MULTIPLIER, k] / total
            count += 1
    return count


@inlined
def choose_between(arms: Floats, place: Ints, total: float, stay: float) -> int:
    """Choose a policy between the best so far and the program's own; return its arms' number."""
    count, rest = 0, (1.0 - stay) / total
    for k in range(arms.shape[1]):
        share = stay * arms[POLICY, k] + rest * max(arms[MULTIPLIER, k], 0.0)
        if share > 0.0:
            place[CHOSEN, count] = k
            arms[SHARE, count] = share
            count += 1
    return count


@part
def look(
    scores: Floats,
    count: int,
    delta: float,
    levels: Floats,
    equal: bool,
    best: float,
    users: Floats,
    arms: Floats,
    order: Ints,
    place: Ints,
) -> tuple[float, float]:
    """Find the worst weighting at the chosen policy; return its reduced cost, the best welfare."""
    n_arms = scores.shape[1]
    find_utilities(scores, arms, place, count, users[UTILITY])
    value = find_worst(users, order, delta, levels, equal)
    if value > best:
        best = value
        for k in range(n_arms):
            arms[POLICY, k] = 0.0
        for j in range(count):
            arms[POLICY, place[CHOSEN, j]] = arms[SHARE, j]
    find_column(scores, users[WEIGHTING], arms[COLUMN])
    cost = 1.0
    for k in range(n_arms):
        cost -= arms[MULTIPLIER, k] * arms[COLUMN, k]
    return cost, best


@part
def free_slot(slot: int, last: int, place: Ints, corners: Floats, columns: Floats) -> None:
    """Let the corner in the last slot take the place of one that has left."""
    if slot != last:
        place[ROW, slot] = place[ROW, last]
        place[HELD, place[ROW, slot]] = slot
        for d in range(corners.shape[1]):
            corners[slot, d] = corners[last, d]
        for k in range(columns.shape[1]):
            columns[slot, k] = columns[last, k]


@inlined
def positive_total(arms: Floats, place: Ints, outside: int) -> float:
    total = 0.0
    for j in range(outside):
        total += max(arms[MULTIPLIER, place[OUTSIDE, j]], 0.0)
    return total


@part
def improve(
    scores: Floats,
    delta: float,
    levels: Floats,
    equal: bool,
    stay: float,
    enough: float,
    least: float,
    outside: int,
    best: float,
    users: Floats,
    arms: Floats,
    order: Ints,
    place: Ints,
    inverse: Floats,
    corners: Floats,
    columns: Floats,
) -> tuple[int, float]:
    """Exchange variables until nothing is gained; return how many slacks are out, and the best.

    The policy to look at lies between the program's own and the best so far, since the former
    wanders far; only where that teaches nothing is it the program's own.
    """
    n_arms = arms.shape[1]
    for _ in range(50 * (min(scores.shape) + 10)):
        slack = negative_multiplier(arms, place, outside)
        if slack >= 0:
            cost = -arms[MULTIPLIER, slack]
            for r in range(n_arms):
                arms[ENTERING, r] = inverse[-1 - place[SLACK, slack], r]
        else:
            total = positive_total(arms, place, outside)
            if 1.0 / total - best <= enough:  # the program's value is a bound, but for rounding
                break
            if outside == 0:
                count = list_support(arms, place)
            elif stay > 0.0:
                count = choose_between(arms, place, total, stay)
            else:
                count = choose_own(arms, place, outside, total)
            cost, best = look(scores, count, delta, levels, equal, best, users, arms, order, place)
            if cost <= LEAST_COST and outside > 0 and stay > 0.0:
                count = choose_own(arms, place, outside, total)
                cost, best = look(
                    scores, count, delta, levels, equal, best, users, arms, order, place
                )
            if cost <= LEAST_COST:
                break
            enter_column(arms, place, outside, inverse)
        row = find_leaving(arms, least)
        if row < 0 or (place[HELD, row] < 0 and slack < 0 and outside == inverse.shape[0]):
            break
        leaving, before = place[HELD, row], outside
        outside = pivot(arms, place, outside, inverse, row, slack, cost)
        slot = leaving if leaving >= 0 else before
        if slack < 0:
            place[HELD, row], place[ROW, slot] = slot, row
            for d in range(users.shape[1]):
                corners[slot, d] = users[WEIGHTING, d]
            for k in range(n_arms):
                columns[slot, k] = arms[COLUMN, k]
        elif leaving >= 0:
            free_slot(slot, outside, place, corners, columns)
    return outside, best


@part
def invert(matrix: Floats, n: int) -> bool:
    """Invert the left n columns of a matrix (n, 2 n) into the right ones; False if singular."""
    for i in range(n):
        for j in range(n):
            matrix[i, n + j] = 1.0 if i == j else 0.0
    for c in range(n):
        at = c
        for r in range(c + 1, n):
            at = r if abs(matrix[r, c]) > abs(matrix[at, c]) else at
        if not abs(matrix[at, c]) > 1e-300:
            return False
        for j in range(2 * n):
            matrix[c, j], matrix[at, j] = matrix[at, j], matrix[c, j]
        scale = 1.0 / matrix[c, c]
        for j in range(2 * n):
            matrix[c, j] *= scale
        for r in range(n):
            pull = matrix[r, c]
            if r != c and pull != 0.0:
                for j in range(2 * n):
                    matrix[r, j] -= pull * matrix[c, j]
    return True


@part
def compute_afresh(
    arms: Floats, place: Ints, outside: int, inverse: Floats, columns: Floats
) -> bool:
    """Compute inverse, basic variables and multipliers from the basis, with right sides of 1."""
    n_arms, n = arms.shape[1], outside
    matrix = np.empty((n, 2 * n))
    for i in range(n):
        for s in range(n):
            matrix[i, s] = columns[s, place[OUTSIDE, i]]
    if not invert(matrix, n):
        return False
    for k in range(n_arms):
        arms[BASIC, k], arms[MULTIPLIER, k] = 0.0, 0.0
    for k in range(n_arms):
        if place[SLACK, k] >= 0:
            arms[BASIC, place[SLACK, k]] = 1.0
    for i in range(n):
        column, z = inverse[i], 0.0
        for r in range(n_arms):
            column[r] = 0.0
        for s in range(n):
            part = matrix[s, n + i]
            z += part
            for k in range(n_arms):
                if place[SLACK, k] >= 0:
                    column[place[SLACK, k]] -= columns[s, k] * part
        for s in range(n):
            column[place[ROW, s]] = matrix[s, n + i]
        arms[MULTIPLIER, place[OUTSIDE, i]] = z
        for r in range(n_arms):
            arms[BASIC, r] += column[r]
    return True


@part
def bound(
    scores: Floats,
    delta: float,
    levels: Floats,
    equal: bool,
    outside: int,
    best: float,
    least: float,
    users: Floats,
    arms: Floats,
    order: Ints,
    place: Ints,
    corners: Floats,
) -> tuple[float, float]:
    """Look at the program's policy and weighting; return the best welfare and the least bound."""
    total = 0.0
    for s in range(outside):
        total += max(arms[BASIC, place[ROW, s]], 0.0)
    if not 0.0 < total < np.inf:
        return best, least
    policy = positive_total(arms, place, outside)
    if policy > 0.0:
        count = choose_own(arms, place, outside, policy)
        _, best = look(scores, count, delta, levels, equal, best, users, arms, order, place)
    for d in range(users.shape[1]):
        users[WEIGHTING, d] = 0.0
    for s in range(outside):
        weight = max(arms[BASIC, place[ROW, s]], 0.0) / total
        for d in range(users.shape[1]):
            users[WEIGHTING, d] += weight * corners[s, d]
    return best, min(least, find_column(scores, users[WEIGHTING], arms[COLUMN]))


# The whole


@part
def scale_scores(scores: Floats, only_worst: bool, scaled: Floats) -> tuple[int, float, float]:
    """Write scores from 1 up; return how many users there are, the unit and the most to expect.

    Where only the worst off counts, users whom nothing serves are left out, and no policy gives
    everybody more than min_d max_k S[d, k]; else no policy has more than the highest score.
    """
    n_users, n_arms = scores.shape
    kept, lowest, most = 0, np.inf, np.inf if only_worst else 0.0
    for d in range(n_users):
        top = 0.0
        for k in range(n_arms):
            top = max(top, scores[d, k])
        if top > 0.0 or not only_worst:
            for k in range(n_arms):
                scaled[kept, k] = scores[d, k]
                lowest = min(lowest, scores[d, k])
            kept += 1
            most = min(most, top) if only_worst else max(most, top)
    unit = most - lowest
    if kept > 0 and unit > 0.0:
        for d in range(kept):
            for k in range(n_arms):
                scaled[d, k] = (scaled[d, k] - lowest) / unit + 1.0
    return kept, unit, most


@part
def solve(
    scores: Floats,
    shares: Floats,
    delta: float,
    levels: Floats,
    tolerance: float,
    arms: Floats,
    scaled: Floats,
) -> float:
    """Make ``arms[POLICY]`` the best one, looking at it first as it is; return its gap."""
    n_arms = scores.shape[1]
    n_users, unit, most = scale_scores(scores, delta == np.inf, scaled)
    if n_users == 0 or unit <= 0.5 * tolerance * most:  # all policies are (nearly) equally good
        for k in range(n_arms):
            arms[POLICY, k] = 1.0 / n_arms
        return unit if n_users > 0 else 0.0
    rows = scaled[:n_users]
    size = min(n_users, n_arms)
    users, order = np.empty((4, n_users)), np.arange(n_users)
    place, inverse = np.empty((5, n_arms), np.int64), np.empty((size, n_arms))
    columns, corners = np.empty((size, n_arms)), np.empty((size, n_users))
    equal = False
    if delta < np.inf:
        for d in range(n_users):
            users[PART, d] = shares[d]
        equal = find_steps(users, delta, levels)
    stay = 0.0 if delta == np.inf else NEAR if n_arms < MANY_ARMS else FAR
    enough = tolerance * (most / unit)
    best, least = -np.inf, np.inf
    for round in range(MOST_ROUNDS):
        reset(arms, place, NUDGES[round])
        outside = 0
        for _ in range(3):
            outside, best = improve(
                rows, delta, levels, equal, stay, 0.5 * enough, PIVOTS[round], outside, best,
                users, arms, order, place, inverse, corners, columns,
            )  # fmt: skip
            best, least = bound(
                rows, delta, levels, equal, outside, best, least, users, arms, order, place, corners
            )
            if least - best <= enough:
                return max(0.0, (least - best) * unit)
            if not compute_afresh(arms, place, outside, inverse, columns):
                break
            best, least = bound(
                rows, delta, levels, equal, outside, best, least, users, arms, order, place, corners
            )
            if least - best <= enough:
                return max(0.0, (least - best) * unit)
        stay = 0.0
    return max(0.0, (least - best) * unit)


@kernel("Tuple((f8[:, ::1], f8[::1]))(f8[:, :, ::1], f8[::1], f8, f8[::1], f8[::1], f8)")
def follow(
    scores: Floats,
    shares: Floats,
    delta: float,
    levels: Floats,
    start: Floats,
    tolerance: float,
) -> tuple[Floats, Floats]:
    """Return the best policy for each score matrix, looking first at the one before, and the gaps.

    The first look is at ``start``, or at the uniform policy if that is empty.
    """
    n_matrices, n_users, n_arms = scores.shape
    policies, gaps = np.empty((n_matrices, n_arms)), np.empty(n_matrices)
    arms, scaled = np.empty((6, n_arms)), np.empty((n_users, n_arms))
    for k in range(n_arms):
        arms[POLICY, k] = start[k] if start.size else 1.0 / n_arms
    for b in range(n_matrices):
        gaps[b] = solve(scores[b], shares, delta, levels, tolerance, arms, scaled)
        for k in range(n_arms):
            policies[b, k] = arms[POLICY, k]
    return policies, gaps
