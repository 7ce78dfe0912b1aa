"""The measures of a run, against their definitions written out."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from fairduel._arrays import Floats
from fairduel.environments import random_instance
from fairduel.errors import InputError
from fairduel.instance import Instance
from fairduel.simulation.metrics import (
    cumulative_price_of_fairness,
    gini,
    mean_interval,
    minimum_welfare,
    nash_welfare,
    own_best_share,
    price_of_fairness,
    utilitarian_welfare,
)

utilities = hnp.arrays(
    np.float64, st.integers(1, 8), elements=st.floats(0, 1e6, allow_subnormal=False)
)
MEASURES = [nash_welfare, minimum_welfare, utilitarian_welfare, gini]


def naive_gini(u: Floats) -> float:
    total = 2 * len(u) * sum(u)
    return float(sum(abs(a - b) for a in u for b in u) / total) if total > 0 else 0.0


def test_by_hand() -> None:
    u = [1.0, 4.0, 16.0]
    assert nash_welfare(u) == pytest.approx(4.0)
    assert minimum_welfare(u) == 1.0
    assert utilitarian_welfare(u) == 7.0
    assert gini(u) == pytest.approx((3 + 15 + 12) * 2 / (6 * 21))


@given(utilities)
def test_gini_is_the_double_sum(u: Floats) -> None:
    assert gini(u) == pytest.approx(naive_gini(u), rel=1e-9, abs=1e-12)


@given(utilities)
def test_nash_welfare_is_the_root_of_the_product(u: Floats) -> None:
    expected = 0.0 if not u.all() else math.exp(math.fsum(map(math.log, u)) / len(u))
    assert nash_welfare(u) == pytest.approx(expected, rel=1e-12)
    assert minimum_welfare(u) <= nash_welfare(u) <= utilitarian_welfare(u) * (1 + 1e-12)


@pytest.mark.parametrize("measure", MEASURES)
def test_leading_axes_are_kept(measure: Any) -> None:
    u = np.random.default_rng(1).random((3, 4, 5))
    together = measure(u)
    assert together.shape == (3, 4)
    for place in np.ndindex(3, 4):
        assert together[place] == pytest.approx(float(measure(u[place])), rel=1e-14)


def test_the_ends_of_the_float_range() -> None:
    assert nash_welfare([1e-300] * 99 + [1e300]) == pytest.approx(1e-294, rel=1e-12)
    assert nash_welfare([1e300] * 40) == 1e300
    assert nash_welfare([1.7976931348623157e308] * 3) == 1.7976931348623157e308
    assert nash_welfare([5e-324] * 3) == 5e-324
    assert gini([1e308, 1e308, 0.0]) == pytest.approx(1 / 3)
    assert gini([5e-324, 5e-324]) == 0.0


def test_equal_shares_are_equal_exactly() -> None:
    u = np.full((2, 7), 0.1)
    assert gini(u).tolist() == [0.0, 0.0]
    assert nash_welfare(u).tolist() == [0.1, 0.1]


def test_nobody_has_anything() -> None:
    u = np.array([[0.0, 0.0], [0.0, 3.0]])
    assert gini(u).tolist() == [0.0, 0.5]
    assert nash_welfare(u).tolist() == [0.0, 0.0]


def test_own_best_share() -> None:
    instance = random_instance(3, 4, seed=1)
    rounds = np.array([10, 20])
    played = rounds[:, np.newaxis] * instance.scores.mean(axis=1)
    shares = own_best_share(played, rounds, instance)
    np.testing.assert_allclose(shares, np.tile(instance.scores.mean(axis=1), (2, 1)))
    alone = own_best_share(10 * instance.scores[:, instance.winners[1]], 10, instance)
    assert alone[1] == 1.0
    runs = own_best_share(np.stack([played, played]), rounds, instance)
    assert runs.shape == (2, 2, 3)


def test_price_of_fairness() -> None:
    scores = [[1.0, 0.0, 0.6], [0.8, 1.0, 0.7]]
    assert price_of_fairness(scores, [1, 0, 0]) == 0.0
    assert price_of_fairness(scores, [0, 1, 0]) == pytest.approx(1 - 0.5 / 0.9)
    assert price_of_fairness(scores, [0.5, 0.5, 0]) == pytest.approx(1 - 0.7 / 0.9)
    several = price_of_fairness(scores, np.eye(3))
    np.testing.assert_allclose(several, [0, 1 - 0.5 / 0.9, 1 - 0.65 / 0.9], atol=1e-15)
    assert price_of_fairness(np.zeros((2, 3)), [0, 1, 0]) == 0.0
    assert price_of_fairness([[1.0, 1.0]], [0.5, 0.5 + 5e-10]) == 0.0  # never below


@given(
    hnp.arrays(np.float64, (3, 4), elements=st.floats(0, 1)),
    hnp.arrays(np.float64, 4, elements=st.floats(0.01, 1)),
)
def test_no_policy_beats_the_best_mean(scores: Floats, weights: Floats) -> None:
    policy = weights / weights.sum()
    price = price_of_fairness(scores, policy)
    assert 0 <= price <= 1
    so_far = cumulative_price_of_fairness(50 * scores @ policy, 50, scores)
    assert so_far == pytest.approx(float(price), abs=1e-12)


def test_cumulative_price_of_fairness_on_curves() -> None:
    scores = np.array([[1.0, 0.0], [0.5, 1.0]])
    curves = np.array([[[10.0, 5.0], [10.0, 15.0]]])  # the best arm first, then the other
    np.testing.assert_allclose(
        cumulative_price_of_fairness(curves, [10, 20], scores), [[0, 1 - 12.5 / 15]], atol=1e-15
    )
    assert cumulative_price_of_fairness([0.0, 0.0], 5, np.zeros((2, 3))) == 0.0


def test_mean_interval() -> None:
    mean, half = mean_interval([1.0, 2.0, 3.0, 6.0])
    assert mean == 3.0
    assert half == pytest.approx(1.96 * math.sqrt(14 / 3) / 2)
    values = np.random.default_rng(0).random((4, 30))
    mean, half = mean_interval(values, axis=1)
    assert mean.shape == half.shape == (4,)
    np.testing.assert_allclose(half, 1.96 * values.std(axis=1, ddof=1) / math.sqrt(30))
    np.testing.assert_array_equal(mean_interval(values, axis=-1)[0], mean)


def test_the_interval_of_a_single_value_is_unknown() -> None:
    mean, half = mean_interval([[3.0, 4.0]])
    assert mean.tolist() == [3.0, 4.0]
    assert np.isnan(half).all()


# Bad input


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize(
    ("u", "sentence"),
    [
        ([[1.0, -2.0]], r"utilities\[0, 1\] is -2.0: give finite numbers from 0 up"),
        ([1.0, math.nan], r"utilities\[1\] is nan: give finite numbers"),
        ([1.0, math.inf], r"utilities\[1\] is inf: give finite numbers"),
        ([], r"utilities have shape \(0,\): the last axis has to hold at least one user"),
        (3.0, r"utilities have shape \(\): "),
        (["a"], "utilities have to be an array of numbers"),
        ([[1.0], [1.0, 2.0]], "utilities have to be an array of numbers"),
    ],
)
def test_bad_utilities(measure: Any, u: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        measure(u)


SCORES = np.array([[1.0, 0.5], [0.2, 1.0]])
INSTANCE = Instance([[[0.5, 0.9], [0.1, 0.5]]] * 2)
CIRCLE = Instance([[[0.5, 0.5], [0.5, 0.5]]])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: own_best_share([1.0, 2.0, 3.0], 5, INSTANCE),
            "are of 3 users and the scores of 2",
        ),
        (lambda: own_best_share([1.0, 2.0], 0, INSTANCE), "rounds have to be at least 1"),
        (lambda: own_best_share([1.0, 2.0], math.nan, INSTANCE), "rounds have to be at least 1"),
        (lambda: own_best_share([1.0, 2.0], [5, 6], INSTANCE), r"rounds have shape \(2,\) and"),
        (lambda: own_best_share([1.0], 5, CIRCLE), "user 'user 1' has no Condorcet winner"),
        (lambda: price_of_fairness([[]], [1]), r"scores have shape \(1, 0\): give a \(users"),
        (lambda: price_of_fairness([1.0], [1]), r"scores have shape \(1,\): give a \(users"),
        (lambda: price_of_fairness(-SCORES, [0, 1]), r"scores\[0, 0\] is -1.0: give finite"),
        (lambda: price_of_fairness(SCORES, [1, 0, 0]), "one probability for each of the 2 arms"),
        (lambda: price_of_fairness(SCORES, [0.5, 0.6]), "policy does not add up to 1"),
        (lambda: price_of_fairness(SCORES, [-0.5, 1.5]), r"policy\[0\] is -0.5"),
        (lambda: cumulative_price_of_fairness([1.0], 5, SCORES), "are of 1 users and the scores"),
        (lambda: mean_interval([]), "there are no values to take the mean of"),
        (lambda: mean_interval([1.0], axis=1), "axis is 1 and the values have 1 axes"),
    ],
)
def test_bad_settings(call: Any, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()
