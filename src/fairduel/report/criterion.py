"""When a claim holds: one criterion for all of them."""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np

from fairduel._arrays import Floats
from fairduel.environments.generate import PAPER_RUNS
from fairduel.report.document import Claim, Finding, Verdict, number

CRITERION = (
    "A claim consists of comparisons of the kind “this is more than that”. The difference is "
    "taken run by run where both sides played the same instances with the same luck, and between "
    "two independent samples otherwise; its 95 % interval is Student's t, for two samples Welch's "
    "(the tables have the paper's 1.96 standard errors). Holds: the whole interval is on the "
    "claimed side of zero. Holds within noise: zero is in the interval, so the difference cannot "
    "be told from noise, whichever side of zero the estimate is on: it may be the other one. Does "
    "not hold here: the whole interval is on the other side. No result: fewer than two runs are "
    "left to compare. A claim of several comparisons has the verdict of the worst of them, and no "
    "result is the worst. The intervals are not widened for the number of comparisons. Controls, "
    "where a claim has them, are comparisons for those that must not pass the same test: they hold "
    "where these do not, and are no part of the verdict."
)

ENOUGH = 2  # runs, to say anything about their spread
LEVEL = 0.975  # the upper end of a 95 % interval


def more(what: str, larger: Floats, smaller: Floats | float) -> Finding:
    """Is ``larger`` more than ``smaller``, run by run?"""
    difference = larger - smaller
    difference = difference[~np.isnan(difference)]
    if len(difference) < ENOUGH:
        return no_result(what)
    count = len(difference)
    return _finding(what, float(difference.mean()), _error(difference), count - 1, count)


def more_between(what: str, larger: Floats, smaller: Floats) -> Finding:
    """Is the mean of ``larger`` more than that of ``smaller``, two independent samples?"""
    larger, smaller = larger[~np.isnan(larger)], smaller[~np.isnan(smaller)]
    if min(len(larger), len(smaller)) < ENOUGH:
        return no_result(what)
    difference = float(larger.mean() - smaller.mean())
    error = math.hypot(_error(larger), _error(smaller))
    count = min(len(larger), len(smaller))
    return _finding(what, difference, error, _welch(larger, smaller), count)


def fact(what: str, true: bool) -> Finding:
    """Something without chance: it is so or it is not."""
    return Finding(what, math.nan, math.nan, Verdict.HOLDS if true else Verdict.FAILS)


def no_result(what: str) -> Finding:
    """Nothing is known about it."""
    return Finding(what, math.nan, math.nan, Verdict.UNKNOWN)


def few_runs(claims: Iterable[Claim]) -> str:
    """A sentence for readers of verdicts from fewer runs than the paper's, if there are such."""
    counts = [each.runs for claim in claims for each in claim.findings if each.runs]
    fewest = min(counts, default=PAPER_RUNS)
    if fewest >= PAPER_RUNS:
        return ""
    return (
        f"The paper's figures are means of {PAPER_RUNS} runs; here there are comparisons of "
        f"{fewest}. Verdicts from fewer runs are weak: more comes out as noise, and a mean may "
        "be far off."
    )


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


def _finding(what: str, difference: float, error: float, freedom: float, runs: int) -> Finding:
    from scipy.special import stdtrit  # slow to import

    half_width = float(stdtrit(freedom, LEVEL)) * error
    if difference > half_width:
        verdict = Verdict.HOLDS
    elif difference < -half_width:
        verdict = Verdict.FAILS
    else:
        verdict = Verdict.NOISE
    return Finding(what, difference, half_width, verdict, runs)


def _signed(value: float) -> str:
    return ("+" if value >= 0 else "−") + number(abs(value))


def _like(finding: Finding) -> str:
    return number(finding.half_width, finding.difference)
