"""How a learner did, in the numbers that tables show."""

from __future__ import annotations

from dataclasses import dataclass

from fairduel.report.numbers import PLUS_MINUS, plus_minus
from fairduel.report.statistics import Estimate

NOBODY = "–"
IDENTIFYING = (
    f"Rounds to identify every user's winner: {NOBODY} if a learner does not do that first, "
    "> if some run was too short for it."
)


@dataclass(frozen=True)
class Summary:
    """How a learner did after the last round.

    runs: those that succeeded. metrics: by the names in ``METRICS``. identifying: rounds spent on
    identifying the winners. identified: whether every run came to an end with that. seconds: of
    the median run, since compilation slows down the first.
    """

    runs: int
    metrics: dict[str, Estimate]
    identifying: Estimate
    seconds: float
    identified: bool = True


def rounds_to_identify(summary: Summary, sign: str = PLUS_MINUS) -> str:
    """Format the rounds spent on identifying the winners, as ``IDENTIFYING`` explains."""
    if summary.identifying.mean == 0.0:
        return NOBODY
    if not summary.identified:
        return f"> {summary.identifying.mean:,.0f}"
    return plus_minus(summary.identifying, sign)
