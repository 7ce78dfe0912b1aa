"""When a claim holds: one criterion for all of them."""

from __future__ import annotations

import math

import numpy as np

from fairduel.arrays import Floats
from fairduel.metrics import STANDARD_ERRORS
from fairduel.paper.document import Finding, Verdict, number

CRITERION = (
    "A claim consists of comparisons of the kind “this is more than that”. The difference is "
    "taken run by run where both sides played the same instances with the same luck, and between "
    "two independent samples otherwise; its 95 % interval is 1.96 standard errors to either side. "
    "Holds: the whole interval is on the claimed side of zero. Holds within noise: zero is in the "
    "interval, so these runs cannot tell. Does not hold here: the whole interval is on the other "
    "side. A claim of several comparisons has the verdict of the worst of them. The intervals are "
    "not widened for the number of comparisons."
)


def more(what: str, larger: Floats, smaller: Floats | float) -> Finding:
    """Is ``larger`` more than ``smaller``, run by run?"""
    difference = larger - smaller
    difference = difference[~np.isnan(difference)]
    return _finding(what, float(difference.mean()), _error(difference))


def more_between(what: str, larger: Floats, smaller: Floats) -> Finding:
    """Is the mean of ``larger`` more than that of ``smaller``, two independent samples?"""
    larger, smaller = larger[~np.isnan(larger)], smaller[~np.isnan(smaller)]
    difference = float(larger.mean() - smaller.mean())
    return _finding(what, difference, math.hypot(_error(larger), _error(smaller)))


def fact(what: str, true: bool) -> Finding:
    """Something without chance: it is so or it is not."""
    return Finding(what, math.nan, math.nan, Verdict.HOLDS if true else Verdict.FAILS)


def described(finding: Finding) -> str:
    """A comparison with its figures."""
    if math.isnan(finding.difference):
        return finding.what
    spread = "" if math.isnan(finding.half_width) else f" ± {_like(finding)}"
    return f"{finding.what}: {_signed(finding.difference)}{spread}"


def _error(values: Floats) -> float:
    """Of the mean; NaN for a single run."""
    return float(values.std(ddof=1) / math.sqrt(len(values))) if len(values) > 1 else math.nan


def _finding(what: str, difference: float, error: float) -> Finding:
    half_width = STANDARD_ERRORS * error
    if difference > half_width:
        verdict = Verdict.HOLDS
    elif difference < -half_width:
        verdict = Verdict.FAILS
    else:  # also where a single run has no interval
        verdict = Verdict.NOISE
    return Finding(what, difference, half_width, verdict)


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "−") + number(abs(value))


def _like(finding: Finding) -> str:
    return number(finding.half_width, finding.difference)
