"""Numbers as people read them."""

import math

import pytest

from fairduel.report.numbers import interval, number, plus_minus, signed
from fairduel.report.statistics import Estimate


def test_numbers_are_readable() -> None:
    values = (0.0, 0.11761, 1.49951, 201.74, 70545.8, 2.5e8, math.nan)
    assert [number(value) for value in values] == [
        "0",
        "0.1176",
        "1.500",
        "201.7",
        "70,546",
        "2.5e+08",
        "–",
    ]
    assert interval([1.0]) == "1.000"
    assert interval([200.0, 202.0]) == "201.0 ± 2.0"


@pytest.mark.parametrize(
    ("value", "like", "written"),
    [
        (1.25e-10, None, "1.25e-10"),
        (0.0005, 0.01, "0.0005"),
        (0.5, 20_000.0, "0"),
        (70.81, None, "70.8"),
        (1534.5, None, "1,534.5"),
        (9_999_999.0, None, "9,999,999"),
        (-3.2, None, "-3.200"),
        (0.1, 0.0, "0"),
    ],
)
def test_places_suit_the_size(value: float, like: float | None, written: str) -> None:
    assert number(value, like) == written


def test_differences_have_a_sign() -> None:
    assert [signed(value) for value in (2.0, 0.0, -2.0)] == ["+2.000", "+0", "−2.000"]


def test_an_interval_has_the_places_of_its_mean() -> None:
    assert plus_minus(Estimate(1234.56, 0.123)) == "1,234.6 ± 0.1"
    assert plus_minus(Estimate(1234.56, 0.123), sign="\n+-") == "1,234.6\n+-0.1"
    assert plus_minus(Estimate(1234.56, math.nan)) == "1,234.6"
    assert interval([math.nan, math.nan]) == "–"
