"""Means and intervals, against the formulas and published values."""

import math

import numpy as np
import pytest

from fairduel.report.statistics import (
    average,
    estimate,
    known,
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
