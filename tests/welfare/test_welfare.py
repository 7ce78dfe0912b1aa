"""The welfares against a slow oracle, on random and on nasty scores, and the laws they obey."""

from __future__ import annotations

import itertools
import math
from random import Random
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import welfare_oracle as oracle
from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.welfare import (
    Egalitarian,
    FrankWolfe,
    GeneralizedGini,
    Nash,
    PowerMean,
    Solution,
    Utilitarian,
    Welfare,
)
from nasty_scores import nasty_scores, nasty_starts, nasty_weights, with_winners

ALL = [
    Nash(),
    Utilitarian(),
    Egalitarian(),
    FrankWolfe(),
    PowerMean(-2.0),
    PowerMean(0.5),
    GeneralizedGini(),
    GeneralizedGini((3.0, 2.0, 0.5)),
]


# Scores


def mean_one(weights: tuple[float, ...] | None, users: int) -> Floats:
    weights = weights or (1.0,) * users
    return np.asarray(np.divide(weights, np.mean(weights)))


@st.composite
def score_matrices(
    draw: st.DrawFn, most: int = 6, positive: bool = False, fewest: int = 1
) -> Floats:
    users, arms = draw(st.integers(fewest, most)), draw(st.integers(1, most))
    special = st.sampled_from([1e-12, 0.5, 1.0, 1.2] if positive else [0.0, 1e-12, 0.5, 1.0, 1.2])
    score = special | st.floats(1e-3, 1.0)
    row = st.lists(score, min_size=arms, max_size=arms)
    return np.array(draw(st.lists(row, min_size=users, max_size=users)))


def assert_policy(policy: Floats, arms: int) -> None:
    assert policy.shape == (arms,)
    assert policy.min() >= 0.0
    assert abs(policy.sum() - 1.0) < 1e-12


# Nash, against the oracle


@pytest.mark.parametrize(("users", "arms"), [(7, 5), (4, 9), (12, 12), (2, 2)])
def test_nash_is_certified_and_no_oracle_beats_its_gap(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        if name in ("denormal", "huge"):  # the oracle cannot; see the next test
            continue
        for weights in (None, tuple(range(1, users + 1))):
            shares = mean_one(weights, users)
            solution = Nash(weights).maximize(scores)
            reached = oracle.log_nash(scores, solution.policy, shares)
            best = oracle.log_nash(scores, oracle.nash_policy(scores, shares), shares)
            assert best <= reached + solution.gap + 1e-12, name
            assert reached <= best + 1e-4, name  # or the oracle has not really tried


@pytest.mark.parametrize(
    ("users", "arms"),
    [(1, 1), (1, 6), (6, 1), (2, 3), (10, 10), (3, 40), (40, 3), (60, 60), (4, 500), (500, 4)],
)
def test_nash_gap_is_below_its_tolerance_everywhere(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        for weights, start in itertools.product(nasty_weights(rng, users), nasty_starts(rng, arms)):
            solution = Nash(weights).maximize(scores, start)
            assert solution.gap <= 1e-9, name
            assert_policy(solution.policy, arms)
            # The same from scratch. Rows are scaled first: it makes no difference but for overflow.
            rows = scores / scores.max(axis=1, keepdims=True)
            gap = oracle.certificate(rows, solution.policy, mean_one(weights, users))
            assert gap <= 1e-9 + 1e-13 * users, name
            assert abs(max(0.0, gap) - solution.gap) <= 1e-12 * (users + 1), name


@pytest.mark.parametrize(("users", "arms"), [(100_000, 10), (10, 100_000), (300, 300)])
def test_nash_gap_is_below_its_tolerance_where_sizes_are_large(users: int, arms: int) -> None:
    rng = np.random.default_rng(1)
    sparse = with_winners(rng, users, arms) * (rng.random((users, arms)) < 0.5)
    sparse[:, 0] += 1e-9
    copies = with_winners(rng, users, 5)[:, np.arange(arms) % 5]
    noise = 1.0 + 1e-8 * rng.standard_normal((users, arms))
    for scores in (with_winners(rng, users, arms), sparse, copies, copies * noise):
        for start in (None, np.arange(arms) == 0, np.full(arms, 1.0 / arms)):
            solution = Nash().maximize(scores, start)
            assert solution.gap <= 1e-9
        gap = oracle.certificate(scores, solution.policy)
        assert abs(max(0.0, gap) - solution.gap) <= 1e-10


@given(score_matrices(positive=True), st.sampled_from([10.0, 1.0, 1e-1, 1e-3, 1e-9]))
def test_nash_gap_bounds_what_is_left_at_any_tolerance(scores: Floats, tolerance: float) -> None:
    rough, exact = Nash(tolerance=tolerance).maximize(scores), Nash().maximize(scores)
    assert rough.gap <= tolerance
    left = oracle.log_nash(scores, exact.policy) - oracle.log_nash(scores, rough.policy)
    assert left <= rough.gap + 1e-12
    assert exact.value <= rough.value * math.exp(rough.gap) * (1.0 + 1e-12)


# Nash, laws


@given(score_matrices(), st.randoms(use_true_random=False))
def test_nash_value_does_not_depend_on_the_order_of_users_and_arms(
    scores: Floats, random: Random
) -> None:
    users, arms = list(range(len(scores))), list(range(scores.shape[1]))
    random.shuffle(users)
    random.shuffle(arms)
    mixed = Nash().maximize(scores[users][:, arms])
    assert mixed.value == pytest.approx(Nash().maximize(scores).value, rel=3e-9, abs=0.0)


@given(score_matrices(positive=True), st.floats(-12.0, 12.0))
def test_nash_does_not_depend_on_the_scale_of_a_user(scores: Floats, exponent: float) -> None:
    scaled = scores.copy()
    scaled[0] *= 10.0**exponent
    best, other = Nash().maximize(scores), Nash().maximize(scaled)
    assert other.value == pytest.approx(best.value * 10.0**exponent, rel=3e-9, abs=0.0)


@given(score_matrices(positive=True))
def test_nash_weight_two_is_the_same_user_twice(scores: Floats) -> None:
    users = len(scores)
    twice = Nash().maximize(np.vstack([scores, scores[:1]]))
    weighted = Nash(weights=(2.0, *[1.0] * (users - 1)))
    solution = weighted.maximize(scores)
    # The weights have mean 1, so that the welfare is a power of that of the users one by one.
    assert solution.value == pytest.approx(twice.value ** (users / (users + 1)), rel=3e-9, abs=0.0)
    assert float(weighted.value(solution.utilities)) == solution.value


@given(score_matrices(), st.data())
def test_nash_value_does_not_depend_on_the_start(scores: Floats, data: st.DataObject) -> None:
    share = st.sampled_from([0.0, 1e-300, 1e-16]) | st.floats(0.0, 1.0)
    shares = data.draw(st.lists(share, min_size=scores.shape[1], max_size=scores.shape[1]))
    start = np.array(shares) if sum(shares) > 0.0 else np.ones(scores.shape[1])
    warm = Nash().maximize(scores, start / start.sum())
    assert warm.gap <= 1e-9
    assert warm.value == pytest.approx(Nash().maximize(scores).value, rel=3e-9, abs=0.0)


@given(score_matrices())
def test_nash_is_the_same_every_time(scores: Floats) -> None:
    once, again = Nash().maximize(scores), Nash().maximize(np.asfortranarray(scores.copy()))
    assert once.policy.tolist() == again.policy.tolist()
    assert once.gap == again.gap


@given(score_matrices())
def test_nash_keeps_a_start_that_is_best(scores: Floats) -> None:
    best = Nash().maximize(scores)
    if len(best.unserved) < len(scores):
        again = Nash().maximize(scores, best.policy)
        np.testing.assert_allclose(again.policy, best.policy, rtol=0.0, atol=1e-15)


@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_nash_begins_from_the_start(share: float) -> None:
    start, scores = np.array([share, 1.0 - share, 0.0]), np.array([[1.0, 1.0, 0.5]])
    assert Nash().maximize(scores, start).policy.tolist() == start.tolist()  # best already
    assert Nash().follow(scores[None], start)[0].tolist() == start.tolist()
    assert Nash().maximize(scores).policy.tolist() == [0.5, 0.5, 0.0]


# Nash, known answers


def test_nash_gives_each_user_the_same_where_each_has_an_own_arm() -> None:
    solution = Nash().maximize(np.eye(2))
    assert solution.policy.tolist() == [0.5, 0.5]
    assert solution.utilities.tolist() == [0.5, 0.5]
    assert (solution.value, solution.gap, solution.unserved) == (0.25, 0.0, ())
    for users in (1, 3, 10, 100):
        policy = Nash().maximize(np.eye(users)).policy
        assert policy.tolist() == [1.0 / users] * users


def test_nash_shares_own_arms_in_proportion_to_weights() -> None:
    weights = (3.0, 1e-8, 1.0, 1e-3)
    policy = Nash(weights).maximize(np.eye(4)).policy
    np.testing.assert_allclose(policy, np.array(weights) / sum(weights), rtol=1e-4)


def test_nash_with_two_users_and_two_arms_has_a_closed_form() -> None:
    # u = (x, 1 - x + b x), and log x + log(1 - (1 - b) x) is highest at x = 1 / (2 (1 - b)).
    for b in (0.0, 0.1, 0.3, 0.49):
        policy = Nash().maximize(np.array([[1.0, 0.0], [b, 1.0]])).policy
        assert policy[0] == pytest.approx(0.5 / (1.0 - b), abs=1e-5)
    policy = Nash().maximize(np.array([[1.0, 0.0], [0.7, 1.0]])).policy
    assert policy.tolist() == [1.0, 0.0]


def test_nash_plays_the_best_arm_for_one_user() -> None:
    policy = Nash().maximize(np.array([[0.3, 0.9, 0.2, 0.8]])).policy
    assert policy.tolist() == [0.0, 1.0, 0.0, 0.0]


@pytest.mark.parametrize("scores", [np.full((4, 3), 0.7), np.ones((1, 5)), np.array([[0.2], [1]])])
def test_nash_is_uniform_where_that_is_best(scores: Floats) -> None:
    arms = scores.shape[1]
    assert Nash().maximize(scores).policy.tolist() == [1.0 / arms] * arms


def test_nash_is_exact_where_arms_are_almost_mixtures_of_each_other() -> None:
    scores = [
        [0.0, 0.0, 1.000000000025603, 0.435021123141706, 0.5634349811113293],
        [0.9999999999897318, 1.0000000000417808, 0.0, 0.5649788768891698, 0.4365650188757903],
    ]
    solution = Nash().maximize(scores)
    assert solution.gap <= 1e-9
    np.testing.assert_allclose(solution.utilities, 0.5, atol=1e-5)


def test_nash_solves_the_papers_instances_better_than_the_paper() -> None:
    rng = np.random.default_rng(3)
    for _ in range(200):
        scores = with_winners(rng, 10, 10)
        best, papers = Nash().maximize(scores), FrankWolfe().maximize(scores)
        assert papers.value <= best.value * (1.0 + 1e-9)
        assert best.value <= papers.value * math.exp(papers.gap)


# Users whom nothing serves


@pytest.mark.parametrize(
    "welfare", [Nash(), Egalitarian(), FrankWolfe(), PowerMean(-2.0), PowerMean(0.0)]
)
def test_unserved_users_are_named_and_left_out(welfare: Welfare) -> None:
    others = with_winners(np.random.default_rng(4), 4, 5)
    scores = np.insert(others, [1, 3], 0.0, axis=0)
    solution, without = welfare.maximize(scores), welfare.maximize(others)
    assert solution.unserved == (1, 4)
    assert solution.value == 0.0
    assert without.value > 0.0
    assert solution.utilities[[1, 4]].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(solution.policy, without.policy, atol=1e-9)
    assert solution.gap == pytest.approx(without.gap, abs=1e-9)


def test_unserved_users_do_not_change_the_utilitarian_choice() -> None:
    solution = Utilitarian().maximize([[0.0, 0.0], [0.5, 0.6]])
    assert (solution.unserved, solution.value) == ((0,), 0.3)


@pytest.mark.parametrize(
    "welfare",
    [Nash(), Egalitarian(), FrankWolfe(), PowerMean(-2.0), PowerMean(0.5), GeneralizedGini()],
)
def test_where_nobody_is_served_nothing_is_preferred(welfare: Welfare) -> None:
    start = None if isinstance(welfare, FrankWolfe) else np.array([1.0, 0.0, 0.0, 0.0])
    solution = welfare.maximize(np.zeros((3, 4)), start)
    assert_policy(solution.policy, 4)
    assert (solution.value, solution.gap, solution.unserved) == (0.0, 0.0, (0, 1, 2))
    if not isinstance(welfare, FrankWolfe):
        assert solution.policy.tolist() == [0.25] * 4


# Following scores that change


@pytest.mark.parametrize("weights", [None, (1.0, 4.0, 1e-5, 2.0, 1.0, 1.0)])
def test_nash_follows_as_well_as_it_maximizes(weights: tuple[float, ...] | None) -> None:
    rng = np.random.default_rng(5)
    scores = np.empty((300, 6, 8))
    scores[0] = with_winners(rng, 6, 8)
    for b in range(1, len(scores)):
        scores[b] = scores[b - 1]
        arm = rng.integers(0, 8)
        scores[b, :, arm] = np.clip(scores[b, :, arm] + 0.1 * rng.standard_normal(6), 0.0, 1.0)
    scores[50, 2] = 0.0  # for once somebody cannot be served
    scores[60] = 0.0  # and then nobody
    welfare = Nash(weights)
    for start in (None, np.eye(8)[3]):
        policies = welfare.follow(scores, start)
        for matrix, policy in zip(scores, policies, strict=True):
            served = matrix.max(axis=1) > 0.0
            assert_policy(policy, 8)
            if served.any():
                rest = mean_one(weights, 6)[served]
                assert oracle.certificate(matrix[served], policy, rest) <= 1.001e-9
        assert policies[60].tolist() == [0.125] * 8
        assert policies.tolist() == welfare.follow(scores, start).tolist()


def test_nash_follows_each_from_the_one_before() -> None:
    scores = np.array([np.eye(3), np.ones((3, 3)), np.diag([1.0, 1.0, 0.0])])
    policies = Nash().follow(scores, np.array([0.5, 0.25, 0.25]))
    np.testing.assert_allclose(policies[0], 1.0 / 3.0, atol=1e-5)
    assert policies[1].tolist() == policies[0].tolist()  # best already
    np.testing.assert_allclose(policies[2], [0.5, 0.5, 0.0], atol=1e-5)
    once = Nash().maximize(scores[0], np.array([0.5, 0.25, 0.25]))
    assert policies[0].tolist() == once.policy.tolist()


@pytest.mark.parametrize("welfare", [Utilitarian(), Utilitarian((1.0, 2.0, 3.0)), FrankWolfe()])
def test_other_welfares_follow_as_they_maximize(welfare: Welfare) -> None:
    scores = np.random.default_rng(6).random((20, 3, 5))
    policies = welfare.follow(scores)
    for matrix, policy in zip(scores, policies, strict=True):
        assert welfare.maximize(matrix).policy.tolist() == policy.tolist()


@pytest.mark.parametrize("welfare", ALL)
def test_following_nothing_gives_nothing(welfare: Welfare) -> None:
    assert welfare.follow(np.empty((0, 3, 4))).shape == (0, 4)


# The others


@given(score_matrices(), st.data())
def test_utilitarian_plays_the_first_best_arm(scores: Floats, data: st.DataObject) -> None:
    size = len(scores)
    weights = tuple(data.draw(st.lists(st.integers(1, 4), min_size=size, max_size=size)))
    for welfare, shares in ((Utilitarian(), np.ones(size)), (Utilitarian(weights), weights)):
        solution = welfare.maximize(scores)
        means = [np.average(column, weights=shares) for column in scores.T]
        assert solution.value == pytest.approx(max(means))
        assert solution.gap == 0.0
        arm = int(solution.policy.argmax())
        assert solution.policy.tolist() == np.eye(scores.shape[1])[arm].tolist()
        assert not any((scores[:, k] == scores[:, arm]).all() for k in range(arm))


def test_utilitarian_takes_the_lowest_index_among_equals() -> None:
    solution = Utilitarian().maximize([[0.0, 0.5, 1.0, 0.5], [0.5, 1.0, 0.5, 1.0]])
    assert solution.policy.tolist() == [0.0, 1.0, 0.0, 0.0]
    assert solution.value == 0.75


@pytest.mark.parametrize(("users", "arms"), [(1, 4), (4, 1), (3, 3), (7, 5), (5, 12), (30, 30)])
def test_no_oracle_beats_the_egalitarian_gap(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        solution = Egalitarian().maximize(scores)
        assert_policy(solution.policy, arms)
        assert solution.value == solution.utilities.min(), name
        unit = scores.max(axis=1).min()  # no policy can promise everybody more
        assert solution.gap <= 1e-9 * unit, name
        best = (scores / unit @ oracle.max_min_policy(np.minimum(scores / unit, 1e6))).min()
        assert best <= (solution.value + solution.gap) / unit + 1e-12, name
        assert solution.value / unit <= best + 1e-4, name  # or the oracle has not really tried


def test_egalitarian_gives_each_user_the_same_where_each_has_an_own_arm() -> None:
    solution = Egalitarian().maximize(np.diag([1.0, 0.5, 0.25]))
    np.testing.assert_allclose(solution.policy, np.array([1.0, 2.0, 4.0]) / 7.0)
    assert solution.value == pytest.approx(1.0 / 7.0)
    assert solution.gap == pytest.approx(0.0, abs=2.5e-10)


def test_egalitarian_serves_users_of_very_different_scale() -> None:
    scores = np.diag([1e-12, 1.0, 1e6])
    solution = Egalitarian().maximize(scores)
    assert solution.value == pytest.approx(1e-12, rel=1e-9)
    assert solution.gap <= 1e-20


@pytest.mark.parametrize(("users", "arms"), [(10, 10), (3, 7), (8, 2), (1, 4), (5, 1)])
def test_frank_wolfe_is_the_papers_step_by_step(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for _ in range(5):
        scores = with_winners(rng, users, arms)
        reference = oracle.frank_wolfe_policies(scores, 40, tolerance=0.0)
        for steps, policy in enumerate(reference):
            found = FrankWolfe(iterations=steps, tolerance=0.0).maximize(scores).policy
            np.testing.assert_allclose(found, policy, rtol=0.0, atol=1e-14)
        last = oracle.frank_wolfe_policies(scores)[-1]
        np.testing.assert_allclose(FrankWolfe().maximize(scores).policy, last, atol=1e-13)


def test_frank_wolfe_goes_all_the_way_to_one_arm_first() -> None:
    scores = np.array([[0.2, 0.8, 0.1], [0.3, 0.7, 0.2]])
    assert FrankWolfe(iterations=0).maximize(scores).policy.tolist() == [1.0 / 3.0] * 3
    assert FrankWolfe(iterations=1).maximize(scores).policy.tolist() == [0.0, 1.0, 0.0]


def test_frank_wolfe_admits_what_it_cannot_promise() -> None:
    solution = FrankWolfe(iterations=1).maximize(np.eye(3))
    assert (solution.value, solution.gap, solution.unserved) == (0.0, math.inf, ())


@given(score_matrices(positive=True), st.integers(0, 60))
def test_frank_wolfe_gap_bounds_what_is_left(scores: Floats, iterations: int) -> None:
    solution, best = FrankWolfe(iterations).maximize(scores), Nash().maximize(scores)
    left = oracle.log_nash(scores, best.policy) - oracle.log_nash(scores, solution.policy)
    assert left <= solution.gap + 1e-12 * len(scores)


@pytest.mark.parametrize(
    ("welfare", "expected"),
    [
        (Nash(), [0.06, 0.0, 1.0]),
        (Nash((1.0, 3.0)), [(0.2 * 0.3**3) ** 0.5, 0.0, 1.0]),
        (FrankWolfe(), [0.06, 0.0, 1.0]),
        (Utilitarian(), [0.25, 0.25, 1.0]),
        (Utilitarian((1.0, 3.0)), [0.275, 0.375, 1.0]),
        (Egalitarian(), [0.2, 0.0, 1.0]),
        (PowerMean(1.0, (1.0, 3.0)), [0.275, 0.375, 1.0]),
        (PowerMean(0.0), [0.06**0.5, 0.0, 1.0]),
        (PowerMean(-1.0), [0.24, 0.0, 1.0]),
        (PowerMean(-1.0, (1.0, 3.0)), [4.0 / 15.0, 0.0, 1.0]),
        (PowerMean(0.5), [(0.2**0.5 + 0.3**0.5) ** 2 / 4.0, 0.125, 1.0]),
        (GeneralizedGini(), [0.75 * 0.2 + 0.25 * 0.3, 0.125, 1.0]),
        (GeneralizedGini((4.0, 1.0)), [0.22, 0.1, 1.0]),
        (GeneralizedGini((1.0, 0.0, 0.0, 0.0)), [0.2, 0.0, 1.0]),
        (GeneralizedGini(delta=1.0, sizes=(1.0, 3.0)), [0.275, 0.375, 1.0]),
    ],
)
def test_value_of_utilities_over_the_last_axis(welfare: Welfare, expected: list[float]) -> None:
    utilities = np.array([[0.2, 0.3], [0.0, 0.5], [1.0, 1.0]])
    np.testing.assert_allclose(welfare.value(utilities), expected)
    np.testing.assert_allclose(welfare.value(utilities[:, None]), np.array(expected)[:, None])
    assert float(welfare.value(utilities[0])) == pytest.approx(expected[0])


@pytest.mark.parametrize("welfare", ALL)
def test_solutions_are_consistent(welfare: Welfare) -> None:
    scores = with_winners(np.random.default_rng(8), 6, 7)
    read_only = scores.copy()
    read_only.flags.writeable = False
    for given_scores in (scores, read_only, scores.tolist(), np.asfortranarray(scores)):
        solution = welfare.maximize(given_scores)
        assert isinstance(solution, Solution)
        assert_policy(solution.policy, 7)
        np.testing.assert_allclose(solution.utilities, scores @ solution.policy, rtol=1e-14)
        assert solution.value == float(welfare.value(solution.utilities))
        assert type(solution.value) is float
        assert type(solution.gap) is float


# Bad input


@pytest.mark.parametrize("welfare", ALL)
@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        ([], "scores has 1 axes: it must have 2: users, arms"),
        ([0.5, 0.5], "scores has 1 axes: it must have 2: users, arms"),
        (np.empty((0, 3)), "at least one user and one arm"),
        (np.empty((3, 0)), "at least one user and one arm"),
        ([[0.5, -0.1], [0.5, 0.5]], "scores at user 0, arm 1 is -0.1: scores must be finite"),
        ([[0.5, 0.5], [math.nan, 0.5]], "scores at user 1, arm 0 is nan"),
        ([[0.5, math.inf]], "scores at user 0, arm 1 is inf"),
        ([["a", "b"]], "scores must be an array of numbers"),
        ([[0.5, 0.5], [0.5]], "scores must be an array of numbers"),
    ],
)
def test_bad_scores_are_refused(welfare: Welfare, scores: Floats, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        welfare.maximize(scores)


@pytest.mark.parametrize("welfare", ALL)
@pytest.mark.parametrize(
    ("scores", "complaint"),
    [
        (np.ones((2, 2)), "scores has 2 axes: it must have 3: matrices, users, arms"),
        (np.ones((4, 0, 2)), "at least one user and one arm"),
        ([[[0.5, 1.0]], [[0.5, -1.0]]], "scores at matrix 1, user 0, arm 1 is -1.0"),
    ],
)
def test_bad_scores_to_follow_are_refused(welfare: Welfare, scores: Floats, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        welfare.follow(scores)


@pytest.mark.parametrize(
    "start",
    [[0.5, 0.5, 0.0], [0.5], [1.0, 1.0], [1.5, -0.5], [math.nan, 1.0], [0.0, 0.0], [[0.5, 0.5]]],
)
def test_bad_starts_are_refused(start: list[float]) -> None:
    with pytest.raises(InputError, match="start"):
        Nash().maximize(np.eye(2), np.array(start))
    with pytest.raises(InputError, match="start"):
        Nash().follow(np.eye(2)[None], np.array(start))


@pytest.mark.parametrize(
    ("weights", "complaint"),
    [
        ((), "weights is empty"),
        (("much",), "weights must be numbers"),
        ((1.0, 0.0), r"weights\[1\] is 0.0: give a positive"),
        ((-1.0,), r"weights\[0\] is -1.0"),
        ((1.0, math.nan), r"weights\[1\] is nan"),
        ((math.inf,), r"weights\[0\] is inf"),
        ((1.0, 1e-13), "a factor of more than 1e\\+12"),
    ],
)
def test_bad_weights_are_refused(weights: tuple[float, ...], complaint: str) -> None:
    for welfare in (Nash, Utilitarian):
        with pytest.raises(InputError, match=complaint):
            welfare(weights)
    with pytest.raises(InputError, match=complaint):
        PowerMean(-1.0, weights)
    with pytest.raises(InputError, match=complaint.replace("weights", "sizes")):
        GeneralizedGini(sizes=weights)


def test_weights_may_be_any_sequence() -> None:
    same: list[Any] = [np.array([1, 2]), [1.0, 2.0], (1.0, 2.0)]
    for welfare in (Nash, Utilitarian):
        assert {welfare(weights) for weights in same} == {welfare((1.0, 2.0))}


def test_weights_must_fit_the_users() -> None:
    for welfare in (Nash((1.0, 2.0)), Utilitarian((1.0, 2.0)), PowerMean(0.5, (1.0, 2.0))):
        with pytest.raises(InputError, match="weights has 2 entries, but the scores have 3 users"):
            welfare.maximize(np.ones((3, 3)))
    with pytest.raises(InputError, match="sizes has 2 entries, but the scores have 3 users"):
        GeneralizedGini(sizes=(1.0, 2.0)).maximize(np.ones((3, 3)))


def test_weights_of_people_go_to_any_welfare_that_has_a_use_for_them() -> None:
    people = (1.0, 2.0)
    assert Nash().weighted(people) == Nash(people)
    assert Utilitarian().weighted(people) == Utilitarian(people)
    assert PowerMean(0.5).weighted(people) == PowerMean(0.5, people)
    assert GeneralizedGini((2.0, 1.0)).weighted(people) == GeneralizedGini((2.0, 1.0), sizes=people)
    assert Egalitarian().weighted(people) == Egalitarian()
    with pytest.raises(InputError, match="'frank-wolfe' takes no weights of users"):
        FrankWolfe().weighted(people)
    with pytest.raises(InputError, match=r"weights\[0\] is -1.0"):
        Egalitarian().weighted((-1.0, 1.0))


@pytest.mark.parametrize(
    ("settings", "complaint"),
    [({"iterations": -1}, "iterations is -1"), ({"tolerance": -1.0}, "tolerance is -1.0"),
     ({"floor": 0.0}, "floor is 0.0")],
)  # fmt: skip
def test_bad_frank_wolfe_settings_are_refused(settings: dict[str, float], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        FrankWolfe(**settings)  # type: ignore[arg-type]


def test_a_bad_tolerance_is_refused() -> None:
    with pytest.raises(InputError, match="tolerance is nan"):
        Nash(tolerance=math.nan)
    with pytest.raises(InputError, match=r"tolerance is -1\.0"):
        PowerMean(tolerance=-1.0)
    with pytest.raises(InputError, match="tolerance is nan"):
        GeneralizedGini(tolerance=math.nan)


# Gradients and certificates of any policy


@pytest.mark.parametrize("weights", [None, (1.0, 2.0, 3.0, 4.0, 5.0)])
def test_a_certificate_is_the_oracles(weights: tuple[float, ...] | None) -> None:
    rng = np.random.default_rng(9)
    for name, scores in nasty_scores(rng, 5, 4):
        rows = scores / scores.max(axis=1, keepdims=True)
        policy = rng.dirichlet(np.ones(4))
        gap = oracle.certificate(rows, policy, mean_one(weights, 5))
        assert Nash(weights).certificate(scores, policy) == pytest.approx(gap, abs=1e-12), name


def test_a_certificate_of_a_policy_that_leaves_somebody_out() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    for welfare in (Nash(), FrankWolfe()):
        assert welfare.certificate(scores, [1.0, 0.0]) == math.inf
        assert welfare.certificate(scores, [0.5, 0.5]) == 0.0  # nothing serves the third
        assert welfare.certificate(scores, [0.25, 0.75]) == pytest.approx(2.0)
        assert welfare.certificate(np.zeros((2, 2)), [0.5, 0.5]) == 0.0
    assert Egalitarian().certificate(scores, [1.0, 0.0]) == pytest.approx(0.5)
    assert Egalitarian().certificate(np.zeros((2, 2)), [0.5, 0.5]) == 0.0
    assert Utilitarian().certificate(scores[:, :1] * [1.0, 0.5], [0.0, 1.0]) == pytest.approx(1 / 6)


@pytest.mark.parametrize("welfare", ALL)
def test_what_is_no_policy_has_no_certificate(welfare: Welfare) -> None:
    for policy in ([0.5, 0.6], [1.0], [math.nan, 1.0]):
        with pytest.raises(InputError, match="policy"):
            welfare.certificate(np.eye(2), policy)


def test_gradients() -> None:
    np.testing.assert_allclose(Nash().gradient([0.5, 0.4]), [0.4, 0.5])
    value = float(Nash((1.0, 3.0)).value([0.5, 0.4]))
    np.testing.assert_allclose(
        Nash((1.0, 3.0)).gradient([0.5, 0.4]), [0.5 * value / 0.5, 1.5 * value / 0.4]
    )
    assert Utilitarian((1.0, 3.0)).gradient([[0.5, 0.4]]).tolist() == [[0.25, 0.75]]
    assert Egalitarian().gradient([0.5, 0.4, 0.4]).tolist() == [0.0, 0.5, 0.5]


def test_a_solution_shows_itself_in_a_line() -> None:
    solution = Nash().maximize(np.eye(3)[:, [0, 1, 2, 2]])
    text = repr(solution)
    assert text.startswith("Solution(Nash welfare 0.03704, gap ")
    assert text.endswith("of 4 arms)")
    assert "\n" not in text
    other = Solution(np.array([0.0, 1.0]), np.array([0.5]), 0.5, 3e-12, label="a < b")
    assert repr(other) == "Solution(a < b 0.5, gap 3e-12, 1 of 2 arms)"
    page = other._repr_html_()
    assert "a &lt; b 0.5" in page
    assert ">1</td>" in page
    assert ">1.0000</td>" in page
    assert "<td>0</td>" not in page
