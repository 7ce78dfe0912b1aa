"""Compiled: the policy of highest power mean of the utilities, by the Newton method of ``newton``.

M(u) = (sum_d v_d u_d^p)^(1/p) with sum v = 1 and p < 1; p = 0 is the Nash welfare's own. What is
climbed is log M. With a_d = v_d u_d^p / sum v u^p, the part of user d, its centred gradient is
q_k = sum_d a_d (S[d, k] - u_d) / u_d, and its curvature (1 - p) B'B + p qq', where
B[d, k] = sqrt(a_d) (S[d, k] / u_d - 1). So the tables and the steps are those of the Nash welfare,
with weights a that follow the utilities.

The certificate is Hoelder's inequality for p < 1: for any h > 0, with a as above at h,
M(u') <= M(h) sum_d a_d u'_d / h_d for all u' >= 0, and so no policy has a mean above
M(h) max_k sum_d a_d S[d, k] / h_d. At h = u that is (1 + max_k q_k) M(u).

For p > 0 the best policy may leave users with nothing, where the slope is infinite. So h is u but
for a floor, and M(h) / M(u) goes into the gap.
"""

import math
from functools import partial

import numpy as np

from fairduel._arrays import Floats, Ints
from fairduel.kernels.compiler import kernel, part
from fairduel.kernels.newton import (
    INVERSE,
    MANY_STEPS,
    MOST_STEPS,
    POLICY,
    ROOT,
    SLOPE,
    TOP,
    TRIAL,
    UTILITY,
    WEIGHT,
    build_model,
    choose_start,
    choose_working_set,
    cover,
    fill_policy,
    find_trial,
    find_utilities,
    list_support,
    move_by,
    out_of_range,
    price,
    rescale,
    solve_model,
    survey,
    usable,
)

# What counts as nothing for p > 0, of a user's best score. Steps may go round in circles where a
# user gets about that much; so there is another.
FLOORS = (1e-13, 1e-25)
FEW_STEPS = 20  # at a stage on the way, which need not be exact
# Far from 0 Newton's steps are short, so p comes near in stages: 1 - p changes fourfold each time,
# and if that fails by less.
LEAST_DIRECT, MOST_DIRECT, STAGES = -3.0, 0.75, (4.0, 1.5)

# ``users[PART, d]``: the share v_d of the users' weights, and the floor under the utility.
# ``users[WEIGHT, d]`` is a_d here.
PART, LEAST = 6, 7


@part
def share_out(users: Floats, served: float) -> None:
    """Write the users' shares of the weight that is served."""
    for d in range(users.shape[1]):
        users[PART, d] = users[WEIGHT, d] / served


@part
def rescale_parts(tops: Floats, users: Floats, p: float) -> None:
    """Put into the shares what scores lost that are now over the ``tops`` of their rows.

    v (c u)^p = (v c^p) u^p. All shares are relative to the largest factor. For p < 0 none becomes
    0, as a user with nothing still makes the mean 0.
    """
    reference = -1.0
    for d in range(tops.size):
        beyond = tops[d] < reference if p < 0.0 else tops[d] > reference
        if users[PART, d] > 0.0 and (reference < 0.0 or beyond):
            reference = tops[d]
    for d in range(tops.size):
        if users[PART, d] > 0.0:
            factor = math.exp(p * (math.log(tops[d]) - math.log(reference)))
            users[PART, d] = max(users[PART, d] * factor, 1e-300)


@part
def set_floor(users: Floats, floor: float) -> None:
    for d in range(users.shape[1]):
        users[LEAST, d] = floor * users[TOP, d]


@part
def weigh(users: Floats, p: float, length: float) -> float:
    """Write a and 1 / h at a part of the way from u to the trial; return the slope of log M there.

    Powers are relative to the smallest utility for p < 0 and to the largest for p > 0, so that
    the sum has a term of about 1. Where a user gets nothing, the slope is -inf for p < 0.
    """
    n_users, reference = users.shape[1], -1.0
    for d in range(n_users):
        if users[PART, d] > 0.0:
            u, trial = users[UTILITY, d], users[TRIAL, d]
            at = trial if length == 1.0 else u + length * (trial - u) if length > 0.0 else u
            at = max(at, users[LEAST, d])
            users[WEIGHT, d] = at
            if reference < 0.0 or (at < reference if p < 0.0 else at > reference):
                reference = at
    if not reference > 0.0:
        return -np.inf
    scale, total = 1.0 / reference, 0.0
    for d in range(n_users):
        if users[PART, d] > 0.0:
            users[INVERSE, d] = 1.0 / users[WEIGHT, d]
            users[WEIGHT, d] = users[PART, d] * (users[WEIGHT, d] * scale) ** p
            total += users[WEIGHT, d]
    total, slope = 1.0 / total, 0.0
    for d in range(n_users):
        if users[PART, d] > 0.0:
            users[WEIGHT, d] *= total
            users[ROOT, d] = math.sqrt(users[WEIGHT, d] * (1.0 - p))
            if length > 0.0:
                way = users[TRIAL, d] - users[UTILITY, d]
                slope += users[WEIGHT, d] * users[INVERSE, d] * way
    return slope


@part
def add_bend(arms: Floats, count: int, p: float, curvature: Floats) -> None:
    """Add p qq' to the curvature."""
    for i in range(count):
        for j in range(count):
            curvature[i, j] += p * arms[SLOPE, i] * arms[SLOPE, j]


@part
def step_length(users: Floats, p: float, enough: float) -> float:
    """Return 1 if log M falls there by at most ``enough`` a step; else where it is that flat."""
    low, high, length = 0.0, 1.0, 1.0
    for _ in range(60):
        slope = weigh(users, p, length)
        if slope < -enough:
            high = length
        elif slope > enough and length < 1.0:
            low = length
        else:
            break
        length = 0.5 * (low + high)
    return length


@part
def true_gap(gap: float, p: float, users: Floats) -> float:
    """Return the gap of M(u) rather than M(h): (1 + gap) M(h) / M(u) - 1, for p > 0."""
    top = 0.0
    for d in range(users.shape[1]):
        top = max(top, users[UTILITY, d]) if users[PART, d] > 0.0 else top
    plain, more = 0.0, 0.0
    for d in range(users.shape[1]):
        if users[PART, d] > 0.0:
            u, floor = users[UTILITY, d], users[LEAST, d]
            plain += users[PART, d] * (u / top) ** p
            if u < floor:
                more += users[PART, d] * ((floor / top) ** p - (u / top) ** p)
    lost = math.log1p(more / plain) / p
    return math.exp(lost) * gap + math.expm1(lost)


@part
def climb(
    scores: Floats,
    p: float,
    tolerance: float,
    most: int,
    users: Floats,
    arms: Floats,
    index: Ints,
    rows: Floats,
    curvature: Floats,
    factor: Floats,
) -> float:
    """Improve ``arms[POLICY]`` until its gap is below the tolerance; return the gap."""
    n_arms = scores.shape[1]
    weigh(users, p, 0.0)
    gap = price(scores, users, arms)
    for taken in range(most):
        if gap <= tolerance:
            break
        count = choose_working_set(arms, index, tolerance)
        if count > rows.shape[1]:
            size = min(n_arms, 2 * count)
            rows, curvature = np.empty((4, size)), np.empty((size, size))
            factor = np.empty((size, size))
        build_model(scores, users, index, count, rows, curvature)
        add_bend(arms, count, p, curvature)
        careful = taken >= MANY_STEPS
        solve_model(arms, index, count, careful, 0.1 * tolerance, 1e-14, curvature, factor)
        rise = find_trial(scores, users, arms, index, count)
        length = step_length(users, p, 0.5 * rise + 1e-13)
        move_by(length, scores, users, arms, index, count)
        if length < 1.0:
            weigh(users, p, 0.0)
        gap = price(scores, users, arms)
    return gap


@part
def begin_uniform(scores: Floats, users: Floats, arms: Floats, index: Ints) -> None:
    fill_policy(arms, 1.0 / arms.shape[1])
    find_utilities(scores, arms, index, list_support(arms, index), users[UTILITY])


@part
def begin_cold(scores: Floats, p: float, users: Floats, arms: Floats, index: Ints) -> None:
    """Begin as the Nash welfare does, by gradients at the uniform policy."""
    begin_uniform(scores, users, arms, index)
    weigh(users, min(max(p, LEAST_DIRECT), 0.5), 0.0)
    price(scores, users, arms)
    choose_start(arms, index, scores.shape[0])
    serve_all(scores, users, arms, index)


@part
def serve_all(scores: Floats, users: Floats, arms: Floats, index: Ints) -> None:
    """Give something to users who get next to nothing."""
    for d in range(users.shape[1]):
        users[WEIGHT, d] = users[PART, d]
    cover(scores, 1.0, users, arms, index)


@part
def leaves_out(users: Floats) -> bool:
    for d in range(users.shape[1]):
        if users[PART, d] > 0.0 and users[UTILITY, d] < FLOORS[0] * users[TOP, d]:
            return True
    return False


@part
def approach(
    scores: Floats,
    p: float,
    stage: float,
    users: Floats,
    arms: Floats,
    index: Ints,
    rows: Floats,
    curvature: Floats,
    factor: Floats,
) -> None:
    """Climb means of other powers first, each nearer to p, where p is far from 0."""
    if p < LEAST_DIRECT:
        c = 1.0
        while stage * c < 1.0 - p:
            climb(
                scores, 1.0 - c, 0.3 / c, FEW_STEPS,
                users, arms, index, rows, curvature, factor,
            )  # fmt: skip
            c *= stage
    elif p > MOST_DIRECT:
        c = 0.5
        while 1.0 - p < c:
            climb(scores, 1.0 - c, 0.01, FEW_STEPS, users, arms, index, rows, curvature, factor)
            c /= stage


@partial(part, inline="always")
def solve(
    scores: Floats,
    weights: Floats,
    p: float,
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
    share_out(users, served)
    if out_of_range(users):
        tops = users[TOP].copy()
        scores = rescale(scores, users)
        rescale_parts(tops, users, p)
    set_floor(users, FLOORS[0] if p > 0.0 else 0.0)
    gap = np.inf
    if warm and usable(arms, index, n_users):
        find_utilities(scores, arms, index, list_support(arms, index), users[UTILITY])
        if p < 0.0 and leaves_out(users):
            serve_all(scores, users, arms, index)
        gap = climb(scores, p, tolerance, FEW_STEPS, users, arms, index, rows, curvature, factor)
    if gap > tolerance:
        begin_uniform(scores, users, arms, index)
        gap = climb(scores, p, tolerance, 0, users, arms, index, rows, curvature, factor)
    for stage in STAGES:
        if gap > tolerance:
            begin_cold(scores, p, users, arms, index)
            approach(scores, p, stage, users, arms, index, rows, curvature, factor)
            gap = climb(
                scores, p, tolerance, MOST_STEPS, users, arms, index, rows, curvature, factor
            )
    if p <= 0.0:
        return gap
    if gap > tolerance:
        set_floor(users, FLOORS[1])
        gap = climb(scores, p, tolerance, MOST_STEPS, users, arms, index, rows, curvature, factor)
    return true_gap(gap, p, users)


@kernel("Tuple((f8[:, ::1], f8[::1]))(f8[:, :, ::1], f8[::1], f8, f8[::1], f8)")
def follow(
    scores: Floats, weights: Floats, p: float, start: Floats, tolerance: float
) -> tuple[Floats, Floats]:
    """Return the best policy for each score matrix, begun from the one before, and the gaps.

    An empty ``start`` leaves it open where to begin with the first.
    """
    n_matrices, n_users, n_arms = scores.shape
    users, arms = np.empty((8, n_users)), np.empty((7, n_arms))
    index = np.empty((3, n_arms), np.int64)
    size = min(n_arms, 64)
    rows, curvature, factor = np.empty((4, size)), np.empty((size, size)), np.empty((size, size))
    policies, gaps = np.empty((n_matrices, n_arms)), np.empty(n_matrices)
    for k in range(start.size):
        arms[POLICY, k] = start[k]
    for b in range(n_matrices):
        warm = b > 0 or start.size > 0
        gaps[b] = solve(
            scores[b], weights, p, warm, tolerance,
            users, arms, index, rows, curvature, factor,
        )  # fmt: skip
        for k in range(n_arms):
            policies[b, k] = arms[POLICY, k]
    return policies, gaps
