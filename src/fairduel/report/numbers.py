"""Numbers for people: one format for reports and terminals."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from fairduel.report.statistics import Estimate, estimate

if TYPE_CHECKING:
    from fairduel._arrays import Floats

PLUS_MINUS = " ± "
_PLACES = ((1, 4), (10, 3), (1e4, 1))  # below the first, as many places as the second


def number(value: float, like: float | None = None) -> str:
    """Format ``value`` with as many places as suit a number of the size of ``like``."""
    size = abs(value if like is None else like)
    if math.isnan(value):
        return "–"
    if size >= 1e7 or 0 < size < 1e-3:
        return f"{value:.3g}"
    places = next((places for limit, places in _PLACES if 0 < size < limit), 0)
    return f"{value:,.{places}f}"


def signed(value: float) -> str:
    """Format a difference: the number with its sign."""
    return ("+" if value >= 0 else "−") + number(abs(value))


def plus_minus(shown: Estimate, sign: str = PLUS_MINUS) -> str:
    """Format a mean with the half-width of its interval, if it has one."""
    half_width = number(shown.half_width, shown.mean)
    return number(shown.mean) + ("" if math.isnan(shown.half_width) else sign + half_width)


def interval(values: Floats | Sequence[float]) -> str:
    """Format the mean over runs with its 95 % interval; runs that failed are NaN."""
    return plus_minus(estimate(values))
