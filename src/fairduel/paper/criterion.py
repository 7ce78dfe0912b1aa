"""When a claim holds: one criterion for all of them."""

from __future__ import annotations

import math

import numpy as np

from fairduel.arrays import Floats
from fairduel.paper.document import Finding, Verdict, number

CRITERION = (
    "A claim consists of comparisons of the kind “this is more than that”. The difference is "
    "taken run by run where both sides played the same instances with the same luck, and between "
    "two independent samples otherwise; its 95 % interval is Student's t, for two samples Welch's "
    "(the tables have the paper's 1.96 standard errors). Holds: the whole interval is on the "
    "claimed side of zero. Holds within noise: zero is in the interval, so the difference cannot "
    "be told from noise, whichever side of zero the estimate is on: it may be the other one. Does "
    "not hold here: the whole interval is on the other side. No result: fewer than two runs are "
    "left to compare. A claim of several comparisons has the verdict of the worst of them, and no "
    "result is the worst. The intervals are not widened for the number of comparisons."
)

ENOUGH = 2  # runs, to say anything about their spread
LEVEL = 0.975  # the upper end of a 95 % interval


def more(what: str, larger: Floats, smaller: Floats | float) -> Finding:
    """Is ``larger`` more than ``smaller``, run by run?"""
    difference = larger - smaller
    difference = difference[~np.isnan(difference)]
    if len(difference) < ENOUGH:
        return _nothing(what)
    return _finding(what, float(difference.mean()), _error(difference), len(difference) - 1)


def more_between(what: str, larger: Floats, smaller: Floats) -> Finding:
    """Is the mean of ``larger`` more than that of ``smaller``, two independent samples?"""
    larger, smaller = larger[~np.isnan(larger)], smaller[~np.isnan(smaller)]
    if min(len(larger), len(smaller)) < ENOUGH:
        return _nothing(what)
    difference = float(larger.mean() - smaller.mean())
    errors = _error(larger), _error(smaller)
    return _finding(what, difference, math.hypot(*errors), _welch(larger, smaller))


def fact(what: str, true: bool) -> Finding:
    """Something without chance: it is so or it is not."""
    return Finding(what, math.nan, math.nan, Verdict.HOLDS if true else Verdict.FAILS)


def described(finding: Finding) -> str:
    """A comparison with its figures."""
    if finding.verdict is Verdict.UNKNOWN:
        return f"{finding.what}: {finding.verdict}"
    if math.isnan(finding.difference):
        return finding.what
    return f"{finding.what}: {_signed(finding.difference)} ± {_like(finding)}"


def _error(values: Floats) -> float:
    """Of the mean."""
    return float(values.std(ddof=1) / math.sqrt(len(values)))


def _welch(first: Floats, second: Floats) -> float:
    """Degrees of freedom of a difference of means (Welch and Satterthwaite)."""
    squares = _error(first) ** 2, _error(second) ** 2
    if not any(squares):
        return float(len(first) + len(second) - 2)
    parts = (
        square**2 / (len(each) - 1) for square, each in zip(squares, (first, second), strict=True)
    )
    return sum(squares) ** 2 / sum(parts)


def _nothing(what: str) -> Finding:
    return Finding(what, math.nan, math.nan, Verdict.UNKNOWN)


def _finding(what: str, difference: float, error: float, freedom: float) -> Finding:
    from scipy.special import stdtrit  # slow to import

    half_width = float(stdtrit(freedom, LEVEL)) * error
    if difference > half_width:
        verdict = Verdict.HOLDS
    elif difference < -half_width:
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.NOISE
    return Finding(what, difference, half_width, verdict)


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "−") + number(abs(value))


def _like(finding: Finding) -> str:
    return number(finding.half_width, finding.difference)
