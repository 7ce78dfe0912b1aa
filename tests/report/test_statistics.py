"""Means and intervals, against the formulas and published values."""

import math

import numpy as np
import pytest

from fairduel.report.statistics import (
    average,
    estimate,
    known,
    repeated,
    student_interval,
    welch_interval,
    wilson_interval,
)


def test_wilsons_interval() -> None:
    # From Newcombe (1998), Statistics in Medicine 17:857-872, Table I, without continuity.
    for count, total, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)):
        np.testing.assert_allclose(wilson_interval(count, total), (low, high), atol=5e-5)
    np.testing.assert_allclose(wilson_interval(0, 20), (0.0, 0.1611), atol=5e-5)


def test_failed_runs_do_not_count() -> None:
    values = [1.0, math.nan, 3.0]
    assert known(values) == [1.0, 3.0]
    assert average(values) == 2.0
    assert estimate(values).mean == 2.0
    assert math.isclose(estimate(values).half_width, 1.96)
    assert math.isnan(average([math.nan]))
    assert math.isnan(estimate([math.nan]).mean)
    assert math.isnan(estimate([5.0]).half_width)


@pytest.mark.parametrize("sizes", [(2, 2), (3, 30), (30, 30)])
def test_welchs_interval_is_the_formula(sizes: tuple[int, int]) -> None:
    from scipy.special import stdtrit

    rng = np.random.default_rng(sizes)
    first, second = (rng.normal(5, 1 + k, size) for k, size in enumerate(sizes))
    squares = [each.var(ddof=1) / len(each) for each in (first, second)]
    freedom = sum(squares) ** 2 / sum(
        square**2 / (size - 1) for square, size in zip(squares, sizes, strict=True)
    )
    half_width = stdtrit(freedom, 0.975) * math.sqrt(sum(squares))
    middle = first.mean() - second.mean()
    expected = (middle - half_width, middle + half_width)
    np.testing.assert_allclose(welch_interval(first, second), expected, rtol=1e-12)


def test_students_interval_is_the_formula() -> None:
    values = np.array([1.0, 2.0, 3.0])  # t of 2 degrees of freedom is 4.302653
    half_width = 4.302653 / math.sqrt(3)
    np.testing.assert_allclose(
        student_interval(values), (2 - half_width, 2 + half_width), rtol=1e-6
    )


def test_values_without_spread_have_an_interval_without_width() -> None:
    assert student_interval(np.full(4, 7.0)) == (7.0, 7.0)
    assert welch_interval(np.full(4, 7.0), np.full(3, 2.0)) == (5.0, 5.0)


def test_the_noise_of_runs_leaves_out_the_spread_over_instances() -> None:
    instances = np.array([1.0, 100.0, 10_000.0])
    values = instances + np.array([[1.0], [-1.0]])  # two seeds
    found = repeated(values)
    assert found is not None
    assert found.mean == instances.mean()
    assert math.isclose(found.noise, math.sqrt(3 * 2.0) / 3)
    assert (found.freedom, found.seeds) == (3, 2)
    assert math.isclose(found.deviations(found.mean + 1), 1 / (found.noise * math.sqrt(1.5)))


def test_of_means_with_one_more_seed_5_percent_are_beyond_the_limit() -> None:
    rng = np.random.default_rng(0)
    size = rng.uniform(1, 10, 30)  # every instance has its own noise
    beyond = 0
    for _ in range(4000):
        values = size * rng.standard_normal((5, 30))
        ours = repeated(values[1:])
        assert ours is not None
        beyond += abs(ours.deviations(values[0].mean())) > ours.limit()
    assert 160 < beyond < 240  # 200, with a standard deviation of 14


def test_instances_without_all_their_runs_tell_nothing_of_noise() -> None:
    values = np.array([[1.0, math.nan, 5.0], [3.0, 2.0, 5.0]])
    found = repeated(values)
    assert found is not None
    assert (found.mean, found.freedom) == (3.5, 2)
    assert repeated(np.full((4, 3), math.nan)) is None
    assert repeated(values[:1]) is None
