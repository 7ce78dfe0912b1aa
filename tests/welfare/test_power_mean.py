"""Power means against slow oracles, on random and on nasty scores, and what they have to be."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import welfare_oracle as oracle
from fairduel._arrays import Floats
from fairduel.errors import InputError
from fairduel.testing import WELFARE_LAWS
from fairduel.welfare import Egalitarian, Nash, PowerMean, Utilitarian
from nasty_scores import nasty_scores, nasty_starts, nasty_weights, with_winners

POWERS = (0.9999, 0.9, 0.5, 0.01, 1e-9, -1e-9, -0.5, -1.0, -2.0, -10.0, -100.0, -1000.0)


def weights_of(weights: tuple[float, ...] | None, users: int) -> Floats:
    return np.ones(users) if weights is None else np.array(weights)


@pytest.mark.parametrize("law", WELFARE_LAWS, ids=lambda law: law.__name__)
@pytest.mark.parametrize("p", [1.0, 0.9, 0.5, 0.0, -1.0, -20.0])
def test_laws(law: object, p: float) -> None:
    law(PowerMean(p))  # type: ignore[operator]


@pytest.mark.parametrize("p", [0.5, -1.0, -2.0])
@pytest.mark.parametrize(("users", "arms"), [(7, 5), (4, 9), (12, 12)])
def test_no_oracle_beats_the_gap(users: int, arms: int, p: float) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        if name in ("denormal", "huge", "tiny", "tiny for some users", "of many sizes"):
            continue  # the oracle cannot; see the next test
        for weights in (None, tuple(range(1, users + 1))):
            shares = weights_of(weights, users)
            solution = PowerMean(p, weights).maximize(scores)
            reached = oracle.power_mean(scores @ solution.policy, p, shares)
            policy = oracle.power_mean_policy(scores, p, shares)
            best = oracle.power_mean(scores @ policy, p, shares)
            assert solution.value == pytest.approx(reached, rel=1e-12), name
            assert best <= reached * math.exp(solution.gap) * (1.0 + 1e-12), name
            assert reached <= best * (1.0 + 1e-3), name  # or the oracle has not really tried


@pytest.mark.parametrize(
    ("users", "arms"), [(1, 1), (1, 6), (6, 1), (2, 3), (10, 10), (3, 40), (40, 3), (30, 30)]
)
def test_the_gap_is_below_its_tolerance_everywhere(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for name, scores in nasty_scores(rng, users, arms):
        cases = itertools.product(POWERS, nasty_weights(rng, users), nasty_starts(rng, arms))
        for p, weights, start in cases:
            solution = PowerMean(p, weights).maximize(scores, start)
            assert solution.gap <= 1e-9, (name, p)
            assert solution.policy.min() >= 0.0
            assert abs(solution.policy.sum() - 1.0) < 1e-12
            # The same from scratch, but for what rounding makes of a high power.
            gap = oracle.power_mean_gap(scores, solution.policy, p, weights_of(weights, users))
            assert gap <= 1e-9 + 1e-13 * (users + abs(p)), (name, p)


@pytest.mark.parametrize(("users", "arms"), [(4, 500), (500, 4), (100, 100), (20_000, 5)])
def test_the_gap_is_below_its_tolerance_where_sizes_are_large(users: int, arms: int) -> None:
    rng = np.random.default_rng([users, arms])
    for p, weights in itertools.product((0.9, 0.5, -1.0, -10.0), nasty_weights(rng, users)):
        scores = with_winners(rng, users, arms)
        scores[rng.random((users, arms)) < 0.3] = 0.0
        assert PowerMean(p, weights).maximize(scores).gap <= 1e-9


@pytest.mark.parametrize("seed", [6, 32, 114])
def test_short_stages_help_where_long_ones_fail(seed: int) -> None:
    rng = np.random.default_rng(seed)
    mixtures = with_winners(rng, 30, 30) @ rng.dirichlet(np.ones(30), 30).T
    scores = np.where(rng.random(30) < 0.5, mixtures, mixtures[:, :1])
    weights = tuple((10.0 ** rng.uniform(-8.0, 0.0, 30)).tolist())
    assert PowerMean(-1000.0, weights).maximize(scores).gap <= 1e-9


@pytest.mark.parametrize("p", [-1e4, -1e5, 1.0 - 1e-6, 1.0 - 1e-12])
def test_extreme_powers_reach_the_tolerance_where_scores_are_plain(p: float) -> None:
    rng = np.random.default_rng(1)
    for users, arms in ((10, 10), (3, 30), (30, 3)):
        assert PowerMean(p).maximize(with_winners(rng, users, arms)).gap <= 1e-9


def test_more_extreme_powers_say_what_they_reach() -> None:
    scores = with_winners(np.random.default_rng(1), 10, 10)
    best = Egalitarian().maximize(scores).value
    for p, gap in ((-9e5, 1e-5), (-1.1e6, 3e-6), (-1e9, 3e-9), (-1e12, 1e-9), (-1e300, 1e-9)):
        solution = PowerMean(p).maximize(scores)
        least = solution.utilities.min()
        assert least * (1.0 - 1e-12) <= solution.value <= least * 10.0 ** (-1.0 / p)
        assert 0.0 <= solution.gap <= gap
        assert best <= solution.value * math.exp(solution.gap) * (1.0 + 1e-12)
        assert PowerMean(p, tuple(range(1, 11))).maximize(scores).gap <= 2.0 * gap


def test_0_is_the_nash_policy_and_1_the_utilitarian() -> None:
    rng = np.random.default_rng(2)
    for weights in (None, (3.0, 1.0, 1.0, 2.0)):
        scores = with_winners(rng, 4, 6)
        nash, mean = PowerMean(0.0, weights).maximize(scores), PowerMean(1, weights)
        best = Nash(weights).maximize(scores)
        assert nash.policy.tolist() == best.policy.tolist()
        assert nash.value == pytest.approx(best.value**0.25, rel=1e-12)
        assert nash.gap == pytest.approx(best.gap / 4.0, abs=1e-14)
        utilitarian = Utilitarian(weights).maximize(scores)
        assert mean.maximize(scores).policy.tolist() == utilitarian.policy.tolist()
        assert mean.maximize(scores).value == pytest.approx(utilitarian.value)
        assert mean.maximize(scores).gap == 0.0


def test_powers_next_to_0_and_1_have_nearly_these_policies() -> None:
    scores = with_winners(np.random.default_rng(3), 5, 7)
    nash = Nash().maximize(scores).policy
    for p in (1e-7, -1e-7):
        np.testing.assert_allclose(PowerMean(p).maximize(scores).policy, nash, atol=1e-4)
    utilitarian = Utilitarian().maximize(scores).policy
    assert PowerMean(1.0 - 1e-9).maximize(scores).policy @ utilitarian == pytest.approx(1.0)


def test_far_below_0_it_is_egalitarian() -> None:
    rng = np.random.default_rng(4)
    for _ in range(20):
        scores = with_winners(rng, 6, 6)
        least = PowerMean(-1000.0).maximize(scores).utilities.min()
        assert least == pytest.approx(Egalitarian().maximize(scores).value, rel=1e-2)


@pytest.mark.parametrize("p", [0.9, 0.5, -1.0, -10.0])
def test_weight_three_is_the_same_user_three_times(p: float) -> None:
    rng = np.random.default_rng(5)
    for _ in range(20):
        scores = with_winners(rng, 4, 5)
        weighted = PowerMean(p, (3.0, 1.0, 1.0, 1.0)).maximize(scores)
        copies = PowerMean(p).maximize(np.vstack([scores, scores[:1], scores[:1]]))
        assert weighted.value == pytest.approx(copies.value, rel=3e-9)


@pytest.mark.parametrize("p", [0.8, 0.5, -1.0, -3.0])
def test_groups_with_nothing_in_common_share_as_a_formula_says(p: float) -> None:
    """Sizes n give x proportional to n^(1 / (1 - p))."""
    sizes = np.array([1.0, 9.0, 4.0])
    policy = PowerMean(p, tuple(sizes)).maximize(np.eye(3)).policy
    shares = sizes ** (1.0 / (1.0 - p))
    np.testing.assert_allclose(policy, shares / shares.sum(), rtol=1e-3)


def test_a_lower_power_gives_a_minority_more() -> None:
    scores = np.array([[1.0, 0.1], [0.1, 1.0]])
    got = [
        PowerMean(p, (1.0, 9.0)).maximize(scores).utilities[0] for p in (1.0, 0.5, 0.0, -1.0, -9.0)
    ]
    assert got == sorted(got)
    assert got[0] < got[-1]


@pytest.mark.parametrize("p", [0.5, -2.0])
def test_a_start_that_is_best_stays(p: float) -> None:
    rng = np.random.default_rng(6)
    for name, scores in nasty_scores(rng, 5, 6):
        best = PowerMean(p).maximize(scores).policy
        again = PowerMean(p).maximize(scores, best).policy
        np.testing.assert_allclose(again, best, rtol=0.0, atol=1e-15, err_msg=name)


def test_uniform_stays_where_that_is_best() -> None:
    for p in (0.9, 0.5, -1.0, -50.0):
        assert PowerMean(p).maximize(np.full((3, 4), 0.3)).policy.tolist() == [0.25] * 4


def test_it_follows_as_it_maximizes() -> None:
    rng = np.random.default_rng(7)
    scores = np.repeat(with_winners(rng, 5, 6)[None], 100, axis=0)
    scores *= rng.uniform(0.95, 1.0, scores.shape)
    scores[30, 2], scores[40] = 0.0, 0.0
    for p in (0.5, -3.0, -30.0):
        policies = PowerMean(p).follow(scores)
        for matrix, policy in zip(scores, policies, strict=True):
            assert PowerMean(p).certificate(matrix, policy) <= 1.001e-9
        assert policies[40].tolist() == [1.0 / 6.0] * 6


def test_users_without_any_score_lower_a_mean_of_positive_power_only() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    some, none = PowerMean(0.5).maximize(scores), PowerMean(-1.0).maximize(scores)
    assert some.unserved == none.unserved == (2,)
    assert some.value == pytest.approx((2.0 * 0.5**0.5 / 3.0) ** 2)
    assert none.value == 0.0
    np.testing.assert_allclose(none.policy, 0.5)


def test_certificates_of_any_policy() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])
    assert PowerMean(-1.0).certificate(scores, [1.0, 0.0]) == math.inf
    assert PowerMean(-1.0).certificate(scores, [0.5, 0.5]) == pytest.approx(0.0, abs=1e-12)
    assert PowerMean(-1.0).certificate(scores * 0.0, [0.5, 0.5]) == 0.0
    # M(0.5, 0.5) / M(1, 0) is 2 for p = 1/2
    assert 1.0 <= PowerMean(0.5).certificate(scores, [1.0, 0.0]) < math.inf
    # The floor alone makes a mean of 0.43 out of 2^-100 where p is small.
    assert 0.5 * 2.0**100 - 1.0 <= PowerMean(0.01).certificate(np.eye(2), [1.0, 0.0]) < math.inf
    rng = np.random.default_rng(8)
    for p in (1.0, 0.7, 0.0, -1.0, -5.0):
        scores, policy = with_winners(rng, 4, 5), rng.dirichlet(np.ones(5))
        expected = oracle.power_mean_gap(scores, policy, p, np.ones(4))
        assert PowerMean(p).certificate(scores, policy) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("p", [1.0, 0.5, 0.0, -1.0, -30.0])
def test_the_gradient_is_the_derivative(p: float) -> None:
    welfare, u = PowerMean(p, (1.0, 2.0, 4.0)), np.array([0.3, 0.5, 0.9])
    steps = 1e-6 * np.eye(3)
    slopes = (welfare.value(u + steps) - welfare.value(u - steps)) / 2e-6
    np.testing.assert_allclose(welfare.gradient(u), slopes, rtol=1e-4, atol=1e-12)


def test_values_keep_their_digits_at_any_power_and_scale() -> None:
    u = np.array([0.1, 0.7, 0.9])
    for p in (1e-15, -1e-12, 0.3, -800.0, -1e9):
        for scale in (1.0, 1e-300, 1e300):
            found = float(PowerMean(p, (1.0, 2.0, 3.0)).value(scale * u))
            expected = oracle.power_mean(u, p, np.array([1.0, 2.0, 3.0]))
            tiny = abs(p) < 1e-9  # where long doubles have too few digits: the geometric mean
            expected = float(PowerMean(0.0, (1.0, 2.0, 3.0)).value(u)) if tiny else expected
            assert found == pytest.approx(scale * expected, rel=1e-9)
    assert PowerMean(-1.0).value([0.0, 1.0]) == 0.0
    assert PowerMean(0.5).value([0.0, 0.0]) == 0.0


@pytest.mark.parametrize(
    ("p", "complaint"),
    [
        (1.5, "p is 1.5: give a finite number of at most 1"),
        (math.nan, "p is nan: give a finite number of at most 1"),
        (math.inf, "p is inf"),
        (-math.inf, r"for -inf there is Egalitarian\(\)"),
        ("much", "p is 'much': give a number of at most 1"),
        (None, "p is None"),
    ],
)
def test_bad_powers_are_refused(p: float, complaint: str) -> None:
    with pytest.raises(InputError, match=complaint) as caught:
        PowerMean(p)
    assert "\n" not in str(caught.value)
