"""How a learner did, in the numbers that tables show."""

from __future__ import annotations

from dataclasses import dataclass

from fairduel.report.statistics import Estimate


@dataclass(frozen=True)
class Summary:
    """How a learner did after the last round.

    runs: those that succeeded. metrics: by the names in ``METRICS``. identifying: rounds spent on
    identifying the winners. seconds: of the median run, since compilation slows down the first.
    """

    runs: int
    metrics: dict[str, Estimate]
    identifying: Estimate
    seconds: float
